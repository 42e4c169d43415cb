import Dowel
import Foundation
import Testing

/// Each needs the next, so that every path can be told by their names.
enum Ring {
    final class A: Sendable {}
    final class B: Sendable {}
    final class C: Sendable {}

    /// The three are made of one another; `meet` runs first in each factory.
    static func modules(meet: @escaping @Sendable () -> Void = {}) -> Dependencies {
        Dependencies {
            Module(.shared) { () -> A in
                meet()
                let _: B = Resolver.resolve()
                return A()
            }
            Module(.shared) { () -> B in
                meet()
                let _: C = Resolver.resolve()
                return B()
            }
            Module(.shared) { () -> C in
                meet()
                let _: A = Resolver.resolve()
                return C()
            }
        }
    }
}

/// Two that need each other, kept in a way of one's choice.
enum Twins {
    final class A: Sendable {}
    final class B: Sendable {}

    enum Lifetime: String, CaseIterable, Codable {
        case shared, weakShared, objectGraph, unshared
    }

    static func modules(_ lifetime: Lifetime, meet: @escaping @Sendable () -> Void = {}) -> Dependencies {
        let makeA = { @Sendable () -> A in
            meet()
            let _: B = Resolver.resolve()
            return A()
        }
        let makeB = { @Sendable () -> B in
            meet()
            let _: A = Resolver.resolve()
            return B()
        }
        return Dependencies {
            switch lifetime {
            case .shared:
                Module(.shared, makeA)
                Module(.shared, makeB)
            case .weakShared:
                Module(.weakShared, makeA)
                Module(.weakShared, makeB)
            case .objectGraph:
                Module(.objectGraph, makeA)
                Module(.objectGraph, makeB)
            case .unshared:
                Module(makeA)
                Module(makeB)
            }
        }
    }

    /// The same in a scope.
    struct Scoped: Sendable {
        let lifetime: Lifetime
        var meet: @Sendable () -> Void = {}
        private let scope = Scope()

        init(_ lifetime: Lifetime, meet: @escaping @Sendable () -> Void = {}) {
            (self.lifetime, self.meet) = (lifetime, meet)
        }

        private func make() -> A {
            meet()
            let _: B = component()
            return A()
        }

        private func make() -> B {
            meet()
            let _: A = component()
            return B()
        }

        func component() -> A {
            switch lifetime {
            case .shared: scope.shared { make() }
            case .weakShared: scope.weakShared { make() }
            default: scope.objectGraph { make() }
            }
        }

        func component() -> B {
            switch lifetime {
            case .shared: scope.shared { make() }
            case .weakShared: scope.weakShared { make() }
            default: scope.objectGraph { make() }
            }
        }
    }

    static let path = "Dependency cycle: DowelTests.Twins.A → DowelTests.Twins.B → DowelTests.Twins.A"
    static let pathFromB = "Dependency cycle: DowelTests.Twins.B → DowelTests.Twins.A → DowelTests.Twins.B"
}

/// Has the next one, if any, from its configuration.
private final class Chain { var next: Chain? }

// MARK: - On one thread

struct CycleTests {
    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: [Twins.Lifetime.shared, .weakShared, .objectGraph])
    func `a cycle among modules stops with its path`(lifetime: Twins.Lifetime) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [lifetime] in
            endUnlessDone()
            Twins.modules(lifetime).build()
            let _: Twins.A = Resolver.resolve()
        }

        let text = result?.text ?? ""
        #expect(text.contains(Twins.path), "\(text)")
    }

    @Test(arguments: [Twins.Lifetime.shared, .weakShared, .objectGraph])
    func `a cycle in a scope stops with its path`(lifetime: Twins.Lifetime) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [lifetime] in
            endUnlessDone()
            let _: Twins.A = Twins.Scoped(lifetime).component()
        }

        let text = result?.text ?? ""
        #expect(text.contains(Twins.path), "\(text)")
    }
    #endif

    @Test func `a cycle in a scope on the main actor stops with its path`() async {
        @MainActor struct Scoped {
            private let scope = Scope()
            func component() -> Twins.A {
                scope.main.shared {
                    let _: Twins.B = component()
                    return Twins.A()
                }
            }
            func component() -> Twins.B {
                scope.main.weakShared {
                    let _: Twins.A = component()
                    return Twins.B()
                }
            }
        }

        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            endUnlessDone()
            let _: Twins.A = Scoped().component()
        }

        let text = result?.text ?? ""
        #expect(text.contains(Twins.path), "\(text)")
    }

    @Test func `a cycle that a first read enters stops with its path`() async {
        final class A: Sendable {
            let b = Inject<B>()
            init() { _ = b() }
        }
        final class B: Sendable {
            let a = Inject<A>()
            init() { _ = a() }
        }

        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies {
                Module(.shared) { A() }
                Module(.shared) { B() }
            }.build()
            _ = Inject<B>().wrappedValue
        }

        let text = result?.text ?? ""
        #expect(text.contains("Dependency cycle: "), "\(text)")
    }

    @Test func `the path begins where the cycle does, not where it was entered`() async {
        struct Door: Sendable {}

        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            let ring = Ring.modules()
            Dependencies {
                ring
                Module { (_: Ring.B) in Door() }
            }.build()
            let _: Door = Resolver.resolve()
        }

        let text = result?.text ?? ""
        let path = "DowelTests.Ring.B → DowelTests.Ring.C → DowelTests.Ring.A → DowelTests.Ring.B"
        #expect(text.contains("Dependency cycle: " + path), "\(text)")
    }

    @Test func `a cycle through one kept module shows the unshared ones on its way`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            Dependencies {
                Module(.shared) { () -> Ring.A in
                    let _: Ring.B = Resolver.resolve()
                    return Ring.A()
                }
                Module { () -> Ring.B in
                    let _: Ring.A = Resolver.resolve("other")
                    return Ring.B()
                }
                Module("other") { () -> Ring.A in Resolver.resolve() }
            }.build()
            let _: Ring.B = Resolver.resolve()
        }

        let text = result?.text ?? ""
        let path = "DowelTests.Ring.A → DowelTests.Ring.B → DowelTests.Ring.A \"other\" → DowelTests.Ring.A"
        #expect(text.contains("Dependency cycle: " + path), "\(text)")
    }

    @Test func `a cycle through a module and a scope stops with its path`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            endUnlessDone()
            let scope = Scope()
            @Sendable func component() -> Twins.B {
                scope.shared {
                    let _: Twins.A = Resolver.resolve()
                    return Twins.B()
                }
            }
            Dependencies {
                Module(.shared) { () -> Twins.A in
                    let _: Twins.B = component()
                    return Twins.A()
                }
            }.build()
            let _: Twins.B = component()
        }

        let text = result?.text ?? ""
        #expect(text.contains(Twins.pathFromB), "\(text)")
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(arguments: [nil, 512 * 1_024])
    func `a cycle through unshared modules stops at 100 levels with the part that repeats`(stackSize: Int?) async {
        // A background thread of Apple's systems has half a megabyte of stack.
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [stackSize] in
            endUnlessDone()
            Twins.modules(.unshared).build()
            onThreads(1, stackSize: stackSize) { _ in let _: Twins.A = Resolver.resolve() }
        }

        let text = result?.text ?? ""
        #expect(text.contains("100 things are made, each for the one before"), "\(text)")
        let (a, b) = ("DowelTests.Twins.A", "DowelTests.Twins.B")
        #expect(["\(a) → \(b) → \(a)\n", "\(b) → \(a) → \(b)\n"].contains { text.contains(": \($0)") }, "\(text)")
    }
    #endif

    @Test func `a long chain that ends does not stop`() {
        let dependencies = Dependencies {
            for level in 0..<90 {
                Module("\(level)") { level == 0 ? 0 : Resolver.resolve("\(level - 1)") + 1 }
            }
        }

        let depth: Int = dependencies.override { Resolver.resolve("89") }

        #expect(depth == 89)
    }

    @Test func `a graph of 100 levels is configured`() {
        let dependencies = Dependencies {
            for level in 0..<100 {
                Module("\(level)", .objectGraph) {
                    level == 0 ? 0 : Resolver.resolve("\(level - 1)") + 1
                } configure: { (_: Int) in
                }
            }
        }

        let depth: Int = dependencies.override { Resolver.resolve("99") }

        #expect(depth == 99)
    }

    @Test func `a list of 90 that are configured with the next one does not stop`() {
        let dependencies = Dependencies {
            for level in 0..<90 {
                Module("\(level)") {
                    Chain()
                } configure: { (chain: Chain) in
                    if level < 89 { chain.next = Resolver.resolve("\(level + 1)") }
                }
            }
        }

        let first: Chain = dependencies.override { Resolver.resolve("0") }

        #expect(sequence(first: first, next: \.next).reduce(0) { count, _ in count + 1 } == 90)
    }
}

// MARK: - On several threads

/// Glibc and Darwin have it, but the latter does not show it to Swift.
@_silgen_name("fork") private func forkProcess() -> pid_t

struct CycleAcrossThreadsTests {
    /// Runs `body` in a copy of this process for each try, and expects every copy to stop with a cycle's path.
    private static func expectStops(_ tries: Int, paths: [String], _ body: (_ attempt: Int) -> Void) {
        var core = rlimit(rlim_cur: 0, rlim_max: 0)
        #if os(Linux)
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &core)
        #else
        setrlimit(RLIMIT_CORE, &core)
        #endif
        var failures: [String] = []
        for attempt in 0..<tries where failures.count < 3 {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return failures.append("no pipe") }
            let child = forkProcess()
            if child == 0 {
                endUnlessDone(within: 20)
                dup2(ends[1], STDERR_FILENO)
                // Where Swift is told to print backtraces, each takes a tenth of a second.
                for crash in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS] { signal(crash, SIG_DFL) }
                body(attempt)
                _exit(0)
            }
            close(ends[1])
            let text = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readDataToEndOfFile()
            var status: Int32 = 0
            while waitpid(child, &status, 0) == -1, errno == EINTR {}
            let (signal, said) = (status & 0x7f, String(decoding: text, as: UTF8.self))
            if signal == 0 || signal == SIGALRM || !paths.contains(where: said.contains) {
                failures.append("try \(attempt) ended by signal \(signal): \(said)")
            }
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Test(.disabled(if: isThreadSanitized), arguments: [Twins.Lifetime.shared, .weakShared])
    func `a cycle of modules entered from two sides at once always stops`(lifetime: Twins.Lifetime) async {
        await #expect(processExitsWith: .success) { [lifetime] in
            // In every other try each factory waits until the other has begun: then each thread has one of the two.
            let (meeting, meets) = (Barrier(2), Protected(false))
            Twins.modules(lifetime) { if meets.value { meeting.wait() } }.build()

            Self.expectStops(lifetime == .shared ? 1_000 : 100, paths: [Twins.path, Twins.pathFromB]) { attempt in
                meets.withLock { $0 = attempt.isMultiple(of: 2) }
                onThreads(2) { thread in
                    if thread == 0 { let _: Twins.A = Resolver.resolve() } else { let _: Twins.B = Resolver.resolve() }
                }
            }
        }
    }

    @Test(.disabled(if: isThreadSanitized), arguments: [Twins.Lifetime.shared, .weakShared])
    func `a cycle in a scope entered from two sides at once always stops`(lifetime: Twins.Lifetime) async {
        await #expect(processExitsWith: .success) { [lifetime] in
            let (meeting, meets) = (Barrier(2), Protected(false))
            let pair = Twins.Scoped(lifetime) { if meets.value { meeting.wait() } }

            Self.expectStops(lifetime == .shared ? 1_000 : 100, paths: [Twins.path, Twins.pathFromB]) { attempt in
                meets.withLock { $0 = attempt.isMultiple(of: 2) }
                onThreads(2) { thread in
                    if thread == 0 { let _: Twins.A = pair.component() } else { let _: Twins.B = pair.component() }
                }
            }
        }
    }
    #endif

    @Test(.disabled(if: isThreadSanitized))
    func `a cycle in object graphs entered from two sides at once always stops`() async {
        await #expect(processExitsWith: .success) {
            Twins.modules(.objectGraph).build()

            Self.expectStops(100, paths: [Twins.path, Twins.pathFromB]) { _ in
                onThreads(2) { thread in
                    if thread == 0 { let _: Twins.A = Resolver.resolve() } else { let _: Twins.B = Resolver.resolve() }
                }
            }
        }
    }

    @Test(.disabled(if: isThreadSanitized))
    func `a cycle of three entered from three sides at once always stops`() async {
        await #expect(processExitsWith: .success) {
            let (meeting, meets) = (Barrier(3), Protected(false))
            Ring.modules { if meets.value { meeting.wait() } }.build()
            let names = ["A", "B", "C"].map { "DowelTests.Ring." + $0 }
            let paths = (0..<3).map { start in
                "Dependency cycle: " + (start...start + 3).map { names[$0 % 3] }.joined(separator: " → ")
            }

            Self.expectStops(200, paths: paths) { attempt in
                meets.withLock { $0 = attempt.isMultiple(of: 2) }
                onThreads(3) { thread in
                    switch thread {
                    case 0: let _: Ring.A = Resolver.resolve()
                    case 1: let _: Ring.B = Resolver.resolve()
                    default: let _: Ring.C = Resolver.resolve()
                    }
                }
            }
        }
    }

    @Test(.disabled(if: isThreadSanitized))
    func `a thread that only waits at a cycle of two others leaves it to stop`() async {
        await #expect(processExitsWith: .success) {
            let meeting = Barrier(2)
            Twins.modules(.shared) { meeting.wait() }.build()

            Self.expectStops(100, paths: [Twins.path, Twins.pathFromB]) { _ in
                onThreads(6) { thread in
                    switch thread {
                    case 0: let _: Twins.A = Resolver.resolve()
                    case 1: let _: Twins.B = Resolver.resolve()
                    default:
                        // These ask too, but hold nothing that anyone waits for.
                        let _: Twins.A = Scope().shared { Resolver.resolve() }
                    }
                }
            }
        }
    }
}

// MARK: - No cycle

struct NoCycleTests {
    private final class Busy: Sendable {}

    /// A generator of one's own, so that every run has the same graphs.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 33)
        }
    }

    private final class Node: Sendable {
        let number: Int
        let parts: [Node]
        init(_ number: Int, _ parts: [Node]) { (self.number, self.parts) = (number, parts) }
    }

    @Test func `a thread that a factory starts may ask for what is being made`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            for _ in 0..<200 {
                let (asking, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let seen = Protected<Busy?>(nil)
                Dependencies {
                    Module(.shared) { () -> Busy in
                        Thread {
                            asking.signal()
                            let busy: Busy = Resolver.resolve()
                            seen.withLock { $0 = busy }
                            ended.signal()
                        }.start()
                        asking.wait()
                        for _ in 0..<3 { sched_yield() }
                        return Busy()
                    }
                }.build()

                let busy: Busy = Resolver.resolve()
                onThreads(1) { _ in ended.wait() }

                #expect(seen.value === busy)
            }
        }
    }

    @Test func `a task that a factory starts may ask for what is being made`() async {
        final class Parent: Sendable {
            let child: Task<Parent, Never>
            init() { child = Task { Resolver.resolve() } }
        }

        await #expect(processExitsWith: .success) {
            endUnlessDone()
            for _ in 0..<200 {
                Dependencies {
                    Module(.shared) { () -> Parent in
                        let parent = Parent()
                        for _ in 0..<3 { sched_yield() }
                        return parent
                    }
                }.build()

                let parent: Parent = Resolver.resolve()
                let seen = await parent.child.value

                #expect(seen === parent)
            }
        }
    }

    @Test func `siblings of a task group ask for one module together`() async {
        for _ in 0..<100 {
            let made = Protected(0)
            let dependencies = Dependencies {
                Module(.shared) { (_: Busy) -> Node in
                    made.withLock { $0 += 1 }
                    sched_yield()
                    return Node(0, [])
                }
                Module(.shared) { Busy() }
            }

            let nodes = await dependencies.override {
                await withTaskGroup(of: Node.self) { group in
                    for _ in 0..<20 { group.addTask { Resolver.resolve() } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }

            #expect(nodes.count == 20 && nodes.allSatisfy { $0 === nodes[0] })
            #expect(made.value == 1)
        }
    }

    @Test func `acyclic graphs resolved by eight threads at once never stop`() async {
        await #expect(processExitsWith: .success) {
            endUnlessDone()
            let (threads, nodes, graphs) = (8, 24, isThreadSanitized ? 50 : 500)
            let names = (0..<nodes).map { "\($0)" }
            let barrier = Barrier(threads)
            let (first, strangers) = (Protected<[Int: Node]>([:]), Protected(0))
            @Sendable func build(_ graph: Int) -> [Int] {
                var dice = Dice(state: UInt64(graph))
                let order = Array(0..<nodes).shuffled(using: &dice)
                var shared: [Int] = []
                Dependencies {
                    for place in 0..<nodes {
                        let number = order[place]
                        let parts = order[..<place].shuffled(using: &dice).prefix(Int.random(in: 0...4, using: &dice))
                        let make = { @Sendable () -> Node in
                            if number.isMultiple(of: 5) { sched_yield() }
                            return Node(number, parts.map { Resolver.resolve(names[$0]) })
                        }
                        switch Int.random(in: 0..<10, using: &dice) {
                        case 0: Module(names[number], .unshared, make)
                        case 1: Module(names[number], .objectGraph, make)
                        case 2: Module(names[number], .weakShared, make)
                        default:
                            let _: Void = shared.append(number)
                            Module(names[number], .shared, make)
                        }
                    }
                }.build()
                return shared
            }

            let sharedNow = Protected<Set<Int>>([])
            onThreads(threads) { thread in
                for graph in 0..<graphs {
                    if thread == 0 {
                        let shared = Set(build(graph))
                        sharedNow.withLock { $0 = shared }
                        first.withLock { $0 = [:] }
                    }
                    barrier.wait()
                    let shared = sharedNow.value
                    var dice = Dice(state: UInt64(graph * threads + thread))
                    var pending = Array(0..<nodes).shuffled(using: &dice).map { Resolver.resolve(names[$0]) as Node }
                    var visited: Set<ObjectIdentifier> = []
                    while let node = pending.popLast() {
                        guard visited.insert(ObjectIdentifier(node)).inserted else { continue }
                        pending += node.parts
                        guard shared.contains(node.number) else { continue }
                        let known = first.withLock { first in
                            first[node.number] = first[node.number] ?? node
                            return first[node.number]
                        }
                        if known !== node { strangers.withLock { $0 += 1 } }
                    }
                    barrier.wait()
                }
            }

            #expect(strangers.value == 0)
        }
    }
}
