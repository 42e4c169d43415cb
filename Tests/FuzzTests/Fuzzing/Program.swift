/// How long an instance lives: the model's own word for it.
enum Kind: String, Codable, Sendable { case unshared, shared, weakShared, objectGraph }

/// Something that may be asked for: a module's type and name, or a component of a scope. Its index in the program is
/// its rank. Whatever is made asks for lower ranks only, so that no program has a cycle.
struct Node: Codable, Equatable, Sendable {
    let slot: Int
    var name: String?
    var component: Recipe?
    var isExtra = false  // Offered by overrides only.
    var isMainOnly = false  // Somewhere in it is a Module.main.
}

/// A module, or a component: how it is made.
struct Recipe: Codable, Equatable, Sendable {
    let number: Int
    let node: Int
    var kind = Kind.unshared
    var isMain = false
    var needs: [Need] = []
    var parts: [Need]?  // What configures it; nil where nothing does.
    var body: [Step] = []
    var hasScope = false
    var asksAtTheEnd = false  // Its deinit asks for its own type.
    var pauses = 0  // How often its factory lets other threads go on.
}

/// A parameter of a factory.
struct Need: Codable, Equatable, Sendable {
    let node: Int
    var isOptional = false
}

/// What a thread does, or a factory. `keep` names the cell that the result goes to; in a factory any means "keep it".
enum Step: Codable, Equatable, Sendable {
    case ask(Int, isOptional: Bool, keep: Int?)
    case inject(Int, isOptional: Bool, isRead: Bool, keep: Int?)
    case read(cell: Int)
    case drop(cell: Int)
    /// Of the scope of what is in the cell, or of one that all threads share: -1, -2. In a factory: of its own scope.
    case component(Int, cell: Int, id: Int, fails: Bool, keep: Int?)
    case reset(cell: Int)
    case register(Int)
    case build(Int)
    case override(Int, [Step], isAsync: Bool)
    case task([Step])
}

/// A set of modules and what threads do with them: all of it follows from the seed.
struct Program: Codable, Equatable, Sendable {
    static let cells = 10
    let seed: UInt64
    var nodes: [Node] = []
    var builds: [[Recipe]] = []
    var overrides: [[Recipe]] = []
    var prelude: [Step] = []  // What the first thread does before there are others.
    var threads: [[Step]] = []
    /// One thread at a time, in an order that follows from the seed: then the model says what each step gives.
    var isSerial = true
    var dropped: Set<Int> = []

    func lives(_ node: Int) -> Bool { !dropped.contains(node) }
    func lives(_ needs: [Need]) -> [Need] { needs.filter { lives($0.node) } }
}

extension Step {
    var nested: [Step]? {
        switch self {
        case .override(_, let steps, _), .task(let steps): steps
        default: nil
        }
    }

    func with(_ steps: [Step]) -> Step {
        switch self {
        case .override(let set, _, let isAsync): .override(set, steps, isAsync: isAsync)
        case .task: .task(steps)
        default: self
        }
    }

    var count: Int { (nested ?? []).reduce(1) { $0 + $1.count } }
}

// MARK: - For people

extension Program: CustomStringConvertible {
    var description: String {
        var lines = ["program \(seed), \(isSerial ? "one thread at a time" : "all threads at once")"]
        for (index, node) in nodes.enumerated() where lives(index) {
            guard let component = node.component else { continue }
            lines.append("component \(text(component)): \(label(index))")
        }
        for (title, sets) in [("build", builds), ("override", overrides)] {
            for (index, set) in sets.enumerated() where isUsed(title, index) {
                lines.append("\(title) \(index) {")
                lines += set.filter { lives($0.node) }.map { "    \(text($0))" } + ["}"]
            }
        }
        if !prelude.isEmpty {
            lines += ["before there are threads {"] + prelude.flatMap { text($0) }.map { "    " + $0 } + ["}"]
        }
        for (index, steps) in threads.enumerated() where index == 0 || !steps.isEmpty {
            lines.append("thread \(index)\(index == 0 ? " (main), after build 0" : "") {")
            lines += steps.flatMap { text($0) }.map { "    " + $0 } + ["}"]
        }
        return lines.joined(separator: "\n")
    }

    private func isUsed(_ title: String, _ index: Int) -> Bool {
        func uses(_ steps: [Step]) -> Bool {
            steps.contains { step in
                switch step {
                case .build(index): title == "build"
                case .override(index, let steps, _): title == "override" || uses(steps)
                default: uses(step.nested ?? [])
                }
            }
        }
        let recipes = (builds + overrides).joined().filter { lives($0.node) } + nodes.compactMap(\.component)
        return title == "build" && index == 0 || uses(prelude) || threads.contains(where: uses)
            || recipes.contains { uses($0.body) }
    }

    func label(_ node: Int) -> String {
        "T\(nodes[node].slot)" + (nodes[node].name.map { " \"\($0)\"" } ?? "") + "#\(node)"
    }

    private func text(_ recipe: Recipe) -> String {
        let node = nodes[recipe.node]
        func list(_ needs: [Need]) -> String {
            lives(needs).map { label($0.node) + ($0.isOptional ? "?" : "") }.joined(separator: ", ")
        }
        let head = node.component == nil ? "Module\(recipe.isMain ? ".main" : "")(.\(recipe.kind))" : ".\(recipe.kind)"
        var text = "\(head) \(recipe.number): (\(list(recipe.needs))) -> \(label(recipe.node))"
        if let parts = recipe.parts { text += " configure(\(list(parts)))" }
        if recipe.hasScope { text += " with a scope" }
        if recipe.asksAtTheEnd { text += " whose deinit asks for its type" }
        if recipe.pauses > 0 { text += ", slow" }
        let body = recipe.body.flatMap { self.text($0) }
        return body.isEmpty ? text : text + " { " + body.joined(separator: "; ") + " }"
    }

    private func text(_ step: Step) -> [String] {
        func kept(_ cell: Int?) -> String { cell.map { " -> cell \($0)" } ?? "" }
        func scope(_ cell: Int) -> String { cell < 0 ? "scope \(-cell)" : "the scope of cell \(cell)" }
        switch step {
        case .ask(let node, let isOptional, let keep):
            return lives(node) ? ["\(isOptional ? "find" : "resolve") \(label(node))\(kept(keep))"] : []
        case .inject(let node, let isOptional, let isRead, let keep):
            return lives(node)
                ? ["@Inject \(label(node))\(isOptional ? "?" : "")\(isRead ? ", read" : "")\(kept(keep))"] : []
        case .read(let cell): return ["read cell \(cell)"]
        case .drop(let cell): return ["drop cell \(cell)"]
        case .component(let node, let cell, let id, let fails, let keep):
            return lives(node)
                ? [
                    "component \(label(node)) for \(identifiers[id].text) of \(scope(cell))"
                        + "\(fails ? ", which throws" : "")\(kept(keep))"
                ] : []
        case .reset(let cell): return ["reset \(scope(cell))"]
        case .register(let node): return lives(node) ? ["register \(label(node))"] : []
        case .build(let set): return ["build \(set)"]
        case .override(let set, let steps, let isAsync):
            let inner = steps.flatMap { text($0) }.map { "    " + $0 }
            return ["override \(set)\(isAsync ? ", async" : "") {"] + inner + ["}"]
        case .task(let steps):
            return ["Task {"] + steps.flatMap { text($0) }.map { "    " + $0 } + ["}"]
        }
    }
}

/// What components are made for: some are equal as `AnyHashable`, though their types differ.
let identifiers: [(value: (any Hashable & Sendable)?, text: String)] = [
    (nil, "nothing"), (1 as Int, "1 as Int"), (1 as Double, "1 as Double"), (1 as UInt8, "1 as UInt8"),
    ("1", "\"1\""), (2 as Int, "2 as Int"),
]
