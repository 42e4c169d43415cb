// What the samples talk about, and none of them shows: they import it as the module of a user.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
import Dowel

public protocol Log: Sendable { func write(_ line: String) }
public struct Console: Log {
    public init() {}
    public func write(_ line: String) { print(line) }
}

public protocol Metrics: Sendable {}

public struct Config: Sendable { public init() {} }

public protocol API: Sendable { func load() -> [String] }
public struct Client: API {
    public init(config: Config, log: any Log) {}
    public func load() -> [String] { ["lamp", "chair"] }
}
public struct MockAPI: API {
    public init() {}
    public func load() -> [String] { ["mock"] }
}

public protocol Store: AnyObject, Sendable {}
public final class DiskStore: Store { public init() {} }

public protocol Catalog { var titles: [String] { get } }
public struct StoredCatalog: Catalog {
    public let titles: [String]
    public let store: any Store
    public init(api: any API, store: any Store) { (titles, self.store) = (api.load(), store) }
}
public protocol Catalogs: Sendable { func component() -> any Catalog }

public protocol HTTP: Sendable {}
public final class Session: HTTP { public init() {} }

public protocol Feed {}
public struct RemoteFeed: Feed { public init(http: any HTTP) {} }
public protocol ReaderModuleType: Sendable { func component() -> any Feed }

public protocol Timekeeping {}
public struct Clock: Timekeeping { public init() {} }

@MainActor public protocol Navigator: AnyObject { var path: [String] { get set } }
@MainActor public final class StackNavigator: Navigator {
    public var path: [String] = []
    public init() {}
}

public final class ListView { public weak var presenter: ListPresenter?; public init() {} }
public final class ListPresenter {
    public let view: ListView
    public init(view: ListView) { self.view = view }
}

public final class Screen {
    @Inject private var api: any API
    public init() {}
    public var titles: [String] { api.load() }
}

public let dependencies = Dependencies {
    Module(.shared) { Console() as any Log }
    Module { Config() }
    Module { Client(config: $0, log: $1) as any API }
}
