// The tests of a program that has a copy of Dowel.swift in its module `App`, and copies of its companions in their own.
import Testing

@testable import App

struct Screen {
    @Inject var title: String
}

struct CompanionTests {
    private let dependencies = Dependencies { Module { "program" } }

    @Test(.dependencies { Module { "mock" } }) func `the trait gives a test its own modules`() {
        #expect(Screen().title == "mock")
    }

    @Test func `the audit finds the sites of these tests`() throws {
        try dependencies.audit { $0.owner.hasSuffix("Screen") }
        #expect(throws: WiringError.self) { try Dependencies {}.audit() }
    }

    @Test func `the drawing shows them`() throws {
        #expect(try dependencies.diagram(.mermaid, sites: dependencies.sites()).contains("Screen"))
    }

    @Test nonisolated func `the audit needs no actor`() async throws {
        try await Task.detached { try Dependencies { Module { "elsewhere" } }.audit() }.value
    }
}

@main enum Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
