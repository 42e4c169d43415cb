#if canImport(Glibc) || os(macOS)
import Dispatch
import Foundation

// swift run -c release benchmarks [--brief] [--json] [--instructions] [part of a name …]
//
// Shows what everything costs, and its ratio to what it is held to. The exit code is 1 where a ratio misses what it
// must not, but with --brief, which only shows that all of it works. With --instructions it counts under valgrind what
// the processor does, which does not depend on the machine's mood, and compares that with the figures in `recorded`.

// The allocator is twice as fast in a process that has only ever had one thread; no real program is one.
Thread.detachNewThread { DispatchSemaphore(value: 0).wait() }

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--sample":
    printSamples(
        of: Array(arguments.dropFirst(3)), Row.Setting(rawValue: arguments[1])!, seconds: Double(arguments[2])!)
case "--repeat":
    repeatRow(arguments[1], times: Int(arguments[2])!)
default:
    exit(
        Report(options: arguments.filter { $0.hasPrefix("--") }, names: arguments.filter { !$0.hasPrefix("--") }).run())
}
#else
print("The benchmarks run on Linux and macOS.")
#endif
