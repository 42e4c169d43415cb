// What the benchmarks make and use. It stands in a module of its own so that the optimizer, when it compiles the loops,
// knows neither what the services are nor what their users do with them.

/// A service that each user has to itself.
public protocol Service: Sendable { func work() }

/// A service that all users share.
public protocol SharedService: Sendable { func work() }

/// The first of a chain: each next one needs the one before.
public protocol First: Sendable { func work() }
/// The second of the chain.
public protocol Second: Sendable { func work() }
/// The third of the chain.
public protocol Third: Sendable { func work() }
/// The fourth of the chain.
public protocol Fourth: Sendable { func work() }
/// The last of the chain.
public protocol Fifth: Sendable { func work() }

/// What needs ten parts.
public protocol Whole: Sendable { func work() }
/// A part.
public protocol Part0: Sendable { func work() }
/// A part.
public protocol Part1: Sendable { func work() }
/// A part.
public protocol Part2: Sendable { func work() }
/// A part.
public protocol Part3: Sendable { func work() }
/// A part.
public protocol Part4: Sendable { func work() }
/// A part.
public protocol Part5: Sendable { func work() }
/// A part.
public protocol Part6: Sendable { func work() }
/// A part.
public protocol Part7: Sendable { func work() }
/// A part.
public protocol Part8: Sendable { func work() }
/// A part.
public protocol Part9: Sendable { func work() }

/// Uses a service.
@inline(never) public func use(_ service: any Service) { service.work() }
/// Uses a shared service.
@inline(never) public func use(_ service: any SharedService) { service.work() }
/// Uses the last of the chain.
@inline(never) public func use(_ service: any Fifth) { service.work() }
/// Uses what has ten parts.
@inline(never) public func use(_ service: any Whole) { service.work() }

/// The same object, of which the optimizer has forgotten where it comes from.
@inline(never) public func opaque<T: AnyObject>(_ object: T) -> T { object }

/// A service of either kind.
public final class Worker: Service, SharedService {
    /// Makes one.
    public init() {}
    /// Does nothing.
    public func work() {}
}

/// The first of a chain.
public final class FirstLink: First {
    /// Makes one.
    public init() {}
    /// Does nothing.
    public func work() {}
}

/// The one that needs a `First`.
public final class SecondLink: Second {
    let before: any First
    /// Makes one of what it needs.
    public init(_ before: any First) { self.before = before }
    /// Does nothing.
    public func work() {}
}

/// The one that needs a `Second`.
public final class ThirdLink: Third {
    let before: any Second
    /// Makes one of what it needs.
    public init(_ before: any Second) { self.before = before }
    /// Does nothing.
    public func work() {}
}

/// The one that needs a `Third`.
public final class FourthLink: Fourth {
    let before: any Third
    /// Makes one of what it needs.
    public init(_ before: any Third) { self.before = before }
    /// Does nothing.
    public func work() {}
}

/// The one that needs a `Fourth`.
public final class FifthLink: Fifth {
    let before: any Fourth
    /// Makes one of what it needs.
    public init(_ before: any Fourth) { self.before = before }
    /// Does nothing.
    public func work() {}
}

/// Any of ten parts.
public final class Part: Part0, Part1, Part2, Part3, Part4, Part5, Part6, Part7, Part8, Part9 {
    /// Makes one.
    public init() {}
    /// Does nothing.
    public func work() {}
}

/// The one that needs ten parts.
public final class Root: Whole {
    let parts:
        (
            any Part0, any Part1, any Part2, any Part3, any Part4,
            any Part5, any Part6, any Part7, any Part8, any Part9
        )
    /// Makes one of what it needs.
    public init(
        _ p0: any Part0, _ p1: any Part1, _ p2: any Part2, _ p3: any Part3, _ p4: any Part4,
        _ p5: any Part5, _ p6: any Part6, _ p7: any Part7, _ p8: any Part8, _ p9: any Part9
    ) { parts = (p0, p1, p2, p3, p4, p5, p6, p7, p8, p9) }
    /// Does nothing.
    public func work() {}
}
