import Dispatch
import Dowel
import Foundation
import Testing

/// What is misused; not private, so that the texts show whole names.
enum Misuse {
    protocol Log: Sendable {}
    struct Console: Log {}
    actor Clerk: Log {}
    enum Choice: Sendable { case one }

    final class Part: Sendable {}
    struct Missing {}

    struct Link: Sendable {
        let depth: Int
    }

    /// Asks for itself while it is configured.
    final class Node: Sendable {}

    /// Runs the user's code when it goes.
    final class Farewell: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    /// A weakly shared instance of something that is no class.
    enum Unreferenced: String, CaseIterable, Codable {
        case choice, tuple, function, metatype, optional, any

        var module: Module {
            switch self {
            case .choice: Module("", .weakShared) { Choice.one }
            case .tuple: Module("", .weakShared) { (Part(), Part()) }
            case .function: Module("", .weakShared) { {} as @Sendable () -> Void }
            case .metatype: Module("", .weakShared) { Part.self }
            case .optional: Module("", .weakShared) { Part() as Part? }
            case .any: Module("", .weakShared) { Choice.one as any Sendable }
            }
        }

        func ask() {
            switch self {
            case .choice: _ = Resolver.resolve("") as Choice
            case .tuple: _ = Resolver.resolve("") as (Part, Part)
            case .function: _ = Resolver.resolve("") as @Sendable () -> Void
            case .metatype: _ = Resolver.resolve("") as Part.Type
            case .optional: _ = Resolver.resolve("") as Part?
            case .any: _ = Resolver.resolve("") as any Sendable
            }
        }
    }

    /// A way through ten thousand levels, each of which is made for the one before.
    enum Descent: String, CaseIterable, Codable {
        case resolve, find, inject, optional, shared, scope, override

        func run() {
            switch self {
            case .resolve: named { Resolver.resolve($0) }
            case .find: named { Resolver.find($0)! }
            case .inject: named { Inject<Link>($0)() }
            case .optional: named { Inject<Link?>($0)()! }
            case .shared:
                Dependencies {
                    for level in 1...10_000 {
                        Module("\(level)", .shared) { Link(depth: below(level) { Resolver.resolve($0) }) }
                    }
                }.override { _ = Resolver.resolve("1") as Link }
            case .scope: _ = Deep().component(level: 1)
            case .override:
                Dependencies { Module { Dependencies {}.override { Resolver.resolve() as Link } } }.override {
                    _ = Resolver.resolve() as Link
                }
            }
        }

        private func named(_ ask: @escaping @Sendable (String) -> Link) {
            Dependencies {
                for level in 1...10_000 { Module("\(level)") { Link(depth: below(level, ask)) } }
            }.override { _ = ask("1") }
        }

        private func below(_ level: Int, _ ask: (String) -> Link) -> Int {
            level == 10_000 ? 1 : ask("\(level + 1)").depth + 1
        }
    }

    struct Deep: Sendable {
        private let scope = Scope()

        func component(level: Int) -> Link {
            scope.shared(for: level) { Link(depth: level == 10_000 ? 1 : component(level: level + 1).depth + 1) }
        }
    }

    /// Two modules whose scopes ask each other, and one that asks itself.
    final class Pair: Sendable {
        private let one = Scope(), other = Scope()

        func component() -> Part {
            one.shared { () -> Part in
                _ = component() as Clerk
                return Part()
            }
        }

        func component() -> Clerk {
            other.weakShared { () -> Clerk in
                _ = component() as Part
                return Clerk()
            }
        }

        func again() -> Part { one.shared { again() } }
    }

    /// An id that is not even its own equal.
    struct Stranger: Hashable, Sendable {
        static func == (one: Stranger, other: Stranger) -> Bool { false }
        func hash(into hasher: inout Hasher) {}
    }

    /// An id whose hash is another one each time.
    struct Restless: Hashable, Sendable {
        let number: Int
        static let hashed = Protected(0)
        static func == (one: Restless, other: Restless) -> Bool { one.number == other.number }
        func hash(into hasher: inout Hasher) {
            hasher.combine(
                Self.hashed.withLock {
                    $0 += 1
                    return $0
                })
        }
    }

    /// Reads its own property while that is read for the first time.
    final class Snake: @unchecked Sendable {
        @Inject var part: Part
    }

    static let snake = Snake()

    /// The compiler does not see that nothing follows where this asks for `Never`.
    static func ask<T>(for type: T.Type) { _ = Inject<T>()() }

    /// Of which an instance is being made while what keeps it ends.
    static func slow(_ turn: Barrier) -> Dependencies {
        Dependencies {
            Module(.shared) { () -> Part in
                for _ in 0..<2 { turn.wait() }
                return Part()
            }
        }
    }

    /// A block of modules where code belongs. The compiler warns, but not in what is deprecated itself.
    struct Misplaced: Runnable {
        @available(*, deprecated)
        static func run() throws { try Dependencies {}.override { Module { Part() } } }
    }

    protocol Runnable {
        static func run() throws
    }

    static func run<T: Runnable>(_ type: T.Type) throws { try T.run() }

    static let part: Part = Resolver.resolve()

    /// The sanitizers take several times as much of it.
    static let smallStack: Int = {
        let program = dlopen(nil, RTLD_NOW)
        if dlsym(program, "__tsan_init") != nil || dlsym(program, "__asan_init") != nil {
            return 4 << 20
        }
        // Not `DEBUG`: only SwiftPM defines that.
        return _isDebugAssertConfiguration() ? 512 << 10 : 256 << 10
    }()

    /// Can never be called.
    @Sendable static func part(never: Never) -> Part {}

    /// A copy has the same property inside.
    struct Copied: Sendable {
        @Inject var part: Part
    }
}

struct MisuseTests {
    private typealias Part = Misuse.Part
    private typealias Link = Misuse.Link

    /// Each fragment stands in what the program said.
    private func expect(
        _ result: ExitTest.Result?, says fragments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let text = result?.text ?? ""
        for fragment in fragments {
            #expect(text.contains(fragment), "\(text.prefix(10_000))", sourceLocation: sourceLocation)
        }
    }

    // MARK: Names

    @Test func `any string is a name, and another one than none`() {
        let names = ["", " ", "\0", "a\0", "a\0b", "\n", "\r\n", "\u{1B}[2J", "\"", "\u{202E}", "\u{FEFF}", "🧩"]
        Dependencies {
            Module { -1 }
            for (number, name) in names.enumerated() { Module(name) { number } }
        }.override {
            #expect(names.map { Resolver.resolve($0) as Int } == Array(names.indices))
            #expect(names.map { Inject<Int?>($0)() } == Array(names.indices))
            #expect(Resolver.resolve() as Int == -1)
            #expect(Resolver.find("a") as Int? == nil)
        }
    }

    @Test func `a name of a million characters is told apart by its last`() {
        let long = String(repeating: "x", count: 1_000_000)
        Dependencies {
            Module(long + "a") { 1 }
            Module(long + "b") { 2 }
        }.override {
            #expect(Resolver.resolve(long + "b") as Int == 2)
            #expect(Resolver.find(long) as Int? == nil)
        }
    }

    @Test func `a name of a million characters that nobody offers stops the program all the same`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies { Module { Part() } }.build()
            _ = Resolver.resolve(String(repeating: "x", count: 1_000_000)) as Part
        }

        expect(result, says: "nobody offers DowelTests.Misuse.Part \"xxx", "Misuse.Part (DowelTests/MisuseTests.swift:")
    }

    @Test func `a name of control characters is told as it is written in Swift`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module("\0\u{1B}[2J") { Part() } }.build()
            _ = Resolver.resolve("a\0b\n\"") as Part
        }

        expect(
            result, says: #"nobody offers DowelTests.Misuse.Part "a\0b\n\"", asked for at"#,
            #"Misuse.Part "\0\u{1B}[2J" (DowelTests/MisuseTests.swift:"#,
            #"Module("a\0b\n\"") { … as DowelTests.Misuse.Part }"#)
    }

    @Test func `names that Unicode holds equal are one name`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let dependencies = Dependencies {
            Module(composed) { 1 }
            Module(decomposed) { 2 }
        }

        let error = #expect(throws: WiringError.self) { try dependencies.validate() }

        #expect(error?.problems.count == 1)
        Dependencies { Module(composed) { 1 } }.override { #expect(Resolver.resolve(decomposed) as Int == 1) }
    }

    @Test func `two modules of one type on one line are the first of them`() throws {
        let dependencies = Dependencies { for number in 1...3 { Module { number } } }

        try dependencies.validate()

        #expect(dependencies.override { Resolver.resolve() as Int } == 1)
    }

    @Test func `a line that no file has is no reason to stop`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module({ 1 }, file: "", line: -1) }.override {
                #expect(Inject<Int>(file: "", line: .min)() == 1)
            }
        }
    }

    // MARK: Types

    @Test func `Void, tuples, functions, metatypes and Any live as long as others do`() {
        let made = Protected(0)
        @Sendable func count<T>(_ value: T) -> T {
            made.withLock { $0 += 1 }
            return value
        }
        Dependencies {
            Module(.shared) { count(()) }
            Module(.shared) { count((1, "one")) }
            Module(.objectGraph) { count({ 7 } as () -> Int) }
            Module(.shared) { count(Part.self as Part.Type) }
            Module(.shared) { count((any Misuse.Log).self as (any Misuse.Log).Type) }
            Module(.shared) { count(Misuse.Clerk.self as any Misuse.Log.Type) }
            Module(.shared) { count(1 as any Sendable) }
            Module { (all: (Int, String), nothing: Void) in "\(all.0) \(nothing)" }
        }.override {
            for _ in 0..<2 {
                _ = Resolver.resolve() as Void
                #expect(Resolver.resolve() as (Int, String) == (1, "one"))
                #expect((Resolver.resolve() as () -> Int)() == 7)
                #expect(Resolver.resolve() as Part.Type == Part.self)
                #expect(Resolver.resolve() as (any Misuse.Log).Type == (any Misuse.Log).self)
                #expect(Resolver.resolve() as any Misuse.Log.Type == Misuse.Clerk.self)
                #expect(Resolver.resolve() as any Sendable as? Int == 1)
                #expect(Inject<Any?>()() as? Int == 1)
                #expect(Resolver.resolve() as String == "1 ()")
            }
        }

        #expect(made.value == 6 + 2)
    }

    @Test func `Any is the same type with and without Sendable`() {
        let dependencies = Dependencies {
            Module { 1 as Any }
            Module { 2 as any Sendable }
        }

        let error = #expect(throws: WiringError.self) { try dependencies.validate() }

        #expect(error?.description.contains("- Any (DowelTests/MisuseTests.swift:") == true)
    }

    @Test func `a factory that never returns ends the program by its own word`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(.shared) { () -> Never in fatalError("by its own word") } }.build()
            Misuse.ask(for: Never.self)
        }

        expect(result, says: "by its own word")
    }

    @Test func `what never is, nobody offers`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(Misuse.part) }.build()
        }
        let asked = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            Misuse.ask(for: Never.self)
        }

        expect(result, says: "DowelTests.Misuse.Part", "needs Swift.Never, which nobody offers")
        expect(asked, says: "nobody offers Swift.Never")
    }

    @Test func `a module of an optional offers just that, also where it is nil`() {
        Dependencies {
            Module { 5 as Int? }
            Module("nil") { nil as Int? }
            Module { Misuse.Choice.one }
        }.override {
            #expect(Resolver.resolve() as Int? == 5)
            #expect(Inject<Int?>()() == 5)
            #expect(Resolver.find() as Int? == nil)
            #expect(Resolver.resolve("nil") as Int? == nil)
            #expect(Resolver.find("nil") as Int?? == .some(nil))
            #expect(Inject<Int??>()() == 5)
            #expect(Resolver.resolve() as Misuse.Choice?? == .one)
            #expect(Resolver.find() as Misuse.Choice??? == .one)
            #expect(Inject<Misuse.Choice???>()() == .one)
        }
    }

    @Test func `what is in an offered optional is asked for in vain`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Resolver.register(Part() as Part?)
            _ = Resolver.resolve() as Part
        }

        expect(
            result, says: "nobody offers DowelTests.Misuse.Part, asked for at",
            "Swift.Optional<DowelTests.Misuse.Part> (DowelTests/MisuseTests.swift", ") is offered\n")
    }

    @Test func `an optional of an optional that nobody offers stops as well`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Resolver.resolve() as Part??
        }

        expect(
            result, says: "nobody offers DowelTests.Misuse.Part, asked for at",
            "Module { … as DowelTests.Misuse.Part }")
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: Misuse.Unreferenced.allCases)
    func `what is no class is not weakly shared`(what: Misuse.Unreferenced) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [what] in
            Dependencies { what.module }.build()
            what.ask()
        }

        expect(result, says: "(DowelTests/MisuseTests.swift:", ") is .weakShared, but not a class: use .shared")
    }
    #endif

    @Test func `an actor, and a class behind Any, are weakly shared`() {
        Dependencies {
            Module(.weakShared) { Misuse.Clerk() }
            Module(.weakShared) { Misuse.Clerk() as any Misuse.Log }
            Module(.weakShared) { Part() as any Sendable }
        }.override {
            let (clerk, log): (Misuse.Clerk, any Misuse.Log) = (Resolver.resolve(), Resolver.resolve())
            var any: (any Sendable)? = Resolver.resolve() as any Sendable
            weak let part = any as? Part

            #expect(Resolver.resolve() as Misuse.Clerk === clerk)
            #expect(Resolver.resolve() as any Misuse.Log as? Misuse.Clerk === log as? Misuse.Clerk)
            #expect(Resolver.resolve() as any Sendable as? Part === part)
            any = nil
            #expect(part == nil)
        }
    }

    @Test func `the library's own types are types like others`() {
        Dependencies {
            Module { 1 }
            Module { Module { 2 } }
            Module { Dependencies { Module { 3 } } }
            Module { Inject<Int>() }
            Module(.shared) { Scope() }
            Module { WiringError([]) as any Error }
        }.override {
            let module: Module = Resolver.resolve()
            let collected: Dependencies = Resolver.resolve()

            #expect(Dependencies { module }.override { Resolver.resolve() as Int } == 2)
            #expect(collected.override { Resolver.resolve() as Int } == 3)
            #expect(Inject<Inject<Int>>()()() == 1)
            #expect(Resolver.resolve() as Scope === Resolver.resolve() as Scope)
            #expect("\(Resolver.resolve() as any Error)" == "0 wiring problems")
        }
    }

    // MARK: Collecting and validating

    @Test func `a block may resolve, override and validate while it collects`() {
        let outer = Dependencies { Module { 1 } }

        let inner = outer.override {
            Dependencies {
                let number: Int = Resolver.resolve()
                let other = Dependencies { Module { 2 } }.override { Resolver.resolve() as Int }
                let isValid = (try? Dependencies { Module { (_: Part) in 3 } }.validate()) != nil
                Module { "\(number) \(other) \(isValid)" }
            }
        }

        #expect(inner.override { Resolver.resolve() as String } == "1 2 false")
    }

    @Test func `a factory may validate and override what it is part of`() {
        let rounds = Protected(0)
        let own = Protected(Dependencies {})
        let dependencies = Dependencies {
            Module(.shared) { () -> Part in
                let round = rounds.withLock {
                    $0 += 1
                    return $0
                }
                try! own.value.validate()
                return round < 3 ? own.value.override { Resolver.resolve() } : Part()
            }
        }
        own.withLock { $0 = dependencies }

        dependencies.override { #expect(Resolver.resolve() as Part === Resolver.resolve() as Part) }

        #expect(rounds.value == 3)
        own.withLock { $0 = Dependencies {} }
    }

    @Test func `dependencies that hold themselves twice, or replace themselves, are themselves`() throws {
        let core = Dependencies {
            Module { 1 }
            Module("two") { 2 }
            Module { (number: Int) in "\(number)" }
        }
        let twice = Dependencies {
            core
            core
            core.modules + core.modules
        }

        try twice.validate()
        try core.replacing(core).validate()
        try twice.replacing(twice).validate()

        #expect(core.replacing(core).modules.count == 3)
        #expect(twice.replacing(core).override { Resolver.resolve() as String } == "1")
    }

    @Test func `of ten thousand modules each is found`() {
        Dependencies { for number in 1...10_000 { Module("\(number)") { number } } }.override {
            for number in 1...10_000 where Resolver.find("\(number)") != number {
                Issue.record("\(number) is not found")
            }
            #expect(Resolver.find("10001") as Int? == nil)
        }
    }

    @Test func `a thousand problems are a thousand problems`() {
        let dependencies = Dependencies {
            for number in 1...1_000 { Module("\(number)") { (_: Misuse.Missing) in Part() } }
        }

        let error = #expect(throws: WiringError.self) { try dependencies.validate() }

        let problems = error?.problems ?? []
        #expect(problems.count == 1_000)
        for (number, problem) in problems.enumerated() where !problem.contains("Part \"\(number + 1)\" (") {
            Issue.record("\(problem) stands at \(number)")
        }
    }

    // MARK: Building and registering at the wrong time

    @Test func `build while something is configured changes what is asked for next`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let seen = Protected<[Int]>([])
            Dependencies {
                Module { 1 }
                Module {
                    Part()
                } configure: { (_: Part) in
                    Dependencies { Module { 2 } }.build()
                    seen.withLock { $0.append(Resolver.resolve()) }
                }
            }.build()

            _ = Resolver.resolve() as Part

            #expect(seen.value == [1])
            #expect(Resolver.resolve() as Int == 2)
        }
    }

    @Test func `a deinit may resolve while its container is replaced, and gets what is built`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let seen = Protected<[Int]>([])
            func build(_ number: Int) {
                Dependencies {
                    Module(.shared) { number }
                    Module(.shared) {
                        Misuse.Farewell {
                            let numbers: [Int] = [Resolver.resolve(), Inject()()]
                            _ = Resolver.resolve() as Misuse.Farewell
                            seen.withLock { $0 += numbers }
                        }
                    }
                }.build()
                _ = Resolver.resolve() as Misuse.Farewell
            }

            for number in 1...3 { build(number) }

            #expect(seen.value == [2, 2, 3, 3])
        }
    }

    @Test func `a deinit may resolve while its registration is replaced, and while its override ends`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let seen = Protected<[Int]>([])
            @Sendable func farewell() -> Misuse.Farewell {
                Misuse.Farewell { seen.withLock { $0.append(Resolver.find() ?? 0) } }
            }
            Dependencies { Module(.shared) { 1 } }.override {
                Dependencies {
                    Module(.shared) { 2 }
                    Module(.shared) { farewell() }
                }.override {
                    Resolver.register(farewell(), "registered")
                    _ = Resolver.resolve() as Misuse.Farewell
                    Resolver.register(farewell(), "registered")
                }
            }

            #expect(seen.value.first == 2)
            #expect(seen.value.sorted() == [1, 2, 2])
        }
    }

    @Test func `a deinit may build while its container is replaced, and what it builds lasts`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            Dependencies {
                Module(.shared) { Misuse.Farewell { Dependencies { Module { 3 } }.build() } }
            }.build()
            _ = Resolver.resolve() as Misuse.Farewell

            Dependencies { Module { 2 } }.build()

            #expect(Resolver.resolve() as Int == 3)
        }
    }

    @Test func `a deinit may ask for its own weakly shared type, and gets another one`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let made = Protected(0)
            Dependencies {
                Module(.weakShared) { () -> Misuse.Farewell in
                    let isFirst = made.withLock {
                        $0 += 1
                        return $0 == 1
                    }
                    return Misuse.Farewell { if isFirst { _ = Resolver.resolve() as Misuse.Farewell } }
                }
            }.override {
                _ = Resolver.resolve() as Misuse.Farewell

                #expect(made.value == 2)
            }
        }
    }

    @Test func `what a factory registers of the type it makes goes to the next who asks`() {
        Dependencies {
            Module(.shared) { () -> Link in
                Resolver.register(Link(depth: 2))
                return Link(depth: (Resolver.resolve() as Link).depth - 1)
            }
        }.override {
            let first: Link = Resolver.resolve()

            #expect(first.depth == 1)
            #expect((Resolver.resolve() as Link).depth == 2)
        }
    }

    @Test func `a nil that is registered is found as the optional that it is`() {
        Dependencies { Module { Part() } }.override {
            Resolver.register(nil as Part?)

            #expect(Inject<Part?>()() == nil)
            #expect(Resolver.find() as Part? != nil)
        }
    }

    // MARK: Overrides

    @Test func `a thread that outlives the override it was started in was never in it`() {
        let ended = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let seen = Protected<[Int?]>([])
        Dependencies { Module(.shared) { 1 } }.override {
            let outer = Inject<Int>()
            Thread {
                seen.withLock { $0.append(Resolver.find()) }
                ended.wait()
                seen.withLock { $0 += [Resolver.find(), outer()] }
                done.signal()
            }.start()
        }

        ended.signal()
        done.wait()

        #expect(seen.value == [nil, nil, 1])
    }

    @Test func `overrides that end in another order than they began each have their own to the end`() async {
        let (begun, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let inner = await Dependencies { Module(.shared) { 1 } }.override {
            let task = Task {
                await Dependencies { Module(.shared) { "inner" } }.override {
                    begun.continuation.finish()
                    for await _ in ended.stream {}
                    return "\(Resolver.resolve() as String) \(Resolver.resolve() as Int)"
                }
            }
            for await _ in begun.stream {}
            #expect(Resolver.find() as String? == nil)
            return task
        }

        ended.continuation.finish()

        #expect(await inner.value == "inner 1")
        #expect(Resolver.find() as Int? == nil)
    }

    @Test func `what is being made when another set is built is kept no more`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let turn = Barrier(2)
            let part = Protected<Part?>(nil)
            Misuse.slow(turn).build()

            onThreads(2) { index in
                if index == 0 {
                    let made: Part = Resolver.resolve()
                    part.withLock { $0 = made }
                } else {
                    turn.wait()
                    Dependencies {}.build()
                    turn.wait()
                }
            }

            weak let released = part.value
            #expect(released != nil)
            part.withLock { $0 = nil }
            #expect(released == nil)
        }
    }

    @Test func `what is being made when its override ends is kept no more`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let (given, turn) = (Barrier(2), Barrier(2))
            // One of two is never read, and holds on to the override.
            let properties = Protected<[Inject<Part>]>([])
            let part = Protected<Part?>(nil)

            onThreads(2) { index in
                if index == 0 {
                    given.wait()
                    let made = properties.value[0]()
                    part.withLock { $0 = made }
                } else {
                    Misuse.slow(turn).override {
                        properties.withLock { $0 = [Inject(), Inject()] }
                        given.wait()
                        turn.wait()
                    }
                    turn.wait()
                }
            }

            weak let released = part.value
            #expect(released != nil)
            part.withLock { $0 = nil }
            properties.withLock { _ = $0.removeFirst() }
            #expect(released == nil)
        }
    }

    @Test func `a thousand overrides in one another end where they began`() {
        @Sendable func descend(_ level: Int) -> Int {
            level == 0
                ? (Resolver.resolve() as Int)
                : Dependencies { Module { level } }.override { descend(level - 1) + (Resolver.resolve() as Int) }
        }
        let sum = Protected(0)

        onThreads(1, stackSize: 64 << 20) { _ in sum.withLock { $0 = descend(1_000) } }

        #expect(sum.value == 1 + 1_000 * 1_001 / 2)
    }

    @Test func `a block of modules given to override stops, where the compiler's warning did not help`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Misuse.run(Misuse.Misplaced.self)
        }

        expect(result, says: "the block of an override is code: list the modules in the braces before .override")
    }

    // MARK: Requests

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: Misuse.Descent.allCases)
    func `ten thousand levels end at a hundred, before a small stack does`(descent: Misuse.Descent) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [descent] in
            endUnlessDone()
            onThreads(1, stackSize: Misuse.smallStack) { _ in descent.run() }
        }

        expect(result, says: "100 things are made, each for the one before", "DowelTests.Misuse.Link")
    }
    #endif

    @Test func `what configures may ask for what it configures, and gets it where it is kept`() async {
        let seen = Protected<[Misuse.Node]>([])
        let node: Misuse.Node = Dependencies {
            Module(.objectGraph) {
                Misuse.Node()
            } configure: { (node: Misuse.Node, same: Misuse.Node) in
                seen.withLock { $0 = [node, same] }
            }
        }.override { Resolver.resolve() }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies {
                Module {
                    Misuse.Node()
                } configure: { (_: Misuse.Node) in
                    _ = Resolver.resolve() as Misuse.Node
                }
            }.build()
            _ = Resolver.resolve() as Misuse.Node
        }

        #expect(seen.value.allSatisfy { $0 === node })
        #expect(seen.value.count == 2)
        expect(result, says: "100 things are made, each for the one before: DowelTests.Misuse.Node → DowelTests")
    }

    @Test func `what configures may run into a cycle, which stops with its path`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies {
                Module {
                    Misuse.Node()
                } configure: { (_: Misuse.Node) in
                    _ = Resolver.resolve() as Part
                }
                Module(.shared) { () -> Part in
                    _ = Inject<Link>()()
                    return Part()
                }
                Module(.shared) { () -> Link in
                    _ = Inject<Part>()()
                    return Link(depth: 1)
                }
            }.build()
            _ = Resolver.resolve() as Misuse.Node
        }

        expect(
            result,
            says: "Dependency cycle: DowelTests.Misuse.Part → DowelTests.Misuse.Link → DowelTests.Misuse.Part")
    }

    @Test func `a property read in its own factory keeps what was read first`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let inner = Protected<Part?>(nil)
            Dependencies {
                Module { () -> Part in
                    if inner.value == nil {
                        inner.withLock { $0 = Part() }
                        let read = Misuse.snake.part
                        inner.withLock { $0 = read }
                    }
                    return Part()
                }
            }.build()

            #expect(Misuse.snake.part === inner.value)
        }
    }

    @Test func `a property read in its own factory is a cycle where that is shared`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies { Module(.shared) { Misuse.snake.part } }.build()
            _ = Misuse.snake.part
        }

        expect(result, says: "Dependency cycle: DowelTests.Misuse.Part → DowelTests.Misuse.Part")
    }

    @Test func `a property copied by many while it is first read is one for all`() {
        Dependencies { Module { Part() } }.override {
            for _ in 0..<rounds / 20 {
                let original = Misuse.Copied()
                let parts = Protected<[Part]>([])

                onThreads(8) { _ in
                    let copy = original
                    let part = copy.part
                    parts.withLock { $0.append(part) }
                }

                #expect(parts.value.allSatisfy { $0 === original.part })
            }
        }
    }

    @Test func `an immediate task in a factory is part of its request until it waits`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
            let tasks = Protected<[Task<(Part, Part), Never>]>([])
            // No `Task.yield()`: where another thread is quick, that does not wait at all.
            let (gate, open) = AsyncStream.makeStream(of: Void.self)
            let (own, of) = Dependencies {
                Module(.objectGraph) { Part() }
                Module { () -> Link in
                    let task = Task.immediate {
                        let before: Part = Resolver.resolve()
                        for await _ in gate {}
                        return (before, Resolver.resolve() as Part)
                    }
                    tasks.withLock { $0.append(task) }
                    return Link(depth: 1)
                }
                Module { (part: Part, _: Link) in (part, "of") }
            }.override { Resolver.resolve() as (Part, String) }

            open.finish()
            let (before, after) = await tasks.value[0].value

            #expect((before === own, of) == (true, "of"))
            #expect(after !== own)
        }
    }

    @Test func `an immediate task that asks for what its factory makes is a cycle, not a hang`() async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
            Dependencies {
                Module(.shared) { () -> Part in
                    Task.immediate { _ = Resolver.resolve() as Part }
                    return Part()
                }
            }.build()
            _ = Resolver.resolve() as Part
        }

        expect(result, says: "Dependency cycle: DowelTests.Misuse.Part → DowelTests.Misuse.Part")
    }

    @Test func `a static initializer that asks may first be read in a factory`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            Dependencies {
                Module { Part() }
                Module(.shared) { Link(depth: Misuse.part === Misuse.part ? 1 : 0) }
            }.build()

            #expect((Resolver.resolve() as Link).depth == 1)
        }
    }

    @Test func `a thread may ask as it ends, when its own variables are destroyed`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            Dependencies { Module(.shared) { 5 } }.build()
            let ended = DispatchSemaphore(value: 0)
            var key = pthread_key_t()
            pthread_key_create(&key) { semaphore in
                #expect(Resolver.resolve() as Int == 5)
                guard let semaphore = semaphore as UnsafeMutableRawPointer? else { return }
                Unmanaged<DispatchSemaphore>.fromOpaque(semaphore).takeUnretainedValue().signal()
            }
            let (own, pointer) = (key, UInt(bitPattern: Unmanaged.passUnretained(ended).toOpaque()))

            Thread { pthread_setspecific(own, UnsafeRawPointer(bitPattern: pointer)) }.start()

            ended.wait()
        }
    }

    @Test func `a thread that ends in a factory ends the program, and leaves nobody waiting`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone(within: 20)
            Dependencies { Module(.shared) { () -> Part in pthread_exit(nil) } }.build()
            onThreads(2) { _ in _ = Resolver.resolve() as Part }
        }

        expect(result, says: "a thread ended while it made something")
    }

    @Test func `a program may end in a factory, and what runs at its end may resolve`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            endUnlessDone()
            Dependencies {
                Module(.shared) { 6 }
                Module(.shared) { () -> Part in exit(Resolver.resolve() as Int == 6 ? 0 : 1) }
            }.build()
            atexit { _exit(Int32(Resolver.resolve() as Int + 1)) }
            _ = Resolver.resolve() as Part
        }
    }

    // MARK: Scopes

    @Test func `a scope reset while it makes something hands that out, and keeps it no more`() {
        let scope = Scope()
        let made = Protected(0)
        func component() -> Part {
            scope.shared { () -> Part in
                if made.withLock({
                    $0 += 1
                    return $0 == 1
                }) {
                    scope.reset()
                }
                return Part()
            }
        }

        let (first, second, third) = (component(), component(), component())

        #expect(first !== second)
        #expect(second === third)
        #expect(made.value == 2)
    }

    @Test func `after a reset nobody waits for what was being made before`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let scope = Scope()
            let (made, turn) = (Protected(0), Barrier(2))
            let parts = Protected<[Part?]>([nil, nil])
            @Sendable func component() -> Part {
                scope.shared { () -> Part in
                    let isFirst = made.withLock {
                        $0 += 1
                        return $0 == 1
                    }
                    if isFirst { for _ in 0..<2 { turn.wait() } }
                    return Part()
                }
            }

            onThreads(2) { index in
                if index == 1 {
                    turn.wait()
                    scope.reset()
                }
                let part = component()
                parts.withLock { $0[index] = part }
                if index == 1 { turn.wait() }
            }

            #expect(parts.value[0] !== parts.value[1])
            #expect(component() === parts.value[1])
        }
    }

    @Test func `a scope that asks itself, and two that ask each other, stop with the path`() async {
        let itself = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            _ = Misuse.Pair().again()
        }
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            _ = Misuse.Pair().component() as Misuse.Clerk
        }

        expect(itself, says: "Dependency cycle: DowelTests.Misuse.Part → DowelTests.Misuse.Part")
        expect(
            other,
            says: "Dependency cycle: DowelTests.Misuse.Clerk → DowelTests.Misuse.Part → DowelTests.Misuse.Clerk")
    }

    @Test func `what a macro takes stands at one place, where only an id tells two calls apart`() {
        let scope = Scope()

        #expect(
            scope.shared { Part() }
                === scope.shared { Part() })
        #expect(
            scope.shared(for: 1) { Part() }
                !== scope.shared(for: 2) { Part() })
    }

    @Test func `an id that equals nothing brings another instance each time`() {
        let scope = Scope()
        func component() -> Part { scope.shared(for: Misuse.Stranger()) { Part() } }

        let parts = (0..<100).map { _ in component() }

        #expect(Set(parts.map { ObjectIdentifier($0) }).count == 100)
    }
}
