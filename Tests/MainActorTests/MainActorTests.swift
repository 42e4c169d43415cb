// A client whose default isolation is MainActor: what says nothing here belongs to the main actor.
import Dowel
import Foundation
import Observation
import Testing

private protocol Navigator: AnyObject { var path: [String] { get set } }
private final class StackNavigator: Navigator { var path: [String] = [] }

private nonisolated protocol Log: Sendable { func line(_ text: String) -> String }
private nonisolated struct Console: Log { func line(_ text: String) -> String { "> " + text } }
private nonisolated struct Mock: Log { func line(_ text: String) -> String { "mock " + text } }

private nonisolated protocol Engine: AnyObject { var speed: Int { get set } }
private nonisolated final class Motor: Engine { var speed = 1 }

private final class Canvas { weak var brush: Brush? }
private final class Brush {
    let canvas: Canvas
    init(canvas: Canvas) { self.canvas = canvas }
}

private struct ScreenModule: Module.Components {
    private let scope = Scope()

    func component() -> any Navigator { scope.main.shared { StackNavigator() } }
    func component(id: Int) -> any Navigator { scope.main.weakShared(for: id) { StackNavigator() } }
    func brush() -> Brush {
        scope.main.objectGraph {
            Brush(canvas: Canvas())
        } configure: {
            $0.canvas.brush = $0
        }
    }
}

private struct Row {
    @Inject var log: any Log
    @Inject var engine: any Engine
}

private class Screen {
    @Inject var navigator: any Navigator
    @Inject var engine: any Engine
}

private final class DetailScreen: Screen {
    @Inject var log: any Log
    let title: any Log
    init(title: any Log = Resolver.resolve()) { self.title = title }
}

private final class Cache: Sendable {
    let log = Inject<any Log>()
    let kept: any Log = Resolver.resolve()
}

private nonisolated final class FreeCache: Sendable {
    let log = Inject<any Log>()
}

@Observable private final class Model {
    var count = 0
    @ObservationIgnored @Inject private var navigator: any Navigator
    @ObservationIgnored @Inject private var log: any Log
    func text() -> String { log.line("\(navigator.path.count + count)") }
}

private actor Account {
    @Inject private var log: any Log
    func text() -> String { log.line("account") }
}

@Suite struct MainActorTests {
    private let dependencies = Dependencies {
        Module { Console() as any Log }
        Module { Motor() as any Engine }
        Module.main(.shared) { StackNavigator() as any Navigator }
        Module.main(.objectGraph) {
            Canvas()
        } configure: { (canvas, brush: Brush) in
            canvas.brush = brush
        }
        Module.main(.objectGraph) { Brush(canvas: $0) }
        Module.main { ScreenModule() }
    }

    @Test func `every kind of type may ask`() async {
        let text = await dependencies.override {
            let row = Row()
            let screen = DetailScreen()
            screen.navigator.path.append("detail")
            row.engine.speed += screen.engine.speed
            return [
                row.log.line("row \(row.engine.speed)"), screen.log.line("screen"), screen.title.line("title"),
                Cache().log().line("cache"), Cache().kept.line("kept"), Model().text(), await Account().text(),
            ]
        }

        #expect(text == ["> row 2", "> screen", "> title", "> cache", "> kept", "> 1", "> account"])
    }

    @Test func `the main actor's shared instance is one`() {
        dependencies.override {
            let (first, second) = (Screen(), Screen())

            #expect(first.navigator === second.navigator)
            #expect(first.engine !== second.engine)
        }
    }

    @Test func `an object graph on the main actor is configured`() {
        let brush: Brush = dependencies.override { Resolver.resolve() }

        #expect(brush.canvas.brush === brush)
    }

    @Test func `a scope on the main actor keeps what is not Sendable`() {
        let module: ScreenModule = dependencies.override { Resolver.resolve() }

        let (first, second): (any Navigator, any Navigator) = (module.component(), module.component())
        let (one, two) = (module.component(id: 1), module.component(id: 2))
        let brush = module.brush()

        #expect(first === second)
        #expect(one !== two)
        #expect(one === module.component(id: 1))
        #expect(brush.canvas.brush === brush)
    }

    @Test func `a suspended main-actor function still finds its modules`() async {
        await dependencies.override {
            let screen = Screen()

            for _ in 0..<100 { await Task.yield() }

            #expect(screen.navigator.path.isEmpty)
            #expect((Resolver.resolve() as any Navigator) === screen.navigator)
        }
    }

    @Test func `what is Sendable is asked for off the main actor`() async {
        let cache = dependencies.override { FreeCache() }

        let text = await Task.detached { cache.log().line("detached") }.value

        #expect(text == "> detached")
    }

    @Test func `an override inside an override is the nearer one`() {
        let mocks = Dependencies { Module { Mock() as any Log } }

        let texts = dependencies.override {
            let outer = Row()
            let inner = mocks.override { Row() }
            return [outer.log.line(""), inner.log.line("")]
        }

        #expect(texts == ["> ", "mock "])
    }

    @Test func `a nonisolated function on the pool gets the override`() async {
        let texts = await dependencies.override { await Pool.texts() }

        #expect(texts == Set(["> pool"]))
    }

    @Test func `off the main actor a main-actor module stops by name`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await Pool.ask()
        }

        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("StackNavigator is made by Module.main, and asked for off the main actor"))
    }
}

private nonisolated enum Pool {
    @concurrent static func texts() async -> Set<String> {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { FreeCache().log().line("pool") } }
            var texts: Set<String> = []
            for await text in group { texts.insert(text) }
            return texts
        }
    }

    @concurrent static func ask() async {
        Dependencies { Module.main { StackNavigator() } }.build()
        _ = Resolver.resolve() as StackNavigator
    }
}
