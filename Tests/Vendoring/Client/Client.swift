// A small program beside a copy of Dowel.swift, compiled in every way in which a client may be: it must never change.
// What says `nonisolated` is shared by threads; what says nothing belongs to the main actor where that is the default.
import Observation

// MARK: - What threads may share

nonisolated protocol Log: Sendable { func line(_ text: String) -> String }
nonisolated protocol Store: AnyObject, Sendable { var name: String { get } }
nonisolated protocol Service: Sendable { func run() -> String }
nonisolated protocol Missing: Sendable {}

nonisolated struct PrefixLog: Log {
    let prefix: String
    func line(_ text: String) -> String { prefix + text }
}

nonisolated final class DiskStore: Store {
    let name: String
    init(name: String = "disk") { self.name = name }
}

nonisolated final class Client: Service {
    let store: any Store
    let log: any Log
    init(store: any Store, log: any Log) { (self.store, self.log) = (store, log) }
    func run() -> String { log.line(store.name) }
}

nonisolated struct Report: Sendable {
    let store: any Store
    let missing: (any Missing)?
}

// A module's own names hide those of the standard library, also from a copy in it.
nonisolated enum Actor {}
nonisolated enum Atomic {}
nonisolated enum Mutex {}
nonisolated enum Error {}
nonisolated let exchange = "a global", max = exchange, type = exchange
extension Optional {
    mutating func take() throws -> Wrapped { fatalError() }
    static var wrapped: Any.Type { Wrapped.self }
    static var wrappedType: Any.Type { Wrapped.self }
}

// Whoever has a copy may extend its types: the library must go on calling what is its own.
nonisolated extension Inject {
    var isSet: Bool { true }
    func set(_ value: Value) {}
}

nonisolated extension Lifetime {
    init(number: UInt8) { self = .unshared }
}

// MARK: - What no thread shares

nonisolated protocol Engine: AnyObject { var speed: Int { get set } }
nonisolated final class Motor: Engine { var speed = 1 }

nonisolated final class View { weak var presenter: Presenter? }
nonisolated final class Presenter {
    let view: View
    init(view: View) { self.view = view }
}
nonisolated final class Window {
    let presenter: Presenter
    let view: View
    init(presenter: Presenter, view: View) { (self.presenter, self.view) = (presenter, view) }
}

// MARK: - What belongs to the main actor, or follows the default

@MainActor protocol Navigator: AnyObject { var path: [String] { get set } }
@MainActor final class StackNavigator: Navigator { var path: [String] = [] }

protocol Theme: AnyObject { var color: String { get set } }
final class DarkTheme: Theme { var color = "black" }

final class Canvas { weak var brush: Brush? }
final class Brush {
    let canvas: Canvas
    init(canvas: Canvas) { self.canvas = canvas }
}

// MARK: - Modules with components

nonisolated protocol WidgetModuleType: Sendable {
    func component() -> any Store
    func component() -> any Service
    func component(id: Int) -> any Store
}

nonisolated struct WidgetModule: WidgetModuleType, Module.Components {
    private let scope = Scope()

    func component() -> any Store { scope.shared { DiskStore(name: "widgets") } }
    func component() -> any Log { PrefixLog(prefix: "widget ") }
    func component() -> any Service { Client(store: component(), log: component()) }
    func component(id: Int) -> any Store { scope.weakShared(for: id) { DiskStore(name: "widget \(id)") } }
    func graph() -> (View, View) { (scope.objectGraph { View() }, scope.objectGraph { View() }) }
    func reset() { scope.reset() }
}

protocol ScreenModuleType {
    func component() -> any Theme
    func component(id: Int) -> any Theme
    func brush() -> Brush
}

@MainActor struct ScreenModule: @MainActor ScreenModuleType, Module.Components {
    private let scope = Scope()

    func component() -> any Theme { scope.main.shared { DarkTheme() } }
    func component(id: Int) -> any Theme { scope.main.weakShared(for: id) { DarkTheme() } }
    func brush() -> Brush { Brush(canvas: canvas()) }
    private func canvas() -> Canvas {
        scope.main.objectGraph {
            Canvas()
        } configure: {
            $0.brush = nil
        }
    }
}

/// What it gives the scope runs on the main actor, wherever it was written.
nonisolated struct Elsewhere: Sendable {
    private let scope = Scope()
    func component() async -> Lamp { await scope.main.shared { Lamp() } }
    func graph() async -> Lamp { await scope.main.objectGraph(Lamp.init) }
}

@MainActor final class Lamp {
    init() {}
}

// MARK: - Those that ask

struct Row {
    @Inject var log: any Log
    @Inject("audit") var audit: any Log
    @Inject private var missing: (any Missing)?
    var text: String { log.line(audit.line(missing == nil ? "row" : "?")) }
}

struct Form {
    @Inject var log: any Log
    var title: String
}

class Screen {
    @Inject var theme: any Theme
    @Inject private var navigator: any Navigator
    @Inject private var widgets: any WidgetModuleType
    private(set) lazy var service: any Service = widgets.component()
    @MainActor func open() -> [String] {
        navigator.path.append("screen")
        return navigator.path
    }
}

final class DetailScreen: Screen {
    @Inject private var engine: any Engine
    var speed: Int { engine.speed }
}

#if compiler(>=6.3)
nonisolated struct FreeRow {
    @Inject var log: any Log
    @Inject var engine: any Engine
}

nonisolated final class FreeScreen {
    @Inject var engine: any Engine
    @Inject var log: any Log
    let store: any Store
    init(store: any Store = Resolver.resolve()) { self.store = store }
}

nonisolated final class Holder<Value> {
    @Inject var value: Value
}
#else
// Before, no property wrapper may stand in a type that says of itself that it is nonisolated.
nonisolated struct FreeRow {
    private let injected = Inject<any Log>()
    var log: any Log { injected() }
}

nonisolated final class FreeScreen {
    private let injected = Inject<any Engine>()
    var engine: any Engine { injected() }
    let store: any Store
    init(store: any Store = Resolver.resolve()) { self.store = store }
}

nonisolated final class Holder<Value> {
    private let injected = Inject<Value>()
    var value: Value { injected() }
}
#endif

@MainActor final class MainScreen {
    @Inject var engine: any Engine
    @Inject var log: any Log
    @Inject var navigator: any Navigator
    @Inject var theme: any Theme
}

actor Account {
    @Inject private var log: any Log
    @Inject private var engine: any Engine
    func text() -> String {
        engine.speed += 1
        return log.line("account \(engine.speed)")
    }
}

final class Cache: Sendable {
    private let log = Inject<any Log>()
    let store: any Store = Resolver.resolve()
    func text() -> String { log().line(store.name) }
}

nonisolated final class FreeCache: Sendable {
    private let log = Inject<any Log>("audit")
    let store: any Store = Resolver.resolve()
    func text() -> String { log().line(store.name) }
}

@Observable final class Model {
    var count = 0
    @ObservationIgnored @Inject private var log: any Log
    @ObservationIgnored @Inject private var engine: any Engine
    func text() -> String { log.line("model \(count + engine.speed)") }
}

@MainActor @Observable final class MainModel {
    var count = 0
    @ObservationIgnored @Inject private var navigator: any Navigator
    func depth() -> Int { navigator.path.count + count }
}

// MARK: - The program

@main final class App {
    private let dependencies = Dependencies {
        Module { PrefixLog(prefix: "> ") as any Log }
        Module("audit") { PrefixLog(prefix: "! ") as any Log }
        Module(.shared) { DiskStore() as any Store }
        Module("weak", .weakShared) { DiskStore(name: "weak") as any Store }
        Module { Client(store: $0, log: $1) as any Service }
        #if hasFeature(InferSendableFromCaptures)  // Mode 5 takes no initializer for a closure that threads may share.
        Module(Client.init)
        #else
        Module { Client(store: $0, log: $1) }
        #endif
        Module { (store: any Store, missing: (any Missing)?) in Report(store: store, missing: missing) }
        Module(.shared) { WidgetModule() as any WidgetModuleType }
        App.graph
        Module { Motor() as any Engine }
        if CommandLine.arguments.count > 99 {
            Module { Motor() }
        }
        for name in ["one", "two"] {
            Module(name) {
                Motor() as any Engine
            } configure: {
                $0.speed = name.count
            }
        }
        Module.main(.shared) { StackNavigator() as any Navigator }
        Module.main(.shared) { DarkTheme() as any Theme }
        Module.main("weak", .weakShared) { DarkTheme() as any Theme }
        Module.main { ScreenModule() as any ScreenModuleType }
        Module.main(.objectGraph) {
            Canvas()
        } configure: { (canvas, brush: Brush) in
            canvas.brush = brush
        }
        Module.main(.objectGraph) { Brush(canvas: $0) }
        Module.main { Screen() }
    }.build()

    /// Two objects that refer to each other.
    private nonisolated static var graph: [Module] {
        [
            Module(.objectGraph) {
                View()
            } configure: { (view, presenter: Presenter) in
                view.presenter = presenter
            },
            Module(.objectGraph) { Presenter(view: $0) },
            Module { Window(presenter: $0, view: $1) },
        ]
    }

    static func main() async throws {
        let app = App()
        try app.dependencies.validate()

        asks()
        makes()
        keeps()
        await crosses()
        await overrides(of: app.dependencies)
        print("\(Check.count) checks")
    }

    @MainActor private static func asks() {
        check(Row().text == "> ! row", "a struct")
        check(FreeRow().log.line("") == "> ", "a nonisolated struct")
        check(
            Form(log: Inject(given: PrefixLog(prefix: "given ")), title: "").log.line("") == "given ", "a given value")
        check(DetailScreen().speed == 1, "a subclass")
        check(DetailScreen().theme.color == "black", "an inherited property")
        check(DetailScreen().open().last == "screen", "what belongs to the main actor")
        check(Screen().service.run() == "widget widgets", "a lazy component")
        check(FreeScreen().store === FreeScreen().store, "a default argument")
        check(FreeScreen(store: DiskStore(name: "hand")).store.name == "hand", "an argument by hand")
        check(Cache().text() == "> disk", "a Sendable class")
        check(FreeCache().text() == "! disk", "a nonisolated Sendable class")
        check(Model().text() == "> model 1", "an observable class")
        check(MainModel().depth() == MainScreen().navigator.path.count, "a main-actor observable class")
        check(Holder<any Log>().value.line("") == "> ", "a generic class")
        check(Holder<(any Missing)?>().value == nil, "a generic class of an optional")

        @Inject var local: any Engine
        local.speed = 7
        check(local.speed == 7, "a local variable keeps what it got")
        let screen = MainScreen()
        check(screen.engine === screen.engine && screen.theme === MainScreen().theme, "a main-actor class")
    }

    @MainActor private static func makes() {
        let service: any Service = Resolver.resolve()
        check(service.run() == "> disk", "declared needs")
        let client: Client = Resolver.resolve()
        check(client.run() == "> disk", "an initializer's needs")
        let report: Report = Resolver.resolve()
        check(report.missing == nil, "an optional need")
        let window: Window = Resolver.resolve()
        check(window.presenter.view === window.view && window.view.presenter === window.presenter, "an object graph")
        let brush: Brush = Resolver.resolve()
        check(brush.canvas.brush === brush, "an object graph on the main actor")
        let engine: any Engine = Resolver.resolve("two")
        check(engine.speed == 3, "a configured one")
        check(Resolver.find() as (any Missing)? == nil, "nothing offered")
        Resolver.register(42, "answer")
        check(Resolver.resolve("answer") as Int == 42, "a registered instance")
    }

    @MainActor private static func keeps() {
        let widgets = WidgetModule()
        let (store, again): (any Store, any Store) = (widgets.component(), widgets.component())
        check(store === again, "a scope's shared")
        check(widgets.component(id: 1) === widgets.component(id: 1), "a scope's weakly shared")
        check(widgets.component(id: 1) !== widgets.component(id: 2), "a scope's ids")
        check(widgets.graph().0 !== widgets.graph().0, "a scope's object graph, one for each request")
        widgets.reset()
        check(widgets.component() as any Store !== store, "a scope that was reset")
        let screens: any ScreenModuleType = Resolver.resolve()
        let theme: any Theme = screens.component()
        check(theme === screens.component(), "the main actor's shared")
        check(screens.component(id: 1) !== screens.component(id: 2), "the main actor's ids")
        check(screens.brush().canvas.brush == nil, "the main actor's object graph")
        let shared: any Theme = Resolver.resolve()
        check(shared === Screen().theme, "a main-actor module's shared")
        let (weak, same): (any Theme, any Theme) = (Resolver.resolve("weak"), Resolver.resolve("weak"))
        check(weak === same && weak !== shared, "a main-actor module's weakly shared")
        let (disk, other): (any Store, any Store) = (Resolver.resolve("weak"), Resolver.resolve("weak"))
        check(disk === other, "a module's weakly shared")
    }

    private static func crosses() async {
        let texts = await withTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask { FreeScreen().store.name + FreeCache().text() + FreeRow().log.line("") }
            }
            var texts: Set<String> = []
            for await text in group { texts.insert(text) }
            return texts
        }
        check(texts == ["disk! disk> "], "tasks")
        check(await Account().text() == "> account 2", "an actor")
        let cache = FreeCache()
        check(await Task.detached { cache.text() }.value == "! disk", "a Sendable class in another task")
    }

    private static func overrides(of dependencies: Dependencies) async {
        let mocks = Dependencies {
            Module(.shared) { DiskStore(name: "mock") as any Store }
            Module.main(.shared) { StackNavigator() as any Navigator }
        }
        let late = mocks.override {
            check(FreeScreen().store.name == "mock", "an override")
            check(Cache().text() == "> mock", "an override in a Sendable class")
            return Holder<any Store>()
        }
        check(late.value.name == "mock", "an override's late reader")
        let text = await mocks.override {
            await Task.yield()
            let service: any Service = Resolver.resolve()
            return await Account().text() + service.run() + "\(Free.depth())"
        }
        check(text == "> account 2> mock0", "an override that waits")
        check(await Free.overridden(mocks) == "mock", "an override off the main actor")
        check(await Free.stays(mocks), "an override in a function of its caller's actor")
        check(await Free.depth(in: mocks) == 0, "an override with a block of another actor")
        let replaced = Dependencies { dependencies }.replacing(
            Dependencies {
                Module {
                    Motor() as any Engine
                } configure: {
                    $0.speed = 9
                }
            })
        replaced.build()
        check(FreeScreen().engine.speed == 9, "a second build")
        dependencies.build()
        check(FreeScreen().engine.speed == 1, "a third build")
    }
}

nonisolated enum Free {
    @MainActor static func depth() async -> Int { MainScreen().navigator.path.count }

    static func depth(in mocks: Dependencies) async -> Int {
        await mocks.override { @MainActor in
            await Task.yield()
            return MainScreen().navigator.path.count
        }
    }

    @concurrent static func overridden(_ mocks: Dependencies) async -> String {
        await mocks.override {
            await Task.yield()
            return FreeScreen().store.name
        }
    }

    @MainActor static func stays(_ mocks: Dependencies) async -> Bool { await inherits(mocks) }

    nonisolated(nonsending) private static func inherits(_ mocks: Dependencies) async -> Bool {
        await mocks.override {
            await Task.yield()
            return (Resolver.resolve() as any Navigator) === (Resolver.resolve() as any Navigator)
        }
    }
}

nonisolated enum Check {
    /// The program checks one thing after the other, whatever the thread.
    nonisolated(unsafe) static var count = 0
}

nonisolated func check(_ holds: Bool, _ what: String) {
    Check.count += 1
    if !holds { fatalError("\(what): does not hold") }
}
