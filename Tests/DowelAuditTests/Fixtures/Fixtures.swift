// Injection sites in every kind of owner; the rest stand in the test target. Those that nobody offers are
// called `lost`. Every type is used somewhere, because the optimizer takes out those that are not.

import Dowel

/// What most sites ask for.
public protocol Service: Sendable {}
/// What is offered under a name only.
public protocol NamedService: Sendable {}
/// What nobody offers.
public protocol Unoffered: Sendable {}
/// A generic type that is asked for.
open class Box<Content> {
    /// Makes one.
    public init() {}
}

/// A structure that others see.
public struct OpenStructure {
    @Inject var service: any Service
    /// Makes one.
    public init() {}
}

struct Structure {
    @Inject var service: any Service
    @Inject("named") var named: any NamedService
    let constant = Inject<any Service>()
}

/// A class that others inherit from.
open class Base {
    @Inject private var service: any Service
    /// Makes one.
    public init() {}
}

final class Heir: Base {
    @Inject private var box: Box<Int>
}

final class Shared: Sendable {
    let service = Inject<any Service>()
    let _underscored = Inject<any Service>()
}

actor Actor {
    @Inject var service: any Service
}

@MainActor final class View {
    @Inject var service: any Service
}

enum Enumeration {
    case one
    struct Nested {
        struct Deeper {
            @Inject var service: any Service
        }
        @Inject var lost: any Unoffered
    }
}

private struct Private {
    @Inject var service: any Service
    @Inject var optional: (any Unoffered)?
}

fileprivate final class FilePrivate {
    @Inject private var lost: any Unoffered
}

struct Generic<Element> {
    @Inject var service: any Service
    @Inject var elements: Box<Element>
    struct Nested {
        @Inject var service: any Service
    }
}

extension String {
    struct Extension {
        @Inject var service: any Service
    }
}

/// Has the name of the one below that asks, and does not ask.
public struct Local {
    /// Makes one.
    public init() {}
}

/// Uses every type of this file.
public func useFixtures() -> [Any] {
    struct Local {
        @Inject var service: any Service
    }
    let closure: () -> Any = {
        final class InClosure {
            @Inject var service: any Service
        }
        return InClosure()
    }
    return [
        OpenStructure(), Structure(), Heir(), Shared(), Actor(), Enumeration.Nested(), Enumeration.Nested.Deeper(),
        Private(), FilePrivate(), Generic<Int>(), Generic<Int>.Nested(), String.Extension(), Local(), closure(),
        View.self,
    ]
}
