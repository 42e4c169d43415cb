// Swift allows no property wrapper in a class that threads share.
// error: stored property '_log' of 'Sendable'-conforming class 'Cache' is mutable
// mode 5: compiles
import Dowel

protocol Log: Sendable { func write(_ text: String) }

final class Cache: Sendable {
    #if MENDED
    private let log = Inject<any Log>()
    func warm() { log().write("warm") }
    #else
    @Inject private var log: any Log
    func warm() { log.write("warm") }
    #endif
}
