//
//  Dowel.swift, version 0.1.0
//  Dependency injection in one file: a package, or this file copied into a module of yours.
//  SPDX-License-Identifier: MIT (the whole text stands at the end)
//

// MARK: - Asking

/// A property that gets its value from the module that offers its type, at the first read, and keeps it.
public typealias Inject = Resolver.Inject

nonisolated extension Resolver {
    /// A property that gets its value from the module that offers its type, at the first read, and keeps it.
    @propertyWrapper public final class Inject<Value> {
        /// Set once, under the lock that guards this object, before `ready` is.
        @usableFromInline @exclusivity(unchecked) var value: Value?
        @usableFromInline @exclusivity(unchecked) var origin: Origin?
        @usableFromInline let place: Place
        @usableFromInline let ready = Flag()

        /// Asks for the module of this property's type, and of `name` if there is one, when the property is first read.
        @inlinable public init(_ name: String? = nil, file: StaticString = #fileID, line: UInt32 = #line) {
            place = Place(file, line)
            origin = name == nil && Container.firstIsInForce.isSet ? nil : Origin(name)
        }

        /// Holds a value given by hand and looks nothing up: for tests and memberwise initializers.
        @inlinable public init(given value: Value, file: StaticString = #fileID, line: UInt32 = #line) {
            place = Place(file, line)
            self.value = value
            ready.set()
        }

        /// The value, made at the first read.
        @inlinable public var wrappedValue: Value { ready.isSet ? value.unsafelyUnwrapped : firstRead() }

        /// The value, for an `Inject` that is a plain constant: `let api = Inject<any API>()`, then `api().load()`.
        @inlinable public func callAsFunction() -> Value { wrappedValue }

        /// No lock is held while the value is made: of racing readers the first to finish wins, for all.
        @inlinable func firstRead() -> Value {
            let lock = Lock.guarding(self)
            let (kept, origin) = lock.withLock { (value, self.origin) }
            if let kept { return kept }
            let container = Container.asked(by: origin)
            guard let made: Value = Frame.ask(origin?.name, place, container) else {
                return Frame.absent(origin?.name, place, container)
            }
            return withExtendedLifetime(origin) {
                lock.withLock {
                    if value == nil {
                        value = made
                        self.origin = nil
                        ready.set()
                    }
                    return value.unsafelyUnwrapped
                }
            }
        }
    }
}

nonisolated extension Resolver.Inject: Resolver.Site {
    /// The type this property asks for.
    public static var wanted: Any.Type { Value.self }
}

// What an Inject holds is set once, under a lock, and may be shared where the value may.
nonisolated extension Resolver.Inject: @unchecked Sendable where Value: Sendable {}

// MARK: - Offering

/// Offers one type: how to make it, how long it lives, and optionally under which name.
public nonisolated struct Module: Sendable {
    @usableFromInline let source: Resolver.Source
    fileprivate var replacesNothing = false

    /// The type it offers.
    public var type: Any.Type { source.type }
    /// The name it offers the type under, if any.
    public var name: String? { source.name }
    /// The types its factory and its configuration take.
    public var needs: [Any.Type] { source.needs + source.parts }
    /// How long what it makes lives.
    public var lifetime: Lifetime<Void> { Lifetime(source.kind) }
    /// The file it was written in, after its module's name.
    public var file: String { source.place.file }
    /// The line it was written in.
    public var line: Int { Int(source.place.line) }

    /// Offers what `make` makes; its parameters are filled by their types.
    @inlinable public init<T, each Need>(
        _ make: @escaping @Sendable (repeat each Need) -> T, file: StaticString = #fileID, line: UInt32 = #line
    ) { self.init(nil, .unshared, Resolver.Place(file, line), make) }

    /// Offers what `make` makes, which lives as long as `lifetime` says.
    @inlinable public init<T, each Need>(
        _ lifetime: Lifetime<T>, _ make: @escaping @Sendable (repeat each Need) -> T,
        file: StaticString = #fileID, line: UInt32 = #line
    ) { self.init(nil, lifetime.kind, Resolver.Place(file, line), make) }

    /// Offers what `make` makes under a name.
    @inlinable public init<T, each Need>(
        _ name: String, _ lifetime: Lifetime<T> = .unshared, _ make: @escaping @Sendable (repeat each Need) -> T,
        file: StaticString = #fileID, line: UInt32 = #line
    ) { self.init(name, lifetime.kind, Resolver.Place(file, line), make) }

    /// Offers what `make` makes, and configures it when the whole graph of the request exists.
    @inlinable public init<T, each Need, each Part>(
        _ lifetime: Lifetime<T>.Configurable = .unshared, _ make: @escaping @Sendable (repeat each Need) -> T,
        configure: @escaping @Sendable (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: UInt32 = #line
    ) { self.init(nil, lifetime.kind, Resolver.Place(file, line), make, Resolver.Configuration(configure)) }

    /// Offers what `make` makes under a name, and configures it when the whole graph of the request exists.
    @inlinable public init<T, each Need, each Part>(
        _ name: String, _ lifetime: Lifetime<T>.Configurable = .unshared,
        _ make: @escaping @Sendable (repeat each Need) -> T,
        configure: @escaping @Sendable (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: UInt32 = #line
    ) { self.init(name, lifetime.kind, Resolver.Place(file, line), make, Resolver.Configuration(configure)) }

    /// Offers what `make` makes on the main actor, where alone it may be asked for.
    @inlinable public static func main<T, each Need>(
        _ make: @escaping @MainActor (repeat each Need) -> T, file: StaticString = #fileID, line: UInt32 = #line
    ) -> Module { Module(nil, .unshared, Resolver.Place(file, line), onMain(make, T.self)) }

    /// Offers what `make` makes on the main actor, which lives as long as `lifetime` says and need not be `Sendable`.
    @inlinable public static func main<T, each Need>(
        _ lifetime: Lifetime<Confined<T>>, _ make: @escaping @MainActor (repeat each Need) -> T,
        file: StaticString = #fileID, line: UInt32 = #line
    ) -> Module { Module(nil, lifetime.kind, Resolver.Place(file, line), onMain(make, T.self)) }

    /// Offers what `make` makes on the main actor under a name.
    @inlinable public static func main<T, each Need>(
        _ name: String, _ lifetime: Lifetime<Confined<T>> = .unshared,
        _ make: @escaping @MainActor (repeat each Need) -> T, file: StaticString = #fileID, line: UInt32 = #line
    ) -> Module { Module(name, lifetime.kind, Resolver.Place(file, line), onMain(make, T.self)) }

    /// Offers what `make` makes on the main actor, and configures it when the whole graph of the request exists.
    @inlinable public static func main<T, each Need, each Part>(
        _ lifetime: Lifetime<T>.Configurable = .unshared, _ make: @escaping @MainActor (repeat each Need) -> T,
        configure: @escaping @MainActor (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: UInt32 = #line
    ) -> Module { Module(nil, lifetime.kind, Resolver.Place(file, line), onMain(make, T.self), onMain(configure)) }

    /// Offers what `make` makes on the main actor under a name, and configures it when the request's graph exists.
    @inlinable public static func main<T, each Need, each Part>(
        _ name: String, _ lifetime: Lifetime<T>.Configurable = .unshared,
        _ make: @escaping @MainActor (repeat each Need) -> T,
        configure: @escaping @MainActor (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: UInt32 = #line
    ) -> Module { Module(name, lifetime.kind, Resolver.Place(file, line), onMain(make, T.self), onMain(configure)) }

    /// Makes the compiler say which `component()` is missing: conform a module that has several.
    public protocol Components {}

    /// Carries what belongs to the main actor through code that asks for `Sendable`; it is opened on the main actor only.
    public struct Confined<T>: @unchecked Sendable {
        @usableFromInline let value: T
        @inlinable init(_ value: T) { self.value = value }
    }

    @inlinable init<T, each Need>(
        _ name: String?, _ kind: Resolver.Kind, _ place: Resolver.Place,
        _ make: @escaping @Sendable (repeat each Need) -> T, _ configuration: Resolver.Configuration<T>? = nil
    ) {
        var needs: [Any.Type] = []
        repeat needs.append((each Need).self)
        let filled: Resolver.Make<T> = { make(repeat $0.pointee.need((each Need).self)) }
        source = Resolver.Offer(name, kind, place, needs, filled, configuration)
    }

    /// Looks first whether this is the main thread: off it, some systems end the program without a word.
    @inlinable static func onMain<T, each Need, Result>(
        _ body: @escaping @MainActor (repeat each Need) -> Result, _ type: T.Type
    ) -> @Sendable (repeat each Need) -> Result {
        { (need: repeat each Need) in
            Resolver.requireMainThread(type)
            let needs = Confined((repeat each need))
            return MainActor.assumeIsolated { Confined(body(repeat each needs.value)) }.value
        }
    }

    @inlinable static func onMain<T, each Part>(
        _ configure: @escaping @MainActor (T, repeat each Part) -> Void
    ) -> Resolver.Configuration<T> {
        Resolver.Configuration { (value: T, part: repeat each Part) in
            let confined = Confined(value)
            onMain({ (part: repeat each Part) in configure(confined.value, repeat each part) }, T.self)(repeat each part)
        }
    }
}

nonisolated extension Module.Components {
    /// Stands in for the `component()` that is missing, to say so.
    @available(*, unavailable, message: "no component() of this module makes a value of this type: write one")
    public func component<T>() -> T { fatalError() }
}

/// How long an instance lives, and who shares it.
public nonisolated struct Lifetime<T>: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline let kind: Resolver.Kind
    fileprivate init(_ kind: Resolver.Kind) { self.kind = kind }

    /// A new instance for each that asks.
    public static var unshared: Self { Self(.unshared) }
    /// One instance for all that is made in one request.
    public static var objectGraph: Self { Self(.objectGraph) }
    /// The lifetime's word.
    public var description: String { "\(kind)" }

    /// The lifetimes of what is configured after it was made: those in which no other thread can see it before.
    public struct Configurable: Sendable {
        @usableFromInline let kind: Resolver.Kind
        /// A new instance for each that asks.
        public static var unshared: Self { Self(kind: .unshared) }
        /// One instance for all that is made in one request.
        public static var objectGraph: Self { Self(kind: .objectGraph) }
    }
}

nonisolated extension Lifetime where T: Sendable {
    /// One instance, made when it is first asked for, exactly once.
    public static var shared: Self { Self(.shared) }
    /// One instance, for as long as anyone holds it.
    public static var weakShared: Self { Self(.weakShared) }
}

// MARK: - Collecting

/// Collects modules in a block; a value, of which nothing is in force before `build()`.
public nonisolated struct Dependencies: Sendable {
    /// The modules collected, in order.
    public private(set) var modules: [Module]

    /// Collects the modules, the other `Dependencies` and the arrays of modules in the block.
    public init(@Builder _ modules: () -> [Module]) { self.modules = modules() }

    /// Makes these the process's dependencies, in place of any before; stops the program where they are wrong.
    @discardableResult public func build() -> Self {
        Resolver.Container(checked(modules.map(\.source))).install()
        return self
    }

    /// A copy with the other's modules in place of those of the same type and name.
    public func replacing(_ other: Dependencies) -> Dependencies {
        let (old, new) = (Set(modules.map(\.source.key)), Set(other.modules.map(\.source.key)))
        var copy = self
        copy.modules.removeAll { new.contains($0.source.key) }
        for var module in other.modules {
            module.replacesNothing = !old.contains(module.source.key)
            copy.modules.append(module)
        }
        return copy
    }

    /// Builds the block of `Dependencies { … }`.
    @resultBuilder public enum Builder {
        // swift-format-ignore-start: AllPublicDeclarationsHaveDocumentation
        public static func buildExpression(_ module: Module) -> [Module] { [module] }
        public static func buildExpression(_ modules: [Module]) -> [Module] { modules }
        public static func buildExpression(_ dependencies: Dependencies) -> [Module] { dependencies.modules }
        @available(*, unavailable, message: "this is no module: write Module { … as P } to offer what it makes")
        public static func buildExpression<T>(_ instance: T) -> [Module] { [] }
        public static func buildBlock(_ parts: [Module]...) -> [Module] { Array(parts.joined()) }
        public static func buildArray(_ parts: [[Module]]) -> [Module] { Array(parts.joined()) }
        public static func buildOptional(_ part: [Module]?) -> [Module] { part ?? [] }
        public static func buildEither(first part: [Module]) -> [Module] { part }
        public static func buildEither(second part: [Module]) -> [Module] { part }
        public static func buildLimitedAvailability(_ part: [Module]) -> [Module] { part }
        // swift-format-ignore-end
    }
}

// MARK: - Finding

/// The one registry of the process: finds what the modules in force offer.
public nonisolated enum Resolver {
    /// What the module of this type and name makes; stops the program where nobody offers it.
    @inlinable public static func resolve<T>(
        _ name: String? = nil, file: StaticString = #fileID, line: UInt32 = #line
    ) -> T {
        guard let made: T = Frame.ask(name, Place(file, line), nil) else { missing(T.self, name, Place(file, line), nil) }
        return made
    }

    /// What the module of this type and name makes, or nil where nobody offers it.
    @inlinable public static func find<T>(
        _ name: String? = nil, file: StaticString = #fileID, line: UInt32 = #line
    ) -> T? { Frame.ask(name, Place(file, line), nil) }

    /// Adds an instance to the dependencies in force, in place of any of its type and name, until the next `build()`.
    public static func register<T: Sendable>(
        _ instance: T, _ name: String? = nil, file: StaticString = #fileID, line: UInt32 = #line
    ) {
        let place = Place(file, line)
        // Whoever still asks the old container after the next build() gets what is offered then.
        let make: Make<T> = { _ in Frame.ask(name, place, Container.built) ?? missing(T.self, name, place, nil) }
        Container.choose(nil, Platform.frame).register(Offer(name, .registered, place, [], make, nil, kept: instance))
    }

    /// A type of property that asks: every `Inject` is one. A tool reads from it what is wanted.
    public protocol Site {
        /// The type asked for.
        static var wanted: Any.Type { get }
    }
}

// MARK: - Keeping

/// Gives the `component()` functions of a module the lifetimes that modules have.
public nonisolated final class Scope: Sendable {
    @usableFromInline let shelf = Resolver.Shelf()

    /// A scope in which nothing is kept yet.
    public init() {}

    /// One instance for this place in the source, and this `id`; made when it is first asked for, exactly once.
    @inlinable public func shared<T: Sendable>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T,
        file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
    ) rethrows -> T { try shelf.instance(.shared, id, Resolver.Place(file, line, column), make) }

    /// One instance for this place in the source, and this `id`, for as long as anyone holds it.
    @inlinable public func weakShared<T: Sendable>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T,
        file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
    ) rethrows -> T { try shelf.instance(.weakShared, id, Resolver.Place(file, line, column), make) }

    /// One instance for this place in the source, and this `id`, in each request; configured when its graph exists.
    @inlinable public func objectGraph<T>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T, configure: ((T) -> Void)? = nil,
        file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
    ) rethrows -> T { try shelf.instance(.objectGraph, id, Resolver.Place(file, line, column), make, configure) }

    /// The same on the main actor, where what is kept need not be `Sendable`.
    public var main: Main { Main(shelf: shelf) }

    /// Lets go of all that is kept here; what was handed out lives on with those who have it.
    public func reset() { shelf.clear() }

    /// The lifetimes of a scope on the main actor.
    public struct Main: Sendable {
        @usableFromInline let shelf: Resolver.Shelf

        /// One instance for this place in the source, and this `id`; made when it is first asked for, exactly once.
        @MainActor public func shared<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
        ) rethrows -> T { try shelf.instance(.shared, id, Resolver.Place(file, line, column)) { try make() } }

        /// One instance for this place in the source, and this `id`, for as long as anyone holds it.
        @MainActor public func weakShared<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
        ) rethrows -> T { try shelf.instance(.weakShared, id, Resolver.Place(file, line, column)) { try make() } }

        /// One instance for this place in the source, and this `id`, in each request; configured when its graph exists.
        @MainActor public func objectGraph<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            configure: (@MainActor (T) -> Void)? = nil,
            file: StaticString = #fileID, line: UInt32 = #line, column: UInt32 = #column
        ) rethrows -> T {
            let place = Resolver.Place(file, line, column)
            return try shelf.instance(.objectGraph, id, place, { try make() }, configure.map { body in { body($0) } })
        }
    }
}

// MARK: - Overriding

nonisolated extension Dependencies {
    /// Runs `body` with these in place of the modules in force: for this task, and those it starts inside, only.
    public func override<Result>(during body: () throws -> Result) rethrows -> Result {
        let container = Resolver.Container.overriding(self)
        defer { container.close() }
        return try Resolver.Container.bound.withValue(container, operation: body)
    }

    /// Runs `body` with these in place of the modules in force: for this task, and those it starts inside, only.
    public func override<Result>(
        isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
    ) async rethrows -> Result {
        let container = Resolver.Container.overriding(self)
        defer { container.close() }
        return try await Resolver.Container.bound.withValue(container, operation: body)
    }

    /// Stands in the way of a block that lists modules where code belongs.
    @available(*, unavailable, message: "this block is code: write Dependencies { Module { … } }.override { … }")
    public func override(during body: () throws -> Module) rethrows {}
}

// MARK: - Validating

/// All that is wrong with a set of modules, or with what asks for them.
public nonisolated struct WiringError: Error, CustomStringConvertible {
    /// Each problem: what is wrong, where, and how to mend it.
    public let problems: [String]

    /// An error with these problems.
    public init(_ problems: [String]) { self.problems = problems }

    /// The problems, a line each.
    public var description: String {
        "\(problems.count) wiring problem\(problems.count == 1 ? "" : "s")" + problems.map { "\n- \($0)" }.joined()
    }
}

nonisolated extension Dependencies {
    /// Throws one error with every problem of these modules; makes nothing.
    public func validate() throws(WiringError) {
        let problems = problems(in: Resolver.Table(modules.map(\.source)))
        if !problems.isEmpty { throw WiringError(problems) }
    }

    /// These sources, with nothing made yet; stops the program where they are wrong.
    fileprivate func checked(_ sources: [Resolver.Source]) -> Resolver.Table {
        let table = Resolver.Table(sources.map { $0.fresh() })
        let problems = problems(in: table)
        if !problems.isEmpty { Resolver.stop(WiringError(problems).description) }
        return table
    }

    private func problems(in table: Resolver.Table) -> [String] {
        modules.filter(\.replacesNothing).map { "\($0.source) replaces nothing: did you forget `as P`?" } + table.problems
    }
}

nonisolated extension Resolver.Table {
    /// Walks each need once, with a stack of its own: needs that nobody offers, and those that lead back to themselves.
    fileprivate var problems: [String] {
        enum Mark { case unseen, onPath, done }
        var marks = [Mark](repeating: .unseen, count: sources.count)
        let places = Dictionary(uniqueKeysWithValues: sources.indices.map { (ObjectIdentifier(sources[$0]), $0) })
        var (missing, cycles): ([(source: Int, text: String)], [String]) = ([], [])
        for start in sources.indices where marks[start] == .unseen {
            var path = [(source: start, next: 0)]
            marks[start] = .onPath
            while let (current, next) = path.last {
                let source = sources[current]
                guard next < source.needs.count + source.parts.count else {
                    marks[current] = .done
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let need = next < source.needs.count ? source.needs[next] : source.parts[next - source.needs.count]
                guard let target = offer(of: need).map({ places[ObjectIdentifier($0)]! }) else {
                    if !(need is any Resolver.Wrapping.Type) { missing.append((current, problem(source, need))) }
                    continue
                }
                if next >= source.needs.count { continue }  // What configures comes after all is made: no cycle.
                if marks[target] == .unseen {
                    marks[target] = .onPath
                    path.append((target, 0))
                } else if marks[target] == .onPath {
                    let cycle = path.map(\.source).drop { $0 != target } + [target]
                    cycles.append("Dependency cycle: " + cycle.map { sources[$0].description }.joined(separator: " → "))
                }
            }
        }
        return duplicates + missing.sorted { $0.source < $1.source }.map(\.text) + cycles
    }

    private func problem(_ source: Resolver.Source, _ need: Any.Type) -> String {
        let (name, short) = (Resolver.name(of: need), Resolver.shortName(of: need))
        let mend =
            name.hasPrefix("Swift.")
            ? "A bare \(short) is never filled by guesswork: give it a type of its own, or ask for a named module."
            : "Offer it: Module { … as \(short) }."
        return "\(source) needs \(name), which nobody offers. " + nearMisses(need, nil).map { "\($0). " }.joined() + mend
            + " If the parameter has a default value, write the closure: Module { \(Resolver.shortName(of: source.type))(…) }."
    }
}

// MARK: - Failing

nonisolated extension Resolver {
    /// The one way in which this file stops a program: the text of a precondition is lost in release builds.
    static func stop(_ text: String) -> Never { fatalError("Dowel: " + text) }

    @usableFromInline static func requireMainThread(_ type: Any.Type) {
        if Platform.isMainThread { return }
        stop("\(name(of: type)) is offered by a Module.main, and was asked for off the main actor\(Frame.path)")
    }

    /// Stops for want of a module: says what was asked for and where, what comes near, and what would mend it.
    @usableFromInline static func missing(
        _ type: Any.Type, _ name: String?, _ place: Place, _ container: Container?
    ) -> Never {
        let type = (type as? any Wrapping.Type)?.wrapped ?? type
        var lines = ["nobody offers \(label(type, name)), asked for at \(place)"]
        if !Container.wasBuilt { lines.append("build() was never called, or a property initializer read this before") }
        lines += Container.choose(container, Platform.frame).contents.nearMisses(type, name)
        lines.append("to mend it: Module\(name.map { "(\"\($0)\")" } ?? "") { … as \(shortName(of: type)) }")
        stop(lines.joined(separator: "\n  ") + Frame.path)
    }

    static func name(of type: Any.Type) -> String { _typeName(type, qualified: true) }
    static func shortName(of type: Any.Type) -> String { _typeName(type, qualified: false) }
    static func isProtocol(_ type: Any.Type) -> Bool { name(of: Swift.type(of: type)).hasSuffix(".Protocol") }
    static func label(_ type: Any.Type, _ name: String?) -> String {
        Resolver.name(of: type) + (name.map { " \"\($0)\"" } ?? "")
    }
}

nonisolated extension Resolver.Table {
    /// What somebody may have meant who asked for this.
    func nearMisses(_ type: Any.Type, _ name: String?) -> [String] {
        let (full, short) = (Resolver.name(of: type), Resolver.shortName(of: type))
        let lines = sources.compactMap { source -> String? in
            let other = Resolver.name(of: source.type)
            if source.type == type { return "It is offered \(source.name.map { "as \"\($0)\"" } ?? "without a name")" }
            if other == full { return "Another type of this very name is offered at \(source.place): is a library linked twice?" }
            return Resolver.shortName(of: source.type) == short ? "\(source) is offered" : nil
        }
        let concrete = sources.filter { !Resolver.isProtocol($0.type) }.prefix(8).map(\.description)
        guard lines.isEmpty, Resolver.isProtocol(type), !concrete.isEmpty else { return lines }
        return ["Offered are concrete types, perhaps for want of `as \(short)`: " + concrete.joined(separator: ", ")]
    }
}

// MARK: - Private machinery

nonisolated extension Resolver {
    @usableFromInline enum Kind: Hashable, Sendable { case unshared, shared, weakShared, objectGraph, registered }

    /// Makes a value in a frame, which knows the container that fills the needs.
    @usableFromInline typealias Make<T> = @Sendable (Step) -> T

    /// A frame where it lies on its thread's stack, until the call that put it there returns.
    @usableFromInline typealias Step = UnsafeMutablePointer<Frame>

    /// A place in the source.
    @usableFromInline struct Place: @unchecked Sendable, Hashable, CustomStringConvertible {
        /// A constant of the program that ends with a zero.
        @usableFromInline let start: UnsafePointer<UInt8>
        @usableFromInline let line: UInt32
        @usableFromInline let column: UInt32

        @inlinable init(_ file: StaticString, _ line: UInt32, _ column: UInt32 = 0) {
            (start, self.line, self.column) = (file.utf8Start, line, column)
        }

        var file: String { String(cString: start) }
        @usableFromInline var description: String { "\(file):\(line)" }
        @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(line) }

        /// One file's name may stand in a program twice, where a library's code is built into its client.
        @usableFromInline static func == (one: Place, other: Place) -> Bool {
            one.line == other.line && one.column == other.column && (one.start == other.start || one.file == other.file)
        }
    }

    /// What an instance is kept under, or a source is known by.
    @usableFromInline struct Key: Hashable {
        var owner: ObjectIdentifier?
        let type: ObjectIdentifier
        let place: Place?
        let id: AnyHashable?
        /// Apart from `id`, because 1 and 1.0 are one AnyHashable.
        let idType: ObjectIdentifier?

        @usableFromInline init(_ type: Any.Type, _ place: Place?, _ id: (any Hashable)?) {
            (self.type, self.place, self.id) = (ObjectIdentifier(type), place, id.map { AnyHashable($0) })
            idType = id.map { ObjectIdentifier(Swift.type(of: $0)) }
        }
    }

    /// What a module says of where its type comes from, whatever the type.
    @usableFromInline class Source: @unchecked Sendable, CustomStringConvertible {
        let type: Any.Type
        let name: String?
        @usableFromInline let kind: Kind
        let place: Place
        let needs: [Any.Type]
        let parts: [Any.Type]

        init(_ type: Any.Type, _ name: String?, _ kind: Kind, _ place: Place, _ needs: [Any.Type], _ parts: [Any.Type]) {
            (self.type, self.name, self.kind, self.place, self.needs, self.parts) = (type, name, kind, place, needs, parts)
        }

        var key: Key { Key(type, nil, name) }
        @usableFromInline var description: String { "\(Resolver.label(type, name)) (\(place))" }

        /// This source for another container, with nothing made yet.
        func fresh() -> Source { self }
        /// Lets go of what is kept, but knows it for as long as anyone else holds it.
        func weaken() {}
    }

    /// Where instances of one type come from, with what is kept of them in one container.
    @usableFromInline final class Offer<T>: Source, @unchecked Sendable {
        @usableFromInline let make: Make<T>
        @usableFromInline let configuration: Configuration<T>?
        @usableFromInline let slot: Slot<T>?

        @usableFromInline init(
            _ name: String?, _ kind: Kind, _ place: Place, _ needs: [Any.Type], _ make: @escaping Make<T>,
            _ configuration: Configuration<T>?, kept: T? = nil
        ) {
            (self.make, self.configuration) = (make, configuration)
            slot = kind == .unshared || kind == .objectGraph ? nil : Slot(kind, Lock(), kept)
            super.init(T.self, name, kind, place, needs, configuration?.parts ?? [])
        }

        override func fresh() -> Source {
            guard let slot else { return self }
            return Offer(name, kind, place, needs, make, configuration, kept: kind == .registered ? slot.existing : nil)
        }

        override func weaken() { slot?.weaken() }

        @inlinable func instance(_ step: Step) -> T {
            if kind == .unshared { return made(step) }
            let slot = slot ?? Frame.request(of: step).slot(for: self)
            return slot.instance(step) { made(step) }
        }

        @inlinable func made(_ step: Step) -> T {
            let value = make(step)
            if let configuration { Frame.request(of: step).pending.append { configuration.run(value, $0) } }
            return value
        }
    }

    /// What a `configure:` closure does, and what it needs for that.
    @usableFromInline struct Configuration<T>: Sendable {
        @usableFromInline let parts: [Any.Type]
        @usableFromInline let run: @Sendable (T, Step) -> Void

        @inlinable init<each Part>(_ configure: @escaping @Sendable (T, repeat each Part) -> Void) {
            var parts: [Any.Type] = []
            repeat parts.append((each Part).self)
            self.parts = parts
            run = { configure($0, repeat $1.pointee.need((each Part).self)) }
        }
    }

    /// The right to make one instance: one request has it at a time, and those who want it wait for nothing else.
    @usableFromInline class Claim: @unchecked Sendable {
        /// Protects who waits for whom: the owner of every claim, and what every request waits for.
        private static let bookkeeping = Lock()
        private let lock = Lock()
        private var owner: Request?

        /// True when the caller may make; false when another just had the right, for which this has waited.
        func claim(_ step: Step) -> Bool {
            let request = Frame.request(of: step)
            Claim.bookkeeping.lock()
            if owner == nil {
                (owner, step.pointee.claim) = (request, ObjectIdentifier(self))
                lock.lock()
                Claim.bookkeeping.unlock()
                return true
            }
            request.waiting = (self, step)
            var chain = [self]
            while let owner = chain.last?.owner, owner !== request, let next = owner.waiting { chain.append(next.claim) }
            if chain.last?.owner === request { stopForCycle(chain) }
            Claim.bookkeeping.unlock()
            lock.lock()
            lock.unlock()
            Claim.bookkeeping.withLock { request.waiting = nil }
            return false
        }

        func release() {
            Claim.bookkeeping.withLock { owner = nil }
            lock.unlock()
        }

        /// Every thread of the cycle stands still, so that its frames may be read here.
        private func stopForCycle(_ chain: [Claim]) -> Never {
            let labels = chain.flatMap { claim in
                let steps = Array(sequence(first: claim.owner!.waiting!.step) { $0.pointee.parent })
                let first = steps.firstIndex { $0.pointee.claim == ObjectIdentifier(claim) }!
                return steps[(claim === chain.last ? 0 : 1)...first].reversed().map(\.pointee.label)
            }
            stop("Dependency cycle: " + labels.joined(separator: " → "))
        }
    }

    /// Keeps one instance.
    @usableFromInline final class Slot<T>: Claim, @unchecked Sendable {
        /// Protects what is kept; held for a moment only.
        @usableFromInline let lock: Lock
        @usableFromInline @exclusivity(unchecked) var kept: T?
        private weak var object: AnyObject?
        private var isWeak: Bool
        private let kind: Kind

        init(_ kind: Kind, _ lock: Lock, _ kept: T? = nil) {
            (self.kind, self.lock, self.kept, isWeak) = (kind, lock, kept, kind == .weakShared)
        }

        /// The instance, if there is one: this never waits for its creation.
        @inlinable var existing: T? {
            lock.lock()
            defer { lock.unlock() }
            return kept ?? keptByOthers
        }

        @usableFromInline var keptByOthers: T? { isWeak ? object as? T : nil }

        @usableFromInline func instance(_ step: Step, _ make: () throws -> T) rethrows -> T {
            while true {
                if let existing { return existing }
                guard claim(step) else { continue }
                defer { release() }
                if let existing { return existing }
                let value = try make()
                keep(value)
                return value
            }
        }

        private func keep(_ value: T) {
            let object = reference(to: value)
            if kind == .weakShared, object == nil {
                stop("\(name(of: T.self)) is .weakShared, but what is made is no class, so nobody can hold it: use .shared")
            }
            lock.withLock { if isWeak { self.object = object } else { kept = value } }
        }

        func weaken() {
            let value = lock.withLock {
                defer { (kept, isWeak) = (nil, true) }
                object = kept.flatMap(reference) ?? object
                return kept
            }
            withExtendedLifetime(value) {}  // Its deinit may run the user's code, and so runs after the lock.
        }

        private func reference(to value: T) -> AnyObject? {
            Swift.type(of: value as Any) is AnyObject.Type ? value as AnyObject : nil
        }
    }

    /// The slots of a scope, or of one request's graph.
    @usableFromInline final class Shelf: @unchecked Sendable {
        /// Protects the slots and what they keep.
        private let lock = Lock()
        private var slots: [Key: Claim] = [:]

        @usableFromInline func slot<T>(_ key: Key, _ kind: Kind) -> Slot<T> {
            lock.withLock {
                if let slot = slots[key] { return unsafeDowncast(slot, to: Slot<T>.self) }  // The key has the type.
                let slot = Slot<T>(kind, lock)
                slots[key] = slot
                return slot
            }
        }

        @usableFromInline func instance<T>(
            _ kind: Kind, _ id: (any Hashable)?, _ place: Place, _ make: () throws -> T,
            _ configure: ((T) -> Void)? = nil
        ) rethrows -> T {
            let key = Key(T.self, place, id)
            let slot: Slot<T>? = kind == .objectGraph ? nil : slot(key, kind)
            if let kept = slot?.existing { return kept }
            var frame = Frame(T.self, place)
            return try frame.run { step in
                let request = Frame.request(of: step)
                return try (slot ?? request.slot(key, of: self)).instance(step) {
                    let value = try make()
                    if let configure { request.pending.append { _ in configure(value) } }
                    return value
                }
            }
        }

        func clear() {
            let old = lock.withLock {
                defer { slots = [:] }
                return slots
            }
            withExtendedLifetime(old) {}
        }
    }

    /// What the frames of a request share, once they need any of it.
    @usableFromInline final class Request {
        /// The `configure:` closures to run when the outermost instance exists.
        @usableFromInline var pending: [(Step) -> Void] = []
        fileprivate var waiting: (claim: Claim, step: Step)?
        private let graph = Shelf()
        private var owners: [AnyObject] = []

        /// The slot in this request's graph; its owner is held, so that no other comes to its address meanwhile.
        func slot<T>(_ key: Key, of owner: AnyObject) -> Slot<T> {
            owners.append(owner)
            var key = key
            key.owner = ObjectIdentifier(owner)
            return graph.slot(key, .objectGraph)
        }

        @usableFromInline func slot<T>(for offer: Offer<T>) -> Slot<T> { slot(offer.key, of: offer) }
    }

    /// One thing being made. The frames of a thread, from the outermost on, are its request.
    @usableFromInline struct Frame {
        let type: Any.Type
        @usableFromInline let place: Place
        let parent: Step?
        let depth: Int
        @usableFromInline private(set) var source: Unmanaged<Source>?
        let container: Unmanaged<Container>
        let isCounted: Bool
        /// The override in whose extent this began.
        let bound: ObjectIdentifier?
        fileprivate var claim: ObjectIdentifier?
        private var request: Unmanaged<Request>?

        /// A frame without a source, for what is made in a scope.
        init(_ type: Any.Type, _ place: Place, _ chosen: Container? = nil) {
            (self.type, self.place, parent) = (type, place, Platform.frame)
            depth = parent.map { $0.pointee.depth + 1 } ?? 1
            if Container.firstIsInForce.isSet, let first = Container.first {
                (container, isCounted, bound) = (first, false, nil)
            } else {
                (container, isCounted) = (.passRetained(Container.choose(chosen, parent)), true)
                bound = Container.bound.get().map { ObjectIdentifier($0) }
            }
        }

        @usableFromInline init(_ type: Any.Type, _ name: String?, _ place: Place, _ chosen: Container?) {
            self.init(type, place, chosen)
            source = container._withUnsafeGuaranteedRef {
                isCounted ? $0.contents.find(type, name)?.retain() : $0.table.find(type, name)
            }
        }

        /// What the module of this type makes, or nil where nobody offers it.
        @inlinable static func ask<T>(_ name: String?, _ place: Place, _ container: Container?) -> T? {
            var frame = Frame(T.self, name, place, container)
            guard let source = frame.source else {
                frame.end()
                return askWrapped(T.self, name, place, container)
            }
            return source._withUnsafeGuaranteedRef { source in
                let offer = unsafeDowncast(source, to: Offer<T>.self)  // It was found by the type's identity.
                guard let kept = offer.slot?.existing else { return frame.run { offer.instance($0) } }
                frame.end()
                return kept
            }
        }

        /// An optional is filled with what its wrapped type's module makes.
        @usableFromInline static func askWrapped<T>(
            _ type: T.Type, _ name: String?, _ place: Place, _ container: Container?
        ) -> T? { (type as? any Wrapping.Type)?.ask(name, place, container) as? T }

        /// The value where nobody offers T: nil for an optional; anything else stops the program.
        @usableFromInline static func absent<T>(_ name: String?, _ place: Place, _ container: Container?) -> T {
            guard T.self is any Wrapping.Type else { missing(T.self, name, place, container) }
            return Any?.none as! T  // The nil of one optional type casts to that of any other.
        }

        @inlinable func need<T>(_ type: T.Type) -> T { Frame.ask(nil, place, nil) ?? Frame.absent(nil, place, nil) }

        @inlinable mutating func run<T>(_ make: (Step) throws -> T) rethrows -> T {
            try withUnsafeMutablePointer(to: &self) { step in
                defer { step.pointee.end() }
                Frame.begin(step)
                let value = try make(step)
                Frame.complete(step)
                return value
            }
        }

        @usableFromInline static func begin(_ step: Step) {
            Platform.frame = step
            if step.pointee.depth > 100 { stop("100 things are being made, each for the one before\(path)") }
        }

        /// At the end of the request, runs what is to be configured; that may ask for more, and so add more.
        @usableFromInline static func complete(_ step: Step) {
            guard step.pointee.parent == nil, let request = step.pointee.request?.takeUnretainedValue() else { return }
            while !request.pending.isEmpty {
                let batch = request.pending
                request.pending = []
                for configure in batch { configure(step) }
            }
        }

        @usableFromInline func end() {
            Platform.frame = parent
            request?.release()
            guard isCounted else { return }
            source?.release()
            container.release()
        }

        @usableFromInline static func request(of step: Step) -> Request {
            var root = step
            while let parent = root.pointee.parent { root = parent }
            if root.pointee.request == nil { root.pointee.request = .passRetained(Request()) }
            return root.pointee.request!.takeUnretainedValue()
        }

        var label: String { Resolver.label(type, source?.takeUnretainedValue().name) }

        /// What the thread is making, as the end of a text.
        static var path: String {
            guard let innermost = Platform.frame else { return "" }
            let steps = sequence(first: innermost) { $0.pointee.parent }.map { "\($0.pointee.label) (\($0.pointee.place))" }
            return "\n  while making " + steps.reversed().joined(separator: " → ")
        }
    }

    /// What an `Inject` with a name, or one created inside an override, remembers until it has resolved.
    @usableFromInline final class Origin: Sendable {
        @usableFromInline let name: String?
        fileprivate let container: Container?

        @usableFromInline init?(_ name: String?) {
            let container = Container.choose(nil, Platform.frame)
            (self.name, self.container) = (name, container.isOverride ? container : nil)
            if name == nil, !container.isOverride { return nil }
        }
    }

    /// Modules in force together, and what is kept of them.
    @usableFromInline final class Container: @unchecked Sendable {
        /// Set while the first container is in force and nothing was ever overridden or registered: it is then found
        /// without a lock, and for that lives as long as the process. Later ones are counted.
        @usableFromInline static let firstIsInForce = Flag()
        nonisolated(unsafe) private(set) static var first: Unmanaged<Container>?
        static let bound = TaskLocal<Container?>(wrappedValue: nil)

        /// Protects `first`, `current` and `wasBuilt`.
        private static let lock = Lock()
        nonisolated(unsafe) private static var current = Container(Table([]))
        nonisolated(unsafe) private(set) static var wasBuilt = false

        let table: Table
        let isOverride: Bool
        private let lock = Lock()
        /// The table with what was registered since; protected by `lock`.
        private var extended: Table?

        init(_ table: Table, isOverride: Bool = false) { (self.table, self.isOverride) = (table, isOverride) }

        static func overriding(_ dependencies: Dependencies) -> Container {
            touch()
            let (new, keys) = (dependencies.modules.map(\.source), Set(dependencies.modules.map(\.source.key)))
            let enclosing = choose(nil, Platform.frame).contents.sources.filter { !keys.contains($0.key) }
            return Container(dependencies.checked(enclosing + new), isOverride: true)
        }

        /// From here on the container in force has to be looked for.
        private static func touch() {
            lock.withLock {
                first = first ?? .passRetained(current)
                firstIsInForce.clear()
            }
        }

        func install() {
            let old = Container.lock.withLock {
                defer { (Container.current, Container.wasBuilt) = (self, true) }
                if Container.first == nil {
                    Container.first = .passRetained(self)
                    Container.firstIsInForce.set()
                } else {
                    Container.firstIsInForce.clear()
                }
                return Container.current
            }
            old.close()
        }

        /// What was built last.
        static var built: Container { lock.withLock { current } }

        /// The container that an `Inject` asks; nil where the frame finds it without looking.
        @usableFromInline static func asked(by origin: Origin?) -> Container? {
            firstIsInForce.isSet ? nil : origin?.container ?? built
        }

        /// The container in force: of what is being made, unless an override began since; else of the override.
        static func choose(_ chosen: Container?, _ parent: Step?) -> Container {
            let bound = bound.get()
            if let chosen { return chosen }
            guard let parent, parent.pointee.bound == bound.map({ ObjectIdentifier($0) }) else { return bound ?? built }
            return parent.pointee.container.takeUnretainedValue()
        }

        /// The sources as they stand, with what was registered.
        var contents: Table { lock.withLock { extended ?? table } }

        func register(_ source: Source) {
            Container.touch()
            let old = lock.withLock {
                let old = extended ?? table
                extended = Table(old.sources.filter { $0.key != source.key } + [source])
                return old
            }
            withExtendedLifetime(old) {}
        }

        /// Keeps nothing from here on: whoever still asks gets what others hold, or a new one.
        func close() { for source in contents.sources { source.weaken() } }
    }

    /// Finds a source by its type and name; never changes.
    @usableFromInline final class Table: @unchecked Sendable {
        private(set) var sources: [Source] = []
        private(set) var duplicates: [String] = []
        private let buckets: UnsafeMutableBufferPointer<Unmanaged<Source>?>

        init(_ all: [Source]) {
            var size = 8
            while size < all.count * 2 { size *= 2 }
            buckets = .allocate(capacity: size)
            buckets.initialize(repeating: nil)
            for source in all {
                let bucket = bucket(of: source.type, source.name)
                if let other = buckets[bucket]?.takeUnretainedValue() {
                    if other.place == source.place { continue }
                    duplicates.append("\(source) is offered at \(other.place) too: take one out, or use replacing(_:).")
                } else {
                    buckets[bucket] = .passUnretained(source)
                    sources.append(source)
                }
            }
        }

        deinit { buckets.deallocate() }

        func find(_ type: Any.Type, _ name: String?) -> Unmanaged<Source>? { buckets[bucket(of: type, name)] }

        /// What fills a need: for an optional, what its wrapped type's module makes.
        func offer(of need: Any.Type) -> Source? {
            if let source = find(need, nil) { return source.takeUnretainedValue() }
            return (need as? any Wrapping.Type).flatMap { offer(of: $0.wrapped) }
        }

        /// Where this type and name are, or where they would be.
        private func bucket(of type: Any.Type, _ name: String?) -> Int {
            var hash = UInt64(UInt(bitPattern: ObjectIdentifier(type))) &* 0x9E37_79B9_7F4A_7C15
            if let name { hash ^= UInt64(UInt(bitPattern: name.hashValue)) }
            var index = Int(truncatingIfNeeded: hash >> 32) & (buckets.count - 1)
            while let source = buckets[index], !source._withUnsafeGuaranteedRef({ $0.type == type && $0.name == name }) {
                index = (index + 1) & (buckets.count - 1)
            }
            return index
        }
    }

    /// An optional, seen by code that does not know its type.
    @usableFromInline protocol Wrapping {
        static var wrapped: Any.Type { get }
        static func ask(_ name: String?, _ place: Place, _ container: Container?) -> Any?
    }
}

nonisolated extension Optional: Resolver.Wrapping {
    @usableFromInline static var wrapped: Any.Type { Wrapped.self }
    @usableFromInline static func ask(
        _ name: String?, _ place: Resolver.Place, _ container: Resolver.Container?
    ) -> Any? { (Resolver.Frame.ask(name, place, container) as Wrapped?).map { $0 } }
}

// MARK: - Platform

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif os(Windows)
import WinSDK
#endif
#if !canImport(Darwin)
import Synchronization
#endif

nonisolated extension Resolver {
    /// Not recursive; held for a moment only, but for the one of a claim.
    @usableFromInline final class Lock: @unchecked Sendable {
        #if os(Windows) || os(WASI)
        private let mutex = Mutex<Void>(())
        @usableFromInline func lock() { mutex._unsafeLock() }  // A claim outlasts any closure given to `withLock`.
        @usableFromInline func unlock() { mutex._unsafeUnlock() }
        #else
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        init() { pthread_mutex_init(mutex, nil) }
        deinit { _ = (pthread_mutex_destroy(mutex), mutex.deallocate()) }
        @usableFromInline func lock() { pthread_mutex_lock(mutex) }
        @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }
        #endif

        @inlinable func withLock<R>(_ body: () throws -> R) rethrows -> R {
            lock()
            defer { unlock() }
            return try body()
        }

        /// The lock of an object too small to have one of its own.
        @usableFromInline static func guarding(_ object: AnyObject) -> Lock {
            stripes[Int(bitPattern: ObjectIdentifier(object)) >> 6 & 63]
        }
        private static let stripes = (0..<64).map { _ in Lock() }
    }

    /// Read without a lock: when set, what was written before is there; when not, look again under the lock.
    @usableFromInline struct Flag: ~Copyable, Sendable {
        #if canImport(Darwin)  // Before iOS 18 Swift has no atomics there: never set, so that the locks serve.
        @usableFromInline init() {}
        @inlinable var isSet: Bool { false }
        @inlinable func set() {}
        func clear() {}
        #else
        @usableFromInline let state = Atomic<Bool>(false)
        @inlinable init() {}
        @inlinable var isSet: Bool { state.load(ordering: .acquiring) }
        @inlinable func set() { state.store(true, ordering: .releasing) }
        func clear() { state.store(false, ordering: .releasing) }
        #endif
    }

    enum Platform {
        #if os(Windows)
        private static let key = TlsAlloc()
        static var frame: Step? {
            get { TlsGetValue(key)?.assumingMemoryBound(to: Frame.self) }
            set { TlsSetValue(key, newValue) }
        }
        static var isMainThread: Bool { true }  // The runtime's own check has to do.
        #elseif os(WASI)
        nonisolated(unsafe) static var frame: Step?
        static var isMainThread: Bool { true }
        #else
        private static let key = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()
        static var frame: Step? {
            get { pthread_getspecific(key)?.assumingMemoryBound(to: Frame.self) }
            set { pthread_setspecific(key, newValue) }
        }
        #if canImport(Darwin)
        static var isMainThread: Bool { pthread_main_np() != 0 }
        #else
        static var isMainThread: Bool { gettid() == getpid() }
        #endif
        #endif
    }
}

#if canImport(Glibc)
@_silgen_name("gettid") private nonisolated func gettid() -> pid_t  // Glibc has it, but does not show it to Swift.
#endif

// MARK: - Licence
//
// MIT License
//
// Copyright (c) 2026 The Dowel authors
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in all
// copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
// SOFTWARE.
