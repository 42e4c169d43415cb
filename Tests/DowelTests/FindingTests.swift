import Dowel
import Testing

private protocol API: AnyObject, Sendable {
    var answer: Int { get }
}

private protocol Closable: AnyObject {}

private final class Client: API, Closable {
    let answer: Int
    init(_ answer: Int = 42) { self.answer = answer }
}

private struct Config: Sendable {
    let text: String
    init(_ text: String = "this file's") { self.text = text }
}

private enum A {
    struct Config: Sendable { let text = "A's" }
    enum Deep {
        struct Config: Sendable { let text = "A.Deep's" }
    }
}

private enum B {
    struct Config: Sendable { let text = "B's" }
}

private struct Box<Value> {
    let text: String
}

private struct Outer<Value> {
    struct Inner { let text: String }
}

/// Asks in its default arguments, as a composition root does.
private struct Screen {
    let api: any API
    let spare: (any API)?
    init(api: any API = Resolver.resolve(), spare: (any API)? = Resolver.find("spare")) {
        (self.api, self.spare) = (api, spare)
    }
}

struct FindingTests {
    // MARK: Asking by a call

    @Test func `resolve gives what is offered`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("other") { Client(2) as any API }
        }.override {
            let api: any API = Resolver.resolve()
            let other: any API = Resolver.resolve("other")

            #expect(api.answer == 1)
            #expect(other.answer == 2)
        }
    }

    @Test func `each resolve of what is unshared makes another`() {
        Dependencies { Module { Client() as any API } }.override {
            let (one, other): (any API, any API) = (Resolver.resolve(), Resolver.resolve())

            #expect(one !== other)
        }
    }

    @Test func `find gives what is offered, and nil for what nobody offers`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("other") { Client(2) as any API }
        }.override {
            let api: (any API)? = Resolver.find()
            let other: (any API)? = Resolver.find("other")
            let unknownName: (any API)? = Resolver.find("unknown")
            let unknownType: Client? = Resolver.find()

            #expect(api?.answer == 1)
            #expect(other?.answer == 2)
            #expect(unknownName == nil)
            #expect(unknownType == nil)
        }
    }

    @Test func `find may stand in a condition`() {
        Dependencies { Module { Client() as any API } }.override {
            guard let api: any API = Resolver.find() else {
                Issue.record("nothing was found")
                return
            }
            if let client: Client = Resolver.find() { Issue.record("\(client) was found") }

            #expect(api.answer == 42)
        }
    }

    @Test func `before a default find takes the type that is written`() {
        Dependencies { Module { Client() as any API } }.override {
            let found = Resolver.find() as (any API)? ?? Client(0)
            let defaultsOwn: any API = Resolver.find() ?? Client(0)

            #expect(found.answer == 42)
            #expect(defaultsOwn.answer == 0)  // Of Swift's two readings, that of the default.
        }
    }

    @Test func `resolve into an optional gives what is offered`() {
        Dependencies { Module(.shared) { Client() as any API } }.override {
            weak var later: (any API)?
            later = Resolver.resolve()
            let now: (any API)? = Resolver.resolve()

            #expect(later?.answer == 42)
            #expect(now === later)
        }
    }

    @Test func `find into an optional of an optional is nil where nobody offers it`() {
        Dependencies { Module { Client() as any API } }.override {
            let found: (any API)?? = Resolver.find()
            let missing: Client?? = Resolver.find()

            #expect((found ?? nil) != nil)
            #expect((missing ?? nil) == nil)
        }
    }

    @Test func `default arguments ask`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("spare") { Client(2) as any API }
        }.override {
            let (screen, byHand) = (Screen(), Screen(api: Client(3), spare: nil))

            #expect(screen.api.answer == 1)
            #expect(screen.spare?.answer == 2)
            #expect(byHand.api.answer == 3)
            #expect(byHand.spare == nil)
        }
    }

    // MARK: Keys

    @Test func `nested types of one short name do not collide`() {
        Dependencies {
            Module { Config() }
            Module { A.Config() }
            Module { B.Config() }
            Module { A.Deep.Config() }
        }.override {
            let (one, a, b): (Config, A.Config, B.Config) = (Resolver.resolve(), Resolver.resolve(), Resolver.resolve())
            let deep: A.Deep.Config = Resolver.resolve()

            #expect([one.text, a.text, b.text, deep.text] as [String] == ["this file's", "A's", "B's", "A.Deep's"])
        }
    }

    @Test func `private types of one name in two files do not collide`() {
        let both = Dependencies {
            Module { Config() }
            AnotherFile.module
        }
        let onlyOther = Dependencies { AnotherFile.module }

        both.override {
            #expect((Resolver.resolve() as Config).text == "this file's")
            #expect(AnotherFile.text() == "another file's")
        }
        onlyOther.override {
            #expect(Resolver.find() as Config? == nil)
            #expect(AnotherFile.text() == "another file's")
        }
    }

    @Test func `types of one name in two functions do not collide`() {
        func one() -> (Module, () -> Bool) {
            struct Local {}
            return (Module { Local() }, { Resolver.find() as Local? != nil })
        }
        func other() -> (Module, () -> Bool) {
            struct Local {}
            return (Module { Local() }, { Resolver.find() as Local? != nil })
        }
        let (module, isFound) = one()
        let (_, isOtherFound) = other()

        Dependencies { module }.override {
            #expect(isFound())
            #expect(!isOtherFound())
        }
    }

    @Test func `a generic type with two arguments is two types`() {
        Dependencies {
            Module { Box<Int>(text: "Int") }
            Module { Box<String>(text: "String") }
            Module { Box<Box<Int>>(text: "Box") }
            Module { Outer<Int>.Inner(text: "Inner of Int") }
            Module { Outer<String>.Inner(text: "Inner of String") }
        }.override {
            let (int, string): (Box<Int>, Box<String>) = (Resolver.resolve(), Resolver.resolve())
            let box: Box<Box<Int>> = Resolver.resolve()
            let inner: Outer<Int>.Inner = Resolver.resolve()
            let otherInner: Outer<String>.Inner = Resolver.resolve()
            let nobody: Box<Bool>? = Resolver.find()

            #expect([int.text, string.text, box.text] as [String] == ["Int", "String", "Box"])
            #expect([inner.text, otherInner.text] as [String] == ["Inner of Int", "Inner of String"])
            #expect(nobody == nil)
        }
    }

    @Test func `a protocol, a type that conforms, and a composition are three types`() {
        Dependencies {
            Module { Client(1) }
            Module { Client(2) as any API }
            Module { Client(3) as any API & Closable }
        }.override {
            let (client, api): (Client, any API) = (Resolver.resolve(), Resolver.resolve())
            let both: any Closable & API = Resolver.resolve()
            let closable: (any Closable)? = Resolver.find()

            #expect([client.answer, api.answer, both.answer] as [Int] == [1, 2, 3])
            #expect(closable == nil)
        }
    }

    @Test func `another name of a type is the same type`() {
        typealias Settings = Config
        Dependencies { Module { Settings("set") } }.override {
            let config: Config = Resolver.resolve()

            #expect(config.text == "set")
        }
    }

    // MARK: Registering

    @Test func `a registered instance is found, by every way of asking`() async {
        await #expect(processExitsWith: .success) {
            let client = Client()

            Resolver.register(client as any API)

            let resolved: any API = Resolver.resolve()
            let found: (any API)? = Resolver.find()
            @Inject var injected: any API
            @Inject var optional: (any API)?
            #expect(resolved === client)
            #expect(found === client)
            #expect(injected === client)
            #expect(optional === client)
            #expect(Resolver.find() as Client? == nil)
        }
    }

    @Test func `an optional that is offered goes before what is registered of the type that it wraps`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Client(1) as (any API)? } }.build()
            Resolver.register(Client(2) as any API)

            let bare: any API = Resolver.resolve()
            let optional: (any API)? = Resolver.resolve()
            let overridden: (any API)? = Dependencies {}.override { Resolver.resolve() }
            #expect(bare.answer == 2)
            #expect(optional?.answer == 1)
            #expect(overridden?.answer == 1)
        }
    }

    @Test func `a registered value fills a need, and stands beside those of other names`() async {
        await #expect(processExitsWith: .success) {
            Dependencies {
                Module { Client(0) as any API }
                Module { ($0 as any API).answer }
                Module { Config("built") }
            }.build()

            Resolver.register(Client(1) as any API)
            Resolver.register(Config("named"), "it")

            #expect((Resolver.resolve() as Int) == 1)
            #expect((Resolver.resolve() as Config).text == "built")
            #expect((Resolver.resolve("it") as Config).text == "named")
        }
    }

    @Test func `what is registered again replaces what was registered before, and what was built`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Config("built") } }.build()
            var texts: [String] = [(Resolver.resolve() as Config).text]

            Resolver.register(Config("first"))
            texts.append((Resolver.resolve() as Config).text)
            Resolver.register(Config("second"))
            texts.append((Resolver.resolve() as Config).text)

            #expect(texts == ["built", "first", "second"])
        }
    }

    @Test func `what is registered lasts until the next build`() async {
        await #expect(processExitsWith: .success) {
            Resolver.register(Config("early"))
            Resolver.register(Client() as any API)
            Dependencies { Module { Config("built") } }.build()
            #expect((Resolver.resolve() as Config).text == "built")
            #expect(Resolver.find() as (any API)? == nil)

            Resolver.register(Config("late"))
            #expect((Resolver.resolve() as Config).text == "late")

            Dependencies { Module { Config("rebuilt") } }.build()
            #expect((Resolver.resolve() as Config).text == "rebuilt")
        }
    }

    @Test func `registering leaves shared instances as they are`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module(.shared) { Client() as any API } }.build()
            let before: any API = Resolver.resolve()

            Resolver.register(Config())

            let after: any API = Resolver.resolve()
            #expect(before === after)
        }
    }

    @Test func `what is registered in an override is found there only`() {
        let outer = Dependencies { Module { Config("outer") } }

        outer.override {
            Dependencies {}.override {
                Resolver.register(Config("inner"))

                #expect((Resolver.resolve() as Config).text == "inner")
            }

            #expect((Resolver.resolve() as Config).text == "outer")
        }
        #expect(Resolver.find() as Config? == nil)
    }

    @Test func `a registered instance goes when it is replaced`() async {
        await #expect(processExitsWith: .success) {
            weak var first: Client?
            do {
                let client = Client()
                first = client
                Resolver.register(client as any API)
            }
            #expect(first != nil)

            Resolver.register(Client() as any API)

            #expect(first == nil)
        }
    }

    @Test func `threads register and find at once, and nothing is lost`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Config("built") } }.build()
            let (count, lost) = (20 * rounds, Protected(0))

            onThreads(4) { thread in
                for round in 0..<count {
                    let (name, text) = ("\(thread) \(round % 8)", "\(round)")
                    Resolver.register(Config(text), name)
                    let found: Config? = Resolver.find(name)
                    let built: Config = Resolver.resolve()
                    if found?.text != text || built.text != "built" { lost.withLock { $0 += 1 } }
                }
            }

            #expect(lost.value == 0)
            for (thread, round) in (0..<4).flatMap({ thread in (count - 8..<count).map { (thread, $0) } }) {
                #expect((Resolver.find("\(thread) \(round % 8)") as Config?)?.text == "\(round)")
            }
        }
    }

    @Test func `what is registered may be asked for while another takes its place`() async {
        await #expect(processExitsWith: .success) {
            onThreads(4) { thread in
                for round in 0..<50_000 {
                    if thread < 2 { Resolver.register([round]) } else { _ = Resolver.find() as [Int]? }
                }
            }
        }
    }

    // MARK: Sites

    @Test func `a site says what it asks for`() {
        let sites: [any Resolver.Site] = [Inject<any API>("it"), Inject<Config?>()]
        let wanted = sites.map { ObjectIdentifier(type(of: $0).wanted) }

        #expect(wanted == [ObjectIdentifier((any API).self), ObjectIdentifier(Config?.self)])
    }

    @Test func `what a factory registers goes to the container that it belongs to, whoever asked`() {
        let (late, text) = Dependencies {
            Module { () -> Int in
                Resolver.register("here")
                return 1
            }
        }.override { (Inject<Int>(), Inject<String?>()) }

        #expect(late() == 1)

        #expect(text() == "here")
        #expect(Resolver.find() as String? == nil)
    }

    @Test func `what a factory finds is what its own container offers, whoever asked`() {
        let late = Dependencies {
            Module("it") { 7 }
            Module { (Resolver.find("it") ?? 0) as Int }
        }.override { Inject<Int>() }

        #expect(late() == 7)
    }
}
