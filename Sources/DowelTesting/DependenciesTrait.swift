import Dowel
import Testing

/// Gives a test, or each test of a suite, modules of its own: write `.dependencies { … }`.
public nonisolated struct DependenciesTrait: TestTrait, SuiteTrait, TestScoping {
    let dependencies: Dependencies

    /// True, so that the tests of a suite share no instances with each other.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, inside the override.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws { try await dependencies.override { try await function() } }
}

nonisolated extension Trait where Self == DependenciesTrait {
    /// Overrides the modules in force with those of the block, anew for each test and each of its cases.
    ///
    ///     @Test(.dependencies { Module { MockAPI() as any API } })
    ///
    /// Those of a suite are in force in all its tests; if a test offers the same type, the test's module is.
    public static func dependencies(@Dependencies.Builder _ modules: () -> [Module]) -> Self {
        DependenciesTrait(dependencies: Dependencies(modules))
    }
}
