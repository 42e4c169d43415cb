// What a scope shares must be safe to share; mode 5 does not ask.
// error: type 'MemoryStore' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

protocol Store: AnyObject { var names: [String] { get set } }
final class MemoryStore: Store { var names: [String] = [] }

struct StoreModule {
    private let scope = Scope()
    #if MENDED
    func component() -> any Store { scope.objectGraph { MemoryStore() } }
    #else
    func component() -> any Store { scope.shared { MemoryStore() } }
    #endif
}
