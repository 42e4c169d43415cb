// What a scope hands to all threads must be safe to share, also where it is held weakly; mode 5 does not ask.
// error: type 'MemoryStore' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

final class MemoryStore { var names: [String] = [] }

struct StoreModule {
    private let scope = Scope()

    #if MENDED
    func component() -> MemoryStore { scope.objectGraph { MemoryStore() } }
    #else
    func component() -> MemoryStore { scope.weakShared { MemoryStore() } }
    #endif
}
