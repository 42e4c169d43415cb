import Dowel

// As many types as one likes, made while the program runs: a number's binary digits, as a type.

protocol Digits: Sendable {}
enum End: Digits {}
enum Zero<Rest: Digits>: Digits {}
enum One<Rest: Digits>: Digits {}

/// Stands for a type that modules offer.
protocol Slot: SendableMetatype {
    associatedtype Offered: Sendable
    static var isObject: Bool { get }
    static func make(_ parts: Parts) -> Offered
    static func core(_ offered: Offered) -> Core?
}

final class Object<Number: Digits>: Core, @unchecked Sendable {}
final class Fault<Number: Digits>: Core, Error, @unchecked Sendable {}
struct Value<Number: Digits>: Sendable { let core: Core }
protocol Referred: AnyObject, Sendable { var core: Core { get } }
final class Referent: Core, Referred, @unchecked Sendable { var core: Core { self } }
protocol Plain: Sendable { var core: Core { get } }
final class Behind: Core, Plain, @unchecked Sendable { var core: Core { self } }

enum ObjectSlot<Number: Digits>: Slot {
    static var isObject: Bool { true }
    static func make(_ parts: Parts) -> Object<Number> { Object(parts) }
    static func core(_ offered: Object<Number>) -> Core? { offered }
}

enum FaultSlot<Number: Digits>: Slot {
    static var isObject: Bool { true }
    static func make(_ parts: Parts) -> Fault<Number> { Fault(parts) }
    static func core(_ offered: Fault<Number>) -> Core? { offered }
}

enum ValueSlot<Number: Digits>: Slot {
    static var isObject: Bool { false }
    static func make(_ parts: Parts) -> Value<Number> { Value(core: Core(parts)) }
    static func core(_ offered: Value<Number>) -> Core? { offered.core }
}

enum ReferredSlot: Slot {
    static var isObject: Bool { true }
    static func make(_ parts: Parts) -> any Referred { Referent(parts) }
    static func core(_ offered: any Referred) -> Core? { offered.core }
}

enum PlainSlot: Slot {
    static var isObject: Bool { true }
    static func make(_ parts: Parts) -> any Plain { Behind(parts) }
    static func core(_ offered: any Plain) -> Core? { offered.core }
}

enum Maybe<Wrapped: Slot>: Slot {
    static var isObject: Bool { Wrapped.isObject }
    static func make(_ parts: Parts) -> Wrapped.Offered? { Wrapped.make(parts) }
    static func core(_ offered: Wrapped.Offered?) -> Core? { offered.flatMap { Wrapped.core($0) } }
}

let slots: [any Slot.Type] = (0..<72).map { number in
    func digits(_ number: Int) -> any Digits.Type {
        func zero<Rest: Digits>(_: Rest.Type) -> any Digits.Type { Zero<Rest>.self }
        func one<Rest: Digits>(_: Rest.Type) -> any Digits.Type { One<Rest>.self }
        if number == 0 { return End.self }
        return number % 2 == 0 ? zero(digits(number / 2)) : one(digits(number / 2))
    }
    func object<Number: Digits>(_: Number.Type) -> any Slot.Type { ObjectSlot<Number>.self }
    func fault<Number: Digits>(_: Number.Type) -> any Slot.Type { FaultSlot<Number>.self }
    func value<Number: Digits>(_: Number.Type) -> any Slot.Type { ValueSlot<Number>.self }
    switch number {
    case 0: return PlainSlot.self
    case 1: return ReferredSlot.self
    case let number where number % 5 == 2: return value(digits(number))
    case let number where number % 5 == 3: return fault(digits(number))
    default: return object(digits(number))
    }
}

func slot(_ number: Int, isOptional: Bool) -> any Slot.Type {
    func maybe<S: Slot>(_: S.Type) -> any Slot.Type { Maybe<S>.self }
    let slot = slots[number]
    return isOptional ? maybe(slot) : slot
}

extension Slot {
    static func resolve(_ name: String?) -> Core? { core(Resolver.resolve(name) as Offered) }
    static func find(_ name: String?) -> Core? { (Resolver.find(name) as Offered?).flatMap { core($0) } }
    static func register(_ parts: Parts, _ name: String?) { Resolver.register(make(parts), name) }
    static func site(_ name: String?, _ node: Int) -> Site { Property<Self>(name, node) }

    /// Asks for a component: places come in pairs, so that some differ by the type alone.
    static func component(
        _ recipe: Recipe, of scope: Scope, for id: (any Hashable & Sendable)?, _ parts: @escaping () throws -> Parts,
        configure: @escaping (Core) -> Void
    ) throws -> Core? {
        if recipe.isMain {
            let parts = Unchecked(value: parts)
            return try MainActor.assumeIsolated {
                try component(recipe, of: scope.main, for: id) { make(try parts.value()) }
            }
        }
        let line = recipe.number / 2
        func made() throws -> Offered { make(try parts()) }
        switch recipe.kind {
        case .weakShared: return core(try scope.weakShared(for: id, made, file: "Fuzz", line: line))
        case .objectGraph:
            let configure: ((Offered) -> Void)? = recipe.parts == nil ? nil : { configure(core($0)!) }
            return core(try scope.objectGraph(for: id, made, configure: configure, file: "Fuzz", line: line))
        default: return core(try scope.shared(for: id, made, file: "Fuzz", line: line))
        }
    }

    @MainActor private static func component(
        _ recipe: Recipe, of scope: Scope.Main, for id: (any Hashable & Sendable)?,
        _ make: @MainActor () throws -> Offered
    ) throws -> Core? {
        let line = recipe.number / 2
        switch recipe.kind {
        case .weakShared: return core(try scope.weakShared(for: id, make, file: "Fuzz", line: line))
        case .objectGraph: return core(try scope.objectGraph(for: id, make, file: "Fuzz", line: line))
        default: return core(try scope.shared(for: id, make, file: "Fuzz", line: line))
        }
    }
}

private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

/// Something that injects, seen by code that does not know what.
class Site: @unchecked Sendable {
    let node: Int
    var seen: Int?  // The world's lock protects it.
    var level: Int?  // The override it was created in, where that is known.
    init(_ node: Int) { self.node = node }
    func read() -> Core? { nil }
    /// Who gets what this reads, as a number that is no other's.
    var token: Int { -Int(bitPattern: ObjectIdentifier(self)) }
}

private final class Property<S: Slot>: Site, @unchecked Sendable {
    @Inject var value: S.Offered

    init(_ name: String?, _ node: Int) {
        _value = Inject(name)
        super.init(node)
    }

    override func read() -> Core? { S.core(value) }
}

// MARK: - Modules of any types

extension World {
    func module(_ recipe: Recipe) -> Module {
        let needs = program.lives(recipe.needs).map { slot(program.nodes[$0.node].slot, isOptional: $0.isOptional) }
        func opened<S: Slot>(_: S.Type) -> Module { module(recipe, S.self, needs[...]) }
        let own = slots[program.nodes[recipe.node].slot]
        return opened(own)
    }

    /// Opens one need after the other.
    private func module<S: Slot, each Need: Slot>(
        _ recipe: Recipe, _: S.Type, _ rest: ArraySlice<any Slot.Type>, _ needs: repeat (each Need).Type
    ) -> Module {
        guard let next = rest.first else { return module(recipe, S.self, repeat each needs) }
        return module(recipe, S.self, next, rest.dropFirst(), repeat each needs)
    }

    private func module<S: Slot, Next: Slot, each Need: Slot>(
        _ recipe: Recipe, _: S.Type, _ next: Next.Type, _ rest: ArraySlice<any Slot.Type>,
        _ needs: repeat (each Need).Type
    ) -> Module { module(recipe, S.self, rest, repeat each needs, Next.self) }

    private func module<S: Slot, each Need: Slot>(
        _ recipe: Recipe, _: S.Type, _ needs: repeat (each Need).Type
    ) -> Module {
        let make: @Sendable (repeat (each Need).Offered) -> S.Offered = { (need: repeat (each Need).Offered) in
            var cores: [Core?] = []
            repeat cores.append((each Need).core(each need))
            return S.make(try! self.made(recipe, cores))  // Only what a program makes fail throws.
        }
        if let parts = recipe.parts {
            let parts = program.lives(parts).map { slot(program.nodes[$0.node].slot, isOptional: $0.isOptional) }
            func opened<Part: Slot>(_: Part.Type) -> Module {
                configured(recipe, S.self, make) { (value: S.Offered, part: Part.Offered) in
                    self.configure(recipe, S.core(value)!, [Part.core(part)])
                }
            }
            if let part = parts.first { return opened(part) }
            return configured(recipe, S.self, make) { (value: S.Offered) in
                self.configure(recipe, S.core(value)!, [])
            }
        }
        let (name, line) = (program.nodes[recipe.node].name, recipe.number)
        if recipe.isMain {
            let lifetime: Lifetime<Lifetime<S.Offered>> =
                switch recipe.kind {
                case .unshared: .unshared
                case .shared: .shared
                case .weakShared: .weakShared
                case .objectGraph: .objectGraph
                }
            if let name { return .main(name, lifetime, make, file: "Fuzz", line: line) }
            return .main(lifetime, make, file: "Fuzz", line: line)
        }
        let lifetime: Lifetime<S.Offered> =
            switch recipe.kind {
            case .unshared: .unshared
            case .shared: .shared
            case .weakShared: .weakShared
            case .objectGraph: .objectGraph
            }
        if let name { return Module(name, lifetime, make, file: "Fuzz", line: line) }
        return Module(lifetime, make, file: "Fuzz", line: line)
    }

    private func configured<S: Slot, each Need, each Part>(
        _ recipe: Recipe, _: S.Type, _ make: @escaping @Sendable (repeat each Need) -> S.Offered,
        _ configure: @escaping @Sendable (S.Offered, repeat each Part) -> Void
    ) -> Module {
        let (name, line) = (program.nodes[recipe.node].name, recipe.number)
        let lifetime: Module.Configurable = recipe.kind == .objectGraph ? .objectGraph : .unshared
        switch (name, recipe.isMain) {
        case (let name?, true): return .main(name, lifetime, make, configure: configure, file: "Fuzz", line: line)
        case (nil, true): return .main(lifetime, make, configure: configure, file: "Fuzz", line: line)
        case (let name?, false): return Module(name, lifetime, make, configure: configure, file: "Fuzz", line: line)
        case (nil, false): return Module(lifetime, make, configure: configure, file: "Fuzz", line: line)
        }
    }
}
