import Dispatch
import Dowel
import Testing

private protocol WorkerType: AnyObject, Sendable {
    var parts: [Int] { get }
}

private final class Worker: WorkerType {
    let parts: [Int]
    init() { parts = [] }
    init(one: One) { parts = [one.value] }
    init(_ one: One, and two: Two) { parts = [one.value, two.value] }
    init(three: Three, two: Two, one: One) { parts = [three.value, two.value, one.value] }
}

private protocol Number: Sendable {
    static var value: Int { get }
    init()
}

extension Number {
    fileprivate var value: Int { Self.value }
}

private struct One: Number { static var value: Int { 1 } }
private struct Next<N: Number>: Number { static var value: Int { N.value + 1 } }
private typealias Two = Next<One>
private typealias Three = Next<Two>
private typealias Four = Next<Three>
private typealias Five = Next<Four>
private typealias Six = Next<Five>
private typealias Seven = Next<Six>
private typealias Eight = Next<Seven>
private typealias Nine = Next<Eight>
private typealias Ten = Next<Nine>
private typealias Eleven = Next<Ten>
private typealias Twelve = Next<Eleven>

private let numbers = Dependencies {
    Module { One() }
    Module { Two() }
    Module { Three() }
    Module { Four() }
    Module { Five() }
    Module { Six() }
    Module { Seven() }
    Module { Eight() }
    Module { Nine() }
    Module { Ten() }
    Module { Eleven() }
    Module { Twelve() }
}

/// What belongs to the main actor and is not Sendable.
@MainActor private final class View {
    let parts: [Int]
    var title = ""
    init(_ parts: Int...) { self.parts = parts }
}

private final class Model {
    var title = ""
}

struct OfferingTests {
    /// What the module makes, with all numbers offered beside it.
    private func made<T: Sendable>(by module: Module, _ name: String? = nil) -> T {
        Dependencies {
            numbers
            module
        }.override { Resolver.resolve(name) }
    }

    // MARK: Needs

    @Test(
        arguments: [
            Module { [Int]() },
            Module { (a: One) in [a.value] },
            Module { (a: One, b: Two) in [a.value, b.value] },
            Module { (a: One, b: Two, c: Three) in [a.value, b.value, c.value] },
            Module { (a: One, b: Two, c: Three, d: Four) in [a.value, b.value, c.value, d.value] },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five) in [a.value, b.value, c.value, d.value, e.value] },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five, f: Six) in
                [a.value, b.value, c.value, d.value, e.value, f.value]
            },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven) in
                [a.value, b.value, c.value, d.value, e.value, f.value, g.value]
            },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven, h: Eight) in
                [a.value, b.value, c.value, d.value, e.value, f.value, g.value, h.value]
            },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven, h: Eight, i: Nine) in
                [a.value, b.value, c.value, d.value, e.value, f.value, g.value, h.value, i.value]
            },
            Module { (a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven, h: Eight, i: Nine, j: Ten) in
                [a.value, b.value, c.value, d.value, e.value, f.value, g.value, h.value, i.value, j.value]
            },
            Module {
                (a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven, h: Eight, i: Nine, j: Ten, k: Eleven) in
                [a.value, b.value, c.value, d.value, e.value, f.value, g.value, h.value, i.value, j.value, k.value]
            },
            Module {
                (
                    a: One, b: Two, c: Three, d: Four, e: Five, f: Six, g: Seven, h: Eight, i: Nine, j: Ten, k: Eleven,
                    l: Twelve
                ) in
                let six = [a.value, b.value, c.value, d.value, e.value, f.value]
                return six + [g.value, h.value, i.value, j.value, k.value, l.value]
            },
        ].enumerated().map { ($0, $1) }
    ) func `a factory takes none to twelve needs`(count: Int, module: Module) {
        let parts: [Int] = made(by: module)

        #expect(parts == Array(1..<(count + 1)))
        #expect(module.needs.map { ($0 as? any Number.Type)?.value } == parts)
    }

    @Test func `needs are filled by their types, in whatever order`() {
        let worker: Worker = made(by: Module(Worker.init(three:two:one:)))

        #expect(worker.parts == [3, 2, 1])
    }

    @Test func `needs may be written as numbered arguments`() {
        let worker: any WorkerType = made(by: Module { Worker($0, and: $1) as any WorkerType })

        #expect(worker.parts == [1, 2])
    }

    @Test func `two needs of one type are filled with an instance each`() {
        Dependencies {
            Module { Worker() }
            Module { (one: Worker, other: Worker) in one === other }
        }.override {
            let isOne: Bool = Resolver.resolve()

            #expect(!isOne)
        }
    }

    @Test func `an optional need is nil where nobody offers its type`() {
        let nobody: [Int] = made(
            by: Module { (one: One?, worker: Worker?) in [one?.value ?? 0, worker == nil ? 0 : 1] })

        #expect(nobody == [1, 0])
    }

    @Test func `needs are filled by modules without a name`() {
        Dependencies {
            Module { One() }
            Module("other", .unshared, Worker.init(one:))
            Module { Worker() }
            Module { ($0 as Worker).parts }
        }.override {
            let parts: [Int] = Resolver.resolve()

            #expect(parts.isEmpty)
        }
    }

    @Test func `the needs of needs are filled`() {
        Dependencies {
            Module { ($0 as Two).value + ($1 as String).count }
            Module { String(repeating: "x", count: ($0 as Three).value) }
            numbers
        }.override {
            let sum: Int = Resolver.resolve()

            #expect(sum == 5)
        }
    }

    // MARK: Initializers

    @Test func `an initializer is a factory`() {
        let workers: [Worker] = [
            made(by: Module(Worker.init as @Sendable () -> Worker)),
            made(by: Module(Worker.init(one:))),
            made(by: Module(Worker.init(_:and:))),
            made(by: Module(Worker.init(three:two:one:))),
            made(by: Module("it", .unshared, Worker.init(_:and:)), "it"),
            made(by: Module(.shared, Worker.init(_:and:))),
            made(by: Module("it", .objectGraph, Worker.init(_:and:)), "it"),
        ]

        #expect(workers.map(\.parts) == [[], [1], [1, 2], [3, 2, 1], [1, 2], [1, 2], [1, 2]])
    }

    @Test func `an initializer that is the only one needs no labels`() {
        struct Plain {
            let one: One
            let two: Two
        }
        let plain: Plain = made(by: Module(Plain.init))

        #expect(plain.two.value == 2)
    }

    @Test func `a function is a factory`() {
        @Sendable func worker(one: One, two: Two) -> any WorkerType { Worker(one, and: two) }
        let made: any WorkerType = made(by: Module(worker))

        #expect(made.parts == [1, 2])
    }

    // MARK: Every form

    @Test func `every combination of name, lifetime and needs says what it offers, and makes it`() {
        let modules = [
            Module { Worker() as any WorkerType },
            Module { Worker($0, and: $1) as any WorkerType },
            Module(.unshared) { Worker() as any WorkerType },
            Module(.unshared) { Worker($0, and: $1) as any WorkerType },
            Module(.shared) { Worker() as any WorkerType },
            Module(.shared) { Worker($0, and: $1) as any WorkerType },
            Module(.weakShared) { Worker() as any WorkerType },
            Module(.weakShared) { Worker($0, and: $1) as any WorkerType },
            Module(.objectGraph) { Worker() as any WorkerType },
            Module(.objectGraph) { Worker($0, and: $1) as any WorkerType },
            Module("it") { Worker() as any WorkerType },
            Module("it") { Worker($0, and: $1) as any WorkerType },
            Module("it", .unshared) { Worker() as any WorkerType },
            Module("it", .unshared) { Worker($0, and: $1) as any WorkerType },
            Module("it", .shared) { Worker() as any WorkerType },
            Module("it", .shared) { Worker($0, and: $1) as any WorkerType },
            Module("it", .weakShared) { Worker() as any WorkerType },
            Module("it", .weakShared) { Worker($0, and: $1) as any WorkerType },
            Module("it", .objectGraph) { Worker() as any WorkerType },
            Module("it", .objectGraph) { Worker($0, and: $1) as any WorkerType },
        ]
        let lifetimes: [Lifetime<Void>] = [.unshared, .unshared, .shared, .weakShared, .objectGraph]

        for (index, module) in modules.enumerated() {
            let name = index < 10 ? nil : "it"
            let worker: any WorkerType = made(by: module, name)

            #expect(ObjectIdentifier(module.type) == ObjectIdentifier((any WorkerType).self))
            #expect(module.name == name)
            #expect(module.lifetime == lifetimes[index / 2 % 5])
            #expect(module.needs.count == index % 2 * 2)
            #expect(worker.parts == (index % 2 == 0 ? [] : [1, 2]))
        }
    }

    @Test func `every combination of name and lifetime may be configured, with needs and parts`() {
        let modules = [
            Module {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
            Module(.unshared) {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module(.unshared) { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
            Module(.objectGraph) {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module(.objectGraph) { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
            Module("it") {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module("it") { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
            Module("it", .unshared) {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module("it", .unshared) { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
            Module("it", .objectGraph) {
                Model()
            } configure: {
                $0.title = "configured"
            },
            Module("it", .objectGraph) { (_: One) in
                Model()
            } configure: { (model: Model, two: Two) in
                model.title = "configured"
            },
        ]

        for (index, module) in modules.enumerated() {
            let name = index < 6 ? nil : "it"
            let title = Dependencies {
                numbers
                module
            }.override { (Resolver.resolve(name) as Model).title }

            #expect(ObjectIdentifier(module.type) == ObjectIdentifier(Model.self))
            #expect(module.name == name)
            #expect(module.lifetime == (index % 6 < 4 ? .unshared : .objectGraph))
            #expect(module.needs.count == index % 2 * 2)
            #expect(title == "configured")
        }
    }

    @Test func `a module offers the type that its factory returns, and no other`() {
        Dependencies { Module { Worker() } }.override {
            let (concrete, behind): (Worker?, (any WorkerType)?) = (Resolver.find(), Resolver.find())

            #expect(concrete != nil)
            #expect(behind == nil)
        }
    }

    @Test func `a module says where it was written`() {
        let (module, line) = (Module { One() }, #line)
        let (named, namedLine) = (Module("it", .shared) { One() }, #line)
        let (main, mainLine) = (Module.main { One() }, #line)

        #expect([module, named, main].map(\.line) == [line, namedLine, mainLine])
        #expect([module, named, main].allSatisfy { $0.file == #fileID })
    }

    @Test func `lifetimes are told apart, and described by their words`() {
        let all: [Lifetime<Worker>] = [.unshared, .shared, .weakShared, .objectGraph]

        #expect(all.indices.allSatisfy { all.firstIndex(of: all[$0]) == $0 })
        #expect(all.map(\.description) == ["unshared", "shared", "weakShared", "objectGraph"])
    }

    // MARK: The main actor

    @Test @MainActor func `on the main actor every form of a main module makes what it offers`() {
        let modules = [
            Module.main { View() },
            Module.main { (one: One, two: Two) in View(one.value, two.value) },
            Module.main(.unshared) { View() },
            Module.main(.unshared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main(.shared) { View() },
            Module.main(.shared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main(.weakShared) { View() },
            Module.main(.weakShared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main(.objectGraph) { View() },
            Module.main(.objectGraph) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main("it") { View() },
            Module.main("it") { (one: One, two: Two) in View(one.value, two.value) },
            Module.main("it", .unshared) { View() },
            Module.main("it", .unshared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main("it", .shared) { View() },
            Module.main("it", .shared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main("it", .weakShared) { View() },
            Module.main("it", .weakShared) { (one: One, two: Two) in View(one.value, two.value) },
            Module.main("it", .objectGraph) { View() },
            Module.main("it", .objectGraph) { (one: One, two: Two) in View(one.value, two.value) },
        ]
        let lifetimes: [Lifetime<Void>] = [.unshared, .unshared, .shared, .weakShared, .objectGraph]

        for (index, module) in modules.enumerated() {
            let name = index < 10 ? nil : "it"
            let view: View = Dependencies {
                numbers
                module
            }.override { Resolver.resolve(name) }

            #expect(ObjectIdentifier(module.type) == ObjectIdentifier(View.self))
            #expect(module.name == name)
            #expect(module.lifetime == lifetimes[index / 2 % 5])
            #expect(module.needs.count == index % 2 * 2)
            #expect(view.parts == (index % 2 == 0 ? [] : [1, 2]))
        }
    }

    @Test @MainActor func `on the main actor a main module may be configured, in every form`() {
        let modules = [
            Module.main {
                View()
            } configure: {
                $0.title = "configured"
            },
            Module.main(.objectGraph) { (_: One) in
                View()
            } configure: { (view: View, _: Two) in
                view.title = "configured"
            },
            Module.main("it") {
                View()
            } configure: {
                $0.title = "configured"
            },
            Module.main("it", .objectGraph) { (_: One) in
                View()
            } configure: { (view: View, _: Two) in
                view.title = "configured"
            },
        ]

        for (index, module) in modules.enumerated() {
            let view: View = Dependencies {
                numbers
                module
            }.override { Resolver.resolve(index < 2 ? nil : "it") }

            #expect(view.title == "configured")
            #expect(module.lifetime == (index % 2 == 0 ? .unshared : .objectGraph))
            #expect(module.needs.count == index % 2 * 2)
        }
    }

    @Test func `a main module works in the main actor's asynchronous functions`() async {
        @MainActor func screen() async -> String {
            @Inject var first: View
            first.title = "first"
            await Task.yield()
            let second: View = Resolver.resolve()
            second.title += " second"
            await Task.yield()
            return first.title + second.title
        }
        let title = await Dependencies { Module.main { View() } }.override { await screen() }

        #expect(title == "first second")
    }

    @Test func `a main module works where a task hops to the main actor`() async {
        let parts = await Dependencies {
            numbers
            Module.main { (one: One, two: Two) in View(one.value, two.value) }
        }.override {
            await MainActor.run { (Resolver.resolve() as View).parts }
        }

        #expect(parts == [1, 2])
    }

    @Test func `a main module works in a task of the main actor, on whatever thread that was started`() async {
        let title = await Dependencies { Module.main { View() } }.override {
            await Task.detached {
                await Task { @MainActor in Inject<View>(given: View())().title + "given" }.value
            }.value
        }

        #expect(title == "given")
    }

    @Test @MainActor func `what a main module makes may ask for others, of any kind`() {
        @MainActor final class Window {
            @Inject var view: View
            @Inject var one: One
        }
        Dependencies {
            numbers
            Module.main(.shared) { View(7) }
            Module.main { Window() }
        }.override {
            let (window, other): (Window, Window) = (Resolver.resolve(), Resolver.resolve())

            #expect(window !== other)
            #expect(window.view === other.view)
            #expect(window.one.value == 1)
        }
    }

    @Test(arguments: [false, true]) func `what a main module offers is not made off the main actor`(isShared: Bool)
        async
    {
        let result =
            isShared
            ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies { Module.main(.shared) { View() } }.build()
                onThreads(1) { _ in _ = Resolver.resolve() as View }
            }
            : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies { Module.main("it") { View() } }.build()
                onThreads(1) { _ in _ = Inject<View>("it")() }
            }

        #expect(result?.text.contains("View\(isShared ? "" : " \"it\"") is made by Module.main") == true)
        #expect(result?.text.contains("asked for off the main actor") == true)
    }

    #if !canImport(Darwin)
    /// Once an async `main` has waited, the main queue's work may be done by whoever waits for it, within its request.
    @Test func `what a main module offers is not configured off the main actor`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module.main(.objectGraph) {
                    View()
                } configure: { (_: View) in
                }
                Module {
                    DispatchQueue.main.sync {
                        MainActor.assumeIsolated { _ = Resolver.resolve() as View }
                    }
                }
            }.build()
            onThreads(1) { _ in Resolver.resolve() as Void }
        }

        #expect(result?.text.contains("View is made by Module.main") == true)
        #expect(result?.text.contains("asked for off the main actor") == true)
    }
    #endif

    @Test func `what a main module offers under a name and configures is not made off the main actor`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module.main("it") {
                    View()
                } configure: { (_: View) in
                }
            }.build()
            onThreads(1) { _ in _ = Resolver.resolve("it") as View }
        }

        #expect(result?.text.contains("View \"it\" is made by Module.main") == true)
    }

    @Test func `what a main module offers is not made in a task of the pool`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies {
                Module.main { View() }
                Module { _ = $0 as View }
            }.build()
            await Task.detached { Resolver.resolve() as Void }.value
        }

        #expect(result?.text.contains("asked for off the main actor") == true)
    }

    @Test @MainActor func `every form of a module tells its place`() {
        var modules: [(module: Module, line: Int)] = []
        func add(_ module: Module, line: Int = #line) { modules.append((module, line)) }
        add(Module { 1 })
        add(Module(.shared) { 1 })
        add(Module("it") { 1 })
        add(Module(.unshared, { Model() }, configure: { (_: Model) in }))
        add(Module("it", .unshared, { Model() }, configure: { (_: Model) in }))
        add(Module.main { 1 })
        add(Module.main(.shared) { 1 })
        add(Module.main("it") { 1 })
        add(Module.main(.unshared, { Model() }, configure: { (_: Model) in }))
        add(Module.main("it", .unshared, { Model() }, configure: { (_: Model) in }))

        for (module, line) in modules {
            #expect(module.line == line)
            #expect(module.file == #fileID)
        }
    }

    @Test func `a module in a long file tells its line`() {
        #expect(Module({ 1 }, file: "Long.swift", line: 100_000).line == 100_000)
    }
}
