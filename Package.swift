// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Dowel",
    platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6), .visionOS(.v1)],
    products: [
        .library(name: "Dowel", targets: ["Dowel"]),
        .library(name: "DowelAudit", targets: ["DowelAudit"]),
        .library(name: "DowelTesting", targets: ["DowelTesting"]),
    ],
    targets: [
        .target(name: "Dowel"),
        .target(name: "DowelAudit", dependencies: ["Dowel"]),
        .target(name: "DowelTesting", dependencies: ["Dowel"]),
        .executableTarget(name: "demo", dependencies: ["Dowel", "DowelAudit"], path: "Sources/Demo"),
        .target(name: "BenchmarkServices", path: "Sources/Benchmarks/Services"),
        .executableTarget(
            name: "benchmarks", dependencies: ["Dowel", "BenchmarkServices", "Fuzzing"],
            path: "Sources/Benchmarks/Main"),
        .testTarget(name: "DowelTests", dependencies: ["Dowel"]),
        .target(name: "AuditFixtures", dependencies: ["Dowel"], path: "Tests/DowelAuditTests/Fixtures"),
        .testTarget(
            name: "DowelAuditTests", dependencies: ["Dowel", "DowelAudit", "AuditFixtures"], exclude: ["Fixtures"]),
        .target(name: "Fuzzing", dependencies: ["Dowel"], path: "Tests/FuzzTests/Fuzzing"),
        .testTarget(name: "FuzzTests", dependencies: ["Dowel", "Fuzzing"], exclude: ["Fuzzing"]),
        .testTarget(name: "DowelTestingTests", dependencies: ["Dowel", "DowelTesting"]),
        .testTarget(name: "ParityTests", dependencies: ["Dowel", "DowelAudit", "DowelTesting"]),
        .testTarget(
            name: "MainActorTests", dependencies: ["Dowel"], swiftSettings: [.defaultIsolation(MainActor.self)]),
        .testTarget(name: "Swift5Tests", dependencies: ["Dowel"], swiftSettings: [.swiftLanguageMode(.v5)]),
    ],
    swiftLanguageModes: [.v6]
)
