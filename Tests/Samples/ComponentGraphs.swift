// What the samples of that article talk about, and do not show.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Log: Sendable {}
public struct Console: Log { public init() {} }

public protocol Remote: Sendable {}
public struct NetworkRemote: Remote { public init() {} }

public protocol Store: AnyObject, Sendable {}
public final class DiskStore: Store { public init() {} }

public final class Feed { public init(remote: any Remote, store: any Store) {} }
public struct Article { public init(id: Int, store: any Store) {} }
public struct Search { public init(log: any Log) {} }

public struct Account: Sendable {
    public static func load() async throws -> Account { Account() }
}

public protocol CoreModuleType: Sendable { func component() -> any Log }
public struct CoreModule: CoreModuleType {
    public init() {}
    public func component() -> any Log { Console() }
}
public protocol SearchModuleType: Sendable { func component() -> Search }
