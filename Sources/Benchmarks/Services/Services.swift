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
