#if canImport(Glibc) || os(macOS)
import Dispatch
import Foundation
#if canImport(Fuzzing)
import Fuzzing
#endif

// swift run -c release benchmarks [--copied] [--instructions] [--brief] [--json] [part of a name …]
//
// Shows what everything costs, and its ratio to what it is held to. The exit code is 1 where a ratio misses what it
// must not, but with --brief, which only shows that all of it works. With --instructions it counts under valgrind what
// the processor does, which does not depend on the machine's mood, and holds that to the figures in Recorded.swift;
// with --record besides, it writes those. With --copied Dowel.swift is a part of the module that is measured. With
// --markdown it prints the table of the page Performance, which takes five minutes.
//
// swift run -c release benchmarks soak [seconds, or minutes with an m] [seed]
//
// Runs random programs against a model, and watches the memory: see Tests/FuzzTests/Fuzzing.

// No real program has only one thread, and in one that has, parts of the C library take no locks.
Thread.detachNewThread { DispatchSemaphore(value: 0).wait() }

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--sample", "--count":
    let rows = prepared(Row.Setting(rawValue: arguments[1])!, names: arguments.dropFirst(3))
    if arguments[0] == "--sample" { printSamples(of: rows, seconds: Double(arguments[2])!) } else { count(rows) }
#if canImport(Fuzzing)
case "soak":
    exit(Fuzzer.command(Array(arguments.dropFirst())))
#endif
default:
    exit(Report(arguments).run())
}
#else
print("The benchmarks run on Linux and macOS.")
#endif
