import Dowel
import Testing

/// A type that many modules offer under names.
private struct Part: Sendable {
    let value: Int
    init(_ value: Int = 0) { self.value = value }
}

private func part(_ name: String) -> Module { Module(name) { Part() } }

/// The names of what is collected, in order.
private func names(_ dependencies: Dependencies) -> [String] { dependencies.modules.map { $0.name ?? "-" } }

/// One set of modules, all of which tell the same number.
private struct Generation: Sendable {
    let number: Int
}

private struct Pair: Sendable {
    let one: Generation
    let other: Generation
}

private final class Shared: Sendable {
    let generation: Generation
    init(_ generation: Generation) { self.generation = generation }
}

private final class Reader: Sendable {
    let pair = Inject<Pair>()
}

struct CollectingTests {
    // MARK: The block

    @Test func `modules are collected in order`() {
        let dependencies = Dependencies {
            part("a")
            part("b")
            Module { Part() }
        }

        #expect(names(dependencies) == ["a", "b", "-"])
    }

    @Test func `a block may be empty`() {
        let dependencies = Dependencies {}

        #expect(dependencies.modules.isEmpty)
    }

    @Test(arguments: [true, false]) func `an if collects where it holds`(holds: Bool) {
        let dependencies = Dependencies {
            part("a")
            if holds {
                part("b")
                part("c")
            }
            part("d")
        }

        #expect(names(dependencies) == (holds ? ["a", "b", "c", "d"] : ["a", "d"]))
    }

    @Test(arguments: 0..<4) func `an if with else branches collects one branch`(number: Int) {
        let dependencies = Dependencies {
            if number == 0 {
                part("zero")
            } else if number == 1 {
                part("one")
            } else if number == 2 {
                part("two")
            } else {
            }
        }

        #expect(names(dependencies) == [["zero"], ["one"], ["two"], []][number])
    }

    @Test(arguments: ["x", nil]) func `an if let collects where there is a value`(name: String?) {
        let dependencies = Dependencies {
            if let name { part(name) }
        }

        #expect(names(dependencies) == (name.map { [$0] } ?? []))
    }

    @Test(arguments: 0..<4) func `a switch collects one case`(number: Int) {
        let dependencies = Dependencies {
            switch number {
            case 0: part("zero")
            case 1:
                part("one")
                part("two")
            case let many where many == 2: for index in 0..<many { part("\(index)") }
            default: Dependencies {}
            }
        }

        #expect(names(dependencies) == [["zero"], ["one", "two"], ["0", "1"], []][number])
    }

    @Test func `a for collects from every round`() {
        let dependencies = Dependencies {
            for name in ["a", "b", "c"] {
                for index in 1...2 where name != "b" { part("\(name)\(index)") }
            }
            for _ in 0..<0 { part("never") }
        }

        #expect(names(dependencies) == ["a1", "a2", "c1", "c2"])
    }

    @Test func `a condition of the compiler collects what is compiled`() {
        let dependencies = Dependencies {
            #if swift(>=6)
            part("new")
            #else
            part("old")
            #endif
            #if swift(<6)
            part("never")
            #endif
        }

        #expect(names(dependencies) == ["new"])
    }

    @Test func `an availability condition collects what is available`() {
        let dependencies = Dependencies {
            if #available(macOS 10.15, *) { part("new") } else { part("old") }
            if #unavailable(macOS 10.15) { part("never") }
        }

        #expect(names(dependencies) == ["new"])
    }

    @Test func `dependencies and arrays may stand in dependencies`() {
        let inner = Dependencies {
            part("b")
            Dependencies { part("c") }
        }
        func feature() -> Dependencies { Dependencies { part("d") } }
        let dependencies = Dependencies {
            part("a")
            inner
            feature()
            [part("e"), part("f")]
            [Module]()
            inner.modules.map { part($0.name! + "'") }
        }

        #expect(names(dependencies) == ["a", "b", "c", "d", "e", "f", "b'", "c'"])
    }

    @Test func `a constant may stand between modules`() {
        let dependencies = Dependencies {
            let name = "a"
            part(name)
            let (first, second) = (name + "1", name + "2")
            part(first)
            part(second)
        }

        #expect(names(dependencies) == ["a", "a1", "a2"])
    }

    @Test func `a block may be a function of its own`() {
        @Dependencies.Builder func modules(_ count: Int) -> [Module] {
            for index in 0..<count { part("\(index)") }
        }
        let dependencies = Dependencies { modules(3) }

        #expect(names(dependencies) == ["0", "1", "2"])
    }

    @Test func `a block may hold more modules than anyone writes`() {
        Dependencies {
            for index in 0..<5_000 { Module("\(index)") { Part(index) } }
        }.override {
            let sum = (0..<5_000).reduce(0) { $0 + (Resolver.resolve("\($1)") as Part).value }

            #expect(sum == 12_497_500)
        }
    }

    @Test func `nothing is made, nor offered, before build`() async {
        await #expect(processExitsWith: .success) {
            let made = Protected(0)
            let dependencies = Dependencies {
                Module(.shared) {
                    made.withLock { $0 += 1 }
                    return Part()
                }
            }
            #expect(Resolver.find() as Part? == nil)

            dependencies.build()

            #expect(made.value == 0)
            #expect(Resolver.find() as Part? != nil)
            #expect(made.value == 1)
        }
    }

    // MARK: Building

    @Test func `build returns what it built`() async {
        await #expect(processExitsWith: .success) {
            let dependencies = Dependencies {
                part("a")
                part("b")
            }.build()

            #expect(names(dependencies) == ["a", "b"])
        }
    }

    @Test func `a second build replaces the first, all of it`() async {
        await #expect(processExitsWith: .success) {
            Dependencies {
                Module { Part(1) }
                Module("gone") { Part(1) }
            }.build()
            #expect((Resolver.resolve() as Part).value == 1)

            Dependencies { Module { Part(2) } }.build()

            #expect((Resolver.resolve() as Part).value == 2)
            #expect(Resolver.find("gone") as Part? == nil)
        }
    }

    @Test func `each build makes its shared instances anew, also of the same dependencies`() async {
        await #expect(processExitsWith: .success) {
            let dependencies = Dependencies { Module(.shared) { Shared(Generation(number: 0)) } }.build()
            let first: Shared = Resolver.resolve()
            let again: Shared = Resolver.resolve()
            #expect(first === again)

            dependencies.build()

            let second: Shared = Resolver.resolve()
            #expect(first !== second)
        }
    }

    @Test func `an empty build takes everything away`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Part() } }.build()

            Dependencies {}.build()

            #expect(Resolver.find() as Part? == nil)
        }
    }

    @Test func `a factory may build, and goes on with what it was asked from`() async {
        await #expect(processExitsWith: .success) {
            Dependencies {
                Module { Generation(number: 1) }
                Module { () -> Pair in
                    let one: Generation = Resolver.resolve()
                    Dependencies { Module { Generation(number: 2) } }.build()
                    return Pair(one: one, other: Resolver.resolve())
                }
            }.build()

            let pair: Pair = Resolver.resolve()

            #expect((pair.one.number, pair.other.number) == (1, 1))
            #expect((Resolver.resolve() as Generation).number == 2)
        }
    }

    @Test func `while others build, a thread gets all of one request from one set`() async {
        await #expect(processExitsWith: .success) { CollectingTests.buildWhileOthersResolve() }
    }

    /// Two threads build one set after another while six ask; no set is built twice.
    private static func buildWhileOthersResolve() {
        let (built, ended) = (Protected(0), Protected(0))
        @Sendable func build() {
            let number = built.withLock {
                $0 += 1
                return $0
            }
            Dependencies {
                Module { Generation(number: number) }
                Module(.shared) { Shared($0) }
                Module { Pair(one: $0, other: ($1 as Shared).generation) }
                if number.isMultiple(of: 2) { Module { Part(number) } }
            }.build()
        }
        build()

        onThreads(8) { index in
            if index < 2 {
                for _ in 0..<rounds { build() }
                ended.withLock { $0 += 1 }
                return
            }
            while ended.value < 2 {
                let resolved: Pair = Resolver.resolve()
                let found: Pair? = Resolver.find()
                let injected = Reader().pair()
                let part: Part? = Resolver.find()

                for pair in [resolved, found!, injected] where pair.one.number != pair.other.number {
                    Issue.record("one request got parts of the sets \(pair.one.number) and \(pair.other.number)")
                }
                if let part, !part.value.isMultiple(of: 2) { Issue.record("nobody offered \(part)") }
            }
        }

        build()
        let last: Pair = Resolver.resolve()
        #expect(built.value == 2 * rounds + 2)
        #expect((last.one.number, last.other.number) == (built.value, built.value))
    }

    @Test func `a thread that sees a build done gets what was built`() async {
        await #expect(processExitsWith: .success) {
            let number = Protected(0)
            Dependencies { Module { Generation(number: 0) } }.build()
            let turn = Barrier(4)

            onThreads(4) { index in
                for round in 1...rounds {
                    if index == 0 { Dependencies { Module { Generation(number: round) } }.build() }
                    turn.wait()
                    let found: Generation = Resolver.resolve()
                    if found.number == round { number.withLock { $0 += 1 } }
                    turn.wait()
                }
            }

            #expect(number.value == 4 * rounds)
        }
    }
}
