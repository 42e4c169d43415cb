import Foundation

/// What was done, and what failed.
public struct Report: Sendable, CustomStringConvertible {
    /// How much was done.
    public internal(set) var programs = 0, operations = 0, resolves = 0, instances = 0, threads = 0
    /// What differed, and the smallest program that shows it.
    public internal(set) var failure: String?

    /// The figures.
    public var description: String {
        "\(programs) programs, \(threads) threads, \(operations) operations, \(resolves) instances got, "
            + "\(instances) made"
    }

    mutating func add(_ other: Report) {
        programs += other.programs
        operations += other.operations
        resolves += other.resolves
        instances += other.instances
        threads += other.threads
    }
}

/// Runs random programs against Dowel, and holds what they see to a model.
public enum Fuzzer {
    /// Runs programs that follow from the seed, in this process and from its main thread, until there were so many or
    /// the time is over. Announces each before it runs: what ends the process leaves its seed.
    public static func run(
        seed: UInt64, programs: Int = .max, seconds: Double = .infinity, sabotage: Sabotage? = nil,
        shrinks: Bool = true,
        announce: (UInt64) -> Void = { _ in }
    ) -> Report {
        var random = SplitMix64(seed)
        var total = Report()
        let watchdog = Watchdog()
        defer { watchdog.end() }
        let end = DispatchTime.now().uptimeNanoseconds + UInt64(min(seconds, 1e6) * 1e9)
        while total.programs < programs, DispatchTime.now().uptimeNanoseconds < end {
            let seed = random.next() >> 32
            announce(seed)
            watchdog.begins(seed)
            let program = Generator.program(seed)
            let (failure, report) = Runner.run(program, sabotage)
            total.add(report)
            let wiring = Wiring.check(seed, sabotage)
            // The first program's stays, with the process's first container; and a task may take a moment to go.
            let kept = World.count > 20 ? "\(World.count) programs that have ended are kept by their containers" : nil
            guard let text = failure ?? wiring ?? kept else { continue }
            total.failure = "program \(seed): \(text)"
            if shrinks, failure != nil {
                watchdog.end()
                let smallest = smallest(program) { Runner.run($0, sabotage).failure != nil }
                total.failure! += "\n\(smallest.map(String.init(describing:)) ?? "It did not fail again.")"
            }
            return total
        }
        return total
    }

    /// The program that follows from a seed.
    public static func program(_ seed: UInt64) -> String { "\(Generator.program(seed))" }

    /// The program that is left of this one, if it fails again. What needs an interleaving is tried several times.
    static func smallest(_ program: Program, _ fails: @escaping (Program) -> Bool) -> Program? {
        let times = program.isSerial ? 1 : 100
        let failsOften: (Program) -> Bool = { program in (0..<times).contains { _ in fails(program) } }
        return failsOften(program) ? Shrinker.shrink(program, while: failsOften) : nil
    }
}

/// Ends the process where a program hangs, and says which. The limit is no measure of speed.
private final class Watchdog: @unchecked Sendable {
    private static let limit = 20
    /// Protects what follows.
    private let lock = NSLock()
    private var seed: UInt64 = 0, count = 0
    private let over = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            var (last, waits) = (-1, 0)
            while over.wait(timeout: .now() + 1) == .timedOut {
                lock.lock()
                let (now, seed) = (count, self.seed)
                lock.unlock()
                (last, waits) = (now, now == last ? waits + 1 : 0)
                if waits == Watchdog.limit { fatalError("program \(seed) hangs") }
            }
        }
    }

    func begins(_ seed: UInt64) {
        lock.lock()
        (self.seed, count) = (seed, count + 1)
        lock.unlock()
    }

    func end() { over.signal() }
}
