// A factory stands where a module belongs.
// error: this is no module: write Module { … as P } to offer what it makes
import Dowel

protocol Log: Sendable {}
struct Console: Log {}

let factory: @Sendable () -> any Log = { Console() }
let dependencies = Dependencies {
    #if MENDED
    Module(factory)
    #else
    factory
    #endif
}
