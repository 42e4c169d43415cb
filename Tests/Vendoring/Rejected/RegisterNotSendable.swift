// What is registered is shared by all threads.
// error: type 'MemoryStore' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

final class MemoryStore { var names: [String] = [] }

func add() {
    #if !MENDED
    Resolver.register(MemoryStore())
    #endif
}
