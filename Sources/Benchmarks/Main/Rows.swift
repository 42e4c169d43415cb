#if canImport(Glibc) || os(macOS)
import BenchmarkServices
import Dowel

/// One thing that is measured.
struct Row {
    enum Unit: String, Codable { case nanoseconds = "ns", seconds = "s", bytes, instructions }
    enum Setting: String, CaseIterable { case few, many, none }
    enum Work {
        case times((Int) -> Void)  // Does it so many times.
        case onThreads(Int, () -> (Int) -> Void)  // The same on each of some threads, with things of its own.
        case figure(() -> Double)  // Measures by itself, in a process of its own.
    }

    let name: String
    var unit = Unit.nanoseconds
    /// What its process has built before: few modules, a thousand, or none.
    var setting = Setting.few
    /// How often it is done between two looks at the clock.
    var batch = 10_000
    /// Of how many parts it consists; the figure is that of one.
    var size = 1
    /// Whether one round is enough, as it gives the same each time.
    var isConstant = false
    let work: Work

    /// The same under valgrind, which is fifty times slower.
    var countedBatch: Int { min(batch, 1_000) }

    /// Whether its instructions can be counted: those of a thread that waits for another differ from run to run.
    var isRepeatable: Bool { if case .times = work { true } else { false } }

    /// Whether it has a process to itself: what came before could hide what it looks for.
    var isAlone: Bool { if case .figure = work { true } else { false } }
}

/// What a row may cost, in that of another one or by itself.
struct Bar {
    let row: String
    var against: String?
    var atLeast = false
    var must: Double?
    var aim: Double
}

let allBars = [
    Bar(row: "hot read of @Inject", against: "hot read of a lazy var", must: 1.0, aim: 1.0),
    Bar(row: "hot read of @Inject", against: "hot read of a var", aim: 1.2),
    Bar(row: "new object and first read, unshared", against: "the same by hand, unshared", must: 2.2, aim: 1.8),
    Bar(row: "new object and first read, shared", against: "the same by hand, shared", must: 3.8, aim: 2.9),
    Bar(row: "resolve unshared", against: "make by hand", must: 1.7, aim: 1.3),
    Bar(row: "resolve unshared, 1,000 modules", against: "resolve unshared", must: 1.05, aim: 1.05),
    Bar(row: "resolve shared", against: "hot read of a var", must: 3, aim: 1.5),
    Bar(row: "resolve a chain of 5", against: "make a chain of 5 by hand", must: 1.5, aim: 1.25),
    Bar(row: "resolve a root with 10", against: "make a root with 10 by hand", must: 1.5, aim: 1.25),
    Bar(row: "a chain of 5 by component()", against: "make a chain of 5 by hand", must: 1.05, aim: 1.05),
    Bar(row: "Scope.shared", against: "hot read of a var", must: 4.6, aim: 4.6),
    Bar(row: "read on 1 thread", against: "read on 2 threads", atLeast: true, must: 1.9, aim: 1.9),
    Bar(row: "resolve on 1 thread", against: "resolve on 2 threads", atLeast: true, must: 1.5, aim: 1.9),
    Bar(row: "make by hand on 1 thread", against: "make by hand on 2 threads", atLeast: true, aim: 1.9),
    Bar(row: "build a module of 1,000", must: 400, aim: 400),
    Bar(row: "build a module of 10,000", must: 400, aim: 400),
    Bar(row: "validate a module of 10,000 with 5 needs", must: 10_000, aim: 10_000),
    Bar(row: "heap of an @Inject, unread", must: 96, aim: 80),
    Bar(row: "heap of an @Inject, read", must: 96, aim: 80),
    Bar(row: "memory kept by a build", must: 30, aim: 30),
    Bar(row: "stripped app over the same by hand", must: 60_000, aim: 40_000),
    Bar(row: "stripped app, each `public` deleted", must: 60_000, aim: 40_000),
    Bar(row: "release build of the library", must: 2, aim: 2),
    Bar(row: "100 modules and one resolve", must: 2_500_000, aim: 1_500_000),
]

/// In the order in which a round takes them: those that build come last, as a process that builds once is faster.
func allRows() -> [Row] {
    let reader = opaque(Reader()), kept: any SharedService = Worker(), module = ChainModule()
    lazy var types = distinctTypes(1_000)
    return [
        Row(name: "hot read of a var", work: .times { for _ in 0..<$0 { use(reader.stored) } }),
        Row(name: "hot read of a lazy var", work: .times { for _ in 0..<$0 { use(reader.late) } }),
        Row(name: "hot read of @Inject", work: .times { for _ in 0..<$0 { use(reader.injected) } }),
        Row(
            name: "the same by hand, unshared",
            work: .times { for _ in 0..<$0 { use(makeOwnerByHand().service) } }),
        Row(name: "new object and first read, unshared", work: .times { for _ in 0..<$0 { use(makeOwner().service) } }),
        Row(name: "the same by hand, shared", work: .times { for _ in 0..<$0 { use(makeOwnerByHand(kept).service) } }),
        Row(
            name: "new object and first read, shared",
            work: .times { for _ in 0..<$0 { use(makeSharedOwner().service) } }),
        Row(name: "make by hand", work: .times { for _ in 0..<$0 { use(makeWorker()) } }),
        Row(name: "resolve unshared", work: .times { for _ in 0..<$0 { use(Resolver.resolve() as any Service) } }),
        Row(
            name: "resolve unshared, 1,000 modules", setting: .many,
            work: .times { for _ in 0..<$0 { use(Resolver.resolve() as any Service) } }),
        Row(name: "resolve shared", work: .times { for _ in 0..<$0 { use(Resolver.resolve() as any SharedService) } }),
        Row(name: "make a chain of 5 by hand", work: .times { for _ in 0..<$0 { use(makeChain()) } }),
        Row(
            name: "a chain of 5 by component()",
            work: .times { for _ in 0..<$0 { use(module.component() as any Fifth) } }),
        Row(name: "resolve a chain of 5", work: .times { for _ in 0..<$0 { use(Resolver.resolve() as any Fifth) } }),
        Row(name: "make a root with 10 by hand", work: .times { for _ in 0..<$0 { use(makeRoot()) } }),
        Row(name: "resolve a root with 10", work: .times { for _ in 0..<$0 { use(Resolver.resolve() as any Whole) } }),
        Row(name: "Scope.shared", work: .times { for _ in 0..<$0 { use(module.component() as any SharedService) } }),
    ]
        + [1, 2].flatMap { count in
            let threads = count == 1 ? "1 thread" : "\(count) threads"
            return [
                Row(
                    name: "make by hand on \(threads)",
                    work: .onThreads(count) { { for _ in 0..<$0 { use(makeWorker()) } } }),
                Row(
                    name: "read on \(threads)",
                    work: .onThreads(count) {
                        let reader = opaque(Reader())
                        return { for _ in 0..<$0 { use(reader.injected) } }
                    }),
                Row(
                    name: "resolve on \(threads)",
                    work: .onThreads(count) { { for _ in 0..<$0 { use(Resolver.resolve() as any Service) } } }),
            ]
        } + [
            Row(name: "heap of an @Inject, unread", unit: .bytes, work: .figure { heapOfInject(read: false) }),
            Row(name: "heap of an @Inject, read", unit: .bytes, work: .figure { heapOfInject(read: true) }),
            Row(name: "memory kept by a build", unit: .bytes, setting: .none, work: .figure(memoryOfBuild)),
            buildRow("build a module of 1,000", 1_000) { many(1_000) },
            buildRow("build a module of 10,000", 10_000) { many(10_000) },
            buildRow("build a module of 1,000 in generic code", 1_000) { Dependencies { types.map { $0.module } } },
            validationRow("validate a module of 10,000 with 5 needs", 10_000),
            Row(
                name: "stripped app over the same by hand", unit: .bytes, setting: .none, isConstant: true,
                work: .figure { bytesOfApp(isPublic: true) }),
            Row(
                name: "100 modules and one resolve", unit: .instructions, setting: .none, batch: 1,
                work: .times { count in
                    let types = distinctTypes(100)
                    for type in types { _ = type.makeByHand() }  // The first of a type costs by hand too.
                    for _ in 0..<count {
                        Dependencies { types.map { $0.module } }.build()
                        _ = Resolver.resolve() as Seed
                    }
                }),
        ]
        + [
            isCopied
                ? Row(
                    name: "stripped app, each `public` deleted", unit: .bytes, setting: .none, isConstant: true,
                    work: .figure { bytesOfApp(isPublic: false) })
                : Row(
                    name: "release build of the library", unit: .seconds, setting: .none,
                    work: .figure(secondsToBuildLibrary))
        ]
}

/// What it costs to collect, validate and build, for each module.
private func buildRow(_ name: String, _ count: Int, _ dependencies: @escaping () -> Dependencies) -> Row {
    Row(name: name, batch: 1, size: count, work: .times { for _ in 0..<$0 { dependencies().build() } })
}

/// What validation alone costs: 100 ms for 10,000 modules are 10,000 ns for each.
private func validationRow(_ name: String, _ count: Int) -> Row {
    lazy var dependencies = Dependencies { distinctTypes(count).map { $0.needy } }
    return Row(
        name: name, batch: 1, size: count,
        work: .times { for _ in 0..<$0 { try! dependencies.validate() } })
}

/// What each `Inject` of a shared service takes of the memory; its owner has a reference to that. The allocator takes
/// multiples of 16 bytes, its own included.
private func heapOfInject(read: Bool) -> Double {
    var all = [Inject<any SharedService>](repeating: Inject(), count: 200_000)
    let growth = growthOfMemory {
        for index in all.indices {
            all[index] = Inject()
            if read { use(all[index]()) }
        }
    }
    // Of each block 8 bytes are the allocator's own; when read there are two blocks.
    return (growth / Double(all.count) / 16).rounded() * 16 - (read ? 16 : 8)
}

/// How far the memory of the process grows, for each of many builds that follow many.
private func memoryOfBuild() -> Double {
    let dependencies = ordinary(), count = 10_000
    for _ in 0..<count { dependencies.build() }
    return growthOfMemory { for _ in 0..<count { dependencies.build() } } / Double(count)
}
#endif
