/// Makes a failing program as small as it can: drops parts of it, many at first and then single ones, while it fails.
struct Shrinker {
    private let fails: (Program) -> Bool
    private var program: Program

    static func shrink(_ program: Program, while fails: @escaping (Program) -> Bool) -> Program {
        var shrinker = Shrinker(fails: fails, program: program)
        while shrinker.dropNodes() || shrinker.dropParts() {}
        return shrinker.program
    }

    private mutating func dropNodes() -> Bool {
        let program = program
        return drop(program.nodes.indices.filter { program.lives($0) }) { nodes in
            var smaller = program
            smaller.dropped.formUnion(nodes)
            return smaller
        }
    }

    private mutating func dropParts() -> Bool {
        let program = program
        var count = 0
        _ = program.without { _ in
            count += 1
            return false
        }
        return drop(Array(0..<count)) { parts in program.without { parts.contains($0) } }
    }

    /// True where any could go. What is gone stays gone while the rest is tried.
    private mutating func drop(_ all: [Int], _ without: (Set<Int>) -> Program) -> Bool {
        var (left, gone) = (all, Set<Int>())
        var size = max(1, left.count / 2)
        while true {
            var start = 0
            while start < left.count {
                let end = min(start + size, left.count)
                let candidate = without(gone.union(left[start..<end]))
                if fails(candidate) {
                    program = candidate
                    gone.formUnion(left[start..<end])
                    left.removeSubrange(start..<end)
                } else {
                    start = end
                }
            }
            if size == 1 { return !gone.isEmpty }
            size /= 2
        }
    }
}

extension Program {
    /// A copy without the parts that `isGone` says: each has a number, and is asked about once.
    func without(_ isGone: (Int) -> Bool) -> Program {
        var number = -1
        func goes() -> Bool {
            number += 1
            return isGone(number)
        }
        func kept(_ steps: [Step]) -> [Step] {
            steps.flatMap { step in
                if goes() { return [Step]() }
                guard let inner = step.nested.map({ kept($0) }) else { return [step] }
                // Outside of its override nobody may offer what it asks for.
                return goes() ? inner.map { careful($0) } : [step.with(inner)]
            }
        }
        func careful(_ step: Step) -> Step {
            switch step {
            case .ask(let node, _, let keep) where nodes[node].isExtra: .ask(node, isOptional: true, keep: keep)
            case .inject(let node, _, let isRead, let keep) where nodes[node].isExtra:
                .inject(node, isOptional: true, isRead: isRead, keep: keep)
            default: step.with((step.nested ?? []).map { careful($0) })
            }
        }
        func kept(_ recipe: Recipe) -> Recipe {
            var recipe = recipe
            recipe.needs = recipe.needs.filter { !lives($0.node) || !goes() }
            if recipe.parts != nil, goes() { recipe.parts = nil }
            recipe.parts = recipe.parts?.filter { !lives($0.node) || !goes() }
            recipe.body = kept(recipe.body)
            if recipe.hasScope, goes() { recipe.hasScope = false }
            if recipe.asksAtTheEnd, goes() { recipe.asksAtTheEnd = false }
            if recipe.pauses > 0, goes() { recipe.pauses = 0 }
            return recipe
        }
        var copy = self
        copy.prelude = kept(prelude)
        copy.threads = threads.map { kept($0) }
        // What an override offers in place of another may go: the other is there. The first build may not be empty.
        copy.overrides = overrides.map { set in
            set.compactMap { recipe in
                if !lives(recipe.node) { return recipe }
                if !nodes[recipe.node].isExtra, goes() { return nil }
                return kept(recipe)
            }
        }
        copy.builds = builds.map { $0.map { lives($0.node) ? kept($0) : $0 } }
        for index in nodes.indices where lives(index) { copy.nodes[index].component = nodes[index].component.map(kept) }
        return copy
    }
}
