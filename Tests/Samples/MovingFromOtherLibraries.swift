// What the samples of that article talk about, and do not show.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Feeds: Sendable {}
public struct FeedModule: Feeds { public init() {} }

public protocol Log: Sendable {}
public struct Console: Log { public init() {} }

public protocol API: Sendable {}
public struct Web: API { public init(log: any Log) {} }

public protocol Stats {}

public protocol Core: Sendable { func component() -> any API }
