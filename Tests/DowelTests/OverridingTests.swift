import Dispatch
import Dowel
import Foundation
import Testing

private protocol API: Sendable {
    var number: Int { get }
}

private final class Mock: API {
    let number: Int
    init(_ number: Int) { self.number = number }
}

private protocol Log: AnyObject, Sendable {}
private final class FileLog: Log {}

/// Is shared, and needs the mock.
private final class Service: Sendable {
    let api: any API
    init(api: any API) { self.api = api }
}

private struct Screen: Sendable {
    @Inject var api: any API
    @Inject var service: Service
}

private final class Controller: Sendable {
    let api = Inject<any API>()
    let service = Inject<Service>()
    let named = Inject<any API>("named")
}

/// Runs its actor on a queue that can tell whether it is the one.
private final class QueueExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<Void>()
    private let queue = DispatchQueue(label: "actor")

    init() { queue.setSpecific(key: Self.key, value: ()) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Whether the caller is on such an actor, before it waits and after.
    nonisolated(nonsending) static func isCurrent() async -> [Bool] {
        let before = DispatchQueue.getSpecific(key: key) != nil
        await Task.yield()
        return [before, DispatchQueue.getSpecific(key: key) != nil]
    }
}

/// Begins overrides with blocks in which nothing but their place says that they belong to the actor.
private actor Clerk {
    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func inMethod() async -> [Bool] { await mocks(1).override { await QueueExecutor.isCurrent() } }
    func inFunction() async -> [Bool] { await isCurrent(in: self) }
    func inFunctionOfAnyActor() async -> [Bool] { await isCurrentInAny() }
    func inCallersFunction() async -> [Bool] { await isCurrentInCallers() }
    func onMainActor() async -> [Bool] {
        await mocks(1).override { @MainActor in
            MainActor.assertIsolated()
            return await QueueExecutor.isCurrent()
        }
    }
}

private func isCurrent(in clerk: isolated Clerk) async -> [Bool] {
    await mocks(1).override { await QueueExecutor.isCurrent() }
}

private func isCurrentInAny(isolation: isolated (any Actor)? = #isolation) async -> [Bool] {
    await mocks(1).override { await QueueExecutor.isCurrent() }
}

nonisolated(nonsending) private func isCurrentInCallers() async -> [Bool] {
    await mocks(1).override { await QueueExecutor.isCurrent() }
}

private func mocks(_ number: Int) -> Dependencies {
    Dependencies {
        Module { Mock(number) as any API }
        Module("named") { Mock(-number) as any API }
        Module(.shared) { Service(api: $0) }
    }
}

/// What the program would build: number 0, and a log.
private let real = Dependencies {
    mocks(0)
    Module(.shared) { FileLog() as any Log }
}

/// Runs `body` on a thread of its own.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}

private struct Failure: Error {}
private struct Config: Sendable { let text: String }

@Suite struct OverridingTests {
    // MARK: - What is in force

    @Test func `inside an override its modules are in force, outside they are not`() {
        let inside = mocks(1).override { Resolver.find() as (any API)? }
        let outside = Resolver.find() as (any API)?

        #expect(inside?.number == 1)
        #expect(outside == nil)
    }

    @Test func `an override's result and its error reach the caller`() async throws {
        let value = mocks(1).override { 42 }
        let later = await mocks(1).override {
            await Task.yield()
            return 43
        }

        #expect((value, later) == (42, 43))
        #expect(throws: Failure.self) { try mocks(1).override { throw Failure() } }
        await #expect(throws: Failure.self) {
            try await mocks(1).override {
                await Task.yield()
                throw Failure()
            }
        }
    }

    @Test func `after an override that throws nothing of it is in force`() async {
        try? mocks(1).override { throw Failure() }
        try? await mocks(1).override {
            await Task.yield()
            throw Failure()
        }

        #expect(Resolver.find() as (any API)? == nil)
    }

    @Test func `an inner override beats the outer one, which is in force again afterwards`() async {
        let numbers = await real.override {
            let before = (Resolver.resolve() as any API).number
            let inner = await Dependencies { Module { Mock(2) as any API } }.override {
                await Task.yield()
                return Dependencies { Module { Mock(3) as any API } }.override {
                    (Resolver.resolve() as any API).number
                }
            }
            return [before, inner, (Resolver.resolve() as any API).number]
        }

        #expect(numbers == [0, 3, 0])
    }

    @Test func `an inner override adds to the modules of the outer one`() {
        real.override {
            Dependencies { Module { "added" } }.override {
                #expect(Resolver.resolve() as String == "added")
                #expect((Resolver.resolve() as any API).number == 0)
            }
            #expect(Resolver.find() as String? == nil)
        }
    }

    @Test func `an inner override stands over what two features of the outer one brought along`() {
        Dependencies {
            mocks(1)
            mocks(1)
        }.override {
            Dependencies { Module { Config(text: "inner") } }.override {
                #expect((Resolver.resolve() as API).number == 1)
            }
        }
    }

    @Test func `shared instances are made anew in each override, and once in each`() {
        real.override {
            let outer: any Log = Resolver.resolve()
            let inner = Dependencies { Module { Mock(1) as any API } }.override { Screen() }

            #expect(inner.service.api.number == 1)
            #expect(inner.service === inner.service)
            #expect(Dependencies {}.override { Resolver.resolve() as any Log } !== outer)
            #expect(Resolver.resolve() as any Log === outer)
        }
    }

    @Test func `while an override lasts it keeps what is shared, though nobody else holds it`() async {
        @concurrent func isKept() async -> Bool { isKeptNow() }
        func isKeptNow() -> Bool { Weak(Resolver.resolve() as any Log).object != nil }

        #expect(real.override { isKeptNow() })
        #expect(await real.override { await isKept() })
    }

    @Test func `an Inject created outside any override asks what is built, even inside one`() async {
        await #expect(processExitsWith: .success) {
            real.build()
            let screen = Screen()
            let controller = Controller()

            mocks(1).override {
                #expect(screen.api.number == 0)
                #expect(screen.service.api.number == 0)
                #expect(controller.named().number == 0)
                #expect((Resolver.resolve() as any API).number == 1)
            }
            #expect(screen.api.number == 0)
        }
    }

    @Test func `what a module of the process asks for is the process's, also inside an override`() async {
        await #expect(processExitsWith: .success) {
            real.build()
            let screen = Screen()

            let service = mocks(1).override { screen.service }

            #expect(service.api.number == 0)
            #expect(service === (Resolver.resolve() as Service))
        }
    }

    // MARK: - Tasks, threads, actors

    @Test func `the tasks that an override starts have its modules, a detached one has not`() async {
        await mocks(1).override {
            async let child = (Resolver.resolve() as any API).number
            let task = Task { (Resolver.resolve() as any API).number }
            let detached = Task.detached { Resolver.find() as (any API)? }

            #expect(await child == 1)
            #expect(await task.value == 1)
            #expect(await detached.value == nil)
        }
    }

    @Test func `a task that outlives its override still has its modules`() async {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let task = mocks(1).override {
            Task {
                for await _ in gate { break }
                return (Screen().api.number, (Resolver.resolve() as Service).api.number)
            }
        }

        open.yield()

        #expect(await task.value == (1, 1))
    }

    @MainActor @Test func `an asynchronous override stays on its caller's actor`() async {
        var calls = 0  // Not safe to share: this compiles only where nothing leaves the actor.

        await mocks(1).override {
            MainActor.assertIsolated()
            calls += 1
            await Task.yield()
            MainActor.assertIsolated()
            calls += (Resolver.resolve() as any API).number
        }

        #expect(calls == 2)
    }

    @Test func `an asynchronous override stays on any actor, whatever its block captures`() async {
        let clerk = Clerk()

        #expect(await clerk.inMethod() == [true, true])
        #expect(await clerk.inFunction() == [true, true])
        #expect(await clerk.inFunctionOfAnyActor() == [true, true])
        #expect(await clerk.inCallersFunction() == [true, true])
        #expect(await clerk.onMainActor() == [false, false])
    }

    @MainActor @Test func `what an asynchronous override kept is let go of on its caller's actor`() async {
        final class View {
            private let key: DispatchSpecificKey<Void>, seen: Protected<[Bool]>
            init(_ key: DispatchSpecificKey<Void>, _ seen: Protected<[Bool]>) {
                self.key = key
                self.seen = seen
            }
            deinit { seen.withLock { $0.append(DispatchQueue.getSpecific(key: key) != nil) } }
        }
        let key = DispatchSpecificKey<Void>(), seen = Protected<[Bool]>([])
        DispatchQueue.main.setSpecific(key: key, value: ())

        await Dependencies { Module.main(.shared) { View(key, seen) } }.override {
            await Task.yield()
            _ = Resolver.resolve() as View
        }

        #expect(seen.value == [true])
    }

    @Test func `five hundred overrides at once never see each other's modules`() async {
        let strangers = await withTaskGroup(of: Int.self) { group in
            for number in 1...500 {
                group.addTask {
                    await mocks(number).override {
                        let (screen, controller) = (Screen(), Controller())
                        await Task.yield()
                        async let child = Screen().service.api.number
                        let numbers = [
                            screen.api.number, screen.service.api.number, controller.api().number,
                            controller.service().api.number, -controller.named().number,
                            (Resolver.resolve() as any API).number, (Resolver.resolve() as Service).api.number,
                            -(Resolver.resolve("named") as any API).number, await child,
                        ]
                        await Task.yield()
                        let isOne = screen.service === controller.service() && screen.service === Screen().service
                        return numbers.filter { $0 != number }.count + (isOne ? 0 : 1)
                    }
                }
            }
            return await group.reduce(0, +)
        }

        #expect(strangers == 0)
    }

    @Test func `overrides on many threads never see each other's modules`() async {
        let strangers = await withTaskGroup(of: Int.self) { group in
            for thread in 1...8 {
                group.addTask {
                    await onThread {
                        (1...200).map { round in
                            let number = thread * 1000 + round
                            return mocks(number).override {
                                let screen = Screen()
                                return [screen.api.number, screen.service.api.number].filter { $0 != number }.count
                            }
                        }.reduce(0, +)
                    }
                }
            }
            return await group.reduce(0, +)
        }

        #expect(strangers == 0)
    }

    @Test func `one override cancelled leaves the others alone, and lets go of its own`() async {
        let cancelled = Task { () -> Weak in
            await mocks(1).override {
                let made: Service = Resolver.resolve()
                while !Task.isCancelled { await Task.yield() }
                return Weak(made)
            }
        }
        let (service, number) = await mocks(2).override {
            cancelled.cancel()
            return (await cancelled.value, (Resolver.resolve() as any API).number)
        }

        #expect(number == 2)
        #expect(service.object == nil)
    }

    // MARK: - Read after the end

    @Test func `an Inject created inside is the mock when first read on a dispatch queue`() async {
        let (screen, controller) = mocks(7).override { (Screen(), Controller()) }

        let numbers = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let numbers = [
                    screen.api.number, screen.service.api.number, controller.api().number, -controller.named().number,
                ]
                continuation.resume(returning: numbers)
            }
        }

        #expect(numbers == [7, 7, 7, 7])
    }

    @Test func `an Inject created inside is the mock when first read in a detached task`() async {
        let (screen, controller) = mocks(7).override { (Screen(), Controller()) }

        let task = Task.detached { [screen.api.number, screen.service.api.number, -controller.named().number] }

        #expect(await task.value == [7, 7, 7])
    }

    @Test func `an Inject created inside is the mock when first read on a thread`() async {
        let (screen, controller) = mocks(7).override { (Screen(), Controller()) }

        let numbers = await onThread { [screen.api.number, screen.service.api.number, -controller.named().number] }

        #expect(numbers == [7, 7, 7])
    }

    @Test func `an Inject created inside is the mock when first read in another override`() {
        let screen = mocks(7).override { Screen() }

        let numbers = mocks(8).override { [screen.api.number, screen.service.api.number] }

        #expect(numbers == [7, 7])
    }

    @Test func `an Inject that a mock holds is the override's`() {
        final class Holder: Sendable { let api = Inject<any API>() }

        let holder = Dependencies {
            mocks(7)
            Module(.shared) { Holder() }
        }.override { Resolver.resolve() as Holder }

        #expect(holder.api().number == 7)
    }

    // MARK: - Letting go

    @Test func `when an override ends its shared instances are gone`() async {
        let first = mocks(1).override { Weak(Screen().service) }
        let second = await mocks(1).override {
            await Task.yield()
            return Weak(Screen().service)
        }
        var third = Weak()
        try? mocks(1).override {
            third = Weak(Screen().service)
            throw Failure()
        }

        #expect(first.object == nil)
        #expect(second.object == nil)
        #expect(third.object == nil)
    }

    @Test func `they are gone even where an unresolved Inject survives, which makes another when it is read`() {
        let (made, screen) = mocks(1).override { (Weak(Resolver.resolve() as Service), Screen()) }

        #expect(made.object == nil)
        #expect(screen.service.api.number == 1)
        #expect(made.object == nil)
    }

    @Test func `after its end an override keeps nothing that is made late`() {
        var screen: Screen? = mocks(1).override { Screen() }
        let another = mocks(1).override { Screen() }

        let late = Weak(screen?.service)
        let wasMade = late.object != nil
        screen = nil

        #expect(wasMade)
        #expect(late.object == nil)
        #expect(another.service.api.number == 1)
    }

    @Test func `who still asks after its end gets what others hold`() {
        for lifetime in [Lifetime<Service>.shared, .weakShared] {
            let dependencies = Dependencies { Module(lifetime) { Service(api: Mock(1)) } }
            let (held, screen) = dependencies.override { (Resolver.resolve() as Service, Screen()) }

            #expect(screen.service === held)
        }
    }

    @Test func `what goes when an override ends asks the override in its deinit`() async {
        final class Cache: Sendable {
            let seen: Protected<[Int]>
            init(_ seen: Protected<[Int]>) { self.seen = seen }
            deinit { seen.withLock { $0.append((Resolver.resolve() as any API).number) } }
        }
        let seen = Protected<[Int]>([])
        let dependencies = Dependencies {
            mocks(1)
            Module(.shared) { Cache(seen) }
        }

        mocks(0).override {
            dependencies.override { _ = Resolver.resolve() as Cache }
        }
        await mocks(0).override {
            await dependencies.override {
                await Task.yield()
                _ = Resolver.resolve() as Cache
            }
        }

        #expect(seen.value == [1, 1])
    }

    @Test func `when an override ends what shared values hold is gone too`() {
        struct Values: Sendable { let service: Service }

        let service = Dependencies { Module(.shared) { Values(service: Service(api: Mock(1))) } }.override {
            Weak((Resolver.resolve() as Values).service)
        }

        #expect(service.object == nil)
    }

    @Test func `when an override ends what its configurations hold is gone too`() {
        final class Captured: Sendable {}
        final class Graph {}
        func configured() -> Weak {
            let captured = Captured()
            let module = Module(.objectGraph, { Graph() }, configure: { _ in withExtendedLifetime(captured) {} })
            Dependencies { module }.override { _ = Resolver.resolve() as Graph }
            return Weak(captured)
        }

        #expect(configured().object == nil)
    }

    @Test func `an Inject lets go of its override once it has resolved`() {
        final class Captured: Sendable {}
        func resolved(_ read: Bool) -> (Inject<Int>, Weak) {
            let captured = Captured()
            let inject = Dependencies { Module { withExtendedLifetime(captured) { 1 } } }.override { Inject<Int>() }
            if read { _ = inject() }
            return (inject, Weak(captured))
        }

        let (unread, held) = resolved(false)
        let (read, released) = resolved(true)

        #expect(held.object != nil)
        #expect(released.object == nil)
        withExtendedLifetime((unread, read)) {}
    }

    #if os(Linux)
    @Test func `ten thousand overrides leave nothing behind`() async {
        await #expect(processExitsWith: .success) {
            var left = 0
            func round(_ number: Int) async {
                let screen = mocks(number).override { Screen() }
                let (unread, service) = await mocks(number).override {
                    await Task.yield()
                    return (Screen(), Weak(Resolver.resolve() as Service))
                }
                if screen.service.api.number != number || service.object != nil { left += 1 }
                withExtendedLifetime(unread) {}
            }
            for number in 0..<1_000 { await round(number) }
            var growths: [Int] = []

            for _ in 0..<3 {
                let before = residentBytes()
                for number in 0..<10_000 { await round(number) }
                growths.append(residentBytes() - before)
            }

            #expect(left == 0)
            // Two containers a round, if kept, take twenty times as much in each of the three; what the thread
            // sanitizer takes for itself, it takes in some of them.
            #expect(growths.min()! < 1_000_000)
        }
    }
    #endif

    // MARK: - What is built or registered meanwhile

    @Test func `build on another thread meanwhile does not reach into an override`() async {
        await #expect(processExitsWith: .success) {
            real.build()
            let isOver = Protected(false)
            async let builder: Void = onThread {
                var number = 10
                while !isOver.value {
                    number += 1
                    mocks(number).build()
                }
                mocks(9).build()
            }

            var strangers = 0
            for round in 1...2_000 {
                strangers += mocks(-round).override {
                    let screen = Screen()
                    let numbers = [
                        screen.api.number, screen.service.api.number, (Resolver.resolve() as any API).number,
                    ]
                    return numbers.filter { $0 != -round }.count
                }
            }
            isOver.withLock { $0 = true }
            await builder

            #expect(strangers == 0)
            #expect((Resolver.resolve() as any API).number == 9)
        }
    }

    @Test func `build inside an override changes what the process has, not what the override has`() async {
        await #expect(processExitsWith: .success) {
            mocks(1).override {
                mocks(2).build()

                #expect((Resolver.resolve() as any API).number == 1)
                #expect(Screen().service.api.number == 1)
            }

            #expect((Resolver.resolve() as any API).number == 2)
        }
    }

    @Test func `what is registered inside an override is there until its end`() {
        mocks(1).override {
            Resolver.register(Mock(2) as any API)
            Resolver.register("here")

            #expect((Resolver.resolve() as any API).number == 2)
            #expect(Screen().service.api.number == 2)
            #expect(Resolver.resolve() as String == "here")
        }

        #expect(Resolver.find() as (any API)? == nil)
        #expect(Resolver.find() as String? == nil)
    }

    // MARK: - Validated together

    @Test func `what an override's modules need may be the enclosing ones' or its own`() {
        mocks(1).override {
            Dependencies { Module { (api: any API) in api.number } }.override {
                #expect(Resolver.resolve() as Int == 1)
            }
        }
    }

    @Test func `an override whose modules need what nobody offers stops, and says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            real.override {
                Dependencies { Module { (_: Int) in Mock(1) as any API } }.override { print("reached") }
            }
        }

        let text = result?.text ?? ""
        #expect(text.contains("1 wiring problem"))
        #expect(text.contains("needs Swift.Int, which nobody offers"))
        #expect(text.contains("OverridingTests.swift:"))
    }

    @Test func `an override in which something replaces nothing stops, and says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {}.replacing(Dependencies { Module { 1 } }).override { print("reached") }
        }

        #expect(result?.text.contains("replaces nothing") == true)
    }

    @Test func `a cycle between an override's modules and the enclosing ones stops, and says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            real.override {
                Dependencies { Module { (service: Service) in service.api } }.override { print("reached") }
            }
        }

        let text = result?.text ?? ""
        #expect(text.contains("Dependency cycle: "))
        #expect(text.contains("Service"))
    }

    // MARK: - Previews

    /// An override covers what is created inside its block only, and a view is created later.
    @Test func `a preview builds its modules in its first line`() async {
        await #expect(processExitsWith: .success) {
            struct View: Sendable { @Inject var api: any API }
            @Preview func preview() -> View {
                let _ = mocks(5).build()
                View()
            }

            #expect(preview().api.number == 5)
        }
    }

    @Test func `an override has what was registered around it`() {
        Dependencies { Module { Config(text: "built") } }.override {
            Resolver.register(Config(text: "registered"))

            let text = Dependencies {}.override { (Resolver.find() as Config?)?.text }

            #expect(text == "registered")
        }
    }

    @Test func `an override that a factory begins stands in the factory's container, whoever asked`() {
        let late = Dependencies {
            Module("outer") { 7 }
            Module { Dependencies {}.override { Resolver.find("outer") ?? 0 } as Int }
        }.override { Inject<Int>() }

        #expect(late() == 7)
    }

    @Test func `build inside an override leaves what is registered there`() async {
        await #expect(processExitsWith: .success) {
            Dependencies {}.override {
                Resolver.register("here")
                Dependencies {}.build()

                #expect(Resolver.find() as String? == "here")
            }
            #expect(Resolver.find() as String? == nil)
        }
    }

    @Test func `an Inject created in an override that a factory begins remembers that one`() {
        let late: Inject<String> = Dependencies {
            Module { "outer" }
            Module { Dependencies { Module { "inner" } }.override { Inject<String>() } }
        }.override { Resolver.resolve() }

        #expect(late() == "inner")
    }
}

/// Stands for a view builder, which takes declarations and views but no other statement.
@resultBuilder private enum Preview {
    static func buildBlock<Content>(_ content: Content) -> Content { content }
}

/// Holds nothing; tells whether others still do. Set once, and so safe to share.
private struct Weak: @unchecked Sendable {
    private(set) weak var object: AnyObject?
    init(_ object: AnyObject? = nil) { self.object = object }
}

#if os(Linux)
/// The memory that this process holds.
private func residentBytes() -> Int {
    let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    return Int(pages ?? "")! * 4096
}
#endif
