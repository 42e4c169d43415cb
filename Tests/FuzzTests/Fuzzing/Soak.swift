import Foundation

extension Fuzzer {
    /// `soak [seconds, or minutes with an m] [seed]`: programs one after the other in one process, whose memory is
    /// watched, and others that are the first of theirs. What fails is shrunk, each try in a process of its own.
    public static func command(_ arguments: [String]) -> Int32 {
        switch arguments.first {
        case "--work": return work(arguments)
        case "--try": return attempt(arguments)
        default: _exit(soak(arguments))  // Foundation's Process leaks: a leak is looked for in the others.
        }
    }

    private static func soak(_ arguments: [String]) -> Int32 {
        let time = arguments.first ?? "60"
        let seconds = time.hasSuffix("m") ? Double(time.dropLast()).map { $0 * 60 } : Double(time)
        let seed = arguments.dropFirst().first.map { UInt64($0) } ?? UInt64.random(in: 0..<1 << 32)
        guard let seconds, let seed else {
            say("usage: soak [seconds, or minutes with an m] [seed]")
            return 2
        }
        say("fuzzing for \(seconds) s, seed \(seed)")
        let long = Child(["--work", "\(seed)", "\(Int.max)", "\(seconds)"], echoes: true)
        var random = SplitMix64(~seed)
        var fresh = 0
        // Only a process's first dependencies are found without a lock.
        while !long.hasEnded {
            let child = Child(["--work", "\(random.next() >> 32)", "3", "60"])
            fresh += 1
            if !child.end(within: 120) {
                long.kill()
                return failed(child)
            }
        }
        if !long.end(within: 120) { return failed(long) }
        say("\(fresh) processes of 3 programs besides: nothing failed")
        return 0
    }

    /// At once, whoever reads it.
    private static func say(_ text: Any) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

    /// Shrinks what failed in another process, and shows it.
    private static func failed(_ child: Child) -> Int32 {
        say(child.output)
        guard let seed = child.seed else { return 1 }
        say("program \(seed) failed (\(child.status)); shrinking it")
        let program = Generator.program(seed)
        let file = NSTemporaryDirectory() + "/dowel-fuzz-\(seed).json"
        var (seconds, last) = (20.0, "")
        let end = DispatchTime.now() + 120
        func fails(_ program: Program) -> Bool {
            if DispatchTime.now() > end { return false }
            try! JSONEncoder().encode(program).write(to: URL(fileURLWithPath: file))
            let begin = DispatchTime.now().uptimeNanoseconds
            let child = Child(["--try", file, "\(seconds)"])
            // It ends in time by itself, unless it hangs.
            if child.end(within: seconds + 5) { return false }
            // What fails seldom is tried for longer: five times as long as it took to fail at first.
            let passed = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
            if last.isEmpty { seconds = child.hung ? 1 : min(5 * passed, 10) }
            last = "\(child.status): \(child.output)"
            return true
        }
        if fails(program) {
            let smallest = Shrinker.shrink(program, while: fails)
            try! JSONEncoder().encode(smallest).write(to: URL(fileURLWithPath: file))
            say("\(smallest)\n\(last)to see it again: soak --try \(file) 10")
        } else {
            say("It did not fail again.")
        }
        say("the program's seed: \(seed)")
        return 1
    }

    /// `--try file-or-seed seconds`: runs a program, in the first container and later; for some time where it needs an
    /// interleaving.
    private static func attempt(_ arguments: [String]) -> Int32 {
        let file = FileManager.default.contents(atPath: arguments[1])
        let program =
            UInt64(arguments[1]).map { Generator.program($0) } ?? (try! JSONDecoder().decode(Program.self, from: file!))
        let end = DispatchTime.now() + Double(arguments[2])!
        alarm(UInt32(Double(arguments[2])!) + 60)  // Should it hang, and nobody be left to end it.
        var times = 0
        while times < 2 || !program.isSerial && DispatchTime.now() < end {
            if let failure = Runner.run(program).failure {
                say(failure)
                return 1
            }
            times += 1
        }
        return 0
    }

    /// `--work seed programs seconds file`: leaves each program's seed in the file before it runs.
    private static func work(_ arguments: [String]) -> Int32 {
        let (seconds, file) = (Double(arguments[3])!, open(arguments[4], O_WRONLY))
        let begin = DispatchTime.now().uptimeNanoseconds
        var samples: [Int] = []
        let report = run(seed: UInt64(arguments[1])!, programs: Int(arguments[2])!, seconds: seconds, shrinks: false) {
            var seed = $0
            pwrite(file, &seed, 8, 0)
            let passed = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
            if passed > Double(samples.count) * seconds / 60 { samples.append(residentKilobytes()) }
        }
        say(report)
        if let failure = report.failure {
            say(failure)
            return 1
        }
        return samples.count < 40 || areFlat(samples, isLong: seconds >= 300) ? 0 : 1
    }

    /// Whether the last quarter's median is at most 1 MB over the third's. Half of the time is for warming up: the
    /// types made while the program runs stay, and there are ever fewer new ones.
    private static func areFlat(_ samples: [Int], isLong: Bool) -> Bool {
        let quarter = samples.count / 4
        func median(_ samples: ArraySlice<Int>) -> Int { samples.sorted()[samples.count / 2] }
        let (early, late) = (median(samples.dropLast(quarter).suffix(quarter)), median(samples.suffix(quarter)))
        say("resident KB: \(samples.map(String.init).joined(separator: " "))")
        let verdict = late - early <= 1024 ? "flat" : isLong ? "GROWS" : "warming up"
        say("median of the third quarter \(early), of the last \(late): \(verdict)")
        return verdict != "GROWS"
    }

    private static func residentKilobytes() -> Int {
        #if os(Linux)
        let pages = try! String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return Int(pages)! * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
        #else
        // The highest so far: that must be flat too.
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss / 1024
        #endif
    }
}

/// This program, run once more.
private final class Child: @unchecked Sendable {
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let files: (output: String, seed: String)

    init(_ arguments: [String], echoes: Bool = false) {
        let base = NSTemporaryDirectory() + "/dowel-fuzz-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        files = (base + ".out", base + ".seed")
        for file in [files.output, files.seed] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["soak"] + arguments + [files.seed]
        process.standardError = FileHandle(forWritingAtPath: files.output)
        if !echoes { process.standardOutput = process.standardError }
        // The text of a crash is enough: what it was about, the seed says.
        var environment = ["SWIFT_BACKTRACE": "enable=no"]
        // Of each thread that allocates the C library keeps memory aside, the more the longer: not what is measured.
        if echoes { environment["MALLOC_ARENA_MAX"] = "1" }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.terminationHandler = { [ended] _ in ended.signal() }
        try! process.run()
    }

    deinit {
        unlink(files.output)
        unlink(files.seed)
    }

    var hasEnded: Bool { !process.isRunning }
    private(set) var hung = false
    var status: String {
        hung ? "it hung" : process.terminationReason == .exit ? "exit code \(process.terminationStatus)" : "killed"
    }
    var output: String { (try? String(contentsOfFile: files.output, encoding: .utf8)) ?? "" }
    var seed: UInt64? {
        guard let data = FileManager.default.contents(atPath: files.seed), data.count == 8 else { return nil }
        return data.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// False where it failed, or did not end in time.
    func end(within seconds: Double) -> Bool {
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            hung = true
            kill()
            return false
        }
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    func kill() {
        process.terminationHandler = nil
        if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
