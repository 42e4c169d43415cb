import BenchmarkServices
import Dowel

// The services, and what a program would write to make them by hand.

final class Worker: Service, SharedService { func work() {} }

final class FirstLink: First { func work() {} }
final class SecondLink: Second {
    let before: any First
    init(_ before: any First) { self.before = before }
    func work() {}
}
final class ThirdLink: Third {
    let before: any Second
    init(_ before: any Second) { self.before = before }
    func work() {}
}
final class FourthLink: Fourth {
    let before: any Third
    init(_ before: any Third) { self.before = before }
    func work() {}
}
final class FifthLink: Fifth {
    let before: any Fourth
    init(_ before: any Fourth) { self.before = before }
    func work() {}
}

final class Part: Part0, Part1, Part2, Part3, Part4, Part5, Part6, Part7, Part8, Part9 { func work() {} }
final class Root: Whole {
    let parts:
        (
            any Part0, any Part1, any Part2, any Part3, any Part4,
            any Part5, any Part6, any Part7, any Part8, any Part9
        )
    init(
        _ p0: any Part0, _ p1: any Part1, _ p2: any Part2, _ p3: any Part3, _ p4: any Part4,
        _ p5: any Part5, _ p6: any Part6, _ p7: any Part7, _ p8: any Part8, _ p9: any Part9
    ) { parts = (p0, p1, p2, p3, p4, p5, p6, p7, p8, p9) }
    func work() {}
}

@inline(never) func makeWorker() -> any Service { Worker() }
@inline(never) func makeChain() -> any Fifth { FifthLink(FourthLink(ThirdLink(SecondLink(FirstLink())))) }
@inline(never) func makeRoot() -> any Whole {
    Root(Part(), Part(), Part(), Part(), Part(), Part(), Part(), Part(), Part(), Part())
}

/// The same chain, by the functions of a feature's module.
struct ChainModule: Sendable {
    let scope = Scope()

    func component() -> any First { FirstLink() }
    func component() -> any Second { SecondLink(component()) }
    func component() -> any Third { ThirdLink(component()) }
    func component() -> any Fourth { FourthLink(component()) }
    @inline(never) func component() -> any Fifth { FifthLink(component()) }
    @inline(never) func component() -> any SharedService { scope.shared { Worker() } }
}

/// Objects that have a service, each in its own way.
final class OwnerByHand {
    let service: any Service
    init(_ service: any Service) { self.service = service }
}
final class SharedOwnerByHand {
    let service: any SharedService
    init(_ service: any SharedService) { self.service = service }
}
final class Owner {
    @Inject var service: any Service
}
final class SharedOwner {
    @Inject var service: any SharedService
}
final class Reader {
    var stored: any Service = makeWorker()
    lazy var late: any Service = makeWorker()
    @Inject var injected: any Service
}

@inline(never) func makeOwner() -> Owner { Owner() }
@inline(never) func makeSharedOwner() -> SharedOwner { SharedOwner() }
@inline(never) func makeOwnerByHand() -> OwnerByHand { OwnerByHand(makeWorker()) }
@inline(never) func makeOwnerByHand(_ shared: any SharedService) -> SharedOwnerByHand { SharedOwnerByHand(shared) }

/// The modules that the rows resolve.
func ordinary() -> Dependencies {
    Dependencies {
        Module { Worker() as any Service }
        Module(.shared) { Worker() as any SharedService }
        Module { FirstLink() as any First }
        Module { SecondLink($0) as any Second }
        Module { ThirdLink($0) as any Third }
        Module { FourthLink($0) as any Fourth }
        Module { FifthLink($0) as any Fifth }
    }
}

/// A root and its ten parts.
func wide() -> Dependencies {
    Dependencies {
        Module { Root($0, $1, $2, $3, $4, $5, $6, $7, $8, $9) as any Whole }
        Module { Part() as any Part0 }
        Module { Part() as any Part1 }
        Module { Part() as any Part2 }
        Module { Part() as any Part3 }
        Module { Part() as any Part4 }
        Module { Part() as any Part5 }
        Module { Part() as any Part6 }
        Module { Part() as any Part7 }
        Module { Part() as any Part8 }
        Module { Part() as any Part9 }
    }
}

/// As many distinct types as one likes: a tree of types, each of which needs the one that it grows from.
protocol Tree: Sendable {
    associatedtype Stem: Tree
    init()
}
final class Seed: Tree { typealias Stem = Seed }
final class Left<Stem: Tree>: Tree {}
final class Right<Stem: Tree>: Tree {}

extension Tree {
    static func makeByHand() -> any Tree { Self() }
    static var branches: [any Tree.Type] { [Left<Self>.self, Right<Self>.self] }
    static var module: Module { Self.self == Seed.self ? Module { Self() } : Module { (_: Stem) in Self() } }
    /// One with five needs.
    static var needy: Module {
        if Self.self == Seed.self { return module }
        return Module { (_: Stem, _: Stem.Stem, _: Stem.Stem.Stem, _: Stem.Stem.Stem.Stem, _: Seed) in Self() }
    }
}

func distinctTypes(_ count: Int) -> [any Tree.Type] {
    var types: [any Tree.Type] = [Seed.self]
    for index in 0..<count / 2 { types += types[index].branches }
    return Array(types.prefix(count))
}
