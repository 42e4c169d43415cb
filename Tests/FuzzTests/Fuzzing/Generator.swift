/// Steele, Lea and Flood's generator: the same numbers from the same seed, on every machine.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
    mutating func pick<Element>(weighted elements: [(Int, Element)]) -> Element {
        var number = below(elements.reduce(0) { $0 + $1.0 })
        for (weight, element) in elements {
            number -= weight
            if number < 0 { return element }
        }
        fatalError("the weights add up to nothing")
    }
}

/// Makes programs: the same from the same seed.
struct Generator {
    /// How many factories may run for a node, at worst and once what is shared exists, and how deep in each other.
    private struct Cost { var first = 1, later = 1, depth = 1 }

    /// Slots that are needed together: few enough that the types made for them do not pile up in memory.
    private static let companies: [[Int]] = {
        var random = SplitMix64(1)
        return slots.indices.map { index in
            (0..<5).map { _ in max(0, index - random.below(12)) }.reduce(into: []) {
                if !$0.contains($1) { $0.append($1) }
            }
        }
    }()

    private var random: SplitMix64
    private var program: Program
    private var costs: [Cost] = []
    private var extras: [Set<Int>] = []  // Of each override: what it offers that nobody else does.
    private var overriders: Set<Int> = []  // Nodes whose making may override.
    private var graphs: Set<Int> = []  // Nodes whose making may make what belongs to a request.
    private var lastRecipe = 0
    private let hasMain: Bool, hasTasks: Bool, hasBuilds: Bool
    private let favourite: Choice  // What threads do more often than else.
    private enum Choice { case node, component, read, drop, reset, register, build, override, task }

    static func program(_ seed: UInt64) -> Program {
        var generator = Generator(seed)
        generator.addNodes()
        let threads = generator.program.threads.count
        for thread in 0..<threads {
            let count = generator.random.pick([6, 12, 24, 48]) * 2 / (threads + 1) + 2
            generator.program.threads[thread] = generator.steps(count, isMain: thread == 0, depth: 0, [])
        }
        generator.addStorm()
        return generator.program
    }

    private init(_ seed: UInt64) {
        random = SplitMix64(seed)
        program = Program(seed: seed)
        program.isSerial = random.chance(50)
        let count = random.pick([1, 2, 2, 3, 4, 8])
        program.threads = Array(repeating: [], count: program.isSerial ? count : max(2, count))
        program.builds = Array(repeating: [], count: 1 + random.below(3))
        program.overrides = Array(repeating: [], count: 1 + random.below(4))
        extras = program.overrides.map { _ in [] }
        favourite = random.pick([.node, .component, .read, .drop, .reset, .register, .build])
        (hasMain, hasTasks, hasBuilds) = (random.chance(40), random.chance(40), random.chance(60))
    }

    // MARK: - Modules

    private mutating func addNodes() {
        let count = random.pick([5, 8, 12, 20, 20, 40, 80, 200])
        var next = 0
        for rank in 0..<count {
            let isComponent = random.chance(15)
            var node = Node(slot: random.below(min(slots.count, count)))
            // Two components at one place make two types.
            if let last = program.nodes.last(where: { $0.component?.number == lastRecipe }), last.slot == node.slot {
                node = Node(slot: (node.slot + 1) % slots.count)
            }
            let taken = program.nodes.filter { $0.component == nil }
            if !isComponent {
                if next == slots.count || !taken.isEmpty && random.chance(15) {
                    node = Node(slot: random.pick(taken).slot)
                    node.name = "\(taken.filter { $0.slot == node.slot }.count)"
                } else {
                    node = Node(slot: next)
                    next += 1
                }
                node.isExtra = random.chance(10)
            }
            program.nodes.append(node)
            costs.append(Cost())
            if isComponent {
                let recipe = recipe(rank, isComponent: true, [])
                program.nodes[rank].component = recipe
            } else {
                addRecipes(rank)
            }
        }
    }

    /// In each set another recipe. What an override alone offers is there for what else it offers.
    private mutating func addRecipes(_ rank: Int) {
        let isExtra = program.nodes[rank].isExtra
        var places: [(isBuild: Bool, set: Int, recipe: Recipe)] = []
        for set in program.overrides.indices where random.chance(isExtra ? 50 : 25) {
            places.append((false, set, recipe(rank, isComponent: false, extras[set])))
            if isExtra { extras[set].insert(rank) }
        }
        for set in program.builds.indices where !isExtra {
            places.append((true, set, recipe(rank, isComponent: false, [])))
        }
        for (isBuild, set, recipe) in places {
            var recipe = recipe
            // In which order several such go is not promised. Here it would matter.
            let matters = overriders.contains(rank) || program.isSerial && graphs.contains(rank)
            recipe.asksAtTheEnd = random.chance(20) && !matters
            if isBuild { program.builds[set].append(recipe) } else { program.overrides[set].append(recipe) }
        }
    }

    private mutating func recipe(_ rank: Int, isComponent: Bool, _ extras: Set<Int>) -> Recipe {
        lastRecipe += 1
        var recipe = Recipe(number: lastRecipe, node: rank)
        recipe.kind = random.pick(weighted: [
            (isComponent ? 0 : 30, .unshared), (35, .shared), (program.isObject(rank) ? 18 : 0, .weakShared),
            (17, .objectGraph),
        ])
        recipe.isMain = hasMain && random.chance(8)
        recipe.hasScope = !isComponent && random.chance(25)
        recipe.asksAtTheEnd = isComponent && random.chance(20)
        recipe.pauses = !program.isSerial && random.chance(20) ? random.pick([1, 5, 25]) : 0
        var cost = Cost()
        if !isComponent { addNeeds(to: &recipe, extras, &cost) }
        if recipe.kind == .objectGraph && !(isComponent && recipe.isMain) || recipe.kind == .unshared {
            if random.chance(25) {
                let part = (0..<rank).last { $0 % 3 == rank % 3 && isUnnamed($0) && add($0, to: &cost) }
                recipe.parts = part.map { [Need(node: $0, isOptional: program.nodes[$0].isExtra)] } ?? []
            }
        }
        for _ in 0..<random.pick([0, 0, 1, 1, 2, 3]) {
            recipe.body += step(rank, hasScope: isComponent || recipe.hasScope, extras, &cost, isInside: false)
        }
        let asked = (recipe.needs + (recipe.parts ?? [])).map(\.node) + recipe.body.flatMap { nodes(of: $0) }
        if recipe.isMain || asked.contains(where: { program.nodes[$0].isMainOnly }) {
            program.nodes[rank].isMainOnly = true
        }
        if recipe.body.contains(where: { $0.nested != nil }) || asked.contains(where: overriders.contains) {
            overriders.insert(rank)
        }
        if recipe.kind == .objectGraph || asked.contains(where: graphs.contains) { graphs.insert(rank) }
        if recipe.kind == .shared { cost.later = 1 }
        costs[rank].first = max(costs[rank].first, cost.first)
        costs[rank].later = max(costs[rank].later, cost.later)
        costs[rank].depth = max(costs[rank].depth, cost.depth)
        return recipe
    }

    private func isUnnamed(_ node: Int) -> Bool {
        program.nodes[node].component == nil && program.nodes[node].name == nil
    }

    private func nodes(of step: Step) -> [Int] {
        switch step {
        case .ask(let node, _, _), .inject(let node, _, _, _), .component(let node, _, _, _, _): [node]
        default: (step.nested ?? []).flatMap { nodes(of: $0) }
        }
    }

    /// False where it would be too much.
    private func add(_ node: Int, to cost: inout Cost, isInside: Bool = false) -> Bool {
        let more = costs[node]
        let later = cost.later + (isInside ? more.first : more.later)
        if later > 40 || cost.first + more.first > 400 || more.depth > 28 { return false }
        cost = Cost(first: cost.first + more.first, later: later, depth: max(cost.depth, more.depth + 1))
        return true
    }

    private mutating func addNeeds(to recipe: inout Recipe, _ extras: Set<Int>, _ cost: inout Cost) {
        guard recipe.node > 0, random.chance(75) else { return }
        let highest = program.nodes[..<recipe.node].map { $0.name == nil ? $0.slot : 0 }.max()!
        let company = random.below(highest + 1)
        // Each list of types that a main actor's factory takes makes several types more.
        for slot in Generator.companies[company] where !recipe.isMain || recipe.needs.count < 2 {
            let node = program.nodes[..<recipe.node].firstIndex {
                $0.slot == slot && $0.name == nil && $0.component == nil
            }
            guard let node, add(node, to: &cost) else { continue }
            let mayMiss = program.nodes[node].isExtra && !extras.contains(node)
            recipe.needs.append(Need(node: node, isOptional: mayMiss || (slot + company) % 4 == 0))
        }
    }

    /// What a factory does, if that is not too much.
    private mutating func step(
        _ rank: Int, hasScope: Bool, _ extras: Set<Int>, _ cost: inout Cost, isInside: Bool
    ) -> [Step] {
        guard rank > 0 else { return [] }
        let keep = random.chance(70) ? 0 : nil
        if !isInside, costs.count < 60, random.chance(5) {
            let set = random.below(program.overrides.count)
            var steps: [Step] = []
            for _ in 0...random.below(3) {
                steps += step(rank, hasScope: hasScope, extras.union(self.extras[set]), &cost, isInside: true)
            }
            return [.override(set, steps, isAsync: false)]
        }
        let node = random.below(rank)
        guard add(node, to: &cost, isInside: isInside) else { return [] }
        if program.nodes[node].component != nil {
            let (id, fails) = (random.below(identifiers.count), random.chance(15))
            return hasScope ? [.component(node, cell: 0, id: id, fails: fails, keep: keep)] : []
        }
        let isOptional = program.nodes[node].isExtra && !extras.contains(node) || random.chance(25)
        if random.chance(60) { return [.ask(node, isOptional: isOptional, keep: keep)] }
        return [.inject(node, isOptional: isOptional, isRead: random.chance(40), keep: keep)]
    }

    // MARK: - Threads

    private mutating func steps(_ count: Int, isMain: Bool, depth: Int, _ extras: Set<Int>) -> [Step] {
        (0..<count).flatMap { _ in step(isMain: isMain, depth: depth, extras) }
    }

    /// All threads begin with what the program does often, and with the same: that is where they meet.
    private mutating func addStorm() {
        let modules = program.nodes.indices.filter {
            program.nodes[$0].component == nil && !program.nodes[$0].isMainOnly && !program.nodes[$0].isExtra
        }
        let components = program.nodes.indices.filter {
            program.nodes[$0].component != nil && !program.nodes[$0].isMainOnly
        }
        if modules.isEmpty { return }
        if favourite == .read {
            let (set, modules) = (random.below(program.overrides.count), modules + extras.flatMap(\.self))
            let asked = modules.filter {
                !program.nodes[$0].isMainOnly && !program.nodes[$0].isExtra || extras[set].contains($0)
            }
            let steps = (0..<Program.cells).map { cell in
                Step.inject(random.pick(asked), isOptional: random.chance(20), isRead: false, keep: cell)
            }
            program.prelude = [.override(set, steps, isAsync: false)]
        }
        let same = (0..<6).map { _ in random.pick(modules) }
        let ids =
            components.isEmpty ? [] : (0..<6).map { _ in (random.pick(components), random.below(identifiers.count)) }
        let count = program.threads.count
        for thread in program.threads.indices {
            let own = modules.filter { $0 % count == thread }.prefix(8)
            let steps: [Step] =
                switch favourite {
                case .read: (0..<Program.cells).map { .read(cell: $0) }
                case .node: same.map { .ask($0, isOptional: false, keep: nil) }
                case .component: ids.map { .component($0, cell: -1, id: $1, fails: false, keep: nil) }
                case .register where !hasTasks:
                    own.map { .register($0) } + own.map { .ask($0, isOptional: true, keep: nil) }
                default: []
                }
            program.threads[thread] = steps + program.threads[thread]
        }
    }

    private func favour(_ choice: Choice) -> Int { choice == favourite ? 6 : 1 }

    private mutating func step(isMain: Bool, depth: Int, _ extras: Set<Int>) -> [Step] {
        let components = program.nodes.indices.filter {
            program.nodes[$0].component != nil && (isMain || !program.nodes[$0].isMainOnly)
        }
        let choice: Choice = random.pick(weighted: [
            (40, .node), (components.isEmpty ? 0 : 12 * favour(.component), .component), (16 * favour(.read), .read),
            (10 * favour(.drop), .drop), (4 * favour(.reset), .reset),
            (hasTasks ? 0 : 5 * favour(.register), .register), (hasBuilds ? 2 * favour(.build) : 0, .build),
            (depth < 3 ? 9 : 0, .override), (hasTasks && depth < 3 ? 4 : 0, .task),
        ])
        let cell = random.below(Program.cells)
        let scope = random.chance(50) ? -1 - random.below(2) : cell
        let keep = random.chance(80) ? random.below(Program.cells) : nil
        switch choice {
        case .read: return [.read(cell: cell)]
        case .drop: return [.drop(cell: cell)]
        case .reset: return [.reset(cell: scope)]
        case .build: return [.build(random.below(program.builds.count))]
        case .task: return [.task(steps(1 + random.below(4), isMain: false, depth: depth + 1, extras))]
        case .override:
            let (set, isAsync) = (random.below(program.overrides.count), hasTasks && random.chance(40))
            let inner = steps(
                1 + random.below(7), isMain: isMain && !isAsync, depth: depth + 1, extras.union(self.extras[set]))
            return [.override(set, inner, isAsync: isAsync)]
        case .node, .component, .register:
            // Few components, so that they are asked for again.
            let node =
                choice == .component ? random.pick(Array(components.prefix(3))) : random.below(program.nodes.count)
            if !isMain, program.nodes[node].isMainOnly { return [] }
            if program.nodes[node].component != nil {
                let (id, fails) = (random.below(identifiers.count), random.chance(20))
                return [.component(node, cell: scope, id: id, fails: fails, keep: keep)]
            }
            if choice == .register { return [.register(node)] }
            let isOptional = program.nodes[node].isExtra && !extras.contains(node) || random.chance(25)
            if random.chance(60) { return [.ask(node, isOptional: isOptional, keep: keep)] }
            return [.inject(node, isOptional: isOptional, isRead: random.chance(30), keep: keep)]
        }
    }
}
