import Dowel
import Foundation
import Testing

private protocol API: Sendable {}
private protocol Log: Sendable {}
private protocol Cache: Sendable {}
private struct Client: API, Log {}

private struct A: Sendable {}
private struct B: Sendable {}
private struct C: Sendable {}
private struct D: Sendable {}
private struct E: Sendable {}

/// Fails where it is called: validating makes nothing.
private func never<T>(_ type: T.Type = T.self) -> T { fatalError("made a \(T.self)") }

/// Three needs that nobody offers, two cycles and a key offered twice.
private let sixProblems = Dependencies {
    Module { (_: any API, _: any Log) in never() as A }
    Module { (_: B) in never() as B }
    Module { (_: D) in never() as C }
    Module { (_: C) in never() as D }
    Module { never() as E }
    Module { (_: any Cache) in never() as E? }
    Module(.shared) { never() as E }
}

extension Module {
    fileprivate var place: String { "\(file):\(line)" }
}

extension Dependencies {
    /// What `validate()` finds, or nothing.
    fileprivate var problems: [String] {
        do { try validate() } catch { return error.problems }
        return []
    }
}

/// As many types as anybody wants: three digits from eight give 512.
private protocol Digit {}
private enum D0: Digit {}
private enum D1: Digit {}
private enum D2: Digit {}
private enum D3: Digit {}
private enum D4: Digit {}
private enum D5: Digit {}
private enum D6: Digit {}
private enum D7: Digit {}
private protocol Numbered: SendableMetatype {}
private struct Number<X: Digit, Y: Digit, Z: Digit>: Numbered {}

private func number(_ value: Int) -> any Numbered.Type {
    func type<X: Digit, Y: Digit, Z: Digit>(_: X.Type, _: Y.Type, _: Z.Type) -> any Numbered.Type {
        Number<X, Y, Z>.self
    }
    let digits: [any Digit.Type] = [D0.self, D1.self, D2.self, D3.self, D4.self, D5.self, D6.self, D7.self]
    let (x, y, z) = (digits[value / 64], digits[value / 8 % 8], digits[value % 8])
    return type(x, y, z)
}

/// A module for each of the first 500 numbers, which needs the next, and the last one the first.
private let ring = Dependencies {
    for value in 0..<500 { module(number(value), needs: number((value + 1) % 500)) }
}

private func module<Offered: Numbered, Need: Numbered>(_: Offered.Type, needs _: Need.Type) -> Module {
    Module { (_: Need) in never() as Offered }
}

@Suite struct ValidatingTests {
    // MARK: - All at once

    @Test func `modules that need each other in order are valid`() throws {
        let modules = Dependencies {
            Module { (_: B, _: C) in never() as A }
            Module { (_: C) in never() as B }
            Module { never() as C }
        }

        try modules.validate()
        try Dependencies {}.validate()
    }

    @Test func `one call reports every problem, with its place`() throws {
        let modules = sixProblems.modules

        let problems = sixProblems.problems

        #expect(problems.count == 6)
        func isReported(_ fragments: String...) -> Bool {
            problems.contains { problem in fragments.allSatisfy(problem.contains) }
        }
        #expect(isReported("API, which nobody offers", modules[0].place))
        #expect(isReported("Log, which nobody offers", modules[0].place))
        #expect(isReported("Cache, which nobody offers", modules[5].place))
        #expect(isReported("Dependency cycle: ", modules[1].place, "\n  to mend it: ask by an Inject"))
        #expect(isReported("Dependency cycle: ", modules[2].place, modules[3].place))
        #expect(isReported("E (\(modules[6].place))", "is offered at \(modules[4].place) too"))
    }

    @Test func `the error counts the problems and lists them`() throws {
        let six = #expect(throws: WiringError.self) { try sixProblems.validate() }
        let one = #expect(throws: WiringError.self) { try Dependencies { Module { (_: B) in A() } }.validate() }

        try #expect(#require(six).description.hasPrefix("6 wiring problems\n- "))
        try #expect(#require(one).description.hasPrefix("1 wiring problem\n- "))
        let lines = try #require(six).description.components(separatedBy: "\n- ").dropFirst()
        try #expect(#require(six).problems == Array(lines))
    }

    @Test func `build stops with all of it, in the same order in every process`() async throws {
        var texts: [String] = []
        for _ in 0..<4 {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                sixProblems.build()
            }
            let text = try #require(result).text
            let start = try #require(text.range(of: "6 wiring problems")).lowerBound
            texts.append(text[start...].split(separator: "\n").prefix(9).joined(separator: "\n"))
        }

        let error = #expect(throws: WiringError.self) { try sixProblems.validate() }
        try #expect(#require(error).description == texts[0])
        #expect(Set(texts).count == 1)
    }

    // MARK: - Needs

    @Test func `a need that is offered under names only is reported with those`() throws {
        let modules = Dependencies {
            Module("net") { Client() as any API }
            Module("disk") { Client() as any API }
            Module { (_: any API) in never() as A }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("API \"net\" (DowelTests/ValidatingTests.swift:"))
        #expect(problems[0].contains("API \"disk\" (DowelTests/ValidatingTests.swift:"))
    }

    @Test(arguments: [
        (Dependencies { Module { (_: Int) in never() as A } }, "Int"),
        (Dependencies { Module { (_: String) in never() as A } }, "String"),
        (Dependencies { Module { (_: Bool) in never() as A } }, "Bool"),
        (Dependencies { Module { (_: Double) in never() as A } }, "Double"),
    ])
    func `a bare value is never filled by guesswork`(modules: Dependencies, type: String) throws {
        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("A bare \(type) is never filled by guesswork"))
        #expect(problems[0].contains("a type of its own"))
        #expect(problems[0].contains("a named module"))
    }

    @Test func `a protocol of the standard library is no bare value`() throws {
        let problems = Dependencies { Module { (_: any Error) in 1 } }.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("Swift.Error, which nobody offers"))
        #expect(!problems[0].contains("guesswork"))
    }

    @Test func `a generic type of the standard library is no bare value: it can be offered as it is`() throws {
        let problems = Dependencies { Module { (_: Task<Int, Never>, _: [any API]) in 1 } }.problems

        try #require(problems.count == 2)
        #expect(problems.allSatisfy { !$0.contains("guesswork") })
        #expect(problems[0].contains("Module { … as Swift.Task<Swift.Int, Swift.Never> }"))
        try Dependencies {
            Module { (_: Task<Int, Never>, _: [any API]) in 1 }
            Module { Task { 1 } }
            Module { [] as [any API] }
        }.validate()
    }

    @Test func `a bare value that is offered on purpose is filled`() throws {
        let modules = Dependencies {
            Module { 42 }
            Module { (number: Int) in "\(number)" }
        }

        try modules.validate()
        #expect(modules.override { Resolver.resolve() as String } == "42")
    }

    @Test func `a parameter with a default value is reported, with the advice to write the closure`() throws {
        struct Fetcher {
            init(api: any API, retries: Int = 3) {}
        }
        let modules = Dependencies {
            Module { Client() as any API }
            Module(Fetcher.init)
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("If it has a default, write a closure without it"))
    }

    @Test func `a need that is offered by name only is reported, with the advice to resolve it`() throws {
        let modules = Dependencies {
            Module("net") { Client() as any API }
            Module { (api: any API) in [api] }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("API \"net\" (\(modules.modules[0].place)) is offered"))
        #expect(problems[0].contains("if a name, resolve it in the closure"))
    }

    @Test func `an optional need that nobody offers is no problem, and nil`() throws {
        let modules = Dependencies {
            Module { (api: (any API)?, log: (any Log)?) in [api != nil, log != nil] }
            Module { Client() as any Log }
        }

        try modules.validate()
        #expect(modules.override { Resolver.resolve() as [Bool] } == [false, true])
    }

    @Test func `what configuring needs has to be offered`() throws {
        let modules = Dependencies {
            Module {
                A()
            } configure: { (_: A, _: any API) in
            }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("API, which nobody offers"))
    }

    @Test func `what a module of the main actor needs has to be offered`() throws {
        let modules = Dependencies { Module.main { (_: any API) in A() } }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("API, which nobody offers"))
    }

    @Test func `twelve parameters are filled each by its type`() throws {
        struct All: Equatable {
            var (a, b, c, d): (Int, Int8, Int16, Int32)
            var (e, f, g, h): (UInt, UInt8, UInt16, UInt32)
            var (i, j, k, l): (String, Float, Double, Character)
            init(
                a: Int, b: Int8, c: Int16, d: Int32, e: UInt, f: UInt8, g: UInt16, h: UInt32, i: String, j: Float,
                k: Double, l: Character
            ) {
                (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
                (self.g, self.h, self.i, self.j, self.k, self.l) = (g, h, i, j, k, l)
            }
        }
        let modules = Dependencies {
            Module(All.init)
            Module { 1 as Int }
            Module { 2 as Int8 }
            Module { 3 as Int16 }
            Module { 4 as Int32 }
            Module { 5 as UInt }
            Module { 6 as UInt8 }
            Module { 7 as UInt16 }
            Module { 8 as UInt32 }
            Module { "nine" }
            Module { 10 as Float }
            Module { 11 as Double }
            Module { "l" as Character }
        }

        try modules.validate()
        let all = modules.override { Resolver.resolve() as All }

        #expect(all == All(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: "nine", j: 10, k: 11, l: "l"))
        #expect(modules.modules[0].needs.count == 12)
    }

    // MARK: - Cycles

    @Test func `a cycle is a path that starts and ends with the same type`() throws {
        let modules = Dependencies {
            Module { (_: B) in never() as A }
            Module { (_: C) in never() as B }
            Module { (_: A) in never() as C }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        let names = path(problems[0])
        #expect(names.count == 4)
        #expect(names.first == names.last)
        #expect(Set(names.map { $0.suffix(1) }) == ["A", "B", "C"])
        for module in modules.modules { #expect(problems[0].contains(module.place)) }
    }

    @Test func `a module that needs itself is a cycle`() throws {
        let modules = Dependencies { Module { (_: A) in never() as A } }

        let problems = modules.problems

        try #require(problems.count == 1)
        let names = path(problems[0])
        #expect(names.count == 2)
        #expect(names.first == names.last)
    }

    @Test(arguments: [
        Dependencies { Module { (_: any API, _: any Log, _: any API) in never() as A } },
        Dependencies {
            Module { (_: B) in never() as A }
            Module { (_: A, _: any Log, _: A) in never() as B }
        },
    ])
    func `what two needs of one type have wrong is reported once`(modules: Dependencies) {
        let problems = modules.problems

        #expect(problems.count == 2)
        #expect(problems.count { $0.contains("Log, which nobody offers") } == 1)
    }

    @Test func `an optional need makes a cycle like any other`() {
        let modules = Dependencies {
            Module { (_: B?) in never() as A }
            Module { (_: A) in never() as B }
        }

        #expect(modules.problems.count == 1)
        #expect(modules.problems.first?.contains("Dependency cycle: ") == true)
    }

    @Test func `what leads into a cycle is not part of its path`() throws {
        let modules = Dependencies {
            Module { (_: B) in never() as A }
            Module { (_: C) in never() as B }
            Module { (_: B) in never() as C }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(Set(path(problems[0]).map { $0.suffix(1) }) == ["B", "C"])
    }

    @Test(arguments: [
        Dependencies {
            Module(.objectGraph) {
                A()
            } configure: { (_: A, _: B) in
            }
            Module { (_: A) in never() as B }
        },
        Dependencies {
            Module {
                A()
            } configure: { (_: A, _: B) in
            }
            Module(.shared) { (_: A) in never() as B }
        },
        Dependencies {
            Module { C() }
            Module(.objectGraph) {
                (_: C) in
                A()
            } configure: { (_: A, _: B) in
            }
            Module { (_: A) in never() as B }
        },
    ])
    func `what configuring needs makes no cycle, where one of them is made once`(modules: Dependencies) throws {
        try modules.validate()
    }

    @Test func `what configuring needs makes a cycle, where all is made anew each time`() throws {
        let modules = Dependencies {
            Module { (_: A) in never() as D }
            Module {
                A()
            } configure: { (_: A, _: B) in
            }
            Module { (_: C) in never() as B }
            Module { (_: A) in never() as C }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(Set(path(problems[0]).map { $0.suffix(1) }) == ["A", "B", "C"])
    }

    @Test func `what configures is walked from each, whatever led there before`() throws {
        let modules = Dependencies {
            Module {
                (_: B) in
                A()
            } configure: { (_: A, _: D) in
            }
            Module(.objectGraph) {
                B()
            } configure: { (_: B, _: C) in
            }
            Module { C() }
            Module { D() }
        }

        try modules.validate()
    }

    @Test func `what configures itself anew each time makes a cycle`() throws {
        let modules = Dependencies {
            Module {
                A()
            } configure: { (_: A, _: A) in
            }
        }

        #expect(modules.problems.count == 1)
        #expect(modules.problems.first?.contains("Dependency cycle: ") == true)
    }

    @Test func `a cycle of 500 modules is found with a small stack`() async throws {
        let problems = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: ring.problems) }
            thread.stackSize = 64 * 1024
            thread.start()
        }

        try #require(problems.count == 1)
        let names = path(problems[0])
        #expect(names.count == 501)
        #expect(names.first == names.last)
        #expect(Set(names).count == 500)
    }

    // MARK: - Keys offered twice

    @Test func `one type and name from two places is reported with both`() throws {
        let modules = Dependencies {
            Module("one") { 1 }
            Module("one") { 2 }
        }

        let problems = modules.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("Swift.Int \"one\""))
        #expect(problems[0].contains(modules.modules[0].place))
        #expect(problems[0].contains(modules.modules[1].place))
    }

    @Test func `one type under several names is several modules`() throws {
        let modules = Dependencies {
            Module { 0 }
            Module("one") { 1 }
            Module("two") { 2 }
        }

        try modules.validate()
    }

    @Test func `two features may both bring the core along`() throws {
        enum Core {
            static let stored = Dependencies { Module(.shared) { A() } }
            static var computed: Dependencies { Dependencies { Module(.shared) { B() } } }
        }
        let first = Dependencies {
            Core.stored
            Core.computed
            Module { (_: A, _: B) in C() }
        }
        let second = Dependencies {
            Core.computed
            Core.stored
            Module { (_: A, _: B) in D() }
        }
        let app = Dependencies {
            first
            second
        }

        try app.validate()
        app.override { #expect(Resolver.find() as A? != nil && Resolver.find() as D? != nil) }
    }

    // MARK: - Replacing

    @Test func `replacing puts the other's modules in the place of those of the same key`() throws {
        let original = Dependencies {
            Module { 1 }
            Module("named") { 2 }
            Module { "kept" }
        }

        let replaced = original.replacing(Dependencies { Module("named") { 3 } })

        try replaced.validate()
        #expect(replaced.modules.count == 3)
        #expect(replaced.override { Resolver.resolve() as Int } == 1)
        #expect(replaced.override { Resolver.resolve("named") as Int } == 3)
        #expect(replaced.override { Resolver.resolve() as String } == "kept")
    }

    @Test func `one file's name may stand in a program twice, and is one place`() throws {
        // As where the code of a library is built into its client: the names of the file are two constants.
        let modules = Dependencies {
            Module({ 1 }, file: "Core.swift\0", line: 1)
            Module({ 2 }, file: "Core.swift\0\0", line: 1)
        }

        try modules.validate()
    }

    @Test func `replacing what is not there is reported`() throws {
        let replaced = Dependencies { Module { Client() as any API } }.replacing(Dependencies { Module { Client() } })

        let problems = replaced.problems

        try #require(problems.count == 1)
        #expect(problems[0].contains("replaces nothing: did you forget `as P`?"))
        #expect(problems[0].contains(replaced.modules[1].place))
    }

    @Test func `replacing under a name that is not there is reported`() {
        let replaced = Dependencies { Module("net") { 1 } }.replacing(Dependencies { Module("nett") { 2 } })

        #expect(replaced.problems.count == 1)
        #expect(replaced.problems.first?.contains("\"nett\" (\(replaced.modules[1].place)) replaces nothing") == true)
        #expect(replaced.problems.first?.contains("Or a name?") == true)
    }

    @Test func `what replaced nothing may replace something elsewhere`() throws {
        let inner = Dependencies {}.replacing(Dependencies { Module { "inner" } })
        let outer = Dependencies { Module { "outer" } }.replacing(inner)

        #expect(inner.problems.count == 1)
        #expect(outer.problems == [])
        #expect(outer.override { Resolver.resolve() as String } == "inner")
    }

    @Test func `what replaced nothing is no more there for the next replacement`() {
        let mock = Dependencies { Module { Client() } }
        let replaced = Dependencies { Module { Client() as any API } }.replacing(mock).replacing(mock)

        #expect(replaced.modules.count == 2)
        #expect(replaced.problems.count == 1)
        #expect(replaced.problems.first?.contains("replaces nothing") == true)
    }

    @Test func `a replacement that replaced nothing is reported where it is collected, too`() {
        let replaced = Dependencies { Module { 1 } }.replacing(Dependencies { Module { "new" } })
        let app = Dependencies {
            replaced
            Module { A() }
        }

        #expect(app.problems.count == 1)
    }

    @Test func `a replacement may be replaced`() throws {
        let twice = Dependencies { Module { 1 } }
            .replacing(Dependencies { Module { 2 } })
            .replacing(Dependencies { Module { 3 } })

        try twice.validate()
        #expect(twice.override { Resolver.resolve() as Int } == 3)
    }

    @Test func `what a replacement needs is validated with the rest`() {
        let replaced = Dependencies {
            Module { A() }
            Module { (_: A) in B() }
        }.replacing(Dependencies { Module { (_: B) in never() as A } })

        #expect(replaced.problems.count == 1)
        #expect(replaced.problems.first?.contains("Dependency cycle: ") == true)
    }

    // MARK: - What a module tells

    @Test func `a module tells its type, name, needs and lifetime`() {
        let modules = Dependencies {
            Module { (_: Int, _: String?) in never() as any API }
            Module("named", .weakShared) { never() as any Log }
            Module(.objectGraph) { (_: A) in
                B()
            } configure: { (_: B, _: C) in
            }
            Module.main(.shared) { (_: D) in E() }
        }.modules

        #expect(modules.map { "\($0.type)" } == ["API", "Log", "B", "E"])
        #expect(modules.map(\.name) == [nil, "named", nil, nil])
        #expect(modules.map { $0.needs.map { "\($0)" } } == [["Int", "Optional<String>"], [], ["A", "C"], ["D"]])
        #expect(modules.map(\.lifetime) == [.unshared, .weakShared, .objectGraph, .shared])
    }

    @Test func `a module tells its place`() {
        let (plain, line) = (Module { 1 }, #line)
        let (named, lineOfNamed) = (Module("named", .shared) { 1 }, #line)
        let (main, lineOfMain) = (Module.main(.shared) { 1 }, #line)

        for (module, line) in [(plain, line), (named, lineOfNamed), (main, lineOfMain)] {
            #expect(module.line == line)
            #expect(module.file == #fileID)
        }
    }

    /// The names on a cycle's path, without the places.
    private func path(_ problem: String) -> [String] {
        guard let start = problem.range(of: "Dependency cycle: ")?.upperBound else { return [] }
        return problem[start...].components(separatedBy: " → ").map { $0.components(separatedBy: " (")[0] }
    }

    @Test func `two that replace one module are reported`() {
        let two = Dependencies {
            Module { 2 }
            Module { 3 }
        }

        let error = #expect(throws: WiringError.self) { try Dependencies { Module { 1 } }.replacing(two).validate() }

        #expect(error?.problems.count == 1)
        #expect(error?.description.contains("is offered at") == true)
    }

    @Test func `a key offered twice is reported with what would mend it`() {
        let twice = Dependencies {
            Module { 1 }
            Module { 2 }
        }

        let error = #expect(throws: WiringError.self) { try twice.validate() }

        #expect(error?.description.hasSuffix("too: take one out, or use replacing(_:)") == true)
    }

    @Test func `a cycle's path goes from who needs to what is needed`() {
        let modules = Dependencies {
            Module { (_: B) in never() as A }
            Module { (_: C) in never() as B }
            Module { (_: A) in never() as C }
        }

        let names = path(modules.problems[0]).map { $0.suffix(1) }.joined()

        #expect(["ABCA", "BCAB", "CABC"].contains(names))
    }

    @Test func `a need that is an optional of an optional is no problem, and nil`() throws {
        let modules = Dependencies { Module { (number: Int??) in "\(number == .none)" } }

        try modules.validate()
        #expect(modules.override { Resolver.resolve() as String } == "true")
    }
}
