import Dowel
import DowelTesting
import Testing

private protocol API: Sendable { var answer: String { get } }
private protocol Log: AnyObject, Sendable {}

private struct Mock: API { let answer: String }
private final class MockLog: Log {}

private struct Screen {
    @Inject var api: any API
    @Inject var log: any Log
}

/// The logs that the tests below saw; kept, so that no two can have one address.
private actor Seen {
    static let logs = Seen()
    private var all: [any Log] = []

    /// True the first time.
    func insert(_ log: any Log) -> Bool {
        defer { all.append(log) }
        return !all.contains { $0 === log }
    }
}

@Test(.dependencies { Module { Mock(answer: "the test's") as any API } })
func `a test has its modules in a property`() {
    struct Owner { @Inject var api: any API }

    let owner = Owner()

    #expect(owner.api.answer == "the test's")
}

@Test(.dependencies { Module { Mock(answer: "the test's") as any API } })
func `a test has its modules in tasks that it starts`() async {
    async let child: any API = Resolver.resolve()
    let unstructured = Task { Resolver.resolve() as any API }

    #expect(await child.answer == "the test's")
    #expect(await unstructured.value.answer == "the test's")
}

@Test func `a test without the trait has none`() {
    #expect(Resolver.find() as (any API)? == nil)
}

@Suite(
    .dependencies {
        Module { Mock(answer: "the suite's") as any API }
        Module(.shared) { MockLog() as any Log }
    })
struct DependenciesTraitTests {
    private let screen = Screen()

    @Test func `a suite's modules are in force in its tests`() {
        let api: any API = Resolver.resolve()

        #expect(api.answer == "the suite's")
    }

    @Test func `a suite's modules are in force where its properties are made`() {
        #expect(screen.api.answer == "the suite's")
    }

    @Test(.dependencies { Module { Mock(answer: "the test's") as any API } })
    func `a test's modules beat its suite's, and the others stay`() {
        #expect(screen.api.answer == "the test's")
        #expect(Resolver.find() as (any Log)? != nil)
    }

    @Test(arguments: 0..<20) func `each case makes its own shared instances`(number: Int) async {
        #expect(screen.log === screen.log)
        #expect(await Seen.logs.insert(screen.log))
    }

    @Suite(.dependencies { Module { Mock(answer: "the inner suite's") as any API } }) struct Inner {
        @Test func `an inner suite's modules beat the outer one's, and the others stay`() {
            let screen = Screen()

            #expect(screen.api.answer == "the inner suite's")
            #expect(Resolver.find() as (any Log)? === Resolver.find() as (any Log)?)
        }
    }
}

@Test(
    .dependencies { Module { Mock(answer: "the first") as any API } },
    .dependencies { Module { Mock(answer: "the last") as any API } })
func `of two traits the last one beats the other`() {
    #expect((Resolver.resolve() as any API).answer == "the last")
}

@Test(
    .dependencies {
        for name in ["a", "b"] { Module(name) { Mock(answer: name) as any API } }
        Dependencies { Module(.shared) { (_: any API) in MockLog() as any Log } }
        if Bool.random() || true { Module { Mock(answer: "unnamed") as any API } }
    })
func `the block is that of Dependencies`() {
    #expect((Resolver.resolve("b") as any API).answer == "b")
    #expect(Resolver.find() as (any Log)? != nil)
}
