// What a type shares is shared by threads, which a property wrapper cannot be.
// error: static property 'log' is not concurrency-safe because it is nonisolated global shared mutable state
// mode 5: compiles
import Dowel

protocol Log: Sendable { func write(_ text: String) }

enum Console {
    #if MENDED
    static var log: any Log { Resolver.resolve() }
    #else
    @Inject static var log: any Log
    #endif
    static func warm() { log.write("warm") }
}
