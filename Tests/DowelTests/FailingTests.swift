import Dowel
import Testing

/// What the failing programs are made of; not private, so that the texts show whole names.
enum Failing {
    protocol API: AnyObject, Sendable {}
    final class Client: API {}
    final class Mock: API {}

    protocol Log: AnyObject, Sendable {}
    final class Console: Log {}

    struct Config: Sendable {}
    enum Other {
        struct Config: Sendable {}
    }

    struct Box<Value>: Sendable {}

    static let propertyPlace = place(#line + 2)
    final class Screen {
        @Inject var api: any API
    }

    static let constantPlace = place(#line + 2)
    final class Session: Sendable {
        let api = Inject<any API>("net")
    }

    static let resolvePlace = place(#line + 1)
    static func resolve() -> any API { Resolver.resolve() }

    static let namedPlace = place(#line + 1)
    static func resolveNamed() -> any API { Resolver.resolve("net") }

    static let optionalPlace = place(#line + 1)
    static func resolveOptional() -> (any API)? { Resolver.resolve() }

    static let screenModule = Module { Screen.read() }

    static let reportPlace = place(#line + 1)
    static let reportModule = Module("daily") { Report(screen: $0) }

    struct Report: Sendable {
        let screen: Box<Screen>
    }

    /// Reads a property before anything can have been built.
    struct Early {
        let api = Screen().api
        let dependencies = Dependencies { Module { Client() as any API } }.build()
    }

    static let offerPlace = place(#line + 1)
    static let offer = Module("other") { Config() }

    static func place(_ line: Int) -> String { "DowelTests/FailingTests.swift:\(line)" }

    /// Modules of which each asks for the next, by name, until there is none; the last one makes 0.
    static func chain(_ count: Int, _ ask: @escaping @Sendable (String) -> Link) -> Dependencies {
        Dependencies {
            for number in 1..<count { Module("\(number)") { Link(depth: ask("\(number + 1)").depth + 1) } }
            Module("\(count)") { Link(depth: 1) }
        }
    }

    struct Link: Sendable {
        let depth: Int
    }

    final class Ping {
        @Inject var pong: Pong
        init() { _ = pong }
    }

    final class Pong {
        @Inject var ping: Ping
        init() { _ = ping }
    }

    struct Tail: Sendable {
        init() { let _: Tail = Resolver.resolve() }
    }
}

extension Failing.Screen {
    fileprivate static func read() -> Failing.Box<Failing.Screen> {
        _ = Failing.Screen().api
        return Failing.Box()
    }
}

struct FailingTests {
    /// Each fragment has to stand in the text, in this order.
    private func expect(
        _ result: ExitTest.Result?, says fragments: String..., but never: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let text = result?.text ?? ""
        var rest = text[...]
        for fragment in fragments {
            guard let range = rest.firstRange(of: fragment) else {
                Issue.record(
                    "\"\(fragment)\" is missing, or stands elsewhere, in:\n\(text)", sourceLocation: sourceLocation)
                return
            }
            rest = rest[range.upperBound...]
        }
        for fragment in never where text.contains(fragment) {
            Issue.record("\"\(fragment)\" should not be in:\n\(text)", sourceLocation: sourceLocation)
        }
    }

    // MARK: What was asked for, and where

    @Test func `a property that nobody serves stops with its type, its place and a line to paste`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Failing.Screen().api
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API, asked for at \(Failing.propertyPlace)",
            "Module { … as any DowelTests.Failing.API }", but: "build() was never called", "while making")
    }

    @Test func `a constant with a name stops with its name too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Failing.Session().api()
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API \"net\", asked for at \(Failing.constantPlace)",
            "Module(\"net\") { … as any DowelTests.Failing.API }")
    }

    @Test func `a call that nobody serves stops with the place of the call`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Failing.resolve()
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API, asked for at \(Failing.resolvePlace)",
            "Module { … as any DowelTests.Failing.API }")
    }

    @Test func `a call with a name stops with its name too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Failing.resolveNamed()
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API \"net\", asked for at \(Failing.namedPlace)",
            "Module(\"net\") { … as any DowelTests.Failing.API }")
    }

    @Test func `a call into an optional stops as well`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Failing.resolveOptional()
        }

        expect(result, says: "nobody offers DowelTests.Failing.API, asked for at \(Failing.optionalPlace)")
    }

    @Test func `a call into a weak variable stops as well`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            weak var api: (any Failing.API)?
            api = Resolver.resolve()
            _ = api
        }

        expect(result, says: "nobody offers DowelTests.Failing.API, asked for at")
    }

    @Test func `a generic type is shown with its argument`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Box<Int>() } }.build()
            _ = Resolver.resolve() as Failing.Box<Failing.Config>
        }

        expect(result, says: "nobody offers DowelTests.Failing.Box<DowelTests.Failing.Config>, asked for at")
    }

    @Test func `a property of an override stops as well, wherever it is read`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Client() as any Failing.API } }.build()
            let session = Dependencies { Module("other") { Failing.Mock() as any Failing.API } }.override {
                Failing.Session()
            }
            onThreads(1) { _ in _ = session.api() }
        }

        expect(result, says: "nobody offers DowelTests.Failing.API \"net\", asked for at \(Failing.constantPlace)")
    }

    // MARK: What comes near

    @Test func `where nothing was built, the text says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Failing.Screen().api
        }

        expect(
            result, says: "Dowel: nobody offers DowelTests.Failing.API", "build() was never called",
            "Dowel is linked twice", "outside of an override",
            "to mend it: Module { … as any DowelTests.Failing.API } in Dependencies { … }.build()")
    }

    @Test func `where something is registered and nothing built, the text says so too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Resolver.register(Failing.Client() as any Failing.API, "net")
            _ = Failing.resolve()
        }

        expect(
            result, says: "build() was never called", "Failing.API \"net\" (DowelTests/FailingTests.swift:",
            "Module { … as any DowelTests.Failing.API } in Dependencies { … }.build()")
    }

    @Test func `where nothing was built and an override lacks something, the text says what to give it`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module("net") { Failing.Client() as any Failing.API } }.override { _ = Failing.resolve() }
        }

        expect(
            result, says: "give overrides the program's modules too, or build first",
            "Failing.API \"net\" (DowelTests/FailingTests.swift:", but: "build()")
    }

    @Test func `where it is built while an override is in force already, the text says that too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            Dependencies { Module { 1 } }.override {
                Dependencies { Module { Failing.Client() as any Failing.API } }.build()
                _ = Failing.resolve()
            }
        }
        let unbuilt = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            Dependencies { Module { 1 } }.override { _ = Failing.resolve() }
        }

        expect(result, says: "give overrides the program's modules too, or build first")
        expect(unbuilt, says: "nobody offers", but: "build()", "build first")
    }

    @Test func `where a property initializer reads before build, the text says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Failing.Early()
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API, asked for at \(Failing.propertyPlace)",
            "a property initializer read this before")
    }

    @Test func `where the type is offered under names only, the text has the names`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module("net") { Failing.Client() as any Failing.API }
                Module("disk") { Failing.Client() as any Failing.API }
                Module { Failing.Console() as any Failing.Log }
            }.build()
            _ = Failing.resolve()
        }

        expect(
            result, says: "Failing.API \"net\" (DowelTests/FailingTests.swift:", "Failing.API \"disk\" (DowelTests",
            ") is offered\n  to mend it, unless one of these was meant: Module { … as any DowelTests.Failing.API }",
            but: "Failing.Log")
    }

    @Test func `where the type is offered under another name, the text has that name`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module("disk") { Failing.Client() as any Failing.API } }.build()
            _ = Failing.resolveNamed()
        }

        expect(result, says: "nobody offers DowelTests.Failing.API \"net\"", "Failing.API \"disk\" (DowelTests/Failing")
    }

    @Test func `where the type is offered without a name, the text says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Client() as any Failing.API } }.build()
            _ = Failing.resolveNamed()
        }

        expect(result, says: "nobody offers DowelTests.Failing.API \"net\"", "Failing.API (DowelTests/Failing")
    }

    @Test func `where another type of the same short name is offered, the text has its whole name and place`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Failing.offer }.build()
            _ = Resolver.resolve() as Failing.Other.Config
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.Other.Config, asked for at",
            "DowelTests.Failing.Config \"other\" (\(Failing.offerPlace)) is offered",
            "Module { … as DowelTests.Failing.Other.Config }",
            but: "linked twice")
    }

    @Test func `where a protocol is asked for and only classes are offered, the text has them`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module { Failing.Client() }
                Module { Failing.Console() as any Failing.Log }
            }.build()
            _ = Failing.resolve()
        }

        expect(
            result, says: "nobody offers DowelTests.Failing.API", "concrete types", "`as any DowelTests.Failing.API`",
            "DowelTests.Failing.Client",
            but: "Failing.Log")
    }

    @Test func `of many classes the text has eight, and says that there are more`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { for number in 0..<12 { Module("\(number)") { Failing.Client() } } }.build()
            _ = Failing.resolve()
        }

        expect(
            result, says: "missing: DowelTests.Failing.Client \"0\" (", "), DowelTests.Failing.Client \"1\" (",
            "), DowelTests.Failing.Client \"7\" (DowelTests/FailingTests.swift:", "), …\n", but: "\"8\"")
    }

    @Test func `where a protocol with types of its own is asked for, the text has the classes too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Client() } }.build()
            _ = Resolver.resolve() as any Sequence<Int>
        }

        expect(result, says: "concrete types", "DowelTests.Failing.Client")
    }

    @Test func `a bare value is said to need a name, which the line to paste has`() async {
        let bare = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Resolver.resolve() as String
        }
        let named = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.build()
            _ = Resolver.resolve("title") as String
        }

        expect(
            bare, says: "A bare String", "a named module", "@Inject(\"name\")", "Module(\"name\") { … as Swift.String }"
        )
        expect(named, says: "Module(\"title\") { … as Swift.String }", but: "bare")
    }

    @Test func `a near miss that two features brought along is named once`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let core = Dependencies { Module("net") { Failing.Client() as any Failing.API } }
            Dependencies {
                core
                core
            }.build()
            _ = Failing.resolve()
        }

        #expect(result?.text.components(separatedBy: "Failing.API \"net\" (").count == 2)
    }

    @Test func `where the override in force offers it, but not to who was created outside, the text says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let screen = Failing.Screen()
            Dependencies { Module { Failing.Client() as any Failing.API } }.override { _ = screen.api }
        }

        expect(
            result, says: "the override offers it: create whatever asks inside its block",
            but: "build()", "to mend it")
    }

    @Test func `the same is said where it was registered in the override in force`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let screen = Failing.Screen()
            Dependencies {}.override {
                Resolver.register(Failing.Client() as any Failing.API)
                _ = screen.api
            }
        }

        expect(
            result, says: "the override offers it: create whatever asks inside its block",
            but: "build()", "to mend it")
    }

    @Test func `what the override in force offers under another name is only near`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let session = Failing.Session()
            Dependencies { Module { Failing.Client() as any Failing.API } }.override { _ = session.api() }
        }

        expect(result, says: "nobody offers DowelTests.Failing.API \"net\"", but: "the override offers it")
    }

    @Test func `near misses are those of the override in force`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module("built") { Failing.Client() as any Failing.API } }.build()
            Dependencies { Module("mocked") { Failing.Mock() as any Failing.API } }.override { _ = Failing.resolve() }
        }

        expect(
            result, says: "Failing.API \"built\" (DowelTests", "Failing.API \"mocked\" (DowelTests",
            but: "build()", "build first")
    }

    @Test func `near misses are of what is registered too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Resolver.register(Failing.Client() as any Failing.API, "net")
            _ = Failing.resolve()
        }

        expect(result, says: "nobody offers DowelTests.Failing.API", "Failing.API \"net\" (DowelTests")
    }

    // MARK: The path of the request

    @Test func `what was being made is told, from the outermost on`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Failing.reportModule
                Failing.screenModule
            }.build()
            _ = Resolver.resolve("daily", file: "Here.swift", line: 7) as Failing.Report
        }

        // Each with the place that asked for it: of a need, that of the module.
        expect(
            result, says: "nobody offers DowelTests.Failing.API, asked for at \(Failing.propertyPlace)",
            "while making DowelTests.Failing.Report \"daily\" (Here.swift:7) → "
                + "DowelTests.Failing.Box<DowelTests.Failing.Screen> (\(Failing.reportPlace))")
    }

    @Test func `what was being made is told where something is asked for off the main actor, too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module.main { Failing.Client() }
                Module { (_: Failing.Client) in Failing.Config() }
            }.build()
            onThreads(1) { _ in let _: Failing.Config = Resolver.resolve() }
        }

        expect(result, says: "Client is made by Module.main", "while making DowelTests.Failing.Config (")
    }

    @Test func `what configures an instance is told with the place that asked for the instance`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module {
                    Failing.Config()
                } configure: { (_: Failing.Config) in
                    _ = Failing.resolve()
                }
            }.build()
            let _: Failing.Config = Resolver.resolve(file: "Here.swift", line: 7)
        }

        let config = "DowelTests.Failing.Config (Here.swift:7)"
        expect(result, says: "asked for at \(Failing.resolvePlace)", "while making \(config) → \(config)\n")
    }

    @Test func `what had been made before is not told`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module { Failing.Config() }
                Module { () -> Failing.Box<Int> in
                    _ = Resolver.resolve() as Failing.Config
                    _ = Failing.resolve()
                    return Failing.Box()
                }
            }.build()
            _ = Resolver.resolve() as Failing.Box<Int>
        }

        expect(result, says: "while making", "DowelTests.Failing.Box<Swift.Int>", but: "→")
    }

    // MARK: Chains

    @Test(arguments: zip([60, 99], [512, 4_096]))
    func `a chain of many levels works, one of 60 on a thread of 512 KB too`(
        count: Int, kilobytes: Int
    ) {
        let depths = Protected<[Int]>([])

        onThreads(1, stackSize: kilobytes * 1024) { _ in
            Failing.chain(count) { Resolver.resolve($0) }.override {
                depths.withLock { $0.append((Resolver.resolve("1") as Failing.Link).depth) }
            }
            Failing.chain(count) { Resolver.find($0)! }.override {
                depths.withLock { $0.append((Resolver.resolve("1") as Failing.Link).depth) }
            }
            Failing.chain(count) { Inject<Failing.Link>($0)() }.override {
                depths.withLock { $0.append(Inject<Failing.Link>("1")().depth) }
            }
            Failing.chain(count) { Inject<Failing.Link?>($0)()! }.override {
                depths.withLock { $0.append(Inject<Failing.Link?>("1")()!.depth) }
            }
        }

        #expect(depths.value == [count, count, count, count])
    }

    @Test func `a chain of 60 shared levels works on a thread of 512 KB too`() {
        let depth = Protected(0)
        let chain = Dependencies {
            for number in 1..<60 {
                Module("\(number)", .shared) {
                    Failing.Link(depth: (Resolver.resolve("\(number + 1)") as Failing.Link).depth + 1)
                }
            }
            Module("60", .shared) { Failing.Link(depth: 1) }
        }

        onThreads(1, stackSize: 512 * 1024) { _ in
            chain.override { depth.withLock { $0 = (Resolver.resolve("1") as Failing.Link).depth } }
        }

        #expect(depth.value == 60)
    }

    @Test func `a chain of 60 levels works in what was built, on a thread of 512 KB`() async {
        await #expect(processExitsWith: .success) {
            Failing.chain(60) { Resolver.resolve($0) }.build()
            let depth = Protected(0)

            onThreads(1, stackSize: 512 * 1024) { _ in
                depth.withLock { $0 = (Resolver.resolve("1") as Failing.Link).depth }
            }

            #expect(depth.value == 60)
        }
    }

    @Test func `a chain of a thousand modules stops at a hundred levels`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Failing.chain(1_000) { Resolver.resolve($0) }.build()
            _ = Resolver.resolve("1") as Failing.Link
        }

        expect(
            result, says: "100 things are made, each for the one before", "Failing.Link \"100\"", but: "\"103\"")
    }

    @Test func `a chain of a thousand modules stops before the stack ends, on a thread of 512 KB too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Failing.chain(1_000) { Inject<Failing.Link>($0)() }.build()
            onThreads(1, stackSize: 512 * 1024) { _ in _ = Inject<Failing.Link>("1")() }
        }

        expect(result, says: "100 things are made, each for the one before")
    }

    @Test func `two unshared modules that ask for each other stop, with the part that repeats`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module { Failing.Config() }
                Module("start") { () -> Failing.Config in
                    _ = Resolver.resolve() as Failing.Ping
                    return Failing.Config()
                }
                Module { Failing.Ping() }
                Module { Failing.Pong() }
            }.build()
            _ = Resolver.resolve("start") as Failing.Config
        }

        // What led there is not told, nor more than one round.
        expect(
            result,
            says: "100 things are made, each for the one before: "
                + "DowelTests.Failing.Pong → DowelTests.Failing.Ping → DowelTests.Failing.Pong\n")
    }

    @Test func `an unshared module that asks for itself stops`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Tail() } }.build()
            _ = Resolver.resolve() as Failing.Tail
        }

        expect(
            result, says: "100 things are made, each for the one before", "DowelTests.Failing.Tail", " → ",
            "DowelTests.Failing.Tail")
    }

    @Test func `a hundred things one after another are no chain`() {
        Dependencies {
            Module { Failing.Config() }
            Module { () -> Failing.Box<Int> in
                for _ in 0..<200 { _ = Resolver.resolve() as Failing.Config }
                return Failing.Box()
            }
        }.override {
            let box: Failing.Box<Int>? = Resolver.find()

            #expect(box != nil)
        }
    }

    @Test func `what stops at a cycle or at a hundred levels says how to mend it`() async {
        let cycle = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(.shared) { Resolver.resolve() as Int } }.build()
            _ = Resolver.resolve() as Int
        }
        let levels = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Resolver.resolve() as Int } }.build()
            _ = Resolver.resolve() as Int
        }

        for result in [cycle, levels] {
            #expect(result?.text.contains("Swift.Int\n  to mend it: ask by an Inject") == true)
        }
    }

    @Test func `a protocol with types of its own has one any in the line to paste`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Failing.Client() } }.build()
            _ = Resolver.resolve() as any Sequence<Int>
        }

        #expect(result?.text.contains("perhaps `as any Swift.Sequence<") == true, "\(result?.text ?? "")")
        #expect(result?.text.contains("any any") == false)
    }

    @Test func `a near miss that was registered is told with the place that registered it`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Resolver.register(Failing.Config(), "it", file: "Here.swift", line: 7)
            _ = Resolver.resolve() as Failing.Config
        }

        #expect(result?.text.contains("Failing.Config \"it\" (Here.swift:7) is offered") == true)
    }

    @Test func `what was found off the main actor is told with the place of the call`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module.main { Failing.Screen() } }.build()
            onThreads(1) { _ in _ = Resolver.find(file: "Here.swift", line: 7) as Failing.Screen? }
        }

        #expect(result?.text.contains("asked for off the main actor, at Here.swift:7") == true)
    }

    @Test func `a chain in which nothing repeats is told from its beginning`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Failing.chain(1_000) { Resolver.resolve($0) }.build()
            _ = Resolver.resolve("1") as Failing.Link
        }

        let link = "DowelTests.Failing.Link"
        #expect(result?.text.contains("each for the one before: \(link) \"1\" → \(link) \"2\" → ") == true)
    }

    @Test func `an optional of a protocol is no concrete type`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { nil as (any Failing.Log)? } }.build()
            _ = Failing.resolve()
        }

        #expect(result?.text.contains("nobody offers DowelTests.Failing.API") == true)
        #expect(result?.text.contains("concrete types") == false)
    }
}
