#if canImport(XCTest)
import Dowel
import XCTest

private protocol API: Sendable { var answer: String { get } }
private struct Mock: API { let answer = "the mock's" }

/// Shows how XCTest does it: every test of the class runs inside the override. The properties of the class itself are
/// older than that; what a test creates is not.
final class XCTestTests: XCTestCase {
    override func invokeTest() {
        Dependencies { Module { Mock() as any API } }.override { super.invokeTest() }
    }

    func testAnInjectCreatedInTheTestIsTheMock() {
        struct Screen { @Inject var api: any API }

        let screen = Screen()

        XCTAssertEqual(screen.api.answer, "the mock's")
    }

    func testATaskOfTheTestHasTheMock() async {
        let answer = await Task { (Resolver.resolve() as any API).answer }.value

        XCTAssertEqual(answer, "the mock's")
    }
}
#endif
