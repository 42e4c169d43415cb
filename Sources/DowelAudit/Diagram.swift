import Dowel

nonisolated extension Dependencies {
    /// A language in which a drawing is written.
    public enum DiagramFormat: Sendable {
        /// Mermaid, which GitHub draws in a Markdown file.
        case mermaid
        /// DOT, which Graphviz draws: `dot -Tsvg`.
        case dot
    }

    /// The modules and their needs, as a drawing; with the injection sites, if any are given.
    ///
    ///     try dependencies.diagram(.dot, sites: dependencies.sites())
    ///
    /// A box is `.unshared`, a rounded box `.shared`, a hexagon `.weakShared`, a double box `.objectGraph`. An arrow
    /// goes from a type to what it needs, and is broken if the need is `Optional`. What nobody offers is red and says
    /// so. The owner of a site is a flag; or, if a module offers that very type, and it is not private, the box of that
    /// module. The name that a site asks for cannot be seen: its arrow goes to the module without a name, or else to
    /// the only one with a name, or to a diamond from which arrows go to all that have one.
    public func diagram(_ format: DiagramFormat, sites: [Site] = []) -> String {
        let drawing = Drawing(modules, sites)
        return switch format {
        case .mermaid: drawing.mermaid
        case .dot: drawing.dot
        }
    }
}

/// What is to be drawn: the nodes, and the arrows between them, as indices of nodes.
private nonisolated struct Drawing {
    enum Shape { case unshared, shared, weakShared, objectGraph, missing, site, choice }

    struct Arrow: Hashable {
        let from: Int
        let to: Int
        let isOptional: Bool
    }

    private var nodes: [(lines: [String], shape: Shape)] = []
    private var arrows: [Arrow] = []
    private var drawn: Set<Arrow> = []
    private var places: [ObjectIdentifier: [String?: Int]] = [:]
    private var missing: [ObjectIdentifier: Int] = [:]
    private var choices: [[Int]: Int] = [:]
    /// The full names behind each short one.
    private var holders: [String: Set<String>] = [:]

    init(_ modules: [Module], _ sites: [Dependencies.Site]) {
        let types = modules.flatMap { [$0.type] + $0.needs } + sites.compactMap(\.wanted)
        for type in types.flatMap(unwrapping) {
            holders[name(of: type, short: true), default: []].insert(name(of: type))
        }
        for site in sites { holders[short(site.owner), default: []].insert(site.owner) }

        for module in modules where places[ObjectIdentifier(module.type)]?[module.name] == nil {
            let shape: Shape =
                switch module.lifetime {
                case .shared: .shared
                case .weakShared: .weakShared
                case .objectGraph: .objectGraph
                default: .unshared
                }
            let lifetime = shape == .unshared ? [] : ["\(module.lifetime)"]
            let lines = [label(module.type)] + (module.name.map { ["“\($0)”"] } ?? []) + lifetime
            places[ObjectIdentifier(module.type), default: [:]][module.name] = add(lines, shape)
        }
        for module in modules {
            guard let from = places[ObjectIdentifier(module.type)]?[module.name] else { continue }
            for need in module.needs { connect(from, need, underAnyName: false) }
        }
        // If the very type that asks is offered, too, it has a node already, or one for each name. A private type is
        // left out, as one in another file may have its name.
        var owners: [String: [Int]] = [:]
        for module in modules where !_typeName(module.type).contains("unknown context") {
            owners[name(of: module.type)] = places[ObjectIdentifier(module.type)]?.values.sorted()
        }
        for site in sites {
            let key = site.isPrivate ? "private \(site.owner)" : site.owner
            let owner = owners[key] ?? [add([label(site.owner)], .site)]
            owners[key] = owner
            for from in owner {
                if let wanted = site.wanted {
                    connect(from, wanted, underAnyName: true)
                } else {
                    nodes[from].lines.append("\(site.property): depends on generic parameters")
                }
            }
        }
    }

    private mutating func add(_ lines: [String], _ shape: Shape) -> Int {
        nodes.append((lines, shape))
        return nodes.count - 1
    }

    private mutating func connect(_ from: Int, _ need: Any.Type, underAnyName: Bool) {
        let types = unwrapping(need)
        let offers = types.compactMap { places[ObjectIdentifier($0)] }
        var targets = offers.compactMap { $0[nil] }.prefix(1).map(\.self)
        if targets.isEmpty, underAnyName, let named = offers.first?.values.sorted() {
            targets = named.count == 1 ? named : [choice(of: named, label(types.last!))]
        }
        if targets.isEmpty, types.count == 1 {
            targets = [missing[ObjectIdentifier(need)] ?? add([label(need), "nobody offers it"], .missing)]
            missing[ObjectIdentifier(need)] = targets[0]
        }
        for to in targets { draw(Arrow(from: from, to: to, isOptional: types.count > 1)) }
    }

    private mutating func draw(_ arrow: Arrow) {
        if drawn.insert(arrow).inserted { arrows.append(arrow) }
    }

    /// One node between these modules and all sites that may ask for them: Mermaid draws no more than 500 arrows.
    private mutating func choice(of named: [Int], _ label: String) -> Int {
        if let choice = choices[named] { return choice }
        let choice = add([label, "under a name"], .choice)
        choices[named] = choice
        for to in named { draw(Arrow(from: choice, to: to, isOptional: false)) }
        return choice
    }

    /// The short name, if no other type has it, too.
    private func label(_ type: Any.Type) -> String {
        let short = name(of: type, short: true)
        return holders[short, default: []].count > 1 ? name(of: type) : short
    }

    private func label(_ owner: String) -> String {
        holders[short(owner), default: []].count > 1 ? owner : short(owner)
    }

    /// The owner's name without that of its module.
    private func short(_ owner: String) -> String {
        owner.firstIndex(of: ".").map { String(owner[owner.index(after: $0)...]) } ?? owner
    }

    // The nodes are numbered, so their labels may hold any name: in quotes, with special characters escaped.

    var mermaid: String {
        func text(_ lines: [String]) -> String {
            lines.map { line in
                line.unicodeScalars.map { scalar in
                    let isPlain =
                        scalar.properties.isAlphabetic || " 0123456789.,:_()[]“”".unicodeScalars.contains(scalar)
                    return isPlain ? String(scalar) : "#\(scalar.value);"
                }.joined()
            }.joined(separator: "<br/>")
        }
        let boxes = nodes.enumerated().map { index, node in
            let (open, close) =
                switch node.shape {
                case .unshared: ("[", "]")
                case .shared: ("(", ")")
                case .weakShared: ("{{", "}}")
                case .objectGraph: ("[[", "]]")
                case .missing: ("[", "]:::missing")
                case .site: (">", "]")
                case .choice: ("{", "}")
                }
            return "    n\(index)\(open)\"\(text(node.lines))\"\(close)\n"
        }
        let lines = arrows.map { "    n\($0.from) \($0.isOptional ? "-.->" : "-->") n\($0.to)\n" }
        let style = "    classDef missing fill:#fdd,stroke:#c00,color:#900,stroke-dasharray:4\n"
        return "flowchart LR\n" + style + boxes.joined() + lines.joined()
    }

    var dot: String {
        func text(_ lines: [String]) -> String {
            lines.map { line in
                // By scalars: a quote with a combining mark is still a quote.
                line.unicodeScalars.map { scalar in
                    // Graphviz stops reading at a zero, and a browser shows no picture that has one of these in it.
                    let isText = scalar.properties.generalCategory != .control
                    let shown = isText && !scalar.properties.isNoncharacterCodePoint ? scalar : "\u{FFFD}"
                    return ["\"": "\\\"", "\\": "\\\\", "&": "&amp;", "\n": " "][scalar] ?? String(shown)
                }.joined()
            }.joined(separator: "\\n")
        }
        let boxes = nodes.enumerated().map { index, node in
            let look =
                switch node.shape {
                case .unshared: "shape=box"
                case .shared: "shape=box, style=rounded"
                case .weakShared: "shape=hexagon"
                case .objectGraph: "shape=box, peripheries=2"
                case .missing:
                    "shape=box, style=\"dashed,filled\", color=\"#cc0000\", fillcolor=\"#ffdddd\", fontcolor=\"#990000\""
                case .site: "shape=note"
                case .choice: "shape=diamond"
                }
            return "    n\(index) [label=\"\(text(node.lines))\", \(look)]\n"
        }
        let lines = arrows.map { "    n\($0.from) -> n\($0.to)\($0.isOptional ? " [style=dashed]" : "")\n" }
        let style = "    rankdir=LR\n    node [fontname=\"Helvetica\", margin=\"0.2,0.1\"]\n"
        return "digraph Dependencies {\n" + style + boxes.joined() + lines.joined() + "}\n"
    }
}
