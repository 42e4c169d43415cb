// A value given by hand is said so: an assignment would hide that nothing is looked up.
// error: incorrect argument label in call (have 'wrappedValue:', expected 'given:')
import Dowel

protocol Log: Sendable {}
struct Console: Log {}

struct Screen {
    #if MENDED
    @Inject(given: Console()) var log: any Log
    #else
    @Inject var log: any Log = Console()
    #endif
}
