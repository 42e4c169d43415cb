import Foundation
import Fuzzing
import Testing

/// Random programs, in processes of their own: they build, which concerns all of a process.
@Suite struct FuzzTests {
    @Test func `random programs do what the model says`() async {
        let result = await #expect(processExitsWith: .success) {
            let report = await run(seed: 1, programs: programs)

            #expect(report.failure == nil)
            #expect(report.programs == programs)
            #expect(report.instances > 1_000)
        }

        let said = said(seed: 1, by: getpid())
        if result == nil { Issue.record("\(said)") }
    }

    @Test func `a seed's program is always the same, and no other seed's`() {
        let (first, second) = (Fuzzer.program(1), Fuzzer.program(1))

        #expect(first == second)
        #expect(Set((0..<100).map { Fuzzer.program($0) }).count == 100)
    }

    @Test func `what is wrong is found and shrunk`() async {
        await #expect(processExitsWith: .success) {
            for sabotage in [Sabotage.another, .foreign, .keeps, .nothing] {
                let failure = await run(seed: 2, programs: programs, sabotage).failure ?? ""
                let modules = failure.split(separator: "\n").filter { $0.contains("Module") }
                let operations = failure.split(separator: "\n").filter { $0.hasPrefix("    ") }.count - modules.count

                #expect(failure.hasPrefix("program "))
                #expect(failure.contains("thread 0 (main), after build 0 {"))
                #expect((1...4).contains(modules.count), "\(sabotage): \(failure)")
                #expect((1...4).contains(operations), "\(sabotage): \(failure)")
            }
        }
    }

    @Test func `a problem that validate() overlooks is found`() async {
        await #expect(processExitsWith: .success) {
            let report = await run(seed: 3, programs: programs, .overlooked)

            #expect(report.failure?.contains(": validate(): ") == true)
        }
    }

    @Test func `a program that stops the process leaves its seed`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = await run(seed: 4, programs: programs, .stop)
        }

        _ = said(seed: 4, by: getpid())
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let last = try #require(lines.last { $0.hasPrefix("program ") })
        #expect(UInt64(last.dropFirst(8)) != nil)
        #expect(lines.contains { $0.hasSuffix("Fatal error: stopped") })
    }
}

#if DEBUG
private let programs = 100
#else
private let programs = 300
#endif

/// On the main thread, where alone a `Module.main` may be asked for.
@MainActor private func run(seed: UInt64, programs: Int, _ sabotage: Sabotage? = nil) -> Report {
    let file = file(seed: seed, of: getppid())
    func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        try? text.write(toFile: file, atomically: false, encoding: .utf8)
    }
    let report = Fuzzer.run(seed: seed, programs: programs, sabotage: sabotage) { say("program \($0)") }
    say(report.failure ?? "\(report)")
    if report.failure == nil || sabotage != nil { unlink(file) }
    return report
}

/// What the child that ran with this seed said last: a test sees nothing of what a child says that fails.
private func said(seed: UInt64, by parent: Int32) -> String {
    let file = file(seed: seed, of: parent)
    defer { unlink(file) }
    return (try? String(contentsOfFile: file, encoding: .utf8)) ?? "nothing"
}

private func file(seed: UInt64, of parent: Int32) -> String { NSTemporaryDirectory() + "/dowel-fuzz-\(parent)-\(seed)" }
