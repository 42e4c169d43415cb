import Foundation
import Testing

@main enum Runner {
    #if canImport(Darwin)
    // As on Apple's systems, where the main actor stays on the main thread: a run loop sees to that.
    static func main() {
        Task { await Testing.__swiftPMEntryPoint() as Never }
        while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    }
    #else
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
    #endif
}
