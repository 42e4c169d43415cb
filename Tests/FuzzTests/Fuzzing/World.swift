import Dowel
import Foundation

/// Which container is in force: each has one of these, with a number of its own.
struct Mark: Sendable { let number: Int }
/// The container that was built, on which the override in force rests.
struct Base: Sendable { let number: Int }

/// What an instance is made of.
struct Parts {
    let world: World
    let id: Int
    let node: Int
    let recipe: Recipe?  // Nil for what was registered.
    let mark: Int
    let request: Int
    let isOfFarewell: Bool  // Made by a deinit: it does not ask in its own, or there would be no end.
    var scope: ScopeBox?
    weak var home: ScopeBox?
    var kept: [Core] = []
    var sites: [Site] = []
}

/// Every instance that modules and components make: it counts itself, and knows where it belongs.
class Core: @unchecked Sendable {
    let parts: Parts
    var configuration: [Core] = []  // Set in the request that made it.
    var owner: Int?  // Who got it, of an unshared one; the world's lock protects it.
    final var id: Int { parts.id }
    final var origin: Origin { Origin(recipe: parts.recipe?.number ?? -parts.node, mark: parts.mark) }

    required init(_ parts: Parts) {
        self.parts = parts
        parts.world.count(origin, 1)
    }

    deinit {
        parts.world.count(origin, -1)
        parts.world.farewell(of: parts)
    }
}

struct Origin: Hashable { let recipe: Int, mark: Int }

/// A scope, and how often it was reset, twice: odd while it is.
final class ScopeBox: @unchecked Sendable {
    let scope = Scope()
    let id: Int
    var generation = 0  // The world's lock protects it.
    init(_ id: Int) { self.id = id }
}

/// What a thread is about; it is found by the thread.
final class Context: @unchecked Sendable {
    let index: Int
    let model: ModelContext?
    let isTask: Bool
    var levels: [Int]  // The overrides it is in.
    var asks = 0, factories = 0, request = 0
    /// What is configured stays until the end of the request: when Dowel lets go of it is not promised.
    var configured: [Core] = []
    var isInFarewell = false
    var reading: (level: Int, node: Int)?  // What is read, and the override whose modules alone may make it.
    var registered: [Int: (level: Int?, build: Int)] = [:]
    var isMain: Bool { index == 0 && !isTask }

    init(_ index: Int, _ model: ModelContext?, levels: [Int] = [], isTask: Bool = false) {
        (self.index, self.model, self.levels, self.isTask) = (index, model, levels, isTask)
    }

    private static let key = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var current: Context? {
        pthread_getspecific(key).map { Unmanaged<Context>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes this the thread's context while `body` runs.
    func here<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { _ = (pthread_setspecific(Self.key, before), withExtendedLifetime(self) {}) }
        return try body()
    }

    /// Asks for something: what is made until this returns is one request, if nothing was asked before.
    func asking<Result>(_ world: World, _ body: () throws -> Result) rethrows -> Result {
        if asks == 0 { request = world.newNumber() }
        asks += 1
        defer { endAsking() }
        return try body()
    }

    func endAsking() {
        while asks == 1, !configured.isEmpty {
            let old = configured
            configured = []
            withExtendedLifetime(old) {}
        }
        asks -= 1
    }
}

/// What is true of an instance, in words that mean the same for the model.
struct Seen: Equatable { let id: Int, origin: Origin }

/// What a step does, in words that mean the same for the model.
enum Event {
    case made(Seen, kept: [Seen])
    case configured(Seen, kept: [Seen])
    case got(Seen?)
    case threw
}

struct Failure: Error {}

/// Where a kept instance belongs: in a container, or in a scope between two resets for an id.
private struct Spot: Hashable { let place: Int, generation: Int, node: Int, id: Int }

/// A program while it runs, and what was seen of it so far.
final class World: @unchecked Sendable {
    enum Held { case core(Core), site(Site) }

    let program: Program
    let sabotage: Sabotage?
    let model: Model?
    private(set) var scopes: [ScopeBox] = []

    /// Protects all that follows.
    private let lock = NSLock()
    private(set) var failure: String?
    private var cells = [Held?](repeating: nil, count: Program.cells)
    private var lastNumber = 0, lastMark = 0
    private var lives: [Origin: Int] = [:]
    private var events: [Event] = []
    private var tables: [Int: [Int: Int]] = [:]  // Of a container: which recipe it has for a node.
    private var ancestors: [Int: Set<Int>] = [:]
    private var closing: Set<Int> = []
    /// The mark is nil where two were built at once: which of them came last is not known.
    private var built: (generation: Int, underWay: Int, mark: Int?) = (0, 0, nil)
    private var shared: [Spot: Int] = [:], madeCount: [Spot: Int] = [:], graph: [Spot: Int] = [:]
    private var held: [Spot: (id: Int, count: Int)] = [:]
    private var counts = Report()

    /// How many there are: whoever keeps a container keeps its modules, and with them their world.
    static var count: Int { countLock.withLock { worlds } }
    private static let countLock = NSLock()
    nonisolated(unsafe) private static var worlds = 0

    deinit { World.countLock.withLock { World.worlds -= 1 } }

    init(_ program: Program, _ sabotage: Sabotage?) {
        (self.program, self.sabotage) = (program, sabotage)
        World.countLock.withLock { World.worlds += 1 }
        model = program.isSerial ? Model(program) : nil
        scopes = [ScopeBox(newNumber()), ScopeBox(newNumber())]
    }

    @discardableResult func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    var report: Report {
        withLock {
            (counts.programs, counts.threads) = (1, program.threads.count)
            return counts
        }
    }
    var hasFailed: Bool { withLock { failure != nil } }
    func fail(_ text: @autoclosure () -> String) { withLock { failure = failure ?? text() } }
    func newNumber() -> Int {
        withLock {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Containers have numbers of their own, so that the model's are the same.
    func newMark() -> Int {
        withLock {
            lastMark += 1
            return lastMark
        }
    }

    // MARK: - Who lives

    func count(_ origin: Origin, _ change: Int) {
        withLock {
            let count = lives[origin, default: 0] + change
            lives[origin] = count == 0 ? nil : count
            if change > 0 { counts.instances += 1 }
        }
    }

    var alive: [Origin: Int] { withLock { lives } }

    /// What a deinit does: asks for what nobody offers, of a scope that may just be letting go, and for its own type.
    func farewell(of parts: Parts) {
        guard let context = Context.current, !context.isInFarewell, let recipe = parts.recipe, recipe.asksAtTheEnd,
            !parts.isOfFarewell
        else { return }
        context.isInFarewell = true
        defer { context.isInFarewell = false }
        let (node, request, asks) = (program.nodes[parts.node], context.request, context.asks)
        let slot = slots[node.slot]
        if slot.find("nobody") != nil { fail("somebody offers what nobody offers") }
        _ = parts.home?.scope.weakShared(for: "farewell", { Farewell() }, file: "Farewell", line: 0)
        // The model cannot tell when an instance of a request goes. Within a factory it would be a cycle.
        guard context.factories == 0, model == nil || asks == 0 else { return }
        guard node.component == nil, !node.isMainOnly else { return }
        // At the end of a request it is not known whether this is still the same.
        context.request = asks == 0 ? newNumber() : 0
        context.asks += 1
        defer {
            context.endAsking()
            context.request = request
        }
        _ = recipe.number % 2 == 0 ? slot.find(node.name) : slot.maybe(node.name).read()
    }

    private final class Farewell: Sendable {}

    // MARK: - What happened

    func log(_ event: @autoclosure () -> Event) {
        guard model != nil, Context.current?.isInFarewell == false else { return }
        let event = event()
        withLock { events.append(event) }
    }

    func takeEvents() -> [Event] {
        withLock {
            defer { events = [] }
            return events
        }
    }

    func countOperation() { withLock { counts.operations += 1 } }

    // MARK: - Containers

    /// A set's modules, with the container's marks.
    func dependencies(_ set: [Recipe], mark: Int, isBase: Bool) -> Dependencies {
        let modules = set.filter { program.lives($0.node) }.map { module($0) }
        return Dependencies {
            Module { Mark(number: mark) }
            if isBase { Module { Base(number: mark) } }
            modules
        }
    }

    func build(_ set: Int) {
        let mark = newMark(), recipes = program.builds[set]
        let new = dependencies(recipes, mark: mark, isBase: true)
        let begin: Int = withLock {
            let others = tables.keys.filter { ancestors[$0] == [$0] }
            closing.formUnion(built.underWay == 0 ? others : others + [mark])
            tables[mark] = table(recipes)
            ancestors[mark] = [mark]
            built.generation += 1
            built.underWay += 1
            return built.generation
        }
        new.build()
        withLock {
            built.generation += 1
            built = (built.generation, built.underWay - 1, built.generation == begin + 1 ? mark : nil)
        }
    }

    private func table(_ recipes: [Recipe]) -> [Int: Int] {
        Dictionary(uniqueKeysWithValues: recipes.filter { program.lives($0.node) }.map { ($0.node, $0.number) })
    }

    /// In the block of an override: where it stands.
    func began(_ set: Int, _ mark: Int, in enclosing: Int?) {
        let actual = (Resolver.resolve() as Mark).number
        if actual != mark { fail("in override \(mark) container \(actual) is in force") }
        let outer = enclosing ?? (Resolver.resolve() as Base).number
        withLock { () -> Void in
            tables[mark] = tables[outer]!.merging(table(program.overrides[set])) { $1 }
            ancestors[mark] = ancestors[outer]!.union([mark])
        }
    }

    func closes(_ mark: Int) { withLock { _ = closing.insert(mark) } }

    /// Where the thread stands, outside of all factories: the container in force, if that cannot change meanwhile.
    func stand(_ context: Context) -> (level: Int?, build: Int) {
        (context.levels.last, withLock { built.generation })
    }

    private func mark(at stand: (level: Int?, build: Int), _ context: Context) -> Int? {
        if let level = stand.level { return level }
        let now = withLock { built }
        return now.generation == stand.build && now.underWay == 0 ? now.mark : nil
    }

    // MARK: - Making

    /// What every factory does: it looks at what it got, and asks for more.
    func made(
        _ recipe: Recipe, _ needs: [Core?], in home: ScopeBox? = nil, id: Int = 0, generation: Int? = nil,
        fails: Bool = false
    ) throws -> Parts {
        guard let context = Context.current else { fatalError("a factory runs on a thread of nobody") }
        context.factories += 1
        defer { context.factories -= 1 }
        let mark = (Resolver.resolve() as Mark).number
        let isComponent = home != nil
        let isOpen = withLock { !closing.contains(mark) }
        if !isComponent {
            let right = withLock { tables[mark]?[recipe.node] }
            if right != recipe.number {
                fail("recipe \(recipe.number) ran in container \(mark), where \(right ?? 0) is the one for its type")
            }
        }
        if let reading = context.reading, context.factories == 1, !context.isInFarewell {
            if mark != reading.level { fail("what is read of override \(reading.level) was made in container \(mark)") }
            // What configures comes after it, from wherever.
            if recipe.node == reading.node { context.reading = nil }
        }
        if recipe.isMain, !context.isMain { fail("recipe \(recipe.number) of the main actor ran elsewhere") }
        var parts = Parts(
            world: self, id: newNumber(), node: recipe.node, recipe: recipe, mark: mark, request: context.request,
            isOfFarewell: context.isInFarewell)
        parts.scope = recipe.hasScope ? ScopeBox(newNumber()) : nil
        parts.home = home
        for _ in 0..<recipe.pauses { sched_yield() }
        let wanted = program.lives(recipe.needs)
        if wanted.count != needs.count { fail("\(needs.count) needs were filled, of \(wanted.count)") }
        for (need, core) in zip(wanted, needs) { look(at: core, need.node, need.isOptional, mark, context) }
        parts.kept = needs.compactMap(\.self)
        let own = home ?? parts.scope
        for step in recipe.body { perform(step, &parts, own, mark, context) }
        if fails {
            parts.kept = []
            parts.sites = []
            throw Failure()
        }
        let seen = Seen(id: parts.id, origin: Origin(recipe: recipe.number, mark: mark))
        let kept = parts.kept
        log(.made(seen, kept: kept.map(\.seen)))
        if recipe.kind == .shared {
            var spot = isOpen ? Spot(place: mark, generation: 0, node: recipe.node, id: 0) : nil
            if let home {
                let isStill = withLock { home.generation == generation && home.generation % 2 == 0 }
                spot = isStill ? Spot(place: home.id, generation: generation!, node: recipe.node, id: id) : nil
            }
            if let spot, isSecond(spot) { fail("recipe \(recipe.number) ran twice in place \(spot.place)") }
        }
        return parts
    }

    private func isSecond(_ spot: Spot) -> Bool {
        withLock {
            madeCount[spot, default: 0] += 1
            return madeCount[spot]! > 1
        }
    }

    /// What every configuration does.
    func configure(_ recipe: Recipe, _ core: Core, _ parts: [Core?]) {
        guard let context = Context.current else { fatalError("a configuration runs on a thread of nobody") }
        context.factories += 1
        defer { context.factories -= 1 }
        let mark = (Resolver.resolve() as Mark).number
        if mark != core.parts.mark { fail("instance \(core.id) of \(core.parts.mark) was configured in \(mark)") }
        if core.parts.request != 0, core.parts.request != context.request {
            fail("instance \(core.id) was configured in another request")
        }
        for (part, core) in zip(program.lives(recipe.parts!), parts) {
            look(at: core, part.node, part.isOptional, mark, context)
        }
        core.configuration += parts.compactMap(\.self)
        context.configured.append(core)
        log(.configured(core.seen, kept: parts.compactMap { $0?.seen }))
    }

    /// In a factory: `mark` is its container.
    private func perform(_ step: Step, _ parts: inout Parts, _ own: ScopeBox?, _ mark: Int, _ context: Context) {
        switch step {
        case .ask(let node, let isOptional, let keep):
            guard program.lives(node) else { return }
            let core = ask(node, isOptional)
            look(at: core, node, isOptional, mark, context)
            log(.got(core?.seen))
            if keep != nil, let core { parts.kept.append(core) }
        case .inject(let node, let isOptional, let isRead, let keep):
            guard program.lives(node) else { return }
            let site = site(node, isOptional)
            if isRead {
                let core = site.read()
                if let core { look(at: core, node, isOptional, nil, context, token: site.token) }
                log(.got(core?.seen))
            }
            if keep != nil { parts.sites.append(site) }
        case .component(let node, _, let id, let fails, let keep):
            guard program.lives(node), let own else { return }
            let core = component(node, of: own, id, fails, context)
            if keep != nil, let core { parts.kept.append(core) }
        case .override(let set, let steps, _):
            let inner = newMark()
            let dependencies = dependencies(program.overrides[set], mark: inner, isBase: false)
            dependencies.override {
                began(set, inner, in: mark)
                for step in steps { perform(step, &parts, own, inner, context) }
                closes(inner)
            }
        default: break
        }
    }

    func ask(_ node: Int, _ isOptional: Bool) -> Core? {
        let (slot, name) = (slots[program.nodes[node].slot], program.nodes[node].name)
        let core = isOptional ? slot.find(name) : slot.resolve(name)
        return sabotage.map { $0.tamper(with: core) } ?? core
    }

    func site(_ node: Int, _ isOptional: Bool) -> Site {
        slot(program.nodes[node].slot, isOptional: isOptional).site(program.nodes[node].name, node)
    }

    func component(_ node: Int, of box: ScopeBox, _ id: Int, _ fails: Bool, _ context: Context) -> Core? {
        let recipe = program.nodes[node].component!
        let generation = withLock { box.generation }
        var result: Core?
        do {
            result = try context.asking(self) {
                try slots[program.nodes[node].slot].component(recipe, of: box.scope, for: identifiers[id].value) {
                    try self.made(recipe, [], in: box, id: id, generation: generation, fails: fails)
                } configure: { core in
                    let parts = self.program.lives(recipe.parts!).map { self.ask($0.node, $0.isOptional) }
                    self.configure(recipe, core, parts)
                }
            }
        } catch { log(.threw) }
        if let result {
            look(at: result, node, false, nil, context, in: box, id: id, generation)
            log(.got(result.seen))
        }
        return result
    }

    // MARK: - What must hold, whoever came first

    /// Looks at what somebody got: `mark` is the container it must be of.
    func look(
        at core: Core?, _ node: Int, _ isOptional: Bool, _ mark: Int?, _ context: Context, in box: ScopeBox? = nil,
        id: Int = 0, _ generation: Int? = nil, token: Int? = nil, isOwnRequest: Bool = true
    ) {
        let token = token ?? newNumber(), request = context.request
        withLock {
            counts.resolves += 1
            guard let core else {
                if !isOptional { failure = failure ?? "nothing came for \(program.label(node))" }
                if let mark, tables[mark]?[node] != nil {
                    failure = failure ?? "nothing came for \(program.label(node)), which container \(mark) offers"
                }
                return
            }
            let parts = core.parts
            func fail(_ text: String) { failure = failure ?? "\(program.label(node)): \(text)" }
            if parts.node != node { fail("an instance of \(program.label(parts.node)) came") }
            guard let recipe = parts.recipe else {
                if let mark, parts.mark != 0, ancestors[mark]?.contains(parts.mark) != true {
                    fail("in container \(mark) came what was registered into \(parts.mark)")
                }
                return
            }
            if let mark, parts.mark != mark { fail("in container \(mark) came an instance of \(parts.mark)") }
            if let box, parts.home !== box { fail("another scope's instance came") }
            var spot: Spot? = Spot(place: parts.mark, generation: 0, node: node, id: 0)
            if let box {
                let isStill = generation == box.generation && box.generation % 2 == 0
                spot = isStill ? Spot(place: box.id, generation: box.generation, node: node, id: id) : nil
            }
            switch recipe.kind {
            case .unshared:
                core.owner = core.owner ?? token
                if core.owner != token { fail("two got one unshared instance, \(core.id)") }
            case .shared:
                guard let spot, box != nil || !closing.contains(parts.mark) else { break }
                shared[spot] = shared[spot] ?? core.id
                if shared[spot] != core.id { fail("there are two shared instances, \(shared[spot]!) and \(core.id)") }
            case .weakShared:
                guard let spot, let other = held[spot] else { break }
                if other.id != core.id { fail("\(other.id) is held, and \(core.id) came") }
            case .objectGraph:
                guard isOwnRequest, request * parts.request != 0 else { break }
                if parts.request != request { fail("request \(request) got \(core.id), made in \(parts.request)") }
                guard let spot else { break }
                let inRequest = Spot(
                    place: spot.place, generation: request, node: node, id: spot.generation * identifiers.count + id)
                graph[inRequest] = graph[inRequest] ?? core.id
                if graph[inRequest] != core.id { fail("one request got \(graph[inRequest]!) and \(core.id)") }
            }
        }
    }

    /// Looks at what was asked for outside of all factories, from `stand`.
    func look(at core: Core?, _ node: Int, from stand: (level: Int?, build: Int), _ context: Context) {
        let mark = mark(at: stand, context)
        look(at: core, node, core == nil, mark, context)
        guard mark != nil, let mine = context.registered[node], mine == stand else { return }
        if core == nil || core?.parts.recipe != nil { fail("\(program.label(node)): what was registered is lost") }
    }

    /// Reads what injects, which must always give the same.
    func read(_ site: Site, _ context: Context) -> Core? {
        context.reading = site.level.map { ($0, site.node) }
        let core = context.asking(self) { site.read() }
        context.reading = nil
        guard let core else { return nil }
        look(at: core, site.node, true, nil, context, token: site.token, isOwnRequest: false)
        withLock {
            site.seen = site.seen ?? core.id
            if site.seen != core.id { failure = failure ?? "one @Inject gave \(site.seen!) and \(core.id)" }
        }
        return core
    }

    /// Registers an instance of no factory.
    func register(_ node: Int, _ context: Context) {
        let before = stand(context)
        let level = before.level ?? 0
        let parts = Parts(
            world: self, id: newNumber(), node: node, recipe: nil, mark: level, request: 0, isOfFarewell: false)
        slots[program.nodes[node].slot].register(parts, program.nodes[node].name)
        if stand(context) == before { context.registered[node] = before }
    }

    // MARK: - Cells

    func cell(_ index: Int) -> Held? { withLock { cells[index] } }

    /// Puts something into a cell; what was there goes once nothing is locked.
    func put(_ new: Held?, into index: Int) {
        let old = withLock {
            if case .core(let core) = cells[index], let spot = weakSpot(core) {
                held[spot]!.count -= 1
                if held[spot]!.count == 0 { held[spot] = nil }
            }
            if case .core(let core) = new, let spot = weakSpot(core) {
                let other = held[spot] ?? (core.id, 0)
                if other.id != core.id { failure = failure ?? "\(other.id) and \(core.id), weakShared, are both held" }
                held[spot] = (other.id, other.count + 1)
            }
            defer { cells[index] = new }
            return cells[index]
        }
        withExtendedLifetime(old) {}
    }

    /// Only modules' ones: which reset came between is not known of a scope's.
    private func weakSpot(_ core: Core) -> Spot? {
        guard core.parts.recipe?.kind == .weakShared, program.nodes[core.parts.node].component == nil else {
            return nil
        }
        return Spot(place: core.parts.mark, generation: 0, node: core.parts.node, id: 0)
    }

    func reset(_ box: ScopeBox) {
        withLock { box.generation += 1 }
        box.scope.reset()
        withLock { box.generation += 1 }
    }

    func letGoOfScopes() { scopes = [] }
}

extension Core {
    var seen: Seen { Seen(id: id, origin: origin) }
}

extension Slot {
    static func maybe(_ name: String?) -> Site { Maybe<Self>.site(name, 0) }
}
