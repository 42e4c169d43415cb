// What Dowel promises, said as simply as can be: for one thread at a time, with counted references for all that lives.

/// An instance.
final class ModelCore {
    let recipe: Recipe?, node: Int, seen: Seen, isOfFarewell: Bool, model: Model
    // In the order of a real one's, for they are let go of in this order, and what is let go of may ask.
    var scope: ModelScope?
    var kept: [ModelCore] = []
    var sites: [ModelSite] = []
    var configuration: [ModelCore] = []

    init(_ recipe: Recipe?, _ node: Int, _ mark: Int, _ model: Model) {
        (self.recipe, self.node, self.model) = (recipe, node, model)
        isOfFarewell = model.context.isInFarewell
        model.lastID += 1
        seen = Seen(id: model.lastID, origin: Origin(recipe: recipe?.number ?? -node, mark: mark))
        model.lives[seen.origin, default: 0] += 1
    }

    deinit {
        let count = model.lives[seen.origin]!
        model.lives[seen.origin] = count == 1 ? nil : count - 1
        if let recipe, recipe.asksAtTheEnd, !isOfFarewell { model.farewell(of: node) }
    }
}

/// Where instances come from, in a container, a scope or a request.
final class ModelSource {
    let recipe: Recipe?, registered: ModelCore?, isObject: Bool
    var kept: ModelCore?
    weak var object: ModelCore?
    var isWeak: Bool

    init(_ recipe: Recipe, isObject: Bool) {
        (self.recipe, registered, self.isObject, isWeak) = (recipe, nil, isObject, recipe.kind == .weakShared)
    }

    init(_ registered: ModelCore) { (recipe, self.registered, isObject, isWeak) = (nil, registered, true, false) }

    func close() {
        let old = kept
        if isObject, let old { object = old }
        (kept, isWeak) = (nil, true)
        withExtendedLifetime(old) {}
    }
}

final class ModelContainer {
    enum Offer { case recipe(Recipe), registered(ModelCore) }

    let mark: Int, isOverride: Bool
    let sources: [Int: ModelSource]
    var registered: [Int: ModelSource] = [:]
    var offers: [Int: Offer] {
        sources.merging(registered) { $1 }.mapValues { $0.registered.map { .registered($0) } ?? .recipe($0.recipe!) }
    }

    init(_ mark: Int, isOverride: Bool, _ offers: [Int: Offer], _ program: Program) {
        (self.mark, self.isOverride) = (mark, isOverride)
        sources = offers.mapValues { offer in
            switch offer {
            case .recipe(let recipe): ModelSource(recipe, isObject: program.isObject(recipe.node))
            case .registered(let core): ModelSource(core)
            }
        }
    }

    func close() { for source in sources.values { source.close() } }
}

final class ModelSite {
    let node: Int
    var container: ModelContainer?, kept: ModelCore?
    init(_ node: Int, _ inForce: ModelContainer) { (self.node, container) = (node, inForce.isOverride ? inForce : nil) }
}

final class ModelScope {
    struct Spot: Hashable { let node: Int, id: Int }
    var sources: [Spot: ModelSource] = [:]
}

/// What a thread is about.
final class ModelContext {
    var frames: [(container: ModelContainer, bound: ModelContainer?)] = []
    var bound: ModelContainer?
    var isAsking = false, isInFarewell = false
    var graph: [ObjectIdentifier: (original: ModelSource, copy: ModelSource)] = [:]
    var pending: [() -> Void] = []
    var configured: [ModelCore] = []
    init(bound: ModelContainer?) { self.bound = bound }
}

extension Program {
    func isObject(_ node: Int) -> Bool { slots[nodes[node].slot].isObject }
}

final class Model: @unchecked Sendable {
    enum Held { case core(ModelCore), site(ModelSite) }

    /// What is registered into a process's first container stays.
    nonisolated(unsafe) private static var first: ModelContainer?

    let program: Program
    var lives: [Origin: Int] = [:]
    var lastID = 0
    private var lastMark = 0
    private var cells = [Held?](repeating: nil, count: Program.cells)
    private var scopes = [ModelScope(), ModelScope()]
    private var events: [Event] = []
    private var built: ModelContainer
    fileprivate var context = ModelContext(bound: nil)

    init(_ program: Program) {
        self.program = program
        built = ModelContainer(0, isOverride: false, [:], program)
    }

    func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    private func log(_ event: Event) { if !context.isInFarewell { events.append(event) } }

    // MARK: - Containers

    private var inForce: ModelContainer {
        if let frame = context.frames.last, frame.bound === context.bound { return frame.container }
        return context.bound ?? built
    }

    private func container(_ set: [Recipe], over enclosing: ModelContainer?) -> ModelContainer {
        lastMark += 1
        let offers = Dictionary(
            uniqueKeysWithValues: set.filter { program.lives($0.node) }.map {
                ($0.node, ModelContainer.Offer.recipe($0))
            })
        return ModelContainer(
            lastMark, isOverride: enclosing != nil, (enclosing?.offers ?? [:]).merging(offers) { $1 }, program)
    }

    func build(_ set: [Recipe], in context: ModelContext, isFirst: Bool = false) {
        self.context = context
        let old = built
        built = container(set, over: nil)
        if isFirst { Model.first = built }
        old.close()
    }

    func begin(_ set: Int, in context: ModelContext) {
        self.context = context
        context.bound = container(program.overrides[set], over: inForce)
    }

    func end(_ outer: ModelContainer?, in context: ModelContext) {
        self.context = context
        context.bound?.close()
        context.bound = outer
    }

    // MARK: - Making

    private func framed(_ container: ModelContainer, _ body: () throws -> ModelCore) rethrows -> ModelCore {
        let isOutermost = context.frames.isEmpty
        context.frames.append((container, context.bound))
        defer {
            context.frames.removeLast()
            if isOutermost { (context.graph, context.pending) = ([:], []) }
        }
        let value = try body()
        while isOutermost, !context.pending.isEmpty { context.pending.removeFirst()() }
        return value
    }

    private func instance(of source: ModelSource, _ make: () throws -> ModelCore) rethrows -> ModelCore {
        if let registered = source.registered { return registered }
        let recipe = source.recipe!
        if recipe.kind == .unshared { return try make() }
        if let kept = source.kept { return kept }
        var source = source
        if recipe.kind == .objectGraph {
            let copy = context.graph[ObjectIdentifier(source)]?.copy ?? ModelSource(recipe, isObject: source.isObject)
            context.graph[ObjectIdentifier(source)] = (source, copy)
            source = copy
        }
        if let existing = source.kept ?? source.object { return existing }
        let value = try make()
        if !source.isWeak { source.kept = value } else if source.isObject { source.object = value }
        return value
    }

    private func ask(_ node: Int, of chosen: ModelContainer? = nil) -> ModelCore? {
        let container = chosen ?? inForce
        guard let source = container.registered[node] ?? container.sources[node] else { return nil }
        return framed(container) { instance(of: source) { try! make(source.recipe!, in: nil, fails: false) } }
    }

    private func make(_ recipe: Recipe, in home: ModelScope?, fails: Bool) throws -> ModelCore {
        var kept = program.lives(recipe.needs).compactMap { ask($0.node) }
        var sites: [ModelSite] = []
        let scope = recipe.hasScope ? ModelScope() : nil
        for step in recipe.body { perform(step, &kept, &sites, home ?? scope) }
        let container = inForce
        if fails {
            (kept, sites) = ([], [])
            throw Failure()
        }
        let core = ModelCore(recipe, recipe.node, container.mark, self)
        (core.kept, core.sites, core.scope) = (kept, sites, scope)
        log(.made(core.seen, kept: kept.map(\.seen)))
        if let parts = recipe.parts {
            context.pending.append { [self] in
                context.frames.append((container, context.bound))
                let parts = program.lives(parts).compactMap { ask($0.node) }
                core.configuration += parts
                context.configured.append(core)
                log(.configured(core.seen, kept: parts.map(\.seen)))
                context.frames.removeLast()
            }
        }
        return core
    }

    private func perform(_ step: Step, _ kept: inout [ModelCore], _ sites: inout [ModelSite], _ own: ModelScope?) {
        switch step {
        case .ask(let node, _, let keep):
            guard program.lives(node) else { return }
            let core = ask(node)
            log(.got(core?.seen))
            if keep != nil, let core { kept.append(core) }
        case .inject(let node, _, let isRead, let keep):
            guard program.lives(node) else { return }
            let site = ModelSite(node, inForce)
            if isRead { log(.got(read(site)?.seen)) }
            if keep != nil { sites.append(site) }
        case .component(let node, _, let id, let fails, let keep):
            guard program.lives(node), let own else { return }
            if let core = component(node, of: own, id, fails), keep != nil { kept.append(core) }
        case .override(let set, let steps, _):
            let outer = context.bound
            context.bound = container(program.overrides[set], over: inForce)
            for step in steps { perform(step, &kept, &sites, own) }
            context.bound?.close()
            context.bound = outer
        default: break
        }
    }

    private func read(_ site: ModelSite) -> ModelCore? {
        if let kept = site.kept { return kept }
        guard let core = ask(site.node, of: site.container ?? built) else { return nil }
        (site.kept, site.container) = (core, nil)
        return core
    }

    private func component(_ node: Int, of scope: ModelScope, _ id: Int, _ fails: Bool) -> ModelCore? {
        let recipe = program.nodes[node].component!
        let spot = ModelScope.Spot(node: node, id: id)
        let source = scope.sources[spot] ?? ModelSource(recipe, isObject: program.isObject(node))
        scope.sources[spot] = source
        do {
            let core = try framed(inForce) { try instance(of: source) { try make(recipe, in: scope, fails: fails) } }
            log(.got(core.seen))
            return core
        } catch {
            log(.threw)
            return nil
        }
    }

    // MARK: - What threads do

    /// The same as the runner, for a step that has no steps in it.
    func perform(_ step: Step, in context: ModelContext, isMain: Bool) {
        self.context = context
        func may(_ node: Int) -> Bool { program.lives(node) && (isMain || !program.nodes[node].isMainOnly) }
        func asking<Result>(_ body: () -> Result) -> Result {
            context.isAsking = true
            defer { endAsking() }
            return body()
        }
        switch step {
        case .ask(let node, _, let keep):
            guard may(node) else { break }
            let core = asking { ask(node) }
            log(.got(core?.seen))
            if let keep { put(core.map { .core($0) }, into: keep) }
        case .inject(let node, _, let isRead, let keep):
            guard may(node) else { break }
            let site = ModelSite(node, inForce)
            if isRead {
                let core = asking { read(site) }
                log(.got(core?.seen))
            }
            if let keep { put(.site(site), into: keep) }
        case .read(let cell):
            let sites: [ModelSite] =
                switch cells[cell] {
                case .site(let site): [site]
                case .core(let core): core.sites
                case nil: []
                }
            for site in sites where may(site.node) {
                let core = asking { read(site) }
                log(.got(core?.seen))
            }
        case .drop(let cell): put(nil, into: cell)
        case .component(let node, let cell, let id, let fails, let keep):
            guard may(node), let scope = scope(cell, for: node) else { break }
            let core = asking { component(node, of: scope, id, fails) }
            if let keep { put(core.map { .core($0) }, into: keep) }
        case .reset(let cell):
            guard let scope = scope(cell, for: -1) else { break }
            let old = scope.sources
            scope.sources = [:]
            withExtendedLifetime(old) {}
        case .register(let node):
            guard may(node) else { break }
            let container = inForce
            let core = ModelCore(nil, node, container.isOverride ? container.mark : 0, self)
            let old = container.registered.updateValue(ModelSource(core), forKey: node)
            withExtendedLifetime(old) {}
        default: break
        }
    }

    private func scope(_ cell: Int, for node: Int) -> ModelScope? {
        if cell < 0 { return scopes[-cell - 1] }
        guard case .core(let core) = cells[cell], node < core.node else { return nil }
        return core.scope
    }

    private func put(_ new: Held?, into cell: Int) {
        let old = cells[cell]
        cells[cell] = new
        withExtendedLifetime(old) {}
    }

    func letGo(in context: ModelContext) {
        self.context = context
        for cell in cells.indices { put(nil, into: cell) }
        let old = scopes
        scopes = []
        withExtendedLifetime(old) {}
    }

    fileprivate func farewell(of node: Int) {
        if context.isInFarewell { return }
        context.isInFarewell = true
        defer { context.isInFarewell = false }
        if context.isAsking || program.nodes[node].component != nil || program.nodes[node].isMainOnly { return }
        context.isAsking = true
        _ = ask(node)
        endAsking()
    }

    private func endAsking() {
        while !context.configured.isEmpty {
            let old = context.configured
            context.configured = []
            withExtendedLifetime(old) {}
        }
        context.isAsking = false
    }
}
