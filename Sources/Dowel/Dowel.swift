//
//  Dowel.swift, version 0.1.0
//  Dependency injection in one file: a package, or this file copied into a module of yours.
//  SPDX-License-Identifier: MIT (the whole text stands at the end)
//

// A module offers one type; dependencies collect modules, and `build()` puts them in force; `@Inject` asks when it is
// first read; the resolver finds; a scope keeps, inside a module, what its `component()` functions make.
//
//     struct ReaderModule: ReaderModuleType {
//         private let scope = Scope()
//
//         func component() -> Feed { RemoteFeed(http: component()) }       // without the next: a compile error
//         func component() -> HTTP { scope.shared { Session() } }          // made once, kept by the scope
//     }
//
//     Dependencies {
//         Module(.shared) { ReaderModule() as any ReaderModuleType }
//         Module { Clock() as any Timekeeping }
//     }.build()
//
//     final class Screen {
//         @Inject private var reader: any ReaderModuleType
//         private lazy var feed: Feed = reader.component()
//     }
//
// A missing component is a compile error. Wrong wiring shows at launch, where `build()` validates, or in a test of one
// line (`validate()`, or `DowelAudit`); a misspelt name, or what a factory resolves by a call, only when looked up.
// Dowel refuses to guess, to generate code, to keep more than one container for the process, and to hold a lock while
// your code runs, except that of the one instance being made.
//
// ## Topics
// Asking: `Inject`. Offering: `Module`, `Lifetime`. Collecting: `Dependencies`. Finding: `Resolver`. Keeping: `Scope`.
// Overriding: `Dependencies.override(during:)`. Validating: `Dependencies.validate()`, `WiringError`.

// MARK: - Asking

/// A property that gets its value from the module that offers its type, at the first read, and keeps it.
///
///     final class Screen {
///         @Inject private var log: any Log
///         @Inject("disk") private var store: any Store     // the module of that name
///         @Inject private var metrics: (any Metrics)?      // nil while nobody offers it
///     }
///
/// Swift allows no property wrapper in a `Sendable` class: write `private let log = Inject<any Log>()` there, and read
/// `log()`. In an `@Observable` class write `@ObservationIgnored @Inject`.
public typealias Inject = Resolver.Inject

// `nonisolated` stands on the extension: on the class itself, or inherited, it would spread to each property wrapped
// by it, which types of the main actor refuse; with none, a copy in a main-actor module would belong to that actor.
nonisolated extension Resolver {
    /// A property that gets its value from the module that offers its type, at the first read, and keeps it.
    @propertyWrapper public final class Inject<Value> {
        /// Where the value lies; set once, by the first reader to have made one. `@exclusivity(unchecked)`, here and
        /// below, spares a check at run time that takes longer than the access.
        @usableFromInline @exclusivity(unchecked) var kept: UnsafeMutablePointer<Value>?
        private let name: Kept<String>?, place: Place  // Most have no name: a box that is nil takes 8 bytes, not 16.
        /// The override this was created in, let go of once the value is here; `Container.lock` protects it.
        @exclusivity(unchecked) private var override: Container?

        /// Asks for the module of this property's type, and of `name` if there is one, when the property is first read.
        public init(_ name: String? = nil, file: StaticString = #fileID, line: Int = #line) {
            (self.name, place) = (name.map { Kept($0) }, Resolver.place(file, line))
            override = Container.sole == nil ? Container.inForce.override : nil  // Sole: nothing was ever overridden.
        }

        /// Holds a value given by hand and looks nothing up: for tests and memberwise initializers.
        public init(given value: Value) {
            (name, place, kept) = (nil, Resolver.place("", 0), .allocate(capacity: 1))
            kept!.initialize(to: value)
        }

        deinit { kept?.deinitialize(count: 1).deallocate() }

        /// The value, made at the first read.
        @inlinable public var wrappedValue: Value { if let kept = Resolver.load(&kept) { kept.pointee } else { ask() } }

        // `@_alwaysEmitIntoClient`, here and below: a client compiles what it calls, and no program carries the rest.
        // Delete it where you delete `public`, or `@testable` clients look for a symbol that nobody emits.
        // What is `@usableFromInline` has no default arguments: with `public` deleted, some compilers crash on them.
        /// The value, for an `Inject` that is a plain constant: `let api = Inject<any API>()`, then `api().load()`.
        @_alwaysEmitIntoClient public func callAsFunction() -> Value { wrappedValue }

        /// The type this property asks for.
        public static var wanted: Any.Type { Value.self }

        /// Asks the container that was in force where this was created, if that was an override; else what was built.
        /// `@_semantics`, here and below: not compiled anew for each type, or a copy of this file would grow with each.
        @_semantics("optimize.sil.specialize.generic.never") @usableFromInline func ask() -> Value {
            var frame = Frame(Value.self, name?.value, place, Container.lock.withLock { override } ?? Container.built)
            // Only now: another reader may have kept a value, and let go of the override before the line above read it.
            if let kept = Resolver.load(&kept) { return kept.pointee }
            // A nil is not kept: somebody may offer the type yet.
            if frame.source == nil { return Frame.missing(&frame, name?.value, orNil: true) }
            let new = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            new.initialize(to: Frame.made(&frame))
            // No lock is held while the value is made: of racing readers the first to finish wins, for all.
            if !Resolver.swap(&kept, nil, with: new) { new.deinitialize(count: 1).deallocate() }
            if Container.sole == nil { Container.lock.take { Swift.exchange(&override, with: nil) } }
            return Resolver.load(&kept).unsafelyUnwrapped.pointee  // Set, here or by another thread.
        }
    }
}

nonisolated extension Resolver.Inject: Resolver.Site {}

// Unchecked: what an Inject keeps is set once, atomically, and may be shared where the value may.
nonisolated extension Resolver.Inject: @unchecked Sendable where Value: Sendable {}

// MARK: - Offering

/// Offers one type: how to make it, how long it lives, and optionally under which name.
public nonisolated struct Module: Sendable {
    @usableFromInline let offer: Resolver.Offer  // An object, which all copies of this module share.
    @usableFromInline let replacesNothing: Bool  // Noted by `replacing(_:)`, reported by `validate()`.

    /// The type it offers.
    public var type: Any.Type { offer.type }
    /// The name it offers the type under, if any.
    public var name: String? { offer.name }
    /// The types that its factory takes, and those that its configuration takes besides.
    public var needs: [Any.Type] { offer.needs }
    /// How long what it makes lives.
    public var lifetime: Lifetime<Void> { offer.kind }
    /// The file it was written in, as `MyModule/MyFile.swift`.
    public var file: String { String(cString: offer.place.file) }
    /// The line it was written in.
    public var line: Int { offer.place.position &>> 16 }

    // Why the next does not have a default for `lifetime` instead: `Module(Worker.init)` would not match it.
    /// Offers what `make` makes; its parameters are filled by their types.
    @_alwaysEmitIntoClient public init<T, each Need>(
        _ make: @escaping @Sendable (repeat each Need) -> T, file: StaticString = #fileID, line: Int = #line
    ) { self.init(nil, .unshared, Resolver.place(file, line), make) }

    /// Offers what `make` makes, which lives as long as `lifetime` says.
    @_alwaysEmitIntoClient public init<T, each Need>(
        _ lifetime: Lifetime<T>, _ make: @escaping @Sendable (repeat each Need) -> T,
        file: StaticString = #fileID, line: Int = #line
    ) { self.init(nil, lifetime.kind, Resolver.place(file, line), make) }

    /// Offers what `make` makes under a name.
    @_alwaysEmitIntoClient public init<T, each Need>(
        _ name: String, _ lifetime: Lifetime<T> = .unshared, _ make: @escaping @Sendable (repeat each Need) -> T,
        file: StaticString = #fileID, line: Int = #line
    ) { self.init(name, lifetime.kind, Resolver.place(file, line), make) }

    /// Offers what `make` makes, and configures it when the whole graph of the request exists.
    @_alwaysEmitIntoClient public init<T, each Need, each Part>(
        _ lifetime: Configurable = .unshared, _ make: @escaping @Sendable (repeat each Need) -> T,
        configure: @escaping @Sendable (T, repeat each Part) -> Void, file: StaticString = #fileID, line: Int = #line
    ) { self.init(nil, lifetime.kind, Resolver.place(file, line), make, configure) }

    /// Offers what `make` makes under a name, and configures it when the whole graph of the request exists.
    @_alwaysEmitIntoClient public init<T, each Need, each Part>(
        _ name: String, _ lifetime: Configurable = .unshared, _ make: @escaping @Sendable (repeat each Need) -> T,
        configure: @escaping @Sendable (T, repeat each Part) -> Void, file: StaticString = #fileID, line: Int = #line
    ) { self.init(name, lifetime.kind, Resolver.place(file, line), make, configure) }

    /// Offers what `make` makes on the main actor, where alone it may be asked for.
    @_alwaysEmitIntoClient public static func main<T, each Need>(
        _ make: @escaping @MainActor @Sendable (repeat each Need) -> T, file: StaticString = #fileID, line: Int = #line
    ) -> Self { Self(nil, .unshared, Resolver.place(file, line), isMain: true, onMain(make)) }

    // `.shared` asks for a `Sendable` type: `Lifetime<T>` is one whatever T is, and so stands in for it here.
    /// Offers what `make` makes on the main actor, which lives as long as `lifetime` says and need not be `Sendable`.
    @_alwaysEmitIntoClient public static func main<T, each Need>(
        _ lifetime: Lifetime<Lifetime<T>>, _ make: @escaping @MainActor @Sendable (repeat each Need) -> T,
        file: StaticString = #fileID, line: Int = #line
    ) -> Self { Self(nil, lifetime.kind, Resolver.place(file, line), isMain: true, onMain(make)) }

    /// Offers what `make` makes on the main actor under a name.
    @_alwaysEmitIntoClient public static func main<T, each Need>(
        _ name: String, _ lifetime: Lifetime<Lifetime<T>> = .unshared,
        _ make: @escaping @MainActor @Sendable (repeat each Need) -> T, file: StaticString = #fileID, line: Int = #line
    ) -> Self { Self(name, lifetime.kind, Resolver.place(file, line), isMain: true, onMain(make)) }

    /// Offers what `make` makes on the main actor, and configures it when the whole graph of the request exists.
    @_alwaysEmitIntoClient public static func main<T, each Need, each Part>(
        _ lifetime: Configurable = .unshared, _ make: @escaping @MainActor @Sendable (repeat each Need) -> T,
        configure: @escaping @MainActor @Sendable (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: Int = #line
    ) -> Self { Self(nil, lifetime.kind, Resolver.place(file, line), isMain: true, onMain(make), thenMain(configure)) }

    /// Offers what `make` makes on the main actor under a name, and configures it when the request's graph exists.
    @_alwaysEmitIntoClient public static func main<T, each Need, each Part>(
        _ name: String, _ lifetime: Configurable = .unshared,
        _ make: @escaping @MainActor @Sendable (repeat each Need) -> T,
        configure: @escaping @MainActor @Sendable (T, repeat each Part) -> Void,
        file: StaticString = #fileID, line: Int = #line
    ) -> Self { Self(name, lifetime.kind, Resolver.place(file, line), isMain: true, onMain(make), thenMain(configure)) }

    /// The lifetimes of what is configured after it was made: no other thread can ask for it between the two.
    public struct Configurable: Sendable {
        @usableFromInline let kind: Lifetime<Void>

        /// A new instance for each that asks.
        public static var unshared: Self { Self(kind: .unshared) }
        /// One instance for all that is made in one request.
        public static var objectGraph: Self { Self(kind: .objectGraph) }
    }

    /// Makes the compiler say which `component()` is missing: conform a module that has several.
    public protocol Components {}

    @_alwaysEmitIntoClient init<T, each Need>(
        _ name: String?, _ kind: Lifetime<Void>, _ place: Resolver.Place, isMain: Bool = false,
        _ make: @escaping @Sendable (repeat each Need) -> T
    ) {
        let offer = Resolver.TypedOffer(name, kind, place, isMain) { make(repeat Resolver.fill($0) as each Need) }
        self.init(offer, replacesNothing: false)
        repeat add((each Need).self, isPart: false)
    }

    @_alwaysEmitIntoClient init<T, each Need, each Part>(
        _ name: String?, _ kind: Lifetime<Void>, _ place: Resolver.Place, isMain: Bool = false,
        _ make: @escaping @Sendable (repeat each Need) -> T,
        _ configure: @escaping @Sendable (T, repeat each Part) -> Void
    ) {
        self.init(name, kind, place, isMain: isMain) { (need: repeat each Need) in
            Resolver.configured(make(repeat each need)) { configure($1, repeat Resolver.fill($0) as each Part) }
        }
        repeat add((each Part).self, isPart: true)
    }

    @usableFromInline init(_ offer: Resolver.Offer, replacesNothing: Bool) {
        (self.offer, self.replacesNothing) = (offer, replacesNothing)
    }

    /// Notes a need: all those of the factory first, then those of the configuration, its parts.
    @usableFromInline @inline(never) func add(_ need: Any.Type, isPart: Bool) {
        offer.needs.append(need)
        if !isPart { offer.partsFrom += 1 }
    }

    /// The factory without its isolation, which `here` assumes.
    @_alwaysEmitIntoClient static func onMain<T, each Need>(
        _ make: @escaping @MainActor @Sendable (repeat each Need) -> T
    ) -> @Sendable (repeat each Need) -> T { { (need: repeat each Need) in here(make, repeat each need) } }

    /// The same for a configuration, which the compiler does not take for a factory whose first need is the instance.
    /// Specialized, it would crash a compiler of 6.2 that was built with assertions.
    @_semantics("optimize.sil.specialize.generic.never") @_alwaysEmitIntoClient static func thenMain<T, each Part>(
        _ configure: @escaping @MainActor @Sendable (T, repeat each Part) -> Void
    ) -> @Sendable (T, repeat each Part) -> Void { onMain(configure) }

    /// Calls `make`. `checkThread` came before this: off the main thread some systems end a program without a word.
    @_semantics("optimize.sil.specialize.generic.never") @_alwaysEmitIntoClient static func here<T, each Need>(
        _ make: @MainActor @Sendable (repeat each Need) -> T, _ need: repeat each Need
    ) -> T {
        let needs = Resolver.Kept((repeat each need))  // Boxed, like the result: neither need be `Sendable`.
        return MainActor.assumeIsolated { Resolver.Kept(make(repeat each needs.value)) }.value
    }
}

nonisolated extension Module.Components {
    /// Stands in for the `component()` that is missing, to say so.
    @available(*, unavailable, message: "no component() of this module makes a value of this type: write one")
    @_alwaysEmitIntoClient public func component<T>() -> T { fatalError() }
}

/// How long an instance lives, and who shares it.
public nonisolated struct Lifetime<T>: Equatable, Sendable, CustomStringConvertible {
    @usableFromInline let number: Int  // Not an enum: that would bring code and metadata for its hash values.
    @_alwaysEmitIntoClient var kind: Lifetime<Void> { Lifetime<Void>(number: number) }  // The same for any T.

    @usableFromInline init(number: Int) { self.number = number }

    /// A new instance for each that asks.
    @_alwaysEmitIntoClient public static var unshared: Self { Self(number: 0) }
    /// One instance for all that is made in one request.
    @_alwaysEmitIntoClient public static var objectGraph: Self { Self(number: 1) }
    /// The lifetime's word.
    public var description: String { ["unshared", "objectGraph", "shared", "weakShared"][number] }
}

nonisolated extension Lifetime where T: Sendable {
    /// One instance, made when it is first asked for, exactly once.
    @_alwaysEmitIntoClient public static var shared: Self { Self(number: 2) }
    /// One instance, for as long as anyone holds it.
    @_alwaysEmitIntoClient public static var weakShared: Self { Self(number: 3) }
}

// MARK: - Collecting

/// Collects modules in a block; a value: nothing is in force before `build()`.
public nonisolated struct Dependencies: Sendable {
    /// The modules collected, in order.
    public private(set) var modules: [Module]

    /// Collects the modules, the other `Dependencies` and the arrays of modules in the block.
    public init(@Builder _ modules: () -> [Module]) { self.modules = modules() }

    /// Makes these the process's dependencies, in place of any before; stops the program where they are wrong.
    @inline(never) @discardableResult public func build() -> Self {
        Resolver.Container.replace(with: Resolver.Container(checked: modules, over: nil))?.close()
        return self
    }

    /// A copy with the other's modules in place of those of the same type and name.
    @_alwaysEmitIntoClient public func replacing(_ other: Dependencies) -> Dependencies {
        // Without those that replaced nothing: to replace one of them would hide that problem.
        let old = Resolver.Container(modules.filter { !$0.replacesNothing })
        let new = other.modules.map { Module($0.offer, replacesNothing: !old.has($0.offer)) }
        return Dependencies { Resolver.Container.merge(modules, new) }
    }

    /// Builds the block of `Dependencies { … }`.
    @resultBuilder public enum Builder {
        /// A module of these dependencies.
        @_alwaysEmitIntoClient public static func buildExpression(_ module: Module) -> [Module] { [module] }
        /// Modules of these dependencies.
        @_alwaysEmitIntoClient public static func buildExpression(_ modules: [Module]) -> [Module] { modules }
        /// The modules of other dependencies.
        public static func buildExpression(_ dependencies: Dependencies) -> [Module] { dependencies.modules }
        /// Catches what is no module, to say so.
        @available(*, unavailable, message: "this is no module: write Module { … as P } to offer what it makes")
        @_alwaysEmitIntoClient public static func buildExpression<T>(_ instance: T) -> [Module] { [] }
        /// All of a block.
        @_alwaysEmitIntoClient public static func buildBlock(_ parts: [Module]...) -> [Module] { buildArray(parts) }
        // In the client, so that its compiler puts each module's array on the stack; but not inlined in each block.
        /// All of a loop.
        @inline(never) @_alwaysEmitIntoClient public static func buildArray(_ parts: [[Module]]) -> [Module] {
            var modules: [Module] = []
            modules.reserveCapacity(parts.reduce(0) { $0 + $1.count })
            for part in parts { modules += part }
            return modules
        }
        /// What stands behind a condition.
        @_alwaysEmitIntoClient public static func buildOptional(_ part: [Module]?) -> [Module] { part ?? [] }
        /// The first of two branches.
        @_alwaysEmitIntoClient public static func buildEither(first part: [Module]) -> [Module] { part }
        /// The second of two branches.
        @_alwaysEmitIntoClient public static func buildEither(second part: [Module]) -> [Module] { part }
    }
}

// MARK: - Finding

/// The one registry of the process: finds what the modules in force offer.
public nonisolated enum Resolver {
    /// What the module of this type and name makes; stops the program where nobody offers it, also for an optional.
    public static func resolve<T>(_ name: String? = nil, file: StaticString = #fileID, line: Int = #line) -> T {
        var frame = Frame(T.self, name, place(file, line), .inForce)
        return frame.source == nil ? Frame.missing(&frame, name, orNil: false) : Frame.madeInline(&frame)
    }

    /// What the module of this type and name makes, or nil where nobody offers it. Before `??` write the type,
    /// `Resolver.find() as (any P)? ?? X()`: Swift would infer that of `X()`.
    public static func find<T>(_ name: String? = nil, file: StaticString = #fileID, line: Int = #line) -> T? {
        var frame = Frame(T.self, name, place(file, line), .inForce)
        return frame.source == nil ? nil : Frame.made(&frame) as T
    }

    /// Adds an instance to the dependencies in force, in place of any of its type and name, for as long as they are.
    @_alwaysEmitIntoClient public static func register<T: Sendable>(
        _ instance: T, _ name: String? = nil, file: StaticString = #fileID, line: Int = #line
    ) { Container.inForce.register(Module(name, .unshared, place(file, line)) { instance }) }

    /// A type of property that asks: every `Inject` is one. A tool reads from it what is wanted.
    public protocol Site {
        /// The type asked for.
        static var wanted: Any.Type { get }
    }
}

// MARK: - Keeping

/// Gives the `component()` functions of a module the lifetimes that modules have.
///
/// - Warning: A scope belongs to one instance of a module. Keep that module `.shared`, or every `@Inject` of it brings
///   a new scope; and never make a scope `static`, or overrides and tests share what it keeps.
/// - Warning: What is kept for an object graph is gone with its request. Asked for later, by a lazy `@Inject` or in a
///   task, it is another one.
///
/// Two calls share an instance when their place in the source, lifetime, type made and `id` are the same. All calls in
/// one macro's arguments or expansion have the same place: there, give each an `id`.
public nonisolated final class Scope: @unchecked Sendable {
    private let lock = Resolver.Lock()  // Protects the container and what its sources keep.
    @exclusivity(unchecked) private var container = Resolver.Container([])

    /// A scope in which nothing is kept yet.
    public init() {}

    /// One instance for this place in the source, and this `id`; made when it is first asked for, exactly once.
    @_alwaysEmitIntoClient public func shared<T: Sendable>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T,
        file: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) rethrows -> T { try instance(.shared, id, Resolver.place(file, line, column), make) }

    /// One instance for this place in the source, and this `id`, for as long as anyone holds it.
    @_alwaysEmitIntoClient public func weakShared<T: Sendable>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T,
        file: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) rethrows -> T { try instance(.weakShared, id, Resolver.place(file, line, column), make) }

    /// One instance for this place in the source, and this `id`, in each request; configured when its graph exists.
    @_alwaysEmitIntoClient public func objectGraph<T>(
        for id: (any Hashable & Sendable)? = nil, _ make: () throws -> T, configure: ((T) -> Void)? = nil,
        file: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) rethrows -> T {
        try instance(.objectGraph, id, Resolver.place(file, line, column)) {
            if let configure { try Resolver.configured(make()) { configure($1) } } else { try make() }
        }
    }

    /// The same lifetimes on the main actor, for what need not be `Sendable` because it never leaves it.
    public var main: Main { Main(scope: self) }

    /// Lets go of all that is kept here; what was handed out lives on with those who have it.
    public func reset() { lock.take { Swift.exchange(&container, with: Resolver.Container([])) } }

    /// A scope's lifetimes on the main actor.
    @MainActor public struct Main: Sendable {
        @usableFromInline nonisolated let scope: Scope

        /// One instance for this place in the source, and this `id`; made when it is first asked for, exactly once.
        @_alwaysEmitIntoClient public func shared<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            file: StaticString = #fileID, line: Int = #line, column: Int = #column
        ) rethrows -> T { try scope.instance(.shared, id, Resolver.place(file, line, column), make) }

        /// One instance for this place in the source, and this `id`, for as long as anyone holds it.
        @_alwaysEmitIntoClient public func weakShared<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            file: StaticString = #fileID, line: Int = #line, column: Int = #column
        ) rethrows -> T { try scope.instance(.weakShared, id, Resolver.place(file, line, column), make) }

        /// One instance for this place in the source, and this `id`, in each request; configured when its graph exists.
        @_alwaysEmitIntoClient public func objectGraph<T>(
            for id: (any Hashable & Sendable)? = nil, _ make: @MainActor () throws -> T,
            configure: (@MainActor (T) -> Void)? = nil,
            file: StaticString = #fileID, line: Int = #line, column: Int = #column
        ) rethrows -> T {
            try scope.objectGraph(for: id, make, configure: configure, file: file, line: line, column: column)
        }
    }

    /// The instance for this lifetime, type, place and id: its source is in the slot they hash to, or a later one.
    @_semantics("optimize.sil.specialize.generic.never") @usableFromInline func instance<T>(
        _ kind: Lifetime<Void>, _ id: (any Hashable & Sendable)?, _ place: Resolver.Place, _ make: () throws -> T
    ) rethrows -> T {
        var key: Resolver.Key?, hash = Int(bitPattern: ObjectIdentifier(T.self)) ^ place.position
        // Compared with nil first: unwrapping copies it, which even for nil takes as long as all the rest.
        if id != nil, let id { (hash, key) = (hash ^ id.hashValue, .init((AnyHashable(id), Swift.type(of: id)))) }
        var slot = hash, found: Resolver.Source?
        repeat {
            let misfit = found  // Of the round before.
            lock.lock()
            defer { withExtendedLifetime(misfit) { lock.unlock() } }  // Its deinit, after a reset: not under the lock.
            // The next slot, far from those of like hashes; or, after a reset, the first again.
            if misfit != nil { slot = container.source(in: slot) === misfit ? slot &+ 0x2C1B_3C6D : hash }
            found = container.source(in: slot) ?? container.add(.init(T.self, nil, kind, place, false), lock, slot, key)
            // Without an id none of the user's code runs here: what is kept is handed out under this one lock.
            if key == nil, found!.fits(T.self, kind, place), let kept = found!.kept { return Resolver.Kept.open(kept) }
        } while !found!.fits(T.self, kind, place, key)  // No lock is held: an id's `==` is the user's code.
        var frame = Resolver.Frame(T.self, nil, place, .inForce, .passUnretained(found!))
        return try found!.instance(&frame) { _ in try make() }
    }
}

// MARK: - Overriding

nonisolated extension Dependencies {
    /// Runs `body` with these in place of those of the same type and name: for this task, and those it starts inside.
    /// A `Task.detached` is outside.
    @_alwaysEmitIntoClient public func override<T>(during body: () throws -> T) rethrows -> T {
        let container = Resolver.Container(checked: modules, over: .inForce)
        defer { Resolver.Container.bound.withValue(container) { container.close() } }  // Inside: a deinit may ask.
        return try Resolver.Container.bound.withValue(container, operation: body)
    }

    /// Runs `body` with these in place of those of the same type and name: for this task, and those it starts inside.
    /// A `Task.detached` is outside. The body stays on the actor that calls.
    @_alwaysEmitIntoClient nonisolated(nonsending) public func override<T>(
        during body: nonisolated(nonsending) () async throws -> T
    ) async rethrows -> T { try await override(on: #isolation, during: body) }

    // Not public: beside an isolated argument, a client's closure that belongs to another actor does not compile.
    @_alwaysEmitIntoClient func override<T>(
        on actor: isolated (any _Concurrency.Actor)?, during body: nonisolated(nonsending) () async throws -> T
    ) async rethrows -> T {
        let container = Resolver.Container(checked: modules, over: .inForce)
        defer { Resolver.Container.bound.withValue(container) { container.close() } }
        // The closure captures the actor, or it and the body would leave it.
        return try await Resolver.Container.bound.withValue(container) { try await (actor, body()).1 }
    }

    /// What the block of an override must not end with: a module.
    public protocol Misplaced {}

    /// Catches a block that lists modules where code belongs: as it throws, a call without `try` does not compile.
    /// Were it unavailable, the compiler would take the first; were `T` `Module`, this one wherever `T` is open.
    @available(*, deprecated, message: "this block is code: list the modules in the braces before .override")
    @_alwaysEmitIntoClient public func override<T: Misplaced>(during body: () throws -> T) throws {
        Resolver.stop("the block of an override is code: list the modules in the braces before .override")
    }
}

nonisolated extension Module: Dependencies.Misplaced {}

// MARK: - Validating

/// All that is wrong with a set of modules, or with what asks for them.
public nonisolated struct WiringError: Swift.Error, CustomStringConvertible {
    /// Each problem: what is wrong, where, and how to mend it.
    public let problems: [String]

    /// An error with these problems.
    public init(_ problems: [String]) { self.problems = problems }

    /// The problems, one below the other.
    public var description: String {
        problems.reduce("\(problems.count) wiring problem\(problems.count == 1 ? "" : "s")") { "\($0)\n- \($1)" }
    }
}

nonisolated extension Dependencies {
    /// Throws one error with every problem of these modules; makes nothing. Of cycles that share a part it names at
    /// least one; and a configuration that would go on for ever only where there is no other problem.
    public func validate() throws(WiringError) { try Resolver.Container(modules).validate() }
}

nonisolated extension Resolver.Container {
    /// Walks the needs in depth, and notes those that nobody offers and those that lead back to where they came from.
    /// A configuration runs when all is made, so it may lead back; but not where all on the way is `.unshared`, as each
    /// round would make it anew. A second walk, `withParts`, looks for that when all else is right.
    func validate(withParts: Bool = false) throws(WiringError) {
        for source in sources { (source.mark, source.walkedFrom) = (0, nil) }
        for one in sources where one.mark == 0 && (withParts ? one.offer.partsFrom : 0) < one.offer.needs.count {
            var current: Resolver.Source? = one
            while let asking = current {
                let needs = asking.offer.needs, index = asking.mark
                asking.mark += 1
                if index == needs.count {
                    current = asking.walkedFrom
                } else if let target = find(needs[index], nil)?.takeUnretainedValue() {
                    // Not followed: in the second walk what is kept, in the first what a configuration needs.
                    if withParts ? target.offer.kind != .unshared : index >= asking.offer.partsFrom { continue }
                    if target.mark == 0 {
                        (target.walkedFrom, current) = (asking, target)
                    } else if target.mark <= target.offer.needs.count {  // Not done, so it is on the way here.
                        var (path, via) = (target.offer.text, asking)
                        while via !== target { (path, via) = ("\(via.offer.text) → \(path)", via.walkedFrom!) }
                        note("Dependency cycle: \(target.offer.text) → \(path)\(Resolver.cure)")
                    }
                } else if !(needs[index] is any Resolver.Wrapping.Type) {  // An optional may stay nil.
                    let need = needs[index], name = Resolver.name(of: need), advice = advice(need, nil, "; ")
                    let hint = "If it has a default, write a closure without it; if a name, resolve it in the closure."
                    note("\(asking.offer.text) needs \(name), which nobody offers: \(advice). \(hint)")
                }
            }
        }
        if !problems.isEmpty { throw WiringError(problems) }
        if !withParts { try validate(withParts: true) }
    }
}

// MARK: - Failing

nonisolated extension Resolver {
    /// The one way in which this file stops a program: the text of a precondition is lost in release builds. In all of
    /// it, what makes texts or runs rarely is not inlined: an app would carry it many times.
    @usableFromInline @inline(never) static func stop(_ text: String) -> Never { fatalError("Dowel: " + text) }

    /// What would mend a cycle, as the end of a text.
    static let cure = "\n  to mend it: ask by an Inject read later, in configure: of .objectGraph, or by another name"

    @inline(never) static func label(_ type: Any.Type, _ name: String?) -> String {
        Resolver.name(of: type) + (name.map { " \($0.debugDescription)" } ?? "")
    }

    /// A type's name, unqualified where the full one has addresses in it. `String(describing:)` is slow the first time.
    static func name(of type: Any.Type) -> String { _typeName(type, qualified: !_typeName(type).contains("$")) }
}

nonisolated extension Resolver.Container {
    /// What may have been meant by this type and name, the separator after each; last, a line that would mend it.
    func advice(_ type: Any.Type, _ name: String?, _ separator: String) -> String {
        /// What a protocol's name still lacks: "any ", or nothing where it has that; nil for what is concrete.
        @inline(never) func prefix(_ type: Any.Type) -> String? {
            let meta = _typeName(Swift.type(of: type))
            return meta.hasSuffix(".Protocol") ? "any " : meta.hasPrefix("(any ") ? "" : nil
        }
        let full = Resolver.name(of: type), short = _typeName(type, qualified: false), article = prefix(type)
        let isBare = name == nil && article == nil && full.hasPrefix("Swift.") && !full.hasSuffix(">")
        var (text, concrete, count) = ("", "", 0)
        for module in modules {
            let other = (module.type as? any Resolver.Wrapping.Type)?.dowelWrapped ?? module.type
            if _typeName(other, qualified: false) == short {
                let twin = other != type && _typeName(other) == full ? ": is a library linked twice?" : ""
                text += module.offer.text + " is offered" + twin + separator
            } else if count < 9, article != nil, prefix(other) == nil {
                concrete += (count == 0 ? "" : ", ") + (count == 8 ? "…" : module.offer.text)
                count += 1
            }
        }
        if text.isEmpty, count > 0 {
            text = "concrete types are offered, perhaps `as \(article!)\(full)` is missing: \(concrete)\(separator)"
        }
        let unless = text.isEmpty ? "" : ", unless one of these was meant"
        let instead = "take a type of its own, or a named module: Resolver.resolve(\"name\"), @Inject(\"name\")"
        if isBare { text += "A bare \(short) is never filled by guesswork: \(instead)\(separator)" }
        let label = (isBare ? "name" : name).map { "(\($0.debugDescription))" } ?? ""
        return "\(text)to mend it\(unless): Module\(label) { … as \(article ?? "")\(full) }"
    }
}

// MARK: - Private machinery

nonisolated extension Resolver {
    typealias Found = Unmanaged<Source>  // A source as tables hold it: unretained.
    typealias Step = UnsafeMutablePointer<Frame>  // A frame where it lies on its thread's stack.
    @usableFromInline typealias Asker = OpaquePointer  // A `Step` in what is stored: its type would bring metadata.

    /// A place in the source: the file's name, a constant of the program that ends with a zero; and the line, with the
    /// column in the last 16 bits. A tuple, as a type of its own would bring metadata.
    @usableFromInline typealias Place = (file: UnsafePointer<UInt8>, position: Int)

    @_alwaysEmitIntoClient static func place(_ file: StaticString, _ line: Int, _ column: Int = 0) -> Place {
        (file.utf8Start, line &<< 16 | column & 0xFFFF)
    }

    @inline(never) static func text(of at: Place) -> String { "\(String(cString: at.file)):\(at.position &>> 16)" }

    /// Compares texts, too: a file's name may lie in a program twice, where a library's code is built into its client.
    @inline(never) static func isSame(_ one: Place, _ other: Place) -> Bool {
        one.position == other.position && (one.file == other.file || text(of: one) == text(of: other))
    }

    /// Reads a pointer, or an `Unmanaged`, that another thread may set meanwhile; what it points to can be read then.
    /// Swift has this function everywhere, but `Atomic`, with metadata, on new systems only. Transparent, as that is.
    @_transparent @_alwaysEmitIntoClient static func load<T>(_ pointer: UnsafeMutablePointer<T?>) -> T? {
        let object = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: AnyObject?.self)
        return unsafeBitCast(_stdlib_atomicAcquiringLoadARCRef(object: object), to: T?.self)
    }

    /// Sets it, if it is still the old one, and says whether it was.
    @_transparent static func swap<T>(_ pointer: UnsafeMutablePointer<T?>, _ old: T?, with new: T?) -> Bool {
        let raw = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: UnsafeRawPointer?.self)
        var old = unsafeBitCast(old, to: UnsafeRawPointer?.self)
        let new = unsafeBitCast(new, to: UnsafeRawPointer?.self)
        return _stdlib_atomicCompareExchangeStrongPtr(object: raw, expected: &old, desired: new)
    }

    /// A value in a box, for code that knows neither its type nor (hence unchecked) that it is the main actor's.
    @usableFromInline final class Kept<T>: @unchecked Sendable {
        @usableFromInline let value: T
        @usableFromInline init(_ value: T) { self.value = value }
        @inline(__always) static func open(_ kept: Unmanaged<AnyObject>) -> T {
            kept._withUnsafeGuaranteedRef { unsafeDowncast($0, to: Kept.self).value }  // Its source offers a T.
        }
    }

    /// What tells the instances of one place in a scope apart.
    typealias Key = Kept<(id: AnyHashable, type: Any.Type)>

    /// What a module says; the sources of all containers that have the module share this.
    @usableFromInline class Offer: @unchecked Sendable {
        let type: Any.Type, name: String?, kind: Lifetime<Void>, place: Place, isMain: Bool
        // Complete before anyone else has this; from `partsFrom` on, the needs are those of the configuration.
        @exclusivity(unchecked) final var needs: [Any.Type] = [], partsFrom = 0

        init(_ type: Any.Type, _ name: String?, _ kind: Lifetime<Void>, _ place: Place, _ isMain: Bool) {
            (self.type, self.name, self.kind, self.place, self.isMain) = (type, name, kind, place, isMain)
        }

        /// Whether this copy of Dowel made it, where there are two. Cast unsafely, or the compiler would say yes.
        final var isOurs: Bool { unsafeBitCast(self, to: AnyObject.self) is Offer }
        final var label: String { Resolver.label(type, name) }
        @inline(never) final var text: String { "\(label) (\(Resolver.text(of: place)))" }
    }

    /// What a module says, and how to make it.
    @usableFromInline final class TypedOffer<T>: Offer, @unchecked Sendable {
        let make: @Sendable (Asker) -> T

        // Not inlined, like `add`: so the initializers of `Module` can be, and a client's compiler sees its factories.
        @usableFromInline @inline(never) init(
            _ name: String?, _ kind: Lifetime<Void>, _ at: Place, _ main: Bool, _ make: @escaping @Sendable (Asker) -> T
        ) {
            self.make = make
            super.init(T.self, name, kind, at, main)
        }
    }

    /// What one container or scope keeps of an offer, and whose turn it is to make it.
    final class Source: @unchecked Sendable {
        /// `key` is what the slot does not tell: in a scope the id, boxed as most have none; in a request the original.
        /// The lock protects the four that follow, for a moment only.
        let offer: Offer, key: AnyObject?, lock: Lock
        // The box with the value, and the object in it where there is one: unmanaged, so that reading retains nothing.
        // `isWeak`: neither is kept, or no longer; then `object` is the one that others hold.
        @exclusivity(unchecked) var kept: Unmanaged<AnyObject>?, held: Unmanaged<AnyObject>?, isWeak: Bool
        @exclusivity(unchecked) weak var object: AnyObject?
        /// In validation, how many needs were walked, and one more when done; in a scope or a request, the slot.
        @exclusivity(unchecked) var mark: Int
        @exclusivity(unchecked) unowned(unsafe) var walkedFrom: Source?  // In validation; a container holds both.
        private var maker: Asker?  // The frame that has the turn; `Container.lock` protects it.
        private lazy var turn = Lock()  // Held by the maker.

        init(_ offer: Offer, _ lock: Lock, _ slot: Int = 0, _ key: AnyObject? = nil) {
            (self.offer, self.lock, mark, self.key, isWeak) = (offer, lock, slot, key, offer.kind == .weakShared)
        }

        deinit { kept?.release() }

        @inline(never) func fits(_ type: Any.Type, _ kind: Lifetime<Void>, _ place: Place, _ key: Key? = nil) -> Bool {
            guard offer.type == type, offer.kind == kind, Resolver.isSame(offer.place, place) else { return false }
            if self.key === key { return true }
            guard let one = (self.key as? Key)?.value, let other = key?.value else { return false }
            return one.id == other.id && one.type == other.type  // 1 and 1.0 are equal.
        }

        /// Lets go of what is kept, but knows it for as long as anyone else holds it.
        func weaken() {
            lock.take {
                isWeak = true
                if let held = Swift.exchange(&held, with: nil) { object = held.takeUnretainedValue() }
                return Swift.exchange(&kept, with: nil)?.takeRetainedValue()
            }
        }

        /// Takes the turn, once nobody else has it. Says beforehand that it waits, even for a turn that is free: so
        /// the last of those who close a cycle together always finds it.
        func claim(_ step: Step) {
            let request = step.pointee.outermost!
            let turn = Container.lock.withLock {
                request.pointee.waiting = .passUnretained(self)
                if let path = path(to: request) { stop("Dependency cycle: " + path + step.pointee.offer.label + cure) }
                return self.turn  // Lazy, so first read under the lock.
            }
            turn.lock()
            Container.lock.withLock { (maker, request.pointee.waiting) = (.init(step), nil) }
        }

        /// The path from here to the request, by who makes and what that one waits for; nil where it ends elsewhere.
        /// The search retains nothing, as a release might run code under the lock; who waits stands still, and so its
        /// frames may be read.
        private func path(to request: Step) -> String? {
            guard let maker = Step(maker), let owner = maker.pointee.outermost else { return nil }
            let rest = owner == request ? "" : owner.pointee.waiting?._withUnsafeGuaranteedRef { $0.path(to: request) }
            // Not up to the owner's innermost: that waits for what comes next, and would be named twice.
            return rest.map { "\(Frame.path(from: maker, to: owner.pointee.innermost!.pointee.parent!)) → \($0)" }
        }

        /// What `make` makes; for a lifetime that is kept, once for all who ask.
        @_semantics("optimize.sil.specialize.generic.never") @inline(never)
        func instance<T>(_ step: Step, _ make: (Asker) throws -> T) rethrows -> T {
            lock.lock()
            if let kept { return (Kept.open(kept), lock.unlock()).0 }  // Copied before the unlock.
            lock.unlock()
            // The box, where one is kept or was made just now; or the object alone, where only others hold it.
            let boxOrObject: AnyObject = try Frame.run(step) { _ in
                let source = offer.kind == .objectGraph ? Container.ofRequest.copy(of: self) : self
                if let existing = source.existing { return existing }
                source.claim(step)
                // The last runs first: after the unlock, the next maker may be known already.
                defer { source.turn.unlock() }
                defer { Container.lock.withLock { source.maker = nil } }
                if let existing = source.existing { return existing }
                let value = try make(.init(step)), box = Kept(value), object = object(value)
                if offer.kind == .weakShared, object == nil {
                    stop(offer.text + " is .weakShared, but not a class: use .shared")
                }
                lock.withLock {
                    if source.isWeak { return source.object = object }
                    (source.kept, source.held) = (.passRetained(box), object.map { .passUnretained($0) })
                }
                return box
            }
            return if let box = boxOrObject as? Kept<T> { box.value } else { boxOrObject as! T }  // Made as a T.
        }

        private var existing: AnyObject? { lock.withLock { kept?.takeUnretainedValue() ?? object } }

        /// The value, where it is an object; that of an error lies in a box, which the cast to `Error` opens.
        private func object(_ value: Any) -> AnyObject? {
            guard Swift.type(of: value) is AnyObject.Type else { return nil }
            return (value as? any Swift.Error).map { $0 as AnyObject } ?? (value as AnyObject)
        }
    }

    /// What fills a need. It is never inlined anyway; but only where that is said does the compiler, in a copied file,
    /// unroll a factory's loop over its needs.
    @usableFromInline @inline(never) static func fill<T>(_ step: Asker) -> T {
        var frame = Frame(T.self, nil, nil, .inForce, in: Step(step))
        return frame.source == nil ? Frame.missing(&frame, nil, orNil: true) : Frame.madeInline(&frame)
    }

    /// The value; its configuration waits for the end of the request, and runs in a frame like that of its making.
    @usableFromInline static func configured<T>(_ value: T, _ configure: @escaping (Asker, T) -> Void) -> T {
        let step = Frame.current!, source = step.pointee.source!.takeUnretainedValue()
        let (place, container) = (step.pointee.place, step.pointee.container.takeUnretainedValue())
        let later = Kept { [depth = step.pointee.depth] in
            var frame = Frame(source.offer.type, nil, place, container, .passUnretained(source))
            frame.depth = depth  // So that things that make and configure each other come to an end.
            // It may have been made inside a `DispatchQueue.main.sync` that this thread has left by now.
            if source.offer.isMain { Frame.checkThread(&frame) }
            Frame.run(&frame) { configure($0, value) }
        }
        Container.ofRequest.pending.append(later)
        return value
    }

    /// One thing being made. The frames of a thread, from the outermost on, are its request.
    struct Frame: ~Copyable {
        let source: Unmanaged<Source>?, container: Unmanaged<Container>, isCounted: Bool  // Whether both are retained.
        let asked: Place?, parent: Step?, bound: ObjectIdentifier?  // `bound`: the override in whose extent this began.
        /// Only the outermost is in the thread's slot, which is slow to set: it knows the innermost, and all know it.
        var depth: Int, outermost: Step?, innermost: Step?
        var request: Unmanaged<Container>?, waiting: Unmanaged<Source>?  // Of the outermost; others read `waiting`.

        var offer: Offer { source!.takeUnretainedValue().offer }
        var place: Place { asked ?? parent!.pointee.offer.place }  // A need is asked for where its module stands.

        static var current: Step? { threadSlot?.pointee.innermost }

        /// A frame for the given source, or for that of this type and name, if there is one; a need gives no place.
        init(
            _ type: Any.Type, _ name: String?, _ place: Place?, _ chosen: @autoclosure () -> Container,
            _ given: Found? = nil, in parent: Step? = current
        ) {
            (asked, self.parent, outermost) = (place, parent, parent?.pointee.outermost)
            depth = parent.map { $0.pointee.depth + 1 } ?? 1
            if let sole = Container.sole {
                (container, isCounted, bound) = (sole, false, nil)
                source = given ?? sole._withUnsafeGuaranteedRef { place == nil ? $0.need(type) : $0.find(type, name) }
            } else {  // Other threads may let go of these meanwhile.
                let chosen = chosen(), added = chosen.added
                let found = given ?? chosen.find(type, name, after: added)
                source = withExtendedLifetime((chosen, added)) { found?.retain() }
                (container, isCounted, bound) = (.passRetained(chosen), true, Container.boundID)
            }
        }

        deinit { if isCounted { _ = (source?.release(), container.release()) } }

        /// What the step's source makes, or keeps.
        @inline(never) static func made<T>(_ step: Step) -> T { madeInline(step) }

        @inline(__always) static func madeInline<T>(_ step: Step) -> T {
            // Not retained: threads would contend for its count.
            step.pointee.source.unsafelyUnwrapped._withUnsafeGuaranteedRef { source -> T in
                Unmanaged.passUnretained(source.offer)._withUnsafeGuaranteedRef { offer -> T in
                    if offer.type != T.self { return wrapped(step) }  // T is an optional of it.
                    let offer = unsafeDowncast(offer, to: TypedOffer<T>.self)  // Every offer of a T is one.
                    if offer.isMain { checkThread(step) }
                    return offer.kind == .unshared ? run(step, offer.make) : source.instance(step, offer.make)
                }
            }
        }

        /// What belongs to the main actor is made there only; nor may what is kept of it be handed out elsewhere.
        @inline(never) static func checkThread(_ step: Step) {
            if isMainThread { return }
            let (label, place) = (step.pointee.offer.label, text(of: step.pointee.place))
            stop("\(label) is made by Module.main, and asked for off the main actor, at \(place): ask on it\(path)")
        }

        /// T, which is an optional: with what the step's source makes in it, or nil without a step.
        @inline(never) static func wrapped<T>(_ step: Step?) -> T { (T.self as! any Wrapping.Type).made(step) as! T }

        /// Nil, where that will do; else stops: says what was asked for and where, what comes near, and what mends it.
        @inline(never) static func missing<T>(_ step: Step, _ name: String?, orNil: Bool) -> T {
            if orNil, T.self is any Wrapping.Type { return wrapped(nil) }
            var wanted: Any.Type = T.self
            while let optional = wanted as? any Wrapping.Type { wanted = optional.dowelWrapped }
            let container = step.pointee.container.takeUnretainedValue()
            var message = "nobody offers \(label(wanted, name)), asked for at \(text(of: step.pointee.place))"
            if let override = Container.bound.get(), override.find(wanted, name, after: override.added) != nil {
                stop("\(message)\n  the override offers it: create whatever asks inside its block\(path)")
            }
            if container === Container.none {
                message += "\n  build() was never called, or in an unread global, or Dowel is linked twice, "
                message += "or a property initializer read this before, or this is outside of an override"
            } else if case let built = Container.built, built === Container.none || built.find(wanted, name) != nil {
                message += "\n  give overrides the program's modules too, or build first"
            }
            let block = container === Container.none ? " in Dependencies { … }.build()" : ""
            stop("\(message)\n  \(container.advice(wanted, name, "\n  "))\(block)\(path)")
        }

        /// Calls `make`, with the step as its thread's innermost. The outermost then configures, and ends the request.
        @inline(__always) static func run<T>(_ step: Step, _ make: (Asker) throws -> T) rethrows -> T {
            if step.pointee.outermost == nil { (step.pointee.outermost, threadSlot) = (step, step) }
            if step.pointee.depth > 100 { stopForDepth(step) }
            let (outermost, parent) = (step.pointee.outermost.unsafelyUnwrapped, step.pointee.parent)
            outermost.pointee.innermost = step
            defer {
                outermost.pointee.innermost = parent
                if parent == nil {
                    threadSlot = nil  // Before the release, in which a deinit may ask.
                    step.pointee.request?.release()
                }
            }
            let value = try make(.init(step))
            if parent == nil { step.pointee.request?.takeUnretainedValue().configure() }
            return value
        }

        /// Stops the program with the part of the path that repeats, or all of it where none does.
        private static func stopForDepth(_ step: Step) -> Never {
            var (first, label) = (step.pointee.parent, step.pointee.offer.label)
            while let next = first, next.pointee.offer.label != label { first = next.pointee.parent }
            stop("100 things are made, each for the one before: " + path(from: first, to: step) + cure)
        }

        /// What a thread is making, from `first`, or its outermost step, to `last`.
        static func path(from first: Step?, to last: Step, inFull: Bool = false) -> String {
            let short = last.pointee.offer.label, label = inFull ? "\(short) (\(text(of: last.pointee.place)))" : short
            guard last != first, let parent = last.pointee.parent else { return label }
            return "\(path(from: first, to: parent, inFull: inFull)) → \(label)"
        }

        /// What the thread is making, as the end of a text.
        static var path: String { current.map { "\n  while making " + path(from: nil, to: $0, inFull: true) } ?? "" }
    }

    /// A table of sources: those of modules in force together, of a scope, or of a request. Unchecked: the first are
    /// complete before anyone has them, a scope's lock guards the next, one thread has the last.
    @usableFromInline final class Container: @unchecked Sendable {
        static let none = Container([])  // In force before anything is built.
        /// The first container, while it is in force and nothing was ever overridden or registered: it is then found
        /// without a lock, and for that lives as long as the process. Frames retain later ones.
        static var sole: Unmanaged<Container>? { load(&first) }
        @exclusivity(unchecked) nonisolated(unsafe) private static var first: Unmanaged<Container>?, eldest: Container?
        nonisolated(unsafe) private static var current = none
        /// Protects what is in force, what is registered, what an Inject remembers, and who makes and waits for what.
        static let lock = Lock()
        @usableFromInline static let bound = TaskLocal<Container?>(wrappedValue: nil)  // The override in force.
        @inline(never) static var boundID: ObjectIdentifier? { bound.get().map { ObjectIdentifier($0) } }

        /// What was built last.
        @inline(never) static var built: Container { lock.withLock { current } }

        /// The container of what this thread is making, unless an override began since; else the override, or `built`.
        @usableFromInline static var inForce: Container {
            guard let step = Frame.current, step.pointee.bound == boundID else { return bound.get() ?? built }
            return step.pointee.container.takeUnretainedValue()
        }

        /// Puts a new container in force, and returns the one before; without a new one, it only ends `sole`.
        @discardableResult static func replace(with container: Container?) -> Container? {
            lock.withLock {
                _ = swap(&first, first, with: eldest == nil ? container.map { .passUnretained($0) } : nil)
                eldest = eldest ?? container ?? current  // Holds what `first` points to, for good.
                return Swift.exchange(&current, with: container ?? current)
            }
        }

        @exclusivity(unchecked) private(set) unowned(unsafe) var override: Container?  // Itself, if it is one.
        @exclusivity(unchecked) private(set) var own: [Module], sources: [Source], problems: [String]
        /// At least twice as many buckets as sources: the number of buckets is a power of two, the mask one less.
        @exclusivity(unchecked) private var buckets: UnsafeMutablePointer<Found?>, mask: Int
        private var registered: Container?  // What was added since it was built.
        @exclusivity(unchecked) var pending: [Kept<() -> Void>]  // For when a request's outermost instance exists.

        @usableFromInline @inline(never) init(_ modules: [Module]) {
            (own, sources, problems, pending) = (modules, [], [], [])
            mask = 1 &<< (Int.bitWidth - (modules.count * 2 + 6).leadingZeroBitCount) - 1
            buckets = .allocate(capacity: mask + 1)
            buckets.initialize(repeating: nil, count: mask + 1)
            sources.reserveCapacity(modules.count)
            for module in modules {
                if !module.offer.isOurs { note("Dowel is linked twice, the second time with " + module.file) }
                let offer = module.offer, bucket = bucket(of: offer.type, offer.name)
                if let other = buckets[bucket]?.takeUnretainedValue().offer {
                    if isSame(other.place, offer.place) { continue }
                    note("\(offer.text) is offered at \(text(of: other.place)) too: take one out, or use replacing(_:)")
                    continue
                }
                if module.replacesNothing { note(offer.text + " replaces nothing: did you forget `as P`? Or a name?") }
                // Sixteen locks for all: who reads one source hardly ever waits for who reads another.
                let source = Source(offer, sources.count < 16 ? Lock() : sources[sources.count & 15].lock)
                sources.append(source)
                buckets[bucket] = .passUnretained(source)
            }
            // One place twice is one module.
            if own.count > sources.count { own = sources.map { Module($0.offer, replacesNothing: false) } }
        }

        deinit { buckets.deallocate() }

        @inline(never) func note(_ problem: String) { if !problems.contains(problem) { problems.append(problem) } }

        /// Where the source of this type and name is, or where it would be.
        @inline(__always) private func bucket(of type: Any.Type, _ name: String?) -> Int {
            let slot = Int(bitPattern: ObjectIdentifier(type)) ^ (name?.hashValue ?? 0)
            return bucket(slot) { $0.offer.type == type && $0.offer.name == name }
        }

        @inline(__always) private func bucket(_ slot: Int, _ isIt: (Source) -> Bool) -> Int {
            // Addresses differ in their middle bits: the factor, which a 32-bit Int can hold, brings these to the mask.
            var index = (slot &* 0x2C1B_3C6D) &>> 15 & mask
            while let source = buckets[index], !source._withUnsafeGuaranteedRef(isIt) { index = (index + 1) & mask }
            return index
        }

        /// The source in this slot of a scope or a request.
        func source(in slot: Int) -> Source? { buckets[bucket(slot) { $0.mark == slot }]?.takeUnretainedValue() }

        /// Adds the source of a slot that has none, in a table that grows before it is more than half full.
        @inline(never) func add(_ offer: Offer, _ lock: Lock, _ slot: Int, _ key: AnyObject?) -> Source {
            let source = Source(offer, lock, slot, key)
            sources.append(source)
            let isFull = sources.count * 2 > mask
            if isFull {
                buckets.deallocate()
                mask = mask * 2 + 1
                buckets = .allocate(capacity: mask + 1)
                buckets.initialize(repeating: nil, count: mask + 1)
            }
            for one in isFull ? sources : [source] { buckets[bucket(one.mark) { _ in false }] = .passUnretained(one) }
            return source
        }

        /// That of the request on this thread's stack, kept by the outermost frame and made when first asked for.
        static var ofRequest: Container {
            let outermost = threadSlot!
            if outermost.pointee.request == nil { outermost.pointee.request = .passRetained(Container([])) }
            return outermost.pointee.request!.takeUnretainedValue()
        }

        /// Configures what was made, which may ask for more, and so add more.
        @inline(never) func configure() {
            while !pending.isEmpty { for configure in Swift.exchange(&pending, with: []) { configure.value() } }
        }

        /// The source that keeps for a request what the original makes; it holds that one, as its address is the slot.
        func copy(of original: Source) -> Source {
            let address = Int(bitPattern: ObjectIdentifier(original))
            return source(in: address) ?? add(original.offer, original.lock, address, original)
        }

        /// The modules, or another container's with these in their place; stops the program where they are wrong.
        @usableFromInline convenience init(checked modules: [Module], over other: Container?) {
            self.init(other.map { Container.merge($0.modules, modules) } ?? modules)
            override = other == nil ? nil : self
            if other != nil { Container.replace(with: nil) }  // From here on `sole` is nil.
            do { try validate() } catch { stop(error.description) }
        }

        /// The modules of both, where the new stand in place of those of the same type and name.
        @usableFromInline static func merge(_ old: [Module], _ new: [Module]) -> [Module] {
            let newer = Container(new)
            return Dependencies.Builder.buildArray([old.filter { !newer.has($0.offer) }, new])
        }

        /// The modules, with what was registered since.
        var modules: [Module] { Self.merge(own, added?.own ?? []) }

        /// What was registered.
        @inline(never) var added: Container? { Self.lock.withLock { registered } }

        /// Whether the very type and name of this offer are offered.
        @usableFromInline func has(_ offer: Offer) -> Bool { exactly(offer.type, offer.name) != nil }

        /// The source of this very type and name.
        func exactly(_ type: Any.Type, _ name: String?) -> Found? { buckets[bucket(of: type, name)] }

        /// The source of this type, in what was added or here; for an optional without one, that of what it wraps.
        @inline(never) func find(_ type: Any.Type, _ name: String?, after new: Container? = nil) -> Found? {
            new?.exactly(type, name) ?? buckets[bucket(of: type, name)]
                ?? (type as? any Wrapping.Type).flatMap { find($0.dowelWrapped, name, after: new) }
        }

        /// The same for a need, without a name, in a sole container, with nothing added: inlined, as the most frequent.
        @inline(__always) func need(_ type: Any.Type) -> Found? { buckets[bucket(of: type, nil)] ?? find(type, nil) }

        @usableFromInline func register(_ module: Module) {
            Container.replace(with: nil)  // From here on `sole` is nil.
            Self.lock.take { Swift.exchange(&registered, with: .init(Self.merge(registered?.own ?? [], [module]))) }
        }

        /// Keeps nothing from here on: whoever still asks gets what others hold, or a new one.
        @usableFromInline func close() { for one in sources where one.offer.kind != .unshared { one.weaken() } }
    }

    /// An optional, seen by code that does not know its type.
    protocol Wrapping {
        static var dowelWrapped: Any.Type { get }  // In a copy, a member of every optional of the client's module.
        static func made(_ step: Step?) -> Self
    }
}

nonisolated extension Optional: Resolver.Wrapping {
    static var dowelWrapped: Any.Type { Wrapped.self }
    static func made(_ step: Resolver.Step?) -> Self { step == nil ? nil : .some(Resolver.Frame.made(step!)) }
}

// MARK: - Platform

// The imports stand here, as nothing above depends on the system.
#if canImport(Darwin)
import Darwin
#elseif canImport(WinSDK)
import Synchronization
import WinSDK
#elseif canImport(WASILibc)
import Synchronization
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
#if !canImport(Darwin) && canImport(Dispatch)
import Dispatch
#endif

nonisolated extension Resolver {
    /// A lock, not recursive; held for a moment only, unless it is a source's turn.
    final class Lock: @unchecked Sendable {
        #if canImport(WinSDK) || canImport(WASILibc)
        private let mutex = Synchronization.Mutex<Void>(())
        func lock() { mutex._unsafeLock() }  // A turn outlasts any closure given to `withLock`.
        func unlock() { mutex._unsafeUnlock() }
        #else
        // Alone in a cache line of most processors, or whatever lies beside it would be slow to read. Opaque: a typed
        // pointer would bring the metadata of its type.
        private let mutex = OpaquePointer(UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64))
        @inline(never) init() { pthread_mutex_init(.init(mutex), nil) }
        deinit { _ = (pthread_mutex_destroy(.init(mutex)), UnsafeMutableRawPointer(mutex).deallocate()) }
        func lock() { pthread_mutex_lock(.init(mutex)) }
        func unlock() { pthread_mutex_unlock(.init(mutex)) }
        #endif

        @inline(__always) func withLock<R>(_ body: () -> R) -> R { (lock(), body(), unlock()).1 }  // In this order.

        /// Lets go of what `body` gives after the lock is released: a deinit may run the user's code.
        func take<V>(_ body: () -> V) { withExtendedLifetime(withLock(body)) {} }
    }

    // The thread's slot, with the outermost frame of its request in it.
    #if canImport(WinSDK)
    private static let key = TlsAlloc()  // It does not tell when a thread ends.
    static var threadSlot: Step? {
        get { TlsGetValue(key)?.assumingMemoryBound(to: Frame.self) }
        set { TlsSetValue(key, newValue) }
    }
    #elseif canImport(WASILibc)
    nonisolated(unsafe) static var threadSlot: Step?  // There is only one thread, the main one.
    static var isMainThread: Bool { true }
    #else
    private static let key = {
        var key = pthread_key_t()
        pthread_key_create(&key) { _ in stop("a thread ended while it made something that others may wait for") }
        return key
    }()
    static var threadSlot: Step? {
        get { pthread_getspecific(key)?.assumingMemoryBound(to: Frame.self) }
        set { pthread_setspecific(key, newValue) }
    }
    #endif

    #if canImport(Darwin)
    static var isMainThread: Bool { pthread_main_np() != 0 }
    #elseif !canImport(WASILibc)
    /// Elsewhere the main actor may change threads once an async `main` has waited, but not its queue: that is marked.
    private static let mark = { (DispatchQueue.main.setSpecific(key: $0, value: ()), $0).1 }(DispatchSpecificKey())
    static var isMainThread: Bool { DispatchQueue.getSpecific(key: mark) != nil }
    #endif
}

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
