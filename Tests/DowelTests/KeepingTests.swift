import Dowel
import Foundation
import Testing

/// The thread sanitizer makes every access ten times as dear, and knows no threads in a forked process.
let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

/// Turns a hang into a failure: what is not done in time is ended by the system's alarm.
func endUnlessDone(within seconds: UInt32 = 300) {
    // The threads of the pool, where an exit test begins, block signals; what they fork would block them too.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(seconds)
}

private protocol Store: AnyObject, Sendable {}
private protocol Archive: AnyObject, Sendable {}
private final class Disk: Store, Archive {}
private final class Session: Sendable {}
private final class Slow: Sendable {}

private struct Failure: Error {}

// MARK: - Lifetimes of modules

struct LifetimeTests {
    @Test func `an unshared module makes one for each that asks`() {
        let dependencies = Dependencies { Module { Disk() as any Store } }

        let (one, other): (any Store, any Store) = dependencies.override { (Resolver.resolve(), Resolver.resolve()) }

        #expect(one !== other)
    }

    @Test func `a shared module makes one for all`() {
        let made = Protected(0)
        let dependencies = Dependencies {
            Module(.shared) { () -> any Store in
                made.withLock { $0 += 1 }
                return Disk()
            }
        }

        let (one, other, site): (any Store, any Store, any Store) = dependencies.override {
            (Resolver.resolve(), Resolver.find()!, Inject<any Store>().wrappedValue)
        }

        #expect(one === other)
        #expect(one === site)
        #expect(made.value == 1)
    }

    @Test func `a shared module of each name makes its own`() {
        let dependencies = Dependencies {
            Module(.shared) { Disk() as any Store }
            Module("backup", .shared) { Disk() as any Store }
        }

        let (plain, backup, again): (any Store, any Store, any Store) = dependencies.override {
            (Resolver.resolve(), Resolver.resolve("backup"), Resolver.resolve("backup"))
        }

        #expect(plain !== backup)
        #expect(backup === again)
    }

    @Test func `two containers of the same modules share nothing`() {
        let dependencies = Dependencies { Module(.shared) { Disk() as any Store } }

        let one: any Store = dependencies.override { Resolver.resolve() }
        let other: any Store = dependencies.override { Resolver.resolve() }

        #expect(one !== other)
    }

    @Test func `a weakly shared class behind a protocol is gone with its last owner and then made anew`() {
        let made = Protected(0)
        let dependencies = Dependencies {
            Module(.weakShared) { () -> any Store in
                made.withLock { $0 += 1 }
                return Disk()
            }
        }

        dependencies.override {
            var owner: (any Store)? = Resolver.resolve()
            weak let first = owner
            let isSame = Resolver.resolve() as any Store === owner
            withExtendedLifetime(owner) {}
            owner = nil

            #expect(isSame)
            #expect(first == nil)
            #expect(made.value == 1)
            let second: any Store = Resolver.resolve()
            let third: any Store = Resolver.resolve()
            #expect(second === third)
            #expect(made.value == 2)
        }
    }

    @Test func `a weakly shared concrete class is gone with its last owner`() {
        let dependencies = Dependencies { Module(.weakShared) { Session() } }

        dependencies.override {
            var owner: Session? = Resolver.resolve()
            weak let first = owner
            let isSame = Resolver.resolve() as Session === owner
            withExtendedLifetime(owner) {}
            owner = nil

            #expect(isSame)
            #expect(first == nil)
        }
    }

    @Test func `a weakly shared struct stops the program and names the lifetime to take`() async {
        struct Settings: Sendable { let size = 3 }

        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(.weakShared) { Settings() } }.build()
            let _: Settings = Resolver.resolve()
        }

        #expect(result?.text.contains("Settings (DowelTests/KeepingTests.swift:") == true)
        #expect(result?.text.contains(") is .weakShared, but not a class: use .shared") == true)
    }

    @Test func `a weakly shared struct behind a protocol stops the program too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(.weakShared) { 3 as any Sendable & CustomStringConvertible } }.build()
            let _: any Sendable & CustomStringConvertible = Resolver.resolve()
        }

        #expect(result?.text.contains("is .weakShared, but") == true)
    }

    @Test func `a second build releases what the first kept, and what was handed out lives on`() async {
        await #expect(processExitsWith: .success) {
            func build() {
                Dependencies {
                    Module(.shared) { Session() }
                    Module(.shared) { Disk() as any Store }
                }.build()
            }
            build()
            weak let unheld = Resolver.resolve() as Session
            var owner: (any Store)? = Resolver.resolve()
            weak let held = owner
            #expect(unheld != nil)

            build()

            #expect(unheld == nil)
            #expect(held != nil)
            #expect(Resolver.resolve() as any Store !== owner)
            withExtendedLifetime(owner) {}
            owner = nil
            #expect(held == nil)
        }
    }
}

// MARK: - A factory's own container

struct FactoryContainerTests {
    private final class Client: Sendable {
        let store: any Store
        init() { store = Resolver.resolve() }
    }

    @Test func `a factory finds what its own container offers, also when a late property asks`() async {
        await #expect(processExitsWith: .success) {
            let (mock, real) = (Disk(), Disk())
            Dependencies {
                Module(.shared) { real as any Store }
                Module { Client() }
            }.build()

            // Made inside the override, read first on another thread, where no override is in force.
            Dependencies { Module(.shared) { mock as any Store } }.override {
                let late = Inject<Client>()
                onThreads(1) { _ in
                    #expect(late.wrappedValue.store === mock)
                    #expect((Resolver.resolve() as Client).store === real)
                }
            }
        }
    }

    @Test func `a factory finds what its own container offers, even after the override ended`() async {
        await #expect(processExitsWith: .success) {
            let (mock, real) = (Disk(), Disk())
            Dependencies {
                Module(.shared) { real as any Store }
                Module { Client() }
            }.build()

            let late = Dependencies { Module { mock as any Store } }.override { Inject<Client>() }

            #expect(late.wrappedValue.store === mock)
        }
    }

    @Test func `a property from outside every override makes with what was built, even when read inside one`() async {
        await #expect(processExitsWith: .success) {
            let (mock, real) = (Disk(), Disk())
            Dependencies {
                Module(.shared) { real as any Store }
                Module { Client() }
            }.build()
            let early = Inject<Client>()

            let client = Dependencies { Module { mock as any Store } }.override { early.wrappedValue }

            #expect(client.store === real)
        }
    }

    @Test func `a property that a factory creates remembers the factory's container`() async {
        final class Lazy: Sendable {
            let store = Inject<any Store>()
        }

        await #expect(processExitsWith: .success) {
            let (mock, real) = (Disk(), Disk())
            Dependencies {
                Module { real as any Store }
                Module { Lazy() }
            }.build()

            Dependencies { Module { mock as any Store } }.override {
                let late = Inject<Lazy>()
                onThreads(1) { _ in
                    let lazy = late.wrappedValue
                    #expect(lazy.store() === mock)
                }
            }
        }
    }

    @Test func `a factory that overrides finds the override's modules inside it`() {
        let (mock, real) = (Disk(), Disk())
        let dependencies = Dependencies {
            Module { real as any Store }
            Module("mocked") { () -> Client in
                Dependencies { Module { mock as any Store } }.override { Client() }
            }
        }

        let client: Client = dependencies.override { Resolver.resolve("mocked") }

        #expect(client.store === mock)
    }
}

// MARK: - Sharing on threads

struct SharingOnThreadsTests {
    private static let threads = 64
    private static let rounds = isThreadSanitized ? 100 : 2_000

    /// Asks on every thread, in every round at once, and expects one instance each round.
    private static func expectOneEachRound(_ ask: @escaping @Sendable (_ round: Int) -> Session) {
        endUnlessDone()
        let seen = Protected([Session?](repeating: nil, count: rounds))
        let strangers = Protected(0)
        let barrier = Barrier(threads)
        onThreads(threads) { _ in
            for round in 0..<rounds {
                barrier.wait()
                let session = ask(round)
                let first = seen.withLock { seen in
                    seen[round] = seen[round] ?? session
                    return seen[round]
                }
                if first !== session { strangers.withLock { $0 += 1 } }
            }
        }

        #expect(strangers.value == 0)
        #expect(seen.value.allSatisfy { $0 != nil })
    }

    /// Every other creation gives the other threads time to come in while it is going on.
    private static func make(_ round: Int, _ made: Protected<Int>) -> Session {
        made.withLock { $0 += 1 }
        if round.isMultiple(of: 2) { for _ in 0..<3 { sched_yield() } }
        return Session()
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: [1, 2])
    func `a shared module is made exactly once, however many threads ask at once`(builds: Int) async {
        // The first container of a process is found in another way than those after it.
        await #expect(processExitsWith: .success) { [builds] in
            let made = Protected(0)
            let names = (0..<Self.rounds).map { "\($0)" }
            let dependencies = Dependencies {
                for round in names.indices { Module(names[round], .shared) { Self.make(round, made) } }
            }
            for _ in 0..<builds { dependencies.build() }

            Self.expectOneEachRound { Resolver.resolve(names[$0]) }

            #expect(made.value == Self.rounds)
        }
    }
    #endif

    @Test func `what a scope shares is made exactly once, however many threads ask at once`() async {
        await #expect(processExitsWith: .success) {
            let made = Protected(0)
            let scopes = (0..<Self.rounds).map { _ in Scope() }

            Self.expectOneEachRound { round in scopes[round].shared { Self.make(round, made) } }

            #expect(made.value == Self.rounds)
        }
    }

    @Test func `what a scope shares for an id is made exactly once, however many threads ask at once`() async {
        await #expect(processExitsWith: .success) {
            let made = Protected(0)
            let scope = Scope()

            Self.expectOneEachRound { round in scope.shared(for: round) { Self.make(round, made) } }

            #expect(made.value == Self.rounds)
        }
    }

    @Test func `two threads that ask in the very same moment get one instance`() async {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let made = Protected(0)
            let rounds = isThreadSanitized ? 500 : 20_000
            let (scope, meeting) = (Scope(), Rendezvous())

            onThreads(2) { _ in
                for round in 0..<rounds {
                    meeting.meet()
                    _ = scope.shared(for: round) {
                        made.withLock { $0 += 1 }
                        return Session()
                    }
                }
            }

            #expect(made.value == rounds)
        }
    }

    @Test func `an override's shared module is made exactly once for all its properties`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            for round in 0..<50 {
                let made = Protected(0)
                Dependencies { Module(.shared) { Self.make(round, made) } }.override {
                    let sites = (0..<16).map { _ in Inject<Session>() }
                    onThreads(sites.count) { _ = sites[$0].wrappedValue }
                    #expect(sites.allSatisfy { $0.wrappedValue === sites[0].wrappedValue })
                }
                #expect(made.value == 1)
            }
        }
    }

    @Test func `while one shared module is being made, others are read and made`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Dependencies {
                Module(.shared) { () -> Slow in
                    entered.signal()
                    released.wait()
                    return Slow()
                }
                Module(.shared) { Disk() as any Store }
                Module(.weakShared) { Disk() as any Archive }
                Module(.shared) { Session() }
                Module("of the same type", .shared) { Slow() }
            }.build()
            let existing: (any Store, any Archive) = (Resolver.resolve(), Resolver.resolve())

            // The second thread alone lets the first go on: if it had to wait for it, neither would ever end.
            onThreads(2) { thread in
                if thread == 0 {
                    let _: Slow = Resolver.resolve()
                } else {
                    entered.wait()
                    #expect(Resolver.resolve() as any Store === existing.0)
                    #expect(Resolver.resolve() as any Archive === existing.1)
                    let _: Session = Resolver.resolve()
                    let _: Slow = Resolver.resolve("of the same type")
                    released.signal()
                }
            }
        }
    }

    @Test func `while a scope makes one thing, others of that scope are read and made`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let scope = Scope()
            @Sendable func part(_ id: String, _ meanwhile: () -> Void = {}) -> Disk {
                scope.shared(for: id) {
                    meanwhile()
                    return Disk()
                }
            }
            let existing = part("existing")

            onThreads(2) { thread in
                if thread == 0 {
                    _ = part("slow") {
                        entered.signal()
                        released.wait()
                    }
                } else {
                    entered.wait()
                    #expect(part("existing") === existing)
                    _ = part("new")
                    _ = scope.weakShared { Disk() }
                    released.signal()
                }
            }
        }
    }

    @Test func `a factory that waits for threads which resolve other shared modules finishes`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let helpers = Protected<[ObjectIdentifier]>([])
            Dependencies {
                Module(.shared) { () -> Slow in
                    let before: any Store = Resolver.resolve()
                    onThreads(4) { _ in
                        let existing: any Store = Resolver.resolve()
                        let new: Session = Resolver.resolve()
                        helpers.withLock { $0 += [ObjectIdentifier(existing), ObjectIdentifier(new)] }
                    }
                    withExtendedLifetime(before) {}
                    return Slow()
                }
                Module(.shared) { Disk() as any Store }
                Module(.shared) { Session() }
            }.build()

            let _: Slow = Resolver.resolve()

            let expected = [
                ObjectIdentifier(Resolver.resolve() as any Store), ObjectIdentifier(Resolver.resolve() as Session),
            ]
            #expect(helpers.value.count == 8)
            #expect(Set(helpers.value) == Set(expected))
        }
    }

    /// Sixteen threads take and drop what is weakly shared; no two of them may hold different ones at any moment.
    private static func expectNeverTwo(_ take: @escaping @Sendable () -> any Store) {
        endUnlessDone()
        let held = Protected<[ObjectIdentifier: Int]>([:])
        let most = Protected(0)
        let everyone = Barrier(16)
        let rounds = isThreadSanitized ? 500 : 10_000
        onThreads(16) { thread in
            for round in 0..<rounds {
                // Left alone, they might hand one on from the first round to the last: where all meet, nobody has any.
                if round.isMultiple(of: 100) { everyone.wait() }
                let store = take()
                let identity = ObjectIdentifier(store)
                let count = held.withLock { held in
                    held[identity, default: 0] += 1
                    return held.count
                }
                most.withLock { $0 = max($0, count) }
                if (thread + round).isMultiple(of: 7) { sched_yield() }
                held.withLock { held in
                    held[identity]! -= 1
                    if held[identity] == 0 { held[identity] = nil }
                }
                withExtendedLifetime(store) {}
            }
        }

        #expect(most.value == 1)
        #expect(made.value >= rounds / 100)
    }

    private static let made = Protected(0)

    /// Gives the other threads time to come in while a creation is going on.
    private static func slowly() -> any Store {
        made.withLock { $0 += 1 }
        sched_yield()
        return Disk()
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: [1, 2])
    func `threads that take and drop a weakly shared module never hold two different ones`(builds: Int) async {
        await #expect(processExitsWith: .success) { [builds] in
            let dependencies = Dependencies { Module(.weakShared) { Self.slowly() } }
            for _ in 0..<builds { dependencies.build() }

            Self.expectNeverTwo { Resolver.resolve() }
        }
    }
    #endif

    @Test func `threads that take and drop what a scope weakly shares never hold two different ones`() async {
        await #expect(processExitsWith: .success) {
            let scope = Scope()

            Self.expectNeverTwo { scope.weakShared { Self.slowly() } }
        }
    }

    /// Counts those alive, and is large enough for a leak of it to show.
    private final class Ballast: Sendable {
        static let alive = Protected(0)
        let bytes = [UInt8](repeating: 1, count: 1_024)
        init() { Self.alive.withLock { $0 += 1 } }
        deinit { Self.alive.withLock { $0 -= 1 } }
    }

    /// The bytes of memory that the process has at present, where the system tells.
    static var memory: Int {
        guard let numbers = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return Int(numbers.split(separator: " ")[1])! * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func `ten thousand builds while threads resolve leave memory flat`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let builds = isThreadSanitized ? 500 : 10_000
            let isDone = Protected(false)
            let start = Protected(0)
            @Sendable func build() {
                Dependencies {
                    Module(.shared) { Ballast() }
                    Module("weak", .weakShared) { Ballast() }
                    Module("graph", .objectGraph) { Ballast() }
                    Module(.shared) { (ballast: Ballast) in [ballast, Resolver.resolve("weak")] }
                    Module { Disk() as any Store }
                }.build()
            }
            build()

            onThreads(4) { thread in
                guard thread == 0 else {
                    while !isDone.value {
                        let _: [Ballast] = Resolver.resolve()
                        let _: Ballast = Resolver.resolve("graph")
                        _ = Inject<any Store>().wrappedValue
                        _ = Inject<Ballast>("weak").wrappedValue
                    }
                    return
                }
                for round in 0..<builds {
                    if round == builds / 5 { start.withLock { $0 = Self.memory } }
                    build()
                }
                isDone.withLock { $0 = true }
            }
            let growth = Self.memory - start.value
            Dependencies {}.build()

            #expect(Ballast.alive.value == 0)
            #expect(isThreadSanitized || growth < 4_000_000)
        }
    }
}

// MARK: - Object graphs

struct ObjectGraphTests {
    private final class Cart {
        let session: Session
        init(session: Session) { self.session = session }
    }

    private final class Checkout {
        let (session, cart, invoice): (Session, Cart, Invoice)
        init(_ session: Session, _ cart: Cart, _ invoice: Invoice) {
            (self.session, self.cart, self.invoice) = (session, cart, invoice)
        }
    }

    private final class Invoice {
        let (session, cart): (Session, Cart)
        init(_ session: Session, _ cart: Cart) { (self.session, self.cart) = (session, cart) }
    }

    private struct Shop: Sendable {
        private let scope = Scope()
        func component() -> Cart { scope.objectGraph { Cart(session: Resolver.resolve()) } }
    }

    private struct Billing: Sendable {
        let shop = Inject<Shop>()
        func component() -> Invoice { Invoice(Resolver.resolve(), shop().component()) }
    }

    private static let shopping = Dependencies {
        Module(.objectGraph) { Session() }
        Module(.shared) { Shop() }
        Module(.shared) { Billing() }
        Module { Checkout($0, ($1 as Shop).component(), ($2 as Billing).component()) }
    }

    @Test func `a request has one of each, across two modules and a scope`() {
        let checkout: Checkout = Self.shopping.override { Resolver.resolve() }

        #expect(checkout.cart === checkout.invoice.cart)
        #expect(checkout.session === checkout.invoice.session)
        #expect(checkout.session === checkout.cart.session)
    }

    @Test func `the next request has others`() {
        let (one, other): (Checkout, Checkout) = Self.shopping.override { (Resolver.resolve(), Resolver.resolve()) }

        #expect(one.session !== other.session)
        #expect(one.cart !== other.cart)
    }

    @Test func `nothing of a graph is alive after its request`() {
        final class Witness {
            weak var session: Session?
            weak var part: Disk?
            var isAlive: Bool { session != nil && part != nil }
        }
        let scope = Scope()
        let dependencies = Dependencies {
            Module(.objectGraph) { Session() }
            Module { () -> Witness in
                let witness = Witness()
                witness.session = Resolver.resolve()
                witness.part = scope.objectGraph { Disk() }
                #expect(witness.isAlive, "The request alone holds them.")
                return witness
            }
        }

        dependencies.override {
            let witness: Witness = Resolver.resolve()

            #expect(witness.session == nil)
            #expect(witness.part == nil)
        }
    }

    @Test func `an object graph's instance asked for after its request is another one`() {
        final class Screen {
            let session: Session
            let late = Inject<Session>()
            init(_ session: Session) { self.session = session }
        }
        let dependencies = Dependencies {
            Module(.objectGraph) { Session() }
            Module { Screen($0) }
        }

        dependencies.override {
            let screen: Screen = Resolver.resolve()

            #expect(screen.late() !== screen.session)
        }
    }

    @Test func `a task that a factory starts does not see the finished graph`() async {
        final class Loader: Sendable {
            let session: Session
            let task: Task<Session, Never>
            init(_ session: Session) {
                self.session = session
                task = Task { Resolver.resolve() }
            }
        }
        let dependencies = Dependencies {
            Module(.objectGraph) { Session() }
            Module { Loader($0) }
        }

        await dependencies.override {
            let loader: Loader = Resolver.resolve()
            let late = await loader.task.value

            #expect(late !== loader.session)
        }
    }

    @Test func `a thread that a factory waits for does not see the factory's graph`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let strangers = Protected<[Session]>([])
            Dependencies {
                Module(.objectGraph) { Session() }
                Module { (session: Session) -> [Session] in
                    onThreads(1) { _ in
                        let stranger: Session = Resolver.resolve()
                        strangers.withLock { $0.append(stranger) }
                    }
                    return [session, Resolver.resolve()]
                }
            }.build()

            let own: [Session] = Resolver.resolve()

            #expect(own[0] === own[1])
            #expect(strangers.value.count == 1)
            #expect(own[0] !== strangers.value[0])
        }
    }

    @Test func `one graph keeps names and ids apart`() {
        let scope = Scope()
        @Sendable func part(_ id: Int) -> Disk { scope.objectGraph(for: id) { Disk() } }
        let dependencies = Dependencies {
            Module(.objectGraph) { Session() }
            Module("other", .objectGraph) { Session() }
            Module { () -> [AnyObject] in
                [Resolver.resolve() as Session, Resolver.resolve("other") as Session, part(1), part(2)]
                    + [Resolver.resolve() as Session, Resolver.resolve("other") as Session, part(1), part(2)]
            }
        }

        let objects: [AnyObject] = dependencies.override { Resolver.resolve() }

        #expect(Set(objects.map { ObjectIdentifier($0) }).count == 4)
        #expect(zip(objects, objects.dropFirst(4)).allSatisfy { $0 === $1 })
    }

    @Test func `one graph keeps two scopes apart`() {
        func part(_ scope: Scope) -> Disk { scope.objectGraph { Disk() } }
        let outer = Scope()

        let (one, other, again) = outer.objectGraph { () -> (Disk, Disk, Disk) in
            let (first, second) = (Scope(), Scope())
            return (part(first), part(second), part(first))
        }

        #expect(one !== other)
        #expect(one === again)
    }
}

// MARK: - Configuring

struct ConfiguringTests {
    private final class View {
        weak var delegate: Presenter?
        var isConfigured = false
    }

    private final class Presenter {
        let view: View
        init(view: View) { self.view = view }
    }

    @Test func `a view and its delegate refer to each other`() {
        let dependencies = Dependencies {
            Module(.objectGraph) {
                View()
            } configure: { (view: View, presenter: Presenter) in
                view.delegate = presenter
            }
            Module(.objectGraph) { Presenter(view: $0) }
        }

        dependencies.override {
            let presenter: Presenter = Resolver.resolve()
            #expect(presenter.view.delegate === presenter)
        }
        dependencies.override {
            let graph: View = Resolver.resolve()
            #expect(graph.delegate == nil, "Nobody holds the presenter that was made to configure it.")
        }
    }

    @Test func `a view and its delegate refer to each other in a scope`() {
        struct Screens {
            private let scope = Scope()
            func component() -> Presenter { scope.objectGraph { Presenter(view: component()) } }
            func component() -> View {
                scope.objectGraph {
                    View()
                } configure: {
                    $0.delegate = component()
                }
            }
        }
        let screens = Screens()

        let (one, other): (Presenter, Presenter) = (screens.component(), screens.component())

        #expect(one.view.delegate === one)
        #expect(other.view.delegate === other)
        #expect(one !== other)
    }

    @Test func `all is configured after the outermost exists, in order of creation`() {
        final class Leaf {}
        final class Branch {}
        let log = Protected<[String]>([])
        let note = { @Sendable (text: String) in log.withLock { $0.append(text) } }
        let dependencies = Dependencies {
            Module { (_: Branch, _: Leaf) -> Int in
                note("made root")
                return 1
            } configure: { _ in
                note("root")
            }
            Module { (_: Leaf) in
                Branch()
            } configure: { _ in
                note("branch")
            }
            Module(.objectGraph) {
                Leaf()
            } configure: { _ in
                note("leaf")
            }
        }

        let _: Int = dependencies.override { Resolver.resolve() }

        #expect(log.value == ["made root", "leaf", "branch", "root"])
    }

    @Test func `what is made to configure is configured too`() {
        final class Late { var isConfigured = false }
        let seen = Protected<[Bool]>([])
        let dependencies = Dependencies {
            Module {
                View()
            } configure: { (view: View, _: Late) in
                view.isConfigured = true
            }
            Module(.objectGraph) {
                Late()
            } configure: { (late: Late) in
                late.isConfigured = true
                seen.withLock { $0.append(late === Resolver.resolve() as Late) }
            }
        }

        let view: View = dependencies.override { Resolver.resolve() }

        #expect(view.isConfigured)
        #expect(seen.value == [true])
    }

    @Test func `an unshared module with a name configures each that it makes`() {
        let dependencies = Dependencies {
            Module("main", .unshared) {
                View()
            } configure: { (view: View) in
                view.isConfigured = true
            }
        }

        let (one, other): (View, View) = dependencies.override { (Resolver.resolve("main"), Resolver.resolve("main")) }

        #expect(one !== other)
        #expect(one.isConfigured && other.isConfigured)
    }

    @Test func `a request that throws runs none of its pending closures`() {
        let scope = Scope()
        let configured = Protected(0)
        func view() -> View {
            scope.objectGraph {
                View()
            } configure: { _ in
                configured.withLock { $0 += 1 }
            }
        }
        let dependencies = Dependencies {
            Module(.objectGraph) {
                Session()
            } configure: { (_: Session) in
                configured.withLock { $0 += 1 }
            }
        }

        dependencies.override {
            #expect(throws: Failure.self) {
                try scope.shared { () throws -> Int in
                    _ = view()
                    let _: Session = Resolver.resolve()
                    throw Failure()
                }
            }
            #expect(configured.value == 0)
            _ = view()

            #expect(configured.value == 1, "The next request starts with none of those that were dropped.")
        }
    }

    @Test func `what is made to configure is configured after all that was made before it`() {
        struct First: Sendable {}
        struct Second: Sendable {}
        struct Third: Sendable {}
        let log = Protected<[String]>([])
        let note = { @Sendable (text: String) in log.withLock { $0.append(text) } }
        let dependencies = Dependencies {
            Module {
                First()
            } configure: { (_: First, _: Third) in
                note("A")
            }
            Module {
                Second()
            } configure: { (_: Second) in
                note("B")
            }
            Module {
                Third()
            } configure: { (_: Third) in
                note("C")
            }
            Module { (_: First, _: Second) in 1 }
        }

        _ = dependencies.override { Resolver.resolve() as Int }

        #expect(log.value == ["A", "B", "C"])
    }
}

// MARK: - Scopes

struct ScopeTests {
    private struct Files {
        let scope = Scope()
        func component() -> any Store { scope.shared { Disk() } }
        func component() -> any Archive { scope.shared { Disk() } }
        func component<ID: Hashable & Sendable>(id: ID) -> Disk { scope.shared(for: id) { Disk() } }
    }

    @Test func `two overloads that make the same class keep apart`() {
        let files = Files()

        let (store, again): (any Store, any Store) = (files.component(), files.component())
        let archive: any Archive = files.component()

        #expect(store === again)
        #expect(store !== archive)
    }

    @Test func `two overloads on one line keep apart`() {
        let scope = Scope()

        let (one, other) = (scope.shared { Disk() }, scope.shared { Disk() })

        #expect(one !== other)
    }

    @Test func `two types made in one place keep apart`() {
        final class Box<T>: Sendable {}
        let scope = Scope()
        func box<T>(_ type: T.Type) -> Box<T> { scope.shared { Box<T>() } }

        let (one, other) = (box(Int.self), box(String.self))

        #expect(one === box(Int.self))
        #expect(other === box(String.self))
    }

    @Test func `ids keep apart by their value and by their type`() {
        let files = Files()

        let disks = [files.component(id: 1), files.component(id: 2), files.component(id: 1.0)]
        let again = [files.component(id: 1), files.component(id: 2), files.component(id: 1.0)]
        let others = [files.component(id: "1"), files.component(id: UInt8(1)), files.component(id: Float(1))]

        #expect(Set((disks + others).map { ObjectIdentifier($0) }).count == 6)
        #expect(zip(disks, again).allSatisfy { $0 === $1 })
    }

    @Test func `an id may ask its own scope while it is compared`() async {
        struct Number: Hashable, Sendable {
            let scope: Scope, value: Int
            func hash(into hasher: inout Hasher) { hasher.combine(scope.shared { 0 }) }
            static func == (one: Number, other: Number) -> Bool {
                one.scope.shared(for: "factor") { 2 } * one.value == other.scope.shared { 2 } * other.value
            }
        }
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let scope = Scope()

            let disks = [1, 2, 1].map { scope.shared(for: Number(scope: scope, value: $0)) { Disk() } }

            #expect(disks[0] === disks[2])
            #expect(disks[0] !== disks[1])
        }
    }

    @Test func `an id that resets its scope while it is compared has one instance afterwards`() {
        struct Number: Hashable, Sendable {
            let scope: Scope, value: Int
            func hash(into hasher: inout Hasher) {}
            static func == (one: Number, other: Number) -> Bool {
                if one.value != other.value { one.scope.reset() }
                return one.value == other.value
            }
        }
        let scope = Scope()

        let disks = [1, 2, 2].map { scope.shared(for: Number(scope: scope, value: $0)) { Disk() } }

        #expect(disks[0] !== disks[1])
        #expect(disks[1] === disks[2])
    }

    @Test func `what goes because an id resets its scope may ask that scope`() async {
        struct Number: Hashable, Sendable {
            let scope: Scope, value: Int
            func hash(into hasher: inout Hasher) {}
            static func == (one: Number, other: Number) -> Bool {
                one.scope.reset()
                return one.value == other.value
            }
        }
        final class Asker: Sendable {
            let scope: Scope
            init(scope: Scope) { self.scope = scope }
            deinit { _ = scope.shared { 0 } }
        }
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let scope = Scope()

            for value in 1...2 { _ = scope.shared(for: Number(scope: scope, value: value)) { Asker(scope: scope) } }
        }
    }

    @Test func `a scope that is reset in a request never hands out what another id had in it`() {
        let scope = Scope()

        // What was reset is gone, and what comes next may lie where it lay.
        let numbers = Scope().objectGraph {
            (0..<100).flatMap { round in
                scope.reset()
                return (0..<4).map { number in scope.objectGraph(for: round * 4 + number) { round * 4 + number } }
            }
        }

        #expect(numbers == Array(0..<400))
    }

    @Test func `ids whose hashes are neighbours are not compared with each other`() {
        final class Number: NSObject, Sendable {
            let value: Int, count: Protected<Int>
            init(_ value: Int, _ count: Protected<Int>) { (self.value, self.count) = (value, count) }
            override var hash: Int { value }
            override func isEqual(_ other: Any?) -> Bool {
                count.withLock { $0 += 1 }
                return value == (other as? Number)?.value
            }
        }
        let scope = Scope(), count = Protected(0)

        // Places whose columns differ by little, too.
        for number in 0..<1_000 {
            let id = Number(number, count)
            let disks = (scope.shared(for: id) { Disk() }, scope.shared(for: id) { Disk() })
            #expect(disks.0 !== disks.1)
        }

        #expect(count.withLock { $0 } < 2_000)
    }

    @Test func `threads that ask at once for many ids whose hashes are equal get one instance for each`() async {
        struct Number: Hashable, Sendable {
            let value: Int
            func hash(into hasher: inout Hasher) {}
        }
        await #expect(processExitsWith: .success) {
            for _ in 0..<(isThreadSanitized ? 20 : 200) {
                let scope = Scope()
                let barrier = Barrier(8)
                let disks = Protected<[Disk]>([])

                onThreads(8) { _ in
                    barrier.wait()
                    for number in 0..<8 {
                        let disk = scope.shared(for: Number(value: number)) { Disk() }
                        disks.withLock { $0.append(disk) }
                    }
                }

                #expect(Set(disks.value.map { ObjectIdentifier($0) }).count == 8)
            }
        }
    }

    @Test func `ids of two types keep apart where Swift holds them equal`() {
        let files = Files()

        #expect(AnyHashable([Int]()) == AnyHashable([Double]()))
        #expect(files.component(id: [Int]()) !== files.component(id: [Double]()))
    }

    @Test func `an id is not taken for none, whatever it hashes to`() {
        struct Nothing: Hashable, Sendable {
            func hash(into hasher: inout Hasher) {}
            var hashValue: Int { 0 }
        }
        let scope = Scope()
        func disk(_ id: Nothing?) -> Disk { scope.shared(for: id) { Disk() } }

        let (with, without) = (disk(Nothing()), disk(nil))

        #expect(with !== without)
        #expect(with === disk(Nothing()))
        #expect(without === disk(nil))
    }

    @Test func `what a scope has for an id is handed out at any depth`() {
        let scope = Scope()
        func last() -> Int { scope.shared(for: "last") { 100 } }
        func deep(_ level: Int) -> Int { scope.shared(for: level) { level == 100 ? last() : deep(level + 1) } }
        _ = last()

        #expect(deep(1) == 100)
    }

    @Test func `an id of what is weakly shared or in a graph keeps apart too`() {
        let scope = Scope()
        func weak(_ id: any Hashable & Sendable) -> Disk { scope.weakShared(for: id) { Disk() } }
        func graph(_ id: any Hashable & Sendable) -> Disk { scope.objectGraph(for: id) { Disk() } }

        let weakly = [weak(1), weak(2), weak(1.0)]
        let isSame = weak(1) === weakly[0]
        let graphs = scope.objectGraph { [graph(1), graph(2), graph(1.0), graph(1)] }

        #expect(Set(weakly.map { ObjectIdentifier($0) }).count == 3)
        #expect(isSame)
        withExtendedLifetime(weakly) {}
        #expect(Set(graphs.map { ObjectIdentifier($0) }).count == 3)
        #expect(graphs[0] === graphs[3])
    }

    @Test func `two scopes share nothing`() {
        let (one, other) = (Files(), Files())

        #expect(one.component() as any Store !== other.component() as any Store)
    }

    @Test func `reset lets go, and what was handed out lives on`() {
        let files = Files()
        weak let unheld = files.component() as any Archive
        var owner: (any Store)? = files.component()
        weak let held = owner
        #expect(unheld != nil)

        files.scope.reset()

        #expect(unheld == nil)
        #expect(held != nil)
        #expect(files.component() as any Store !== owner)
        withExtendedLifetime(owner) {}
        owner = nil
        #expect(held == nil)
    }

    @Test func `what is made again after a reset is kept again`() {
        let files = Files()
        let first: any Store = files.component()

        files.scope.reset()
        let (second, third): (any Store, any Store) = (files.component(), files.component())

        #expect(first !== second)
        #expect(second === third)
    }

    @Test func `a deinit that resolves may run inside a reset`() {
        final class Farewell: Sendable {
            let (scope, said): (Scope, Protected<Int>)
            init(_ scope: Scope, _ said: Protected<Int>) { (self.scope, self.said) = (scope, said) }
            deinit { said.withLock { $0 += scope.shared { 1 } } }
        }
        let (scope, said) = (Scope(), Protected(0))
        _ = scope.shared { Farewell(scope, said) }

        scope.reset()

        #expect(said.value == 1)
    }

    @Test func `a scope goes away with its module and lets go of what it kept`() {
        var files: Files? = Files()
        weak let store = files!.component() as any Store
        #expect(store != nil)

        files = nil

        #expect(store == nil)
    }

    @Test func `what a scope weakly shares is gone with its last owner and then made anew`() {
        let scope = Scope()
        let made = Protected(0)
        func store() -> any Store {
            scope.weakShared { () -> any Store in
                made.withLock { $0 += 1 }
                return Disk()
            }
        }
        var owner: (any Store)? = store()
        weak let first = owner
        let isSame = store() === owner
        withExtendedLifetime(owner) {}

        owner = nil

        #expect(isSame)
        #expect(first == nil)
        let (second, third) = (store(), store())
        #expect(second === third)
        #expect(made.value == 2)
    }

    @Test func `a struct that a scope weakly shares stops the program`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Scope().weakShared { 3 }
        }

        #expect(result?.text.contains("Int (DowelTests/KeepingTests.swift:") == true)
        #expect(result?.text.contains(") is .weakShared, but not a class: use .shared") == true)
    }

    @Test func `a factory that throws keeps nothing, and the next call tries again`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let scope = Scope()
            var attempts = 0
            func disk() throws -> Disk {
                try scope.shared {
                    attempts += 1
                    if attempts == 1 { throw Failure() }
                    return Disk()
                }
            }

            #expect(throws: Failure.self) { try disk() }
            let (second, third) = (try disk(), try disk())

            #expect(second === third)
            #expect(attempts == 2)
        }
    }

    @Test func `a factory that throws inside another keeps neither`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let scope = Scope()
            var (attempts, outerAttempts) = (0, 0)
            func inner() throws -> Disk {
                try scope.weakShared {
                    attempts += 1
                    if attempts == 1 { throw Failure() }
                    return Disk()
                }
            }
            func outer() throws -> [Disk] {
                try scope.shared {
                    outerAttempts += 1
                    return [try inner()]
                }
            }

            #expect(throws: Failure.self) { try outer() }
            let disks = try outer()

            #expect(try inner() === disks[0])
            #expect((attempts, outerAttempts) == (2, 2))
        }
    }

    @Test func `those who waited for a factory that throws try again`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            for round in 0..<100 {
                let scope = Scope()
                let attempts = Protected(0)
                let failures = Protected(0)
                let disks = Protected<Set<ObjectIdentifier>>([])
                onThreads(8) { _ in
                    let disk = try? scope.shared { () throws -> Disk in
                        let attempt = attempts.withLock { attempts in
                            attempts += 1
                            return attempts
                        }
                        if round.isMultiple(of: 2) { sched_yield() }
                        if attempt <= 3 { throw Failure() }
                        return Disk()
                    }
                    if let disk {
                        disks.withLock { _ = $0.insert(ObjectIdentifier(disk)) }
                    } else {
                        failures.withLock { $0 += 1 }
                    }
                }

                #expect(failures.value == 3)
                #expect(disks.value.count == 1)
                #expect(attempts.value == 4)
            }
        }
    }

    @MainActor @Test func `what two lifetimes keep in one place keeps apart`() {
        let scope = Scope()

        let shared = scope.main.shared({ Disk() }, file: "F", line: 1, column: 1)
        let weak = scope.main.weakShared({ Disk() }, file: "F", line: 1, column: 1)
        let ofGraph = scope.objectGraph({ Disk() }, file: "F", line: 1, column: 1)

        #expect(shared !== weak && weak !== ofGraph && ofGraph !== shared)
        #expect(scope.main.shared({ Disk() }, file: "F", line: 1, column: 1) === shared)
        #expect(scope.main.weakShared({ Disk() }, file: "F", line: 1, column: 1) === weak)
    }

    @Test func `one line and column of two files are two places`() {
        let scope = Scope()
        func disk(_ file: StaticString) -> Disk { scope.shared({ Disk() }, file: file, line: 1, column: 1) }

        #expect(disk("One.swift") !== disk("Other.swift"))
        #expect(disk("One.swift") === disk("One.swift"))
    }

    @Test func `threads ask a scope while another resets it`() async {
        await #expect(processExitsWith: .success) {
            let scope = Scope()

            onThreads(4) { thread in
                for round in 0..<20 * rounds {
                    if thread == 0 { scope.reset() } else { _ = scope.shared(for: round % 8) { Disk() } }
                }
            }
        }
    }

    @Test func `scopes that grew leave no memory behind`() async {
        await #expect(processExitsWith: .success) {
            func make(_ count: Int) {
                for _ in 0..<count {
                    let scope = Scope()
                    for id in 0..<10 { _ = scope.shared(for: id) { id } }
                }
            }
            make(1_000)
            let before = SharingOnThreadsTests.memory

            make(isThreadSanitized ? 1_000 : 30_000)

            #expect(isThreadSanitized || SharingOnThreadsTests.memory - before < 2_000_000)
        }
    }

    @Test func `the factory of a module in an override may ask through a scope`() {
        let scope = Scope()
        let mock = Disk()
        let dependencies = Dependencies {
            Module { mock as any Store }
            Module { scope.shared { Resolver.resolve() as any Store } === mock }
        }

        let found: Bool = dependencies.override { Resolver.resolve() }

        #expect(found)
    }
}

// MARK: - On the main actor

@MainActor struct MainActorLifetimeTests {
    /// Not sendable, as what never leaves the main actor need not be.
    private final class Canvas {
        var lines = 0
        weak var easel: Easel?
    }

    private final class Easel {
        let canvas: Canvas
        init(canvas: Canvas) { self.canvas = canvas }
    }

    @Test func `an unshared module on the main actor makes one for each that asks`() {
        let dependencies = Dependencies { Module.main { Canvas() } }

        let (one, other): (Canvas, Canvas) = dependencies.override { (Resolver.resolve(), Resolver.resolve()) }

        #expect(one !== other)
    }

    @Test func `a shared module on the main actor makes one for all`() {
        let dependencies = Dependencies {
            Module.main(.shared) { Canvas() }
            Module.main("named", .shared) { Canvas() }
        }

        let canvases: [Canvas] = dependencies.override {
            [Resolver.resolve(), Resolver.resolve(), Resolver.resolve("named"), Resolver.resolve("named")]
        }

        #expect(canvases[0] === canvases[1])
        #expect(canvases[2] === canvases[3])
        #expect(canvases[0] !== canvases[2])
    }

    @Test func `a weakly shared module on the main actor is gone with its last owner`() {
        let dependencies = Dependencies { Module.main(.weakShared) { Canvas() } }

        dependencies.override {
            var owner: Canvas? = Resolver.resolve()
            weak let first = owner
            let isSame = Resolver.resolve() as Canvas === owner
            withExtendedLifetime(owner) {}
            owner = nil

            #expect(isSame)
            #expect(first == nil)
            #expect((Resolver.resolve() as Canvas).lines == 0)
        }
    }

    @Test func `an object graph on the main actor is configured and lasts for its request`() {
        let dependencies = Dependencies {
            Module.main(.objectGraph) {
                Canvas()
            } configure: { (canvas: Canvas, easel: Easel) in
                canvas.easel = easel
            }
            Module.main("named", .objectGraph) {
                Canvas()
            } configure: { (canvas: Canvas) in
                canvas.lines = 1
            }
            Module.main(.objectGraph) { Easel(canvas: $0) }
        }

        let (one, other): (Easel, Easel) = dependencies.override { (Resolver.resolve(), Resolver.resolve()) }
        let named: Canvas = dependencies.override { Resolver.resolve("named") }

        #expect(one.canvas.easel === one)
        #expect(other.canvas.easel === other)
        #expect(one.canvas !== other.canvas)
        #expect(named.lines == 1)
    }

    @Test func `a module of any thread needs one of the main actor, and finds it there`() {
        let dependencies = Dependencies {
            Module.main(.shared) { Canvas() }
            Module { Easel(canvas: $0) }
        }

        let (one, other): (Easel, Easel) = dependencies.override { (Resolver.resolve(), Resolver.resolve()) }

        #expect(one.canvas === other.canvas)
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: ["unshared", "shared", "weakShared", "objectGraph"])
    nonisolated func `a module of the main actor stops who asks elsewhere, and says where`(lifetime: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [lifetime] in
            Dependencies {
                switch lifetime {
                case "shared": Module.main(.shared) { Canvas() }
                case "weakShared": Module.main(.weakShared) { Canvas() }
                case "objectGraph": Module.main(.objectGraph) { Canvas() }
                default: Module.main { Canvas() }
                }
            }.build()
            onThreads(1) { _ in let _: Canvas = Resolver.resolve(file: "Here/Away.swift", line: 7) }
        }

        let text = result?.text ?? ""
        let says = "Canvas is made by Module.main, and asked for off the main actor, at Here/Away.swift:7: ask"
        #expect(text.contains(says), "\(text)")
    }
    #endif

    @MainActor private struct Studio {
        let scope = Scope()
        func component(id: Int = 0) -> Canvas { scope.main.shared(for: id) { Canvas() } }
        func component() -> Easel { scope.main.weakShared { Easel(canvas: component()) } }
        func sketch() -> Easel { scope.main.objectGraph { Easel(canvas: page()) } }
        func page() -> Canvas {
            scope.main.objectGraph {
                Canvas()
            } configure: {
                $0.easel = sketch()
            }
        }
    }

    @Test func `a scope shares on the main actor what is not sendable`() {
        let studio = Studio()

        let (one, again, other): (Canvas, Canvas, Canvas) = (
            studio.component(id: 1), studio.component(id: 1), studio.component(id: 2)
        )

        #expect(one === again)
        #expect(one !== other)
        studio.scope.reset()
        #expect(one !== studio.component(id: 1))
    }

    @Test func `a scope shares weakly on the main actor`() {
        let studio = Studio()
        var owner: Easel? = studio.component()
        weak let first = owner
        let isSame = studio.component() as Easel === owner
        withExtendedLifetime(owner) {}

        owner = nil

        #expect(isSame)
        #expect(first == nil)
    }

    @Test func `a scope makes and configures graphs on the main actor`() {
        let studio = Studio()

        let (one, other) = (studio.sketch(), studio.sketch())

        #expect(one.canvas.easel === one)
        #expect(other.canvas.easel === other)
        #expect(one.canvas !== other.canvas)
    }

    @Test func `a scope on the main actor keeps nothing of what throws`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            endUnlessDone()
            let scope = Scope()
            var attempts = 0
            @MainActor func canvas() throws -> Canvas {
                try scope.main.shared {
                    attempts += 1
                    if attempts == 1 { throw Failure() }
                    return Canvas()
                }
            }

            #expect(throws: Failure.self) { try canvas() }
            let (second, third) = (try canvas(), try canvas())

            #expect(second === third)
        }
    }

    @Test func `an id of a graph on the main actor keeps apart too`() {
        let scope = Scope()
        func graph(_ id: Int) -> Disk { scope.main.objectGraph(for: id) { Disk() } }

        let graphs = scope.main.objectGraph { [graph(1), graph(2), graph(1)] }

        #expect(graphs[0] !== graphs[1])
        #expect(graphs[0] === graphs[2])
    }

    @Test func `file, line and column each tell two places apart, in every lifetime`() {
        typealias Place = (file: StaticString, line: Int, column: Int)
        let kinds: [(Scope, Place) -> Disk] = [
            { $0.shared({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
            { $0.weakShared({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
            { $0.objectGraph({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
            { $0.main.shared({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
            { $0.main.weakShared({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
            { $0.main.objectGraph({ Disk() }, file: $1.file, line: $1.line, column: $1.column) },
        ]
        let places: [Place] = [("One", 1, 1), ("Other", 1, 1), ("One", 2, 1), ("One", 1, 2)]

        for (index, disk) in kinds.enumerated() {
            let scope = Scope()
            let disks = Scope().objectGraph { (places + places).map { disk(scope, $0) } }

            #expect(Set(disks.map { ObjectIdentifier($0) }).count == 4, "\(index)")
            #expect(disks[..<4].elementsEqual(disks[4...], by: ===), "\(index)")
        }
    }
}

private final class Hoop: @unchecked Sendable { var other: Link? }
private final class Link: @unchecked Sendable { init(_ ring: Hoop) {} }
private final class Refusal: Error {}
private protocol Part {}
private struct Real: Part {}
private struct Mock: Part {}
private final class Whole { var part: (any Part)? }
private final class Maker {
    let whole: Whole
    init() { whole = Dependencies { Module { Mock() as any Part } }.override { Resolver.resolve() } }
}
private final class Ledger { var pages = 0 }

struct BoundaryTests {
    @Test func `what a main actor's module keeps is not handed out elsewhere`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            Dependencies { Module.main(.shared) { Ledger() } }.build()
            (Resolver.resolve() as Ledger).pages = 1

            onThreads(1) { _ in _ = Resolver.resolve() as Ledger }
        }

        #expect(result?.text.contains("is made by Module.main, and asked for off the main actor") == true)
    }

    @Test func `what configures an instance asks the container that made it`() {
        let maker: Maker = Dependencies {
            Module { Real() as any Part }
            Module(.objectGraph) {
                Whole()
            } configure: { (whole: Whole, part: any Part) in
                whole.part = part
            }
            Module { Maker() }
        }.override { Resolver.resolve() }

        #expect(maker.whole.part is Mock)
    }

    @Test func `unshared modules that configure each other stop, at once where they say so`() async {
        let declared = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module {
                    Hoop()
                } configure: { (ring: Hoop, link: Link) in
                    ring.other = link
                }
                Module { (ring: Hoop) in Link(ring) }
            }.build()
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone(within: 20)
            Dependencies {
                Module {
                    Hoop()
                } configure: { ring in
                    ring.other = Resolver.resolve() as Link
                }
                Module { (ring: Hoop) in Link(ring) }
            }.build()
            _ = Resolver.resolve() as Hoop
        }

        #expect(declared?.text.contains("Dependency cycle: Hoop ") == true)
        #expect(result?.text.contains("100 things are made") == true)
    }

    @Test func `a weakly shared class behind any Error is one`() {
        Dependencies { Module(.weakShared) { Refusal() as any Error } }.override {
            let (one, other): (any Error, any Error) = (Resolver.resolve(), Resolver.resolve())

            #expect(one as? Refusal === other as? Refusal)
        }
    }
}

/// What asks in its `deinit`, wherever the last to hold it lets go.
struct DyingTests {
    final class Leaf: @unchecked Sendable { var isConfigured = false }
    final class Node: @unchecked Sendable {
        static let asked = Protected<[Bool]>([])

        deinit {
            let leaf: Leaf = Resolver.resolve()
            let _: Twig = Resolver.resolve()
            Self.asked.withLock { $0.append(leaf.isConfigured) }
        }
    }
    final class Twig: Sendable {}
    final class Root: Sendable {}

    @Test func `what goes with its request may ask when it dies`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            Dependencies {
                Module { () -> Root in
                    let _: Node = Resolver.resolve()
                    return Root()
                }
                Module(.objectGraph) { Node() }
                Module(.objectGraph) { Twig() }
                Module {
                    Leaf()
                } configure: {
                    $0.isConfigured = true
                }
            }.build()

            let _: Root = Resolver.resolve()

            #expect(Node.asked.value == [true])
        }
    }

    @Test func `what a request that throws drops may ask when it dies`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            Dependencies {
                Module(.objectGraph) { Twig() }
                Module {
                    Leaf()
                } configure: {
                    $0.isConfigured = true
                }
            }.build()
            let scope = Scope()

            _ = try? scope.shared {
                _ = scope.objectGraph {
                    Node()
                } configure: { _ in
                }
                throw CancellationError()
            }

            #expect(Node.asked.value == [true])
        }
    }

    /// Makes something when it dies.
    final class Asking: Sendable {
        deinit { _ = Scope().shared { 1 } }
    }

    @Test func `what dies while a thread waits behind a waiting one may ask`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let spins = Protected(0)
            for round in 0..<100 {
                let (outer, inner) = (Scope(), Scope())
                let (making, first, second, made) = (Barrier(2), Barrier(2), Barrier(2), Barrier(2))
                let asking = { @Sendable (make: () -> Asking) in _ = inner.shared(make) }
                let last = { @Sendable (make: () -> Int) in _ = outer.shared(make) }
                onThreads(3) { thread in
                    switch thread {
                    case 0:
                        asking {
                            making.wait()
                            second.wait()
                            // The others come to wait, now and then. On a busy processor each yield takes long.
                            for _ in 0..<round * 20 { _ = spins.value }
                            for _ in 0..<2 { sched_yield() }
                            return Asking()
                        }
                        made.wait()
                    case 1:
                        making.wait()
                        last {
                            first.wait()
                            asking { Asking() }
                            made.wait()
                            inner.reset()
                            return 1
                        }
                    default:
                        first.wait()
                        second.wait()
                        last { 1 }
                    }
                }
            }
        }
    }
}
