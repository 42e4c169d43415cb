#if canImport(Glibc) || os(macOS)
import Dowel
import Foundation

/// What the processes that a report starts do.
func printSamples(of names: [String], _ setting: Row.Setting, seconds: Double) {
    prepare(setting)
    for row in allRows() where names.contains(row.name) { print(row.name, row.sample(seconds), separator: "\t") }
}

func repeatRow(_ name: String, times: Int) {
    let row = allRows().first { $0.name == name }!
    prepare(row.setting)
    if case .times(let work) = row.work { work(times) }
}

private func prepare(_ setting: Row.Setting) {
    if setting == .none { return }
    Dependencies {
        ordinary()
        if setting == .few { wide() } else { distinctTypes(1_000).map { $0.module } }
    }.build()
}

/// One run of the benchmarks, as the person who starts it sees it.
struct Report {
    struct Figure: Encodable { let name: String, unit: Row.Unit, median: Double, minimum: Double }
    struct Verdict: Encodable {
        let name: String, against: String?, ratio: Double, must: Double?, aim: Double, holds: Bool
    }
    struct Document: Encodable { let conditions: String, figures: [Figure], verdicts: [Verdict] }

    let isBrief: Bool, isJSON: Bool, countsInstructions: Bool
    let bars: [Bar], rows: [Row]

    init(options: [String], names: [String]) {
        if let unknown = options.first(where: { !["--brief", "--json", "--instructions"].contains($0) }) {
            Report.fail("benchmarks: what is \(unknown)? There are --brief, --json, --instructions, and parts of names")
        }
        let countsInstructions = options.contains("--instructions")
        (isBrief, isJSON) = (options.contains("--brief"), options.contains("--json"))
        self.countsInstructions = countsInstructions
        let isChosen = { (name: String) in names.isEmpty || names.contains { name.contains($0) } }
        if countsInstructions {
            rows = allRows().filter { isChosen($0.name) && $0.isRepeatable }
            bars = rows.compactMap { row in
                let limit = allBars.first { $0.row == row.name && row.unit == .instructions }
                return recorded[row.name].map {
                    Bar(row: row.name, must: min($0 * 1.1, limit?.must ?? .infinity), aim: $0)
                }
            }
        } else {
            let bars = allBars.filter { isChosen($0.row) || isChosen($0.against ?? $0.row) }
            let named = Set(bars.flatMap { [$0.row, $0.against ?? $0.row] })
            rows = allRows().filter { named.contains($0.name) && $0.unit != .instructions }
            self.bars = bars
        }
    }

    /// The exit code.
    func run() -> Int32 {
        if rows.isEmpty { Report.fail("benchmarks: no row has such a name") }
        let seconds = isBrief ? 0.002 : 0.2, count = isBrief ? 1 : 7
        let rounds = countsInstructions ? [countedRound()] : (0..<count).map { _ in timedRound(seconds) }
        let figures = rows.map { row in
            let all = rounds.map { $0[row.name]! }
            let unit = countsInstructions ? .instructions : row.unit
            return Figure(name: row.name, unit: unit, median: median(all), minimum: all.min()!)
        }
        let verdicts = bars.filter { rounds[0][$0.row] != nil }.map { bar in
            // Within a round both were measured alike. By the wall clock, the minima are what others disturbed least.
            let ratio =
                bar.atLeast
                ? rounds.map { $0[bar.row]! }.min()! / rounds.map { $0[bar.against!]! }.min()!
                : median(rounds.map { round in round[bar.row]! / (bar.against.map { round[$0]! } ?? 1) })
            let holds = bar.must.map { bar.atLeast ? ratio >= $0 : ratio <= $0 } ?? true
            return Verdict(
                name: bar.row, against: bar.against, ratio: ratio, must: bar.must, aim: bar.aim, holds: holds)
        }
        let conditions =
            countsInstructions
            ? "instructions, counted by callgrind"
            : "\(count) rounds, each a process of its own, with samples of \(seconds) s. Time is the thread's own, as others "
                + "may use the machine; only for rows of 1 and 2 threads it is the clock's on the wall"
        show(Document(conditions: conditions, figures: figures, verdicts: verdicts))
        return isBrief || verdicts.allSatisfy(\.holds) ? 0 : 1
    }

    private func timedRound(_ seconds: Double) -> [String: Double] {
        var figures: [String: Double] = [:]
        for (setting, rows) in Dictionary(grouping: rows, by: \.setting) {
            let own = Bundle.main.executablePath!
            let output = Report.output(of: [own, "--sample", setting.rawValue, "\(seconds)"] + rows.map(\.name))
            for line in output.split(separator: "\n") {
                let parts = line.split(separator: "\t")
                if parts.count != 2 { Report.fail("benchmarks: a round came to grief:\n\(output)") }
                figures[String(parts[0])] = Double(parts[1])
            }
        }
        return figures
    }

    /// Runs each row twice, for a different number of times: the difference is what the row alone takes.
    private func countedRound() -> [String: Double] {
        var figures: [String: Double] = [:]
        for row in rows {
            let times = row.unit == .instructions ? (0, 1) : (row.batch, 2 * row.batch)
            let counts = [times.0, times.1].map { count in
                let command = [
                    "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", Bundle.main.executablePath!,
                ]
                let output = Report.output(of: command + ["--repeat", row.name, "\(count)"])
                guard let line = output.split(separator: "\n").last(where: { $0.contains("Collected : ") }),
                    let figure = Double(line.split(separator: " ").last!)
                else { Report.fail("benchmarks: valgrind is not installed, or did not work:\n\(output)") }
                return figure
            }
            figures[row.name] = (counts[1] - counts[0]) / Double(times.1 - times.0)
        }
        return figures
    }

    private func show(_ document: Document) {
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return print(String(decoding: try! encoder.encode(document), as: UTF8.self))
        }
        func cell(_ figure: Double?) -> String {
            figure.map { String(format: $0 < 1000 ? "%10.2f" : "%10.0f", $0) } ?? "         –"
        }
        func name(_ name: String) -> String { name.padding(toLength: 66, withPad: " ", startingAt: 0) }
        print(document.conditions, "", name("") + "    median   minimum", separator: "\n")
        for figure in document.figures {
            print(name(figure.name) + cell(figure.median) + cell(figure.minimum), figure.unit.rawValue)
        }
        print("", name("") + "     ratio      must       aim", separator: "\n")
        for verdict in document.verdicts {
            let both = verdict.name + (verdict.against.map { " / \($0)" } ?? "")
            print(
                name(both) + cell(verdict.ratio) + cell(verdict.must) + cell(verdict.aim),
                verdict.holds ? "" : " missed")
        }
    }

    /// What a command writes, be it a result or a complaint.
    private static func output(of command: [String]) -> String {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        // A hash of another seed is another path through a table.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        (process.standardOutput, process.standardError) = (pipe, pipe)
        do { try process.run() } catch { fail("benchmarks: cannot start \(command[0]): \(error)") }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output
    }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(2)
    }
}
#endif
