#if canImport(Glibc) || os(macOS)
import Foundation

// The other programs that the benchmarks start: themselves, valgrind, and Swift for what only a build shows.

#if canImport(Dowel)
let isCopied = false
#else
let isCopied = true
#endif

/// The folder with `Sources` in it. A copy has the same folders, and so finds its own.
let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized

/// This program.
let ownPath = Bundle.main.executablePath!

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data(("benchmarks: " + text + "\n").utf8))
    exit(2)
}

/// Where a program is that this one needs.
func path(of program: String) -> String {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    guard let path = folders.map({ "\($0)/\(program)" }).first(where: FileManager.default.isExecutableFile) else {
        fail("\(program) is not installed")
    }
    return path
}

/// What a program writes, be it a result or a complaint, and how it ended; live, it writes where this one does.
func output(
    of program: String, _ arguments: [String], environment: [String: String]? = nil, isLive: Bool = false
) -> (text: String, status: Int32) {
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = environment ?? ProcessInfo.processInfo.environment
    if !isLive { (process.standardOutput, process.standardError) = (pipe, pipe) }
    do { try process.run() } catch { fail("cannot start \(program): \(error)") }
    let text = isLive ? "" : String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, process.terminationStatus)
}

/// Writes a package into a folder that is gone afterwards, builds it in release, and passes on where the products are.
private func withPackage<Result>(_ targets: String, _ files: [String: String], _ use: (URL) -> Result) -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dowel-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var files = files
    files["Package.swift"] = """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(name: "Measured", targets: [\(targets)], swiftLanguageModes: [.v6])
        """
    for (path, text) in files { write(text, to: folder.appendingPathComponent(path)) }
    build(folder)
    return use(folder.appendingPathComponent(".build/release"))
}

private func write(_ text: String, to file: URL) {
    let parent = file.deletingLastPathComponent()
    try! FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    try! text.write(to: file, atomically: false, encoding: .utf8)
}

private func build(_ package: URL) {
    // Swift is to be as fast as ever: see `timedRound`.
    let environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_BIND_NOW" }
    let arguments = ["build", "-c", "release", "--package-path", package.path]
    let build = output(of: path(of: "swift"), arguments, environment: environment)
    if build.status != 0 { fail("a build failed:\n" + build.text) }
}

private func source(_ path: String) -> String {
    try! String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

private let library = "Sources/Dowel/Dowel.swift"

/// Builds these benchmarks with Dowel.swift copied into their own module, and runs them.
func runCopied(_ arguments: [String]) -> Int32 {
    var files = [library: source(library)]
    for folder in ["Sources/Benchmarks/Main", "Sources/Benchmarks/Services"] {
        for file in try! FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path) {
            let text = source("\(folder)/\(file)")
            files["\(folder)/\(file)"] = text.replacingOccurrences(of: "import Dowel\n", with: "")
        }
    }
    let targets = """
        .target(name: "BenchmarkServices", path: "Sources/Benchmarks/Services"),
        .executableTarget(
            name: "benchmarks", dependencies: ["BenchmarkServices"], path: "Sources",
            sources: ["Benchmarks/Main", "Dowel"])
        """
    return withPackage(targets, files) {
        output(of: $0.appendingPathComponent("benchmarks").path, arguments, isLive: true).status
    }
}

/// How many seconds of the processor's time it takes to build the library and nothing else: the package is there, with
/// its description built, and has an empty library so far.
func secondsToBuildLibrary() -> Double {
    withPackage(#".target(name: "Dowel")"#, [library: ""]) { products in
        let package = products.deletingLastPathComponent().deletingLastPathComponent()
        write(source(library), to: package.appendingPathComponent(library))
        let before = timeOfChildren()
        build(package)
        return timeOfChildren() - before
    }
}

/// How many bytes a stripped program has that Dowel wires, beyond one that has the same services wired by hand.
func bytesOfApp(isPublic: Bool) -> Double {
    let copy = isCopied ? "Sources/App/Dowel.swift" : library
    let text = isPublic ? source(library) : source(library).replacingOccurrences(of: "public ", with: "")
    let targets = #".executableTarget(name: "ByHand"), .executableTarget(name: "App""#
    let files = [
        copy: text, "Sources/ByHand/main.swift": app(isByHand: true),
        "Sources/App/main.swift": (isCopied ? "" : "import Dowel\n") + app(isByHand: false),
    ]
    return withPackage(targets + (isCopied ? ")" : #", dependencies: ["Dowel"]), .target(name: "Dowel")"#), files) {
        let sizes = ["App", "ByHand"].map { [folder = $0] name -> Double in
            let program = folder.appendingPathComponent(name).path
            if output(of: path(of: "strip"), [program]).status != 0 { fail("cannot strip \(program)") }
            return try! FileManager.default.attributesOfItem(atPath: program)[.size] as! Double
        }
        return sizes[0] - sizes[1]
    }
}

/// A program of ten services; every other one is shared, and each needs the one before.
private func app(isByHand: Bool) -> String {
    var services = "", modules = "", wiring = ""
    for number in 0..<10 {
        let isShared = number % 2 == 0, before = "any P\(number - 1)"
        services += """
            protocol P\(number): Sendable { func work() }
            final class S\(number): P\(number) {
                \(number == 0 ? "" : "let before: \(before); init(_ before: \(before)) { self.before = before }")
                func work() { \(number == 0 ? "print(0)" : "before.work()") }
            }

            """
        modules += """
                Module\(isShared ? "(.shared)" : "") { S\(number)(\(number == 0 ? "" : "$0")) as any P\(number) }

            """
        let made = "S\(number)(\(number == 0 ? "" : "p\(number - 1)"))"
        wiring += "    \(isShared ? "lazy " : "")var p\(number): any P\(number)"
        wiring += isShared ? " = \(made)\n" : " { \(made) }\n"
    }
    return services
        + (isByHand
            ? """
            final class Wiring {
            \(wiring)}
            final class Screen {
                let service: any P9
                init(_ service: any P9) { self.service = service }
            }
            Screen(Wiring().p9).service.work()
            """
            : """
            final class Screen { @Inject var service: any P9 }
            Dependencies {
            \(modules)}.build()
            Screen().service.work()
            """)
}
#endif
