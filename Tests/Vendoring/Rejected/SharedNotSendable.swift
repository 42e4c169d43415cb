// What threads share must be safe to share; mode 5 does not ask.
// error: type 'any Store' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

protocol Store: AnyObject { var names: [String] { get set } }
final class MemoryStore: Store { var names: [String] = [] }

let dependencies = Dependencies {
    #if MENDED
    Module { MemoryStore() as any Store }
    #else
    Module(.shared) { MemoryStore() as any Store }
    #endif
}
