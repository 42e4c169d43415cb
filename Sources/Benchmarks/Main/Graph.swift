import BenchmarkServices
import Dowel

// What a program would write to wire the services: by hand, and with modules.

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

/// Many modules, written as people write them: each offers one of ten types, under one of many names.
func many(_ count: Int) -> Dependencies {
    Dependencies {
        for number in 0..<count / 10 {
            let name = "number \(number)"
            Module(name) { Worker() as any Service }
            Module(name, .shared) { Worker() as any SharedService }
            Module(name) { FirstLink() as any First }
            Module(name) { SecondLink($0) as any Second }
            Module(name) { ThirdLink($0) as any Third }
            Module(name) { FourthLink($0) as any Fourth }
            Module(name) { FifthLink($0) as any Fifth }
            Module(name) { Part() as any Part0 }
            Module(name) { Part() as any Part1 }
            Module(name) { Part() as any Part2 }
        }
        ordinary()
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
