import Dowel
import DowelAudit
import Foundation
import Testing

/// The example: a railway, with its timetable, its signals and its trains.
enum Railway {
    struct Gauge: Sendable, Equatable { let millimetres: Int }

    protocol Timetable: Sendable { var next: String { get } }
    struct PrintedTimetable: Timetable { let next: String }

    protocol Signal: AnyObject, Sendable { var shows: String { get } }
    final class Semaphore: Signal {
        let gauge: Gauge
        let timetable: any Timetable
        var shows: String { "\(timetable.next) on \(gauge.millimetres)" }
        init(gauge: Gauge, timetable: any Timetable) { (self.gauge, self.timetable) = (gauge, timetable) }
    }
    final class Whistle: Signal { let shows = "whistle" }

    // Each needs the next.
    struct Engine { init(boiler: Boiler) {} }
    struct Boiler { init(fire: Fire) {} }
    struct Fire { init(engine: Engine) {} }

    /// Made in a scope, where what one function takes from another is seen when it is entered.
    struct Works: Sendable {
        let scope = Scope()
        func component() -> Wheel { scope.shared { Wheel(axle: component()) } }
        func component() -> Axle { scope.shared { Axle(wheel: component()) } }
    }
    final class Wheel: Sendable { init(axle: Axle) {} }
    final class Axle: Sendable { init(wheel: Wheel) {} }

    /// What is known at start-up only comes in here.
    static func dependencies(gauge: Int, next: String) -> Dependencies {
        Dependencies {
            Module { Gauge(millimetres: gauge) }
            Module { PrintedTimetable(next: next) as any Timetable }
            Module(.shared) { Semaphore(gauge: $0, timetable: $1) as any Signal }
        }
    }

    struct Platform {
        let number: Int
        @Inject var signal: any Signal
    }

    // Lives on the main actor, and is not Sendable.
    @MainActor final class Display {
        let timetable: any Timetable
        var text = ""
        init(timetable: any Timetable) { self.timetable = timetable }
        func refresh() { text = timetable.next }
    }
    @MainActor struct Hall {
        let scope = Scope()
        func component() -> Clock { scope.main.shared { Clock() } }
        func component(track: Int) -> Clock { scope.main.weakShared(for: track) { Clock() } }
    }
    @MainActor final class Clock { var hour = 0 }

    struct Derailed: Error, Equatable { let mile: Int }

    /// Fetches its timetable once, for all that ask.
    struct Station: Sendable {
        let scope = Scope()
        let fetch: @Sendable () async throws -> any Timetable

        func component() -> Task<any Timetable, any Error> { scope.shared { Task { try await fetch() } } }
        func component() async throws -> any Timetable { try await (component() as Task).value }
        func component(gauge: Int) async throws -> any Signal {
            Semaphore(gauge: Gauge(millimetres: gauge), timetable: try await component())
        }
    }
}

@Suite struct InnoDI {
    typealias Gauge = Railway.Gauge
    typealias Timetable = Railway.Timetable
    typealias PrintedTimetable = Railway.PrintedTimetable
    typealias Signal = Railway.Signal

    // That a missing component() does not compile is proven by Tests/Vendoring/Rejected/MissingComponent.swift.
    @Suite struct `a missing dependency is found before the program does its work` {
        @Test func `a need, by validating, with nothing made`() throws {
            let made = Counter()
            let line = #line + 2
            let dependencies = Dependencies {
                Module { made.counting(Railway.Semaphore(gauge: $0, timetable: $1)) as any Signal }
                Module { made.counting(Gauge(millimetres: 1435)) }
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(error.problems.count == 1)
            #expect(
                holds(
                    error.description, "Railway.Signal", "\(#fileID):\(line)", "needs", "Railway.Timetable",
                    "nobody offers"))
            #expect(made.value == 0)
        }

        @Test func `a need of what configures, too`() throws {
            let dependencies = Dependencies {
                Module {
                    Railway.Whistle()
                } configure: { (_: Railway.Whistle, _: any Timetable) in
                }
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(error.problems.count == 1)
            #expect(holds(error.description, "Railway.Whistle", "needs", "Railway.Timetable", "nobody offers"))
        }

        @Test func `likewise one type offered on two lines, with both`() throws {
            let line = #line + 2
            let dependencies = Dependencies {
                Module { Gauge(millimetres: 1435) }
                Module { Gauge(millimetres: 600) }
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(error.problems.count == 1)
            #expect(holds(error.description, "Railway.Gauge", "\(#fileID):\(line + 1)", "\(#fileID):\(line)"))
        }

        @Test func `a need, at build`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies { Module(Railway.Engine.init) }.build()
                print("went to work", to: &StandardError.stream)
            }

            #expect(holds(text(of: result), "Railway.Engine", "needs", "Railway.Boiler"))
            #expect(!text(of: result).contains("went to work"))
        }

        @Test func `an injected property, by the audit`() throws {
            let made = Counter()
            let dependencies = Dependencies { Module { made.counting(Gauge(millimetres: 1435)) } }

            let error = try #require(throws: WiringError.self) {
                try dependencies.audit { $0.owner.hasPrefix("ParityTests.Railway.") }
            }

            #expect(error.problems.count == 1)
            #expect(holds(error.description, "Railway.Platform.signal", "Railway.Signal", "nobody offers"))
            #expect(made.value == 0)
        }

        private final class Porter { @Inject var signal: any Signal }

        @Test func `that of a class, a private or a local type, too`() throws {
            struct Ticket { @Inject var gauge: Gauge }
            let owners = ([Porter(), Ticket()] as [Any]).map { "\(type(of: $0))" }

            let error = try #require(throws: WiringError.self) {
                try Dependencies {}.audit { site in owners.contains { site.owner.hasSuffix(".\($0)") } }
            }

            #expect(error.problems.count == 2)
            #expect(error.problems.contains { holds($0, "Porter.signal", "Railway.Signal", "nobody offers") })
            #expect(error.problems.contains { holds($0, "Ticket.gauge", "Railway.Gauge", "nobody offers") })
        }
    }

    @Suite struct `a cycle is found with its path` {
        @Test func `among needs, by validating`() throws {
            let dependencies = Dependencies {
                Module(Railway.Engine.init)
                Module(Railway.Boiler.init)
                Module(Railway.Fire.init)
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(error.problems.count == 1)
            #expect(
                holds(
                    error.description, "Dependency cycle: ", "Railway.Engine", "→", "Railway.Boiler", "→",
                    "Railway.Fire", "→", "Railway.Engine"))
        }

        @Test func `among needs of which one is optional`() throws {
            let dependencies = Dependencies {
                Module { (signal: (any Signal)?) in PrintedTimetable(next: signal?.shows ?? "now") as any Timetable }
                Module { (timetable: any Timetable) in Railway.Whistle() as any Signal }
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(holds(error.description, "Dependency cycle: ", "Timetable", "→", "Signal", "→", "Timetable"))
        }

        @Test func `among needs, at build`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies {
                    Module { (boiler: Railway.Boiler) in Railway.Fire(engine: Railway.Engine(boiler: boiler)) }
                    Module(Railway.Boiler.init)
                }.build()
            }

            let said = text(of: result)
            #expect(holds(said, "Dependency cycle: ", "Railway.Fire", "→", "Railway.Boiler", "→", "Railway.Fire"))
        }

        @Test func `among the functions of a module, when it is entered`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Railway.Works().component() as Railway.Wheel
            }

            let said = text(of: result)
            #expect(holds(said, "Dependency cycle: ", "Railway.Wheel", "→", "Railway.Axle", "→", "Railway.Wheel"))
        }

        @Test func `among factories that resolve and keep nothing, at a hundred levels`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies {
                    Module { Railway.Engine(boiler: Resolver.resolve()) }
                    Module { Railway.Boiler(fire: Resolver.resolve()) }
                    Module { Railway.Fire(engine: Resolver.resolve()) }
                }.build()
                _ = Resolver.resolve() as Railway.Engine
            }

            let path = ["Boiler", "Fire", "Engine", "Boiler"].map { "ParityTests.Railway.\($0)" }
            #expect(holds(text(of: result), "100 things are made", ": \(path.joined(separator: " → "))\n"))
        }
    }

    @Test func `each container shares what is shared, and makes the rest for each`() {
        let dependencies = Dependencies {
            Module(.shared) { Railway.Whistle() as any Signal }
            Module("spare") { Railway.Whistle() as any Signal }
        }
        func signals() -> [any Signal] {
            [Resolver.resolve(), Resolver.resolve(), Resolver.resolve("spare"), Resolver.resolve("spare")]
        }

        let (one, other) = (dependencies.override(during: signals), dependencies.override(during: signals))

        #expect(one[0] === one[1])
        #expect(one[2] !== one[3])
        #expect(other[0] === other[1])
        #expect(one[0] !== other[0])
    }

    @Test func `values known at start-up only are given when the dependencies are collected`() {
        let narrow = Railway.dependencies(gauge: 600, next: "9:15")
        let broad = Railway.dependencies(gauge: 1668, next: "noon")

        let narrowSignal = narrow.override { (Resolver.resolve() as any Signal).shows }
        let broadSignal = broad.override { (Resolver.resolve() as any Signal).shows }

        #expect(narrowSignal == "9:15 on 600")
        #expect(broadSignal == "noon on 1668")
    }

    @Test func `a concrete type is wired by its initializer alone`() {
        let dependencies = Dependencies {
            Module(Railway.Semaphore.init)
            Module { Gauge(millimetres: 1000) }
            Module { PrintedTimetable(next: "8:30") as any Timetable }
        }

        let semaphore: Railway.Semaphore = dependencies.override { Resolver.resolve() }

        #expect(semaphore.shows == "8:30 on 1000")
        #expect(dependencies.modules[0].needs.map { "\($0)" } == ["Gauge", "Timetable"])
    }

    @Test func `a factory's parameters are resolved`() {
        let dependencies = Dependencies {
            Module { Gauge(millimetres: 750) }
            Module { (gauge: Gauge) in PrintedTimetable(next: "by \(gauge.millimetres)") as any Timetable }
            Module { (timetable: any Timetable, gauge: Gauge?, signal: (any Signal)?) in
                "\(timetable.next), \(gauge == nil ? "without" : "with") gauge, \(signal == nil ? "without" : "with") signal"
            }
        }

        let text: String = dependencies.override { Resolver.resolve() }

        #expect(text == "by 750, with gauge, without signal")
        #expect(throws: Never.self) { try dependencies.validate() }
    }

    @Suite struct `an asynchronous component is shared, and awaited by each user` {
        @Test func `it runs once, and all get its result`() async throws {
            let fetched = Counter()
            let station = Railway.Station { fetched.counting(PrintedTimetable(next: "6:00")) }

            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await (station.component() as any Timetable).next } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let signal: any Signal = try await station.component(gauge: 1435)

            #expect(answers == Array(repeating: "6:00", count: 8))
            #expect(signal.shows == "6:00 on 1435")
            #expect(fetched.value == 1)
        }

        @Test func `its error goes to all, too`() async {
            let fetched = Counter()
            let station = Railway.Station {
                fetched.add()
                throw Railway.Derailed(mile: 12)
            }

            let errors = await withTaskGroup(of: Railway.Derailed?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            _ = try await station.component() as any Timetable
                            return nil
                        } catch { return error as? Railway.Derailed }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }

            #expect(errors == Array(repeating: Railway.Derailed(mile: 12), count: 8))
            #expect(fetched.value == 1)
        }

        @Test func `a module may offer the task itself, to threads that all ask before it is there`() async {
            let (fetched, asked) = (Counter(), Counter())
            let dependencies = Dependencies {
                Module { Gauge(millimetres: 1520) }
                Module(.shared) { (gauge: Gauge) in
                    while asked.value < 8 { sched_yield() }
                    let timetable = PrintedTimetable(next: "gauge \(gauge.millimetres)")
                    return Task { fetched.counting(timetable as any Timetable) }
                }
            }

            await dependencies.override {
                let tasks = Basket<Task<any Timetable, Never>>()
                let sites = (0..<8).map { _ in Inject<Task<any Timetable, Never>>() }
                onThreads(8) { index in
                    asked.add()
                    tasks.add(sites[index]())
                }

                #expect(tasks.values.count == 8)
                for task in tasks.values { #expect(await task.value.next == "gauge 1520") }
            }
            #expect(fetched.value == 1)
        }
    }

    @Suite struct `a mock is given in place of the real thing` {
        @Test func `to one object, by its initializer`() {
            Railway.dependencies(gauge: 1435, next: "7:00").override {
                let real = Railway.Platform(number: 1)
                let mocked = Railway.Platform(number: 2, signal: Inject(given: Railway.Whistle()))

                #expect(real.signal.shows == "7:00 on 1435")
                #expect(mocked.signal.shows == "whistle")
            }
        }

        @Test func `to a whole graph, by an override`() {
            Railway.dependencies(gauge: 1435, next: "7:00").override {
                let mocked = Dependencies { Module { PrintedTimetable(next: "never") as any Timetable } }.override {
                    Railway.Platform(number: 1).signal.shows
                }

                #expect(mocked == "never on 1435")
                #expect(Railway.Platform(number: 1).signal.shows == "7:00 on 1435")
            }
        }

        @Test func `which is gone when the override ends, whoever could still ask`() async {
            let dependencies = Railway.dependencies(gauge: 1435, next: "7:00")
            weak var one: (any Signal)?
            weak var other: (any Signal)?

            let platform = dependencies.override {
                one = Resolver.resolve()
                return Railway.Platform(number: 1)
            }
            let otherPlatform = await dependencies.override {
                await Task.yield()
                other = Resolver.resolve()
                return Railway.Platform(number: 2)
            }

            #expect(one == nil && other == nil)
            #expect([platform, otherPlatform].map(\.signal.shows) == ["7:00 on 1435", "7:00 on 1435"])
        }

        @Test func `to a whole graph, by dependencies that replace others`() throws {
            let real = Railway.dependencies(gauge: 1435, next: "7:00")

            let mocked = real.replacing(Dependencies { Module { PrintedTimetable(next: "never") as any Timetable } })
            let unchanged = real.replacing(Dependencies { Module { PrintedTimetable(next: "never") } })

            #expect(mocked.override { Railway.Platform(number: 1).signal.shows } == "never on 1435")
            let error = try #require(throws: WiringError.self) { try unchanged.validate() }
            #expect(error.problems.count == 1)
            #expect(holds(error.description, "Railway.PrintedTimetable", "replaces nothing", "as P"))
        }
    }

    @Test func `what a module offers is the protocol that is written out`() {
        let dependencies = Dependencies { Module { Railway.Whistle() as any Signal } }

        let (byProtocol, byType) = dependencies.override {
            (Resolver.find() as (any Signal)?, Resolver.find() as Railway.Whistle?)
        }

        #expect(byProtocol is Railway.Whistle)
        #expect(byType == nil)
        #expect(dependencies.modules.map { ObjectIdentifier($0.type) } == [ObjectIdentifier((any Signal).self)])
    }

    @Suite struct `a module may belong to the main actor` {
        static var modules: Dependencies {
            Dependencies {
                Module { PrintedTimetable(next: "10:10") as any Timetable }
                Module.main(.shared) { Railway.Display(timetable: $0) }
                Module.main {
                    Railway.Hall()
                } configure: {
                    $0.component().hour = 10
                }
                Module.main(.weakShared) { Railway.Clock() }
                Module.main("arrivals") {
                    Railway.Display(timetable: $0)
                } configure: {
                    $0.refresh()
                }
            }
        }

        @MainActor final class Concourse {
            @Inject var display: Railway.Display
            @Inject var hall: Railway.Hall
        }

        // In a process of its own: what stops, where this is taken for another thread, is not the whole run.
        @Test func `what it makes need not be Sendable, and is shared all the same`() async {
            await #expect(processExitsWith: .success) {
                Self.modules.build()
                await MainActor.run {
                    let (one, other) = (Concourse(), Concourse())

                    one.display.refresh()
                    let clocks: [Railway.Clock] = [one.hall.component(), other.hall.component(), one.hall.component()]

                    #expect(other.display.text == "10:10")
                    #expect(one.display === other.display)
                    #expect(clocks[0] === clocks[2])
                    #expect(clocks[0] !== clocks[1])
                }
            }
        }

        @Test func `what it makes may be gone with its last owner, or configured`() async {
            await #expect(processExitsWith: .success) {
                Self.modules.build()
                await MainActor.run {
                    let hall: Railway.Hall = Resolver.resolve()

                    var clocks: [Railway.Clock] = [
                        Resolver.resolve(), Resolver.resolve(), hall.component(track: 1), hall.component(track: 1),
                    ]
                    let areTwo = clocks[0] === clocks[1] && clocks[2] === clocks[3] && clocks[1] !== clocks[2]
                    weak let (one, other) = (clocks[0], clocks[2])
                    clocks = []
                    let arrivals: Railway.Display = Resolver.resolve("arrivals")

                    #expect(areTwo)
                    #expect(one == nil && other == nil)
                    #expect(hall.component().hour == 10)
                    #expect(arrivals.text == "10:10")
                }
            }
        }

        @Test func `asked for elsewhere, it stops`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Self.modules.build()
                onThreads(1) { _ in _ = Resolver.resolve() as Railway.Hall }
            }

            #expect(holds(text(of: result), "Railway.Hall", "Module.main", "off the main actor"))
        }
    }

    @Suite struct `the dependency graph is drawn` {
        let dependencies = Dependencies {
            Module(.shared) { Railway.Semaphore(gauge: $0, timetable: $1) as any Signal }
            Module { Gauge(millimetres: 1435) }
        }

        @Test func `as Mermaid`() {
            let lines = dependencies.diagram(.mermaid).split(separator: "\n").map { $0.drop { $0 == " " } }

            #expect(lines.first?.hasPrefix("flowchart") == true)
            let nodes = ["Signal", "Gauge", "Timetable"].map { node(named: $0, in: lines) }
            #expect(Set(nodes).count == 3 && !nodes.contains(""))
            #expect(
                Set(lines.filter { $0.contains("-->") }) == [
                    "\(nodes[0]) --> \(nodes[1])", "\(nodes[0]) --> \(nodes[2])",
                ])
            #expect(lines.contains { $0.contains("Timetable") && $0.contains("missing") })
        }

        @Test func `as DOT`() {
            let text = dependencies.diagram(.dot)
            let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }

            #expect(holds(text, "digraph", "{", "}"))
            let nodes = ["Signal", "Gauge", "Timetable"].map { node(named: $0, in: lines) }
            #expect(Set(nodes).count == 3 && !nodes.contains(""))
            #expect(
                Set(lines.filter { $0.contains("->") }) == ["\(nodes[0]) -> \(nodes[1])", "\(nodes[0]) -> \(nodes[2])"])
            #expect(lines.contains { $0.contains("Timetable") && $0.contains("nobody offers it") })
        }

        @Test(.enabled(if: Graphviz.dot != nil, "Graphviz's `dot` is not installed: nothing was rendered"))
        func `so that Graphviz renders it`() throws {
            let svg = try Graphviz.svg(of: dependencies.diagram(.dot))

            #expect(holds(svg, "<svg", "Signal", "</svg>"))
            #expect(svg.components(separatedBy: "class=\"node\"").count - 1 == 3)
            #expect(svg.components(separatedBy: "class=\"edge\"").count - 1 == 2)
        }

        /// The id of the node on whose label a type stands.
        private func node(named name: String, in lines: [Substring]) -> String {
            guard let line = lines.first(where: { $0.contains("\"\(name)") }) else { return "" }
            return String(line.prefix { $0.isLetter || $0.isNumber })
        }
    }

    @Suite struct `the graph is validated in every run, with an exit code` {
        /// What a program does that only checks.
        private static func check(_ dependencies: Dependencies) -> Never {
            do {
                try dependencies.audit { $0.owner.hasPrefix("ParityTests.Railway.") }
                exit(EXIT_SUCCESS)
            } catch {
                print(error, to: &StandardError.stream)
                exit(EXIT_FAILURE)
            }
        }

        @Test func `zero where all is well`() async {
            await #expect(processExitsWith: .exitCode(EXIT_SUCCESS)) {
                Self.check(Railway.dependencies(gauge: 1435, next: "7:00"))
            }
        }

        @Test func `another where anything is wrong, with a line for each problem`() async {
            let result = await #expect(
                processExitsWith: .exitCode(EXIT_FAILURE), observing: [\.standardErrorContent]
            ) {
                Self.check(Dependencies { Module(Railway.Engine.init) })
            }

            let said = text(of: result)
            #expect(holds(said, "2 wiring problems", "\n- "))
            #expect(holds(said, "Railway.Engine", "needs", "Railway.Boiler", "\n- "))
            #expect(holds(said, "\n- ", "Railway.Platform.signal", "Railway.Signal"))
        }
    }
}

/// The program that draws what is written in DOT, if it is installed.
private enum Graphviz {
    static let dot = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/dot" }
        .first(where: FileManager.default.isExecutableFile)

    static func svg(of text: String) throws -> String {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(dot))
        process.arguments = ["-Tsvg"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(Data(text.utf8))
        try input.fileHandleForWriting.close()
        let svg = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: svg, as: UTF8.self)
    }
}
