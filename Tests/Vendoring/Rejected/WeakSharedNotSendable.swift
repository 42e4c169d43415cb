// What threads share must be safe to share, also where it is held weakly; mode 5 does not ask.
// error: type 'MemoryStore' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

final class MemoryStore { var names: [String] = [] }

let dependencies = Dependencies {
    #if MENDED
    Module { MemoryStore() }
    #else
    Module(.weakShared) { MemoryStore() }
    #endif
}
