// Runs the tests as on Apple's systems, where the main actor stays on the main thread: a run loop sees to that.
import Foundation
import Testing

@main enum Runner {
    static func main() {
        Task { await Testing.__swiftPMEntryPoint() as Never }
        while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    }
}
