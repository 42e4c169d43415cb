import Dowel
import Foundation

/// Runs a program, on as many threads as it has, and beside the model where that can follow.
final class Runner: @unchecked Sendable {
    /// Whether nothing was built in this process before.
    nonisolated(unsafe) private static var isFirst = true

    private let world: World
    private let baton: Baton
    private var program: Program { world.program }
    private var matches: [Int: Int] = [:], reverse: [Int: Int] = [:]

    /// What differed, if anything, and what was done. On the main thread, which is the program's first.
    static func run(_ program: Program, _ sabotage: Sabotage? = nil) -> (failure: String?, report: Report) {
        let runner = Runner(program, sabotage)
        runner.run()
        return (runner.world.failure, runner.world.report)
    }

    private init(_ program: Program, _ sabotage: Sabotage?) {
        world = World(program, sabotage)
        baton = Baton(program.threads.count, isFree: !program.isSerial, SplitMix64(program.seed))
    }

    private func run() {
        let isFirst = Runner.isFirst
        Runner.isFirst = false
        let main = context(0)
        main.here {
            build(0, main, isFirst: isFirst)
            run(program.prelude, main)
            let group = DispatchGroup()
            for index in program.threads.indices.dropFirst() {
                group.enter()
                let thread = Thread { [self] in
                    let context = context(index)
                    context.here { run(context) }
                    group.leave()
                }
                thread.stackSize = 4 << 20
                thread.start()
            }
            run(main)
            group.wait()
            for cell in 0..<Program.cells { world.put(nil, into: cell) }
            world.letGoOfScopes()
            world.model?.letGo(in: main.model!)
            compare("after all was let go")
            Dependencies {}.build()
            world.model?.build([], in: main.model!)
            compare("after another build")
        }
        let alive = world.alive.filter { !isFirst || $0.key.recipe > 0 }
        if !alive.isEmpty {
            world.fail("after the end there live \(alive.count) kinds of instance: \(describe(alive))")
        }
    }

    private func context(_ index: Int) -> Context {
        Context(index, world.model.map { _ in ModelContext(bound: nil) })
    }

    private func run(_ context: Context) {
        baton.begin(context.index)
        run(program.threads[context.index], context)
        baton.end(context.index)
    }

    private func run(_ steps: [Step], _ context: Context) {
        for step in steps where !world.hasFailed {
            world.countOperation()
            perform(step, context)
            compare("after \(step)")
            if !context.isTask { baton.pass(context.index) }
        }
    }

    private func build(_ set: Int, _ context: Context, isFirst: Bool = false) {
        world.build(set)
        world.model?.build(program.builds[set], in: context.model!, isFirst: isFirst)
    }

    private func perform(_ step: Step, _ context: Context) {
        switch step {
        case .build(let set): build(set, context)
        // What waits may not do so on a thread of the pool.
        case .override(let set, let steps, let isAsync): override(set, steps, isAsync && !context.isTask, context)
        case .task(let steps) where context.isTask: run(steps, context)
        case .task(let steps):
            let inner = inner(context)
            wait { inner.here { self.run(steps, inner) } }
        default:
            performPlain(step, context)
            world.model?.perform(step, in: context.model!, isMain: context.isMain)
        }
    }

    private func inner(_ context: Context) -> Context {
        Context(
            context.index, context.model.map { ModelContext(bound: $0.bound) }, levels: context.levels, isTask: true)
    }

    /// Runs `body` in a task that this thread, which is none of the pool's, waits for.
    private func wait(for body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await body()
            done.signal()
        }
        done.wait()
    }

    private func override(_ set: Int, _ steps: [Step], _ isAsync: Bool, _ context: Context) {
        let mark = world.newMark()
        let dependencies = world.dependencies(program.overrides[set], mark: mark, isBase: false)
        let inner = isAsync ? inner(context) : context
        let outer = Unchecked(value: inner.model?.bound)
        let body: @Sendable () -> Void = { [self, world] in
            world.began(set, mark, in: inner.levels.last)
            world.model?.begin(set, in: inner.model!)
            inner.levels.append(mark)
            run(steps, inner)
            inner.levels.removeLast()
            world.closes(mark)
        }
        if isAsync {
            wait { [world] in
                await dependencies.override {
                    await Task.yield()
                    inner.here(body)
                }
                // No context: nobody's deinit asks here.
                inner.model?.isInFarewell = true
                world.model?.end(outer.value, in: inner.model!)
            }
        } else {
            try? dependencies.override {
                body()
                if set % 2 == 1 { throw Failure() }
            }
            world.model?.end(outer.value, in: inner.model!)
        }
    }

    private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

    private func performPlain(_ step: Step, _ context: Context) {
        func may(_ node: Int) -> Bool { program.lives(node) && (context.isMain || !program.nodes[node].isMainOnly) }
        switch step {
        case .ask(let node, let isOptional, let keep):
            guard may(node) else { break }
            let stand = world.stand(context)
            let core = context.asking(world) { world.ask(node, isOptional) }
            world.look(at: core, node, from: stand, context)
            world.log(.got(core?.seen))
            if let keep { world.put(core.map { .core($0) }, into: keep) }
        case .inject(let node, let isOptional, let isRead, let keep):
            guard may(node) else { break }
            let site = world.site(node, isOptional)
            site.level = context.levels.last
            if isRead {
                let core = world.read(site, context)
                world.log(.got(core?.seen))
            }
            if let keep { world.put(.site(site), into: keep) }
        case .read(let cell):
            let sites: [Site] =
                switch world.cell(cell) {
                case .site(let site): [site]
                case .core(let core): core.parts.sites
                case nil: []
                }
            for site in sites where may(site.node) {
                let core = world.read(site, context)
                world.log(.got(core?.seen))
            }
        case .drop(let cell): world.put(nil, into: cell)
        case .component(let node, let cell, let id, let fails, let keep):
            guard may(node), let scope = scope(cell, for: node) else { break }
            let core = world.component(node, of: scope, id, fails, context)
            if let keep { world.put(core.map { .core($0) }, into: keep) }
        case .reset(let cell):
            guard let scope = scope(cell, for: -1) else { break }
            world.reset(scope)
        case .register(let node): if may(node) { world.register(node, context) }
        default: break
        }
    }

    private func scope(_ cell: Int, for node: Int) -> ScopeBox? {
        if cell < 0 { return world.scopes[-cell - 1] }
        guard case .core(let core) = world.cell(cell), node < core.parts.node else { return nil }
        return core.parts.scope
    }

    // MARK: - The model

    /// Holds what happened to what the model says. Instances have other numbers there, but each always the same.
    private func compare(_ when: @autoclosure () -> String) {
        guard let model = world.model, !world.hasFailed else { return }
        let (real, modelled) = (world.takeEvents(), model.takeEvents())
        for (one, other) in zip(real, modelled) where !match(one, other) {
            world.fail("\(when()): \(one), and the model says \(other)")
        }
        if real.count != modelled.count {
            let (more, who) = real.count > modelled.count ? (real, "Dowel") : (modelled, "the model")
            world.fail("\(when()): only \(who) has \(more[min(real.count, modelled.count)])")
        }
        let alive = world.alive
        if alive != model.lives {
            let wrong = alive.filter { model.lives[$0.key] != $0.value }
            let missing = model.lives.filter { alive[$0.key] != $0.value }
            world.fail("\(when()): there live \(describe(wrong)), and in the model \(describe(missing))")
        }
    }

    private func describe(_ lives: [Origin: Int]) -> String {
        lives.sorted { ($0.key.mark, $0.key.recipe) < ($1.key.mark, $1.key.recipe) }.prefix(5).map {
            let what = $0.key.recipe > 0 ? "recipe \($0.key.recipe)" : "registered \(program.label(-$0.key.recipe))"
            return "\($0.value) of \(what) in container \($0.key.mark)"
        }.joined(separator: ", ")
    }

    private func match(_ one: Event, _ other: Event) -> Bool {
        switch (one, other) {
        case (.made(let one, let needs), .made(let other, let others)),
            (.configured(let one, let needs), .configured(let other, let others)):
            match(one, other) && needs.count == others.count && zip(needs, others).allSatisfy { match($0, $1) }
        case (.got(let one?), .got(let other?)): match(one, other)
        case (.got(nil), .got(nil)), (.threw, .threw): true
        default: false
        }
    }

    private func match(_ one: Seen, _ other: Seen) -> Bool {
        matches[one.id] = matches[one.id] ?? other.id
        reverse[other.id] = reverse[other.id] ?? one.id
        return one.origin == other.origin && matches[one.id] == other.id && reverse[other.id] == one.id
    }
}

/// Lets one thread go on at a time, chosen by a seeded generator; or all of them, once all are there.
private final class Baton: @unchecked Sendable {
    /// Protects all that follows.
    private let condition = NSCondition()
    private let isFree: Bool
    private var alive: [Int]
    private var random: SplitMix64
    private var turn = 0
    private var arrived = 0

    init(_ count: Int, isFree: Bool, _ random: SplitMix64) {
        (alive, self.isFree, self.random) = (Array(0..<count), isFree, random)
    }

    func begin(_ index: Int) {
        condition.lock()
        defer { condition.unlock() }
        arrived += 1
        while !isFree, turn != index { condition.wait() }
        // Whoever is woken up comes too late for a race.
        while isFree, arrived < alive.count {
            condition.unlock()
            sched_yield()
            condition.lock()
        }
    }

    func pass(_ index: Int) {
        if isFree { return }
        condition.lock()
        defer { condition.unlock() }
        if arrived == 0 { return }
        turn = alive[random.below(alive.count)]
        if turn == index { return }
        condition.broadcast()
        while turn != index { condition.wait() }
    }

    func end(_ index: Int) {
        if isFree { return }
        condition.lock()
        defer { condition.unlock() }
        alive.removeAll { $0 == index }
        if !alive.isEmpty { turn = alive[random.below(alive.count)] }
        condition.broadcast()
    }
}
