import Dowel
import Testing

private protocol API: AnyObject, Sendable {
    var answer: Int { get }
}

private final class Client: API {
    let answer: Int
    init(_ answer: Int = 42) { self.answer = answer }
}

private protocol Log: AnyObject, Sendable {}
private final class Console: Log {}

private struct AStruct {
    @Inject private var api: any API
    func answer() -> Int { api.answer }
}

private class AClass {
    @Inject var api: any API
}

private class ASubclass: AClass {
    @Inject("other") var other: any API
}

private final class AFinalClass {
    @Inject var api: any API
}

private final class ASendableClass: Sendable {
    let api = Inject<any API>()
    let other = Inject<any API>("other")
}

private actor AnActor {
    @Inject private var api: any API
    func answer() -> Int { api.answer }
}

@MainActor private final class AMainActorClass {
    @Inject var api: any API
}

private final class AGenericClass<Value> {
    @Inject var value: Value
}

private enum AnEnum {
    static let api = Inject<any API>()
}

private struct Screen {
    @Inject var api: any API
    var title = "Home"
}

private final class Session: @unchecked Sendable {
    @Inject var api: (any API)?
    @Inject("spare") var spare: (any API)?
    let asConstant = Inject<(any API)?>()
}

struct AskingTests {
    // MARK: Where a property asks

    @Test func `a struct reads its property in a method that does not mutate`() {
        let screen = Dependencies { Module { Client() as any API } }.override {
            let value = AStruct()
            return value.answer()
        }

        #expect(screen == 42)
    }

    @Test func `a class and its subclass each ask for what they declare`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("other") { Client(2) as any API }
        }.override {
            let object = ASubclass()

            #expect(object.api.answer == 1)
            #expect(object.other.answer == 2)
        }
    }

    @Test func `a final class asks`() {
        Dependencies { Module { Client() as any API } }.override {
            let object = AFinalClass()

            #expect(object.api.answer == 42)
        }
    }

    @Test func `a Sendable class asks by constants`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("other") { Client(2) as any API }
        }.override {
            let object = ASendableClass()

            #expect(object.api().answer == 1)
            #expect(object.api.wrappedValue === object.api())
            #expect(object.other().answer == 2)
        }
    }

    @Test func `an actor asks`() async {
        let answer = await Dependencies { Module { Client() as any API } }.override { await AnActor().answer() }

        #expect(answer == 42)
    }

    @Test @MainActor func `a class of the main actor asks`() {
        Dependencies { Module { Client() as any API } }.override {
            let object = AMainActorClass()

            #expect(object.api.answer == 42)
        }
    }

    @Test func `a generic class asks for the type it was given`() {
        Dependencies {
            Module { Client(1) as any API }
            Module { Console() as any Log }
        }.override {
            let (client, log) = (AGenericClass<any API>(), AGenericClass<any Log>())

            #expect(client.value.answer == 1)
            #expect(log.value is Console)
        }
    }

    @Test func `a local variable asks`() {
        Dependencies { Module { Client() as any API } }.override {
            @Inject var api: any API

            #expect(api.answer == 42)
        }
    }

    @Test func `a static constant asks whatever is built when it is first read`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Client(7) as any API } }.build()

            #expect(AnEnum.api().answer == 7)
        }
    }

    @Test func `any type may be asked for, also a function, a tuple and a metatype`() {
        Dependencies {
            Module { { 7 } as @Sendable () -> Int }
            Module { (1, "one") as (Int, String) }
            Module { Client.self as any API.Type }
            Module { [1, 2, 3] as [Int] }
        }.override {
            @Inject var function: @Sendable () -> Int
            @Inject var tuple: (Int, String)
            @Inject var type: any API.Type
            @Inject var array: [Int]

            #expect(function() == 7)
            #expect(tuple.0 == 1)
            #expect(tuple.1 == "one")
            #expect(type is Client.Type)
            #expect(array == [1, 2, 3])
        }
    }

    // MARK: When it asks, and what it keeps

    @Test func `the value is made at the first read, and kept`() {
        let made = Protected(0)
        Dependencies {
            Module {
                made.withLock { $0 += 1 }
                return Client() as any API
            }
        }.override {
            let object = AClass()

            #expect(made.value == 0)
            #expect(object.api === object.api)
            #expect(made.value == 1)
        }
    }

    @Test func `two properties get two instances`() {
        Dependencies { Module { Client() as any API } }.override {
            let (one, other) = (AClass(), AClass())

            #expect(one.api !== other.api)
        }
    }

    @Test func `a copy of a struct has the same value`() {
        Dependencies { Module { Client() as any API } }.override {
            let screen = Screen()
            let copy = screen

            #expect(copy.api === screen.api)
        }
    }

    @Test func `what was kept goes with its property`() {
        Dependencies { Module { Client() as any API } }.override {
            var object: AClass? = AClass()
            weak let api = object?.api
            #expect(api != nil)

            object = nil

            #expect(api == nil)
        }
    }

    @Test func `a property keeps its value through a second build, an unread one asks the second`() async {
        await #expect(processExitsWith: .success) {
            let (read, unread) = (AClass(), AClass())
            Dependencies { Module { Client(1) as any API } }.build()
            #expect(read.api.answer == 1)

            Dependencies { Module { Client(2) as any API } }.build()

            #expect(read.api.answer == 1)
            #expect(unread.api.answer == 2)
        }
    }

    @Test func `what a module makes may ask for other modules, and so may a module`() {
        final class Report {
            @Inject var log: any Log
        }
        struct Reports {
            @Inject private var api: any API
            func component() -> Report { Report() }
            func component() -> Int { api.answer }
        }
        Dependencies {
            Module { Reports() }
            Module { Console() as any Log }
            Module { Client() as any API }
        }.override {
            @Inject var reports: Reports
            let report: Report = reports.component()
            let answer: Int = reports.component()

            #expect(report.log is Console)
            #expect(answer == 42)
        }
    }

    // MARK: Names

    @Test func `a name is added to the type`() {
        Dependencies {
            Module { Client(0) as any API }
            Module("red") { Client(1) as any API }
            Module("blue") { Client(2) as any API }
            Module("red") { Console() as any Log }
            Module("") { Client(3) as any API }
        }.override {
            @Inject var plain: any API
            @Inject("red") var red: any API
            @Inject("blue") var blue: any API
            @Inject("red") var log: any Log
            @Inject("") var empty: any API
            let answers = [plain.answer, red.answer, blue.answer, empty.answer]

            #expect(answers == [0, 1, 2, 3])
            #expect(log is Console)
        }
    }

    @Test func `a name may be put together when the program runs`() {
        Dependencies {
            for index in 0..<100 { Module("client number \(index)") { Client(index) as any API } }
        }.override {
            let answers = (0..<100).map { Inject<any API>("client number " + String($0))().answer }

            #expect(answers == Array(0..<100))
        }
    }

    // MARK: Values given by hand

    @Test func `a value given by hand is held, and nothing is looked up`() {
        let client = Client()

        let screen = Screen(api: Inject(given: client))

        #expect(screen.api === client)
        #expect(screen.title == "Home")
    }

    @Test func `a memberwise initializer without the value asks`() {
        Dependencies { Module { Client(9) as any API } }.override {
            let screen = Screen(title: "Other")

            #expect(screen.api.answer == 9)
        }
    }

    @Test func `a given value goes before an offered one`() {
        Dependencies { Module { Client(1) as any API } }.override {
            let api = Inject<any API>(given: Client(2))

            #expect(api().answer == 2)
        }
    }

    @Test func `a given nil is a value`() {
        Dependencies { Module { Client() as any API } }.override {
            let api = Inject<(any API)?>(given: nil)

            #expect(api() == nil)
        }
    }

    // MARK: Optionals

    @Test func `an optional has the instance where its type is offered`() {
        Dependencies {
            Module { Client(1) as any API }
            Module("spare") { Client(2) as any API }
        }.override {
            let session = Session()

            #expect(session.api?.answer == 1)
            #expect(session.api === session.api)
            #expect(session.spare?.answer == 2)
            #expect(session.asConstant()?.answer == 1)
        }
    }

    @Test func `an optional is nil where nobody offers its type`() {
        Dependencies { Module { Console() as any Log } }.override {
            let session = Session()

            #expect(session.api == nil)
            #expect(session.spare == nil)
            #expect(session.asConstant() == nil)
        }
    }

    @Test func `an optional asks for its own name only`() {
        Dependencies { Module { Client() as any API } }.override {
            let session = Session()

            #expect(session.api != nil)
            #expect(session.spare == nil)
        }
    }

    @Test func `an optional of an optional is filled too`() {
        let nobody = Dependencies {}.override { Inject<Int??>()() }
        let somebody = Dependencies { Module { 3 } }.override { Inject<Int??>()() }

        #expect(nobody == .none)
        #expect(somebody == .some(.some(3)))
    }

    @Test func `an optional struct is filled too`() {
        let answer = Dependencies { Module { Screen(title: "Hello") } }.override { Inject<Screen?>()()?.title }

        #expect(answer == "Hello")
    }

    @Test func `a nil is not kept, so a read after build gets the instance`() async {
        await #expect(processExitsWith: .success) {
            let session = Session()
            #expect(session.api == nil)
            #expect(session.spare == nil)
            #expect(session.asConstant() == nil)

            Dependencies {
                Module { Client(1) as any API }
                Module("spare") { Client(2) as any API }
            }.build()

            #expect(session.api?.answer == 1)
            #expect(session.api === session.api)
            #expect(session.spare?.answer == 2)
            #expect(session.asConstant()?.answer == 1)
        }
    }

    // MARK: Threads

    @Test func `what holds a Sendable value is Sendable`() {
        func check(_: some Sendable) {}

        check(Inject<any API>(given: Client()))
    }

    @Test func `64 threads that read one property at once all get the same instance`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Client() as any API } }.build()

            AskingTests.race({ AClass() }, { $0.api })
        }
    }

    @Test func `64 threads that read one property of an override at once all get the same instance`() {
        Dependencies { Module { Client() as any API } }.override {
            AskingTests.race({ AClass() }, { $0.api })
        }
    }

    @Test func `64 threads that read one optional at once all get the same instance`() async {
        await #expect(processExitsWith: .success) {
            Dependencies { Module { Client() as any API } }.build()

            AskingTests.race({ Session() }, { $0.api! })
        }
    }

    @Test func `racing readers all get what the first to finish made, though each made one`() async {
        await #expect(processExitsWith: .success) {
            let (made, all) = (Protected(0), Barrier(64))
            Dependencies {
                Module { () -> any API in
                    all.wait()  // No factory ends before every reader is in one.
                    made.withLock { $0 += 1 }
                    return Client()
                }
            }.build()

            AskingTests.race(rounds: rounds / 10, { AClass() }, { $0.api })

            #expect(made.value == 64 * (rounds / 10))
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `two readers that end their factories in the same moment get the same instance`() async {
        await #expect(processExitsWith: .success) {
            let (start, end) = (Rendezvous(), Rendezvous())
            Dependencies {
                Module { () -> any API in
                    let client = Client()
                    end.meet()
                    return client
                }
            }.build()
            let count = rounds * 10
            let owners = UncheckedList((0..<count).map { _ in AClass() })
            let seen = Protected([[ObjectIdentifier]](repeating: [], count: 2))

            onThreads(2) { index in
                var mine: [ObjectIdentifier] = []
                for round in 0..<count {
                    start.meet()
                    mine.append(ObjectIdentifier(owners[round].api))
                }
                seen.withLock { $0[index] = mine }
            }

            #expect(seen.value[0].count == count)
            #expect(seen.value[0] == seen.value[1])
        }
    }

    @Test func `what a reader made too late goes while no lock is held`() async {
        /// Asks so often that it would wait for any lock that was held, of a site or of all.
        final class Asker: Sendable {
            deinit { for site in (0..<256).map({ _ in Inject<Int>() }) { _ = site() } }
        }
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let all = Barrier(2)
            Dependencies {
                Module { 1 }
                Module { () -> Asker in
                    all.wait()
                    return Asker()
                }
            }.build()

            for _ in 0..<10 {
                let site = Inject<Asker>()
                onThreads(2) { _ in _ = site() }
            }
        }
    }

    /// In every round 64 threads read one new property; each of them has to get the same instance.
    private static func race<Owner>(
        rounds: Int = rounds, _ make: () -> Owner, _ read: @Sendable @escaping (Owner) -> any API
    ) {
        let owners = UncheckedList((0..<rounds).map { _ in make() })
        let seen = Protected([[ObjectIdentifier]](repeating: [], count: rounds))
        let start = Barrier(64)

        onThreads(64) { _ in
            for round in 0..<rounds {
                start.wait()
                let instance = read(owners[round])
                seen.withLock { $0[round].append(ObjectIdentifier(instance)) }
            }
        }

        #expect(seen.value.allSatisfy { $0.count == 64 && Set($0).count == 1 })
    }

    /// Several threads read these though they are not Sendable, as programs in language mode 5 do.
    private struct UncheckedList<Element>: @unchecked Sendable {
        private let elements: [Element]
        init(_ elements: [Element]) { self.elements = elements }
        subscript(index: Int) -> Element { elements[index] }
    }

    @Test func `a nil that was read does not make a property forget its override`() {
        Dependencies {}.override {
            @Inject var api: (any API)?
            #expect(api == nil)

            Resolver.register(Client() as any API)

            #expect(api?.answer == 42)
        }
    }

    @Test func `what a reader made too late is let go of`() async {
        final class Counted: Sendable {
            static let alive = Protected(0)
            init() { Self.alive.withLock { $0 += 1 } }
            deinit { Self.alive.withLock { $0 -= 1 } }
        }
        await #expect(processExitsWith: .success) {
            let all = Barrier(8)
            Dependencies {
                Module { () -> Counted in
                    all.wait()
                    return Counted()
                }
            }.build()
            let site = Inject<Counted>()

            onThreads(8) { _ in _ = site() }

            #expect(Counted.alive.value == 1)
            withExtendedLifetime(site) {}
        }
    }

    @Test func `properties that were read leave no memory behind`() async {
        await #expect(processExitsWith: .success) {
            func read(_ count: Int) { for _ in 0..<count { _ = Inject<Int>(given: 1)() } }
            read(1_000)
            let before = SharingOnThreadsTests.memory

            read(isThreadSanitized ? 1_000 : 200_000)

            #expect(isThreadSanitized || SharingOnThreadsTests.memory - before < 2_000_000)
        }
    }
}
