// A factory may run on any thread, so it takes nothing along that threads may not share.
// error: capture of 'store' with non-Sendable type 'MemoryStore' in a '@Sendable' closure
// mode 5: compiles
import Dowel

final class MemoryStore { var names: [String] = [] }

func build() -> Dependencies {
    let store = MemoryStore()
    return Dependencies {
        #if MENDED
        Module { [names = store.names] in names }
        #else
        Module { store }
        #endif
    }
}
