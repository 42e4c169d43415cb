import Dowel
import Foundation

/// Programs of the system that tests call for help.
enum Tool {
    static func exists(_ name: String) -> Bool { (try? run("sh", ["-c", "command -v \(name)"])) != nil }

    /// A new one, for who asks to remove.
    static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// What the program prints; throws where it fails.
    @discardableResult static func run(_ name: String, _ arguments: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return text
    }
}

/// One of two private types of one name; the other is in AuditTests.swift.
private protocol Nobody {}

/// Lets other files use this file's `Nobody`.
enum AnotherFile {
    static let module = Module { () -> any Nobody in fatalError("made") }
}
