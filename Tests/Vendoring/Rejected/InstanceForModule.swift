// An instance stands where a module belongs.
// error: this is no module: write Module { … as P } to offer what it makes
import Dowel

protocol Log: Sendable {}
struct Console: Log {}

let dependencies = Dependencies {
    #if MENDED
    Module { Console() as any Log }
    #else
    Console()
    #endif
}
