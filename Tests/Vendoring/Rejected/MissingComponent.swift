// A module with several components wants one that nobody wrote.
// error: no component() of this module makes a value of this type: write one
import Dowel

protocol Store: Sendable {}
protocol Remote: Sendable {}
protocol Worker: Sendable {}

struct DiskStore: Store {}
struct NetworkRemote: Remote {}
struct DiskWorker: Worker {
    let store: any Store
    let remote: any Remote
}

struct WidgetModule: Module.Components {
    func component() -> any Worker { DiskWorker(store: component(), remote: component()) }
    func component() -> any Store { DiskStore() }
    #if MENDED
    func component() -> any Remote { NetworkRemote() }
    #endif
}
