import Dowel

/// Holds `validate()` to a model: modules with needs that nobody offers, two of one key, cycles, and replacements of
/// nothing.
enum Wiring {
    /// What differs, if anything.
    static func check(_ seed: UInt64, _ sabotage: Sabotage? = nil) -> String? {
        var random = SplitMix64(seed)
        let count = 1 + random.below(12)  // Two nodes more are offered by nobody.
        let world = World(Program(seed: seed, nodes: (0..<count + 2).map { Node(slot: $0) }), nil)
        let recipes = (0..<count).map { number in
            let needs = (0..<random.below(4)).map { _ in
                Need(node: random.below(count + 2), isOptional: random.chance(20))
            }
            return Recipe(number: number + 1, node: random.chance(85) ? number : random.below(count), needs: needs)
        }
        let replacements = (0..<random.below(3)).map { number in
            Recipe(number: count + number + 1, node: random.below(count + 2))
        }
        // The same place twice is one module.
        let again = random.chance(30) ? recipes.prefix(1) : []
        var dependencies = Dependencies { (recipes + again).map { world.module($0) } }
        if !replacements.isEmpty {
            dependencies = dependencies.replacing(Dependencies { replacements.map { world.module($0) } })
        }
        var problems: [String] = []
        do { try dependencies.validate() } catch { problems = error.problems }
        if sabotage == .overlooked { problems = Array(problems.dropLast()) }
        return compare(problems, recipes, replacements, count).map { "validate(): \($0), in \(problems)" }
    }

    private static func compare(
        _ problems: [String], _ recipes: [Recipe], _ replacements: [Recipe], _ count: Int
    ) -> String? {
        let replaced = Set(replacements.map(\.node))
        let all = recipes.filter { !replaced.contains($0.node) } + replacements
        var offered: [Int: Recipe] = [:]
        var duplicates = 0
        for recipe in all {
            if offered[recipe.node] == nil { offered[recipe.node] = recipe } else { duplicates += 1 }
        }
        let missing = offered.values.reduce(0) { sum, recipe in
            sum + Set(recipe.needs.filter { !$0.isOptional && offered[$0.node] == nil }.map(\.node)).count
        }
        let useless = replacements.filter { one in !recipes.contains { $0.node == one.node } }
        let cyclic = offered.keys.filter { reaches($0, offered).contains($0) }
        let components = Set(cyclic.map { node in cyclic.filter { reaches(node, offered).contains($0) }.min()! })
        func found(_ text: String) -> Int { problems.filter { $0.contains(text) }.count }
        let results = [
            ("needs", found(", which nobody offers"), missing), ("modules twice", found(" is offered at "), duplicates),
            ("vain replacements", found("replaces nothing"), Set(useless.map(\.node)).count),
        ]
        for (what, found, expected) in results where found != expected {
            return "\(found) \(what) found of \(expected)"
        }
        let cycles = found("Dependency cycle: ")
        if cycles < components.count || components.isEmpty && cycles > 0 {
            return "\(cycles) cycles found, of \(components.count) that have no part in common"
        }
        let sum = missing + duplicates + results[2].2 + cycles
        return problems.count == sum ? nil : "\(problems.count) problems found of \(sum)"
    }

    private static func reaches(_ node: Int, _ offered: [Int: Recipe]) -> Set<Int> {
        var (found, open) = (Set<Int>(), [node])
        while let next = open.popLast() {
            for need in offered[next]?.needs ?? [] where found.insert(need.node).inserted { open.append(need.node) }
        }
        return found
    }
}
