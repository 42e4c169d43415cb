/// Spoils what is seen of Dowel, to show that it would be found.
public enum Sabotage: Sendable, CaseIterable {
    /// Another instance in place of a shared one.
    case another
    /// An instance of another container.
    case foreign
    /// An instance that stays.
    case keeps
    /// Nothing where there is something.
    case nothing
    /// One problem less than `validate()` found.
    case overlooked
    /// The end of the process.
    case stop

    nonisolated(unsafe) private static var kept: [Core] = []

    /// For one thread at a time.
    func tamper(with core: Core?) -> Core? {
        guard let core, let recipe = core.parts.recipe else { return core }
        switch self {
        case .another: return recipe.kind == .shared ? core.copy(mark: core.parts.mark) : core
        case .foreign: return recipe.kind == .unshared ? core.copy(mark: core.parts.mark + 1) : core
        case .nothing: return recipe.kind == .objectGraph ? nil : core
        case .overlooked: return core
        case .stop: fatalError("stopped")
        case .keeps:
            if recipe.kind == .weakShared { Sabotage.kept.append(core) }
            return core
        }
    }
}

extension Core {
    fileprivate func copy(mark: Int) -> Core {
        let parts = Parts(
            world: parts.world, id: parts.world.newNumber(), node: parts.node, recipe: parts.recipe, mark: mark,
            request: parts.request, isOfFarewell: true)
        return Core(parts)
    }
}
