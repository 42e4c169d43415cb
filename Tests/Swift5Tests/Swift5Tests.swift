// A client in language mode 5: it compiles without a warning, also where mode 6 would refuse.
import Dowel
import Observation
import Testing

private protocol Log { func line(_ text: String) -> String }
private final class Console: Log { func line(_ text: String) -> String { "> " + text } }
private final class Mock: Log { func line(_ text: String) -> String { "mock " + text } }

/// Not Sendable, and shared all the same: mode 5 leaves that to its author.
private protocol Store: AnyObject { var names: [String] { get set } }
private final class MemoryStore: Store { var names: [String] = [] }

@MainActor private protocol Navigator: AnyObject { var path: [String] { get set } }
@MainActor private final class StackNavigator: Navigator { var path: [String] = [] }

private final class Client {
    let log: any Log
    let store: any Store
    init(log: any Log, store: any Store) { (self.log, self.store) = (log, store) }
}

private final class View { weak var presenter: Presenter? }
private final class Presenter {
    let view: View
    init(view: View) { self.view = view }
}

private struct StoreModule: Module.Components {
    let scope = Scope()
    func component() -> any Store { scope.shared { MemoryStore() } }
    func component(id: Int) -> any Store { scope.weakShared(for: id) { MemoryStore() } }
    func component() -> Client { Client(log: Console(), store: component()) }
}

private struct Row {
    @Inject var log: any Log
    @Inject("audit") var audit: (any Log)?
}

private class Screen {
    @Inject var store: any Store
    let log: any Log
    init(log: any Log = Resolver.resolve()) { self.log = log }
}

@MainActor private final class MainScreen {
    @Inject var navigator: any Navigator
    @Inject var store: any Store
}

private actor Account {
    @Inject private var log: any Log
    func text() -> String { log.line("account") }
}

private final class Cache: @unchecked Sendable {
    @Inject var log: any Log
    let store = Inject<any Store>()
}

@Observable private final class Model {
    var count = 0
    @ObservationIgnored @Inject private var log: any Log
    func text() -> String { log.line("\(count)") }
}

@Suite struct Swift5Tests {
    private let dependencies = Dependencies {
        Module { Console() as any Log }
        Module(.shared) { MemoryStore() as any Store }
        Module("weak", .weakShared) { MemoryStore() as any Store }
        Module { Client(log: $0, store: $1) }
        Module(.objectGraph) {
            View()
        } configure: { (view, presenter: Presenter) in
            view.presenter = presenter
        }
        Module(.objectGraph) { Presenter(view: $0) }
        Module.main(.shared) { StackNavigator() as any Navigator }
        Module(.shared) { StoreModule() }
    }

    @Test func `every kind of type may ask`() async {
        let texts = await dependencies.override {
            [
                Row().log.line("row"), Screen().log.line("screen"), Cache().log.line("cache"), Model().text(),
                await Account().text(),
            ]
        }

        #expect(texts == ["> row", "> screen", "> cache", "> 0", "> account"])
    }

    @Test func `what is not Sendable is shared`() {
        dependencies.override {
            let client: Client = Resolver.resolve()

            #expect(client.store === Screen().store)
            #expect(Cache().store() === client.store)
            #expect(Row().audit == nil)
        }
    }

    @Test func `an object graph is configured`() {
        let presenter: Presenter = dependencies.override { Resolver.resolve() }

        #expect(presenter.view.presenter === presenter)
    }

    @Test func `a scope keeps`() {
        let module = StoreModule()

        let (client, store): (Client, any Store) = (module.component(), module.component())

        #expect(client.store === store)
        #expect(module.component(id: 1) !== store)
    }

    @MainActor @Test func `the main actor's shared instance is one`() async {
        await dependencies.override {
            let screen = MainScreen()
            screen.navigator.path.append("one")

            await Task.yield()

            #expect(MainScreen().navigator.path == ["one"])
            #expect(MainScreen().store === screen.store)
        }
    }

    @Test func `an override beats what encloses it`() async {
        let mocks = Dependencies { Module { Mock() as any Log } }

        let texts = await dependencies.override {
            let row = mocks.override { Row() }
            let text = await mocks.override { await Account().text() }
            return [row.log.line(""), text, Row().log.line("")]
        }

        #expect(texts == ["mock ", "mock account", "> "])
    }

    @Test func `what is registered is found`() {
        dependencies.override {
            let store = MemoryStore()

            Resolver.register(store as any Store)
            let found: (any Store)? = Resolver.find()

            #expect(found === store)
        }
    }
}
