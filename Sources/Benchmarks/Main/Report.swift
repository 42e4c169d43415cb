#if canImport(Glibc) || os(macOS)
import Dowel
import Foundation

/// In a process that a report starts: the rows of these names, once what they need is built.
func prepared(_ setting: Row.Setting, names: ArraySlice<String>) -> [Row] {
    if setting != .none {
        Dependencies {
            ordinary()
            if setting == .few { wide() } else { distinctTypes(1_000).map { $0.module } }
        }.build()
    }
    return allRows().filter { names.contains($0.name) }
}

/// One run of the benchmarks, as the person who starts it sees it.
struct Report {
    struct Figure: Codable { let name: String, unit: Row.Unit, median: Double, minimum: Double }
    struct Verdict: Codable {
        let name: String
        var against: String?
        let ratio: Double
        var unit: Row.Unit?, must: Double?
        let aim: Double
        var atLeast = false
        var holds: Bool { must.map { atLeast ? ratio >= $0 : ratio <= $0 } ?? true }
        func isAbout(_ other: Verdict) -> Bool { name == other.name && against == other.against }
    }
    struct Document: Codable { let conditions: String, figures: [Figure], verdicts: [Verdict] }

    private static let allOptions = ["--copied", "--instructions", "--brief", "--json", "--record", "--markdown"]
    private static let asRecorded = "as recorded"
    private let arguments: [String], names: [String], options: Set<String>

    init(_ arguments: [String]) {
        self.arguments = arguments
        names = arguments.filter { !$0.hasPrefix("--") }
        options = Set(arguments).subtracting(names)
        if let unknown = options.subtracting(Report.allOptions).first {
            fail("what is \(unknown)? There are \(Report.allOptions.joined(separator: ", ")), and parts of names")
        }
    }

    /// The exit code.
    func run() -> Int32 {
        if options.contains("--record"), isCopied || options != ["--instructions", "--record"] || !names.isEmpty {
            fail("--record goes with --instructions, and with nothing else")
        }
        if options.contains("--markdown") { return printTable() }
        if options.contains("--copied"), !isCopied { return runCopied(arguments) }
        let document = options.contains("--instructions") ? counted() : timed()
        if options.contains("--json") { printJSON(document) } else { show(document) }
        if options.contains("--record") { record(document.figures) }
        return options.contains("--brief") || document.verdicts.allSatisfy(\.holds) ? 0 : 1
    }

    private func isChosen(_ name: String) -> Bool { names.isEmpty || names.contains { name.contains($0) } }

    /// The rows that each process takes.
    private func processes(_ rows: [Row]) -> [[Row]] {
        let together = Row.Setting.allCases.map { setting in rows.filter { $0.setting == setting && !$0.isAlone } }
        return together.filter { !$0.isEmpty } + rows.filter(\.isAlone).map { [$0] }
    }

    // MARK: Time

    private func timed() -> Document {
        let isBrief = options.contains("--brief"), seconds = isBrief ? 0.002 : 0.2, count = isBrief ? 1 : 15
        let bars = allBars.filter { isChosen($0.row) || isChosen($0.against ?? $0.row) }
        let named = Set(bars.flatMap { [$0.row, $0.against ?? $0.row] })
        let rows = allRows().filter { named.contains($0.name) && $0.unit != .instructions }
        if rows.isEmpty { fail("no row has such a name") }
        let rounds = (0..<count).map { number in
            timedRound(rows.filter { number == 0 || !$0.isConstant }, seconds)
        }
        let figures = rows.map { row in
            let all = rounds.compactMap { $0[row.name] }
            return Figure(name: row.name, unit: row.unit, median: median(all), minimum: all.min()!)
        }
        let verdicts = bars.filter { rounds[0][$0.row] != nil }.map { bar in
            // Within a round both were measured alike. By the wall clock, the minima are what others disturbed least.
            let ratio =
                bar.atLeast
                ? rounds.map { $0[bar.row]! }.min()! / rounds.map { $0[bar.against!]! }.min()!
                : median(
                    rounds.compactMap { round in
                        round[bar.row].map { $0 / (bar.against.map { round[$0]! } ?? 1) }
                    })
            return Verdict(
                name: bar.row, against: bar.against, ratio: ratio,
                unit: bar.against == nil ? rows.first { $0.name == bar.row }!.unit : nil,
                must: bar.must, aim: bar.aim, atLeast: bar.atLeast)
        }
        let conditions =
            "\(count) rounds, each in processes of its own, with samples of \(seconds) s. Time is the thread's own, as others "
            + "may use the machine; only for rows of 1 and 2 threads it is the clock's on the wall"
        return Document(conditions: conditions, figures: figures, verdicts: verdicts)
    }

    private func timedRound(_ rows: [Row], _ seconds: Double) -> [String: Double] {
        // Where libraries' functions are bound at their first call, what allocates runs at one of two speeds, by
        // chance, and falls from the fast one to the other for good; seemingly by what the processor knows of jumps to
        // them. Bound at the start, all of it runs at the slow one.
        let environment = ProcessInfo.processInfo.environment.merging(["LD_BIND_NOW": "1"]) { $1 }
        var figures: [String: Double] = [:]
        for rows in processes(rows) {
            let arguments = ["--sample", rows[0].setting.rawValue, "\(seconds)"] + rows.map(\.name)
            let said = output(of: ownPath, arguments, environment: environment).text
            for line in said.split(separator: "\n") {
                let parts = line.split(separator: "\t")
                if parts.count != 2 { fail("a round came to grief:\n" + said) }
                figures[String(parts[0])] = Double(parts[1])
            }
        }
        return figures
    }

    // MARK: Instructions

    private func counted() -> Document {
        let rows = allRows().filter { isChosen($0.name) && $0.isRepeatable }
        if rows.isEmpty { fail("no row has such a name") }
        var counts: [String: Double] = [:]
        for rows in processes(rows) {
            counts.merge(zip(rows.map(\.name), countedRound(rows))) { $1 }
        }
        let toolchain = Report.toolchain, isHeld = toolchain == recordedBy
        let verdicts = rows.flatMap { row in
            let count = counts[row.name]!, recorded = recorded[row.name] ?? 1
            let bars = allBars.filter { $0.row == row.name && row.unit == .instructions }
            return [
                Verdict(
                    name: row.name, against: Report.asRecorded, ratio: count / recorded, must: isHeld ? 1.1 : nil,
                    aim: 1)
            ] + bars.map { Verdict(name: $0.row, ratio: count, unit: .instructions, must: $0.must, aim: $0.aim) }
        }
        let conditions =
            "instructions, counted by callgrind, "
            + (isHeld
                ? "held to those of the linked library as recorded with \(toolchain)"
                : "NOT HELD to those recorded: they are of \(recordedBy), and this is \(toolchain)")
        let figures = rows.map {
            Figure(name: $0.name, unit: .instructions, median: counts[$0.name]!, minimum: counts[$0.name]!)
        }
        return Document(conditions: conditions, figures: figures, verdicts: verdicts)
    }

    /// A process that marks where each row begins and ends; valgrind writes a file at each mark.
    private func countedRound(_ rows: [Row]) -> [Double] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dowel-\(UUID().uuidString)")
        try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = folder.appendingPathComponent("counted").path
        // Nothing of the user's environment, whose length would move everything; and a hash has always the same seed.
        let said = output(
            of: path(of: "valgrind"),
            [
                "--tool=callgrind", "--separate-threads=yes", "--dump-before=\(nameOfMark)",
                "--callgrind-out-file=\(files)", ownPath, "--count", rows[0].setting.rawValue, "",
            ] + rows.map(\.name),
            environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        func count(_ mark: Int) -> Double {
            guard let text = try? String(contentsOfFile: "\(files).\(mark)-01", encoding: .utf8),
                let line = text.split(separator: "\n").last(where: { $0.hasPrefix("totals: ") }),
                let figure = Double(line.dropFirst(8))
            else { fail("valgrind did not work:\n" + said.text) }
            return figure
        }
        return rows.indices.map {
            (count(3 * $0 + 3) - count(3 * $0 + 2)) / Double(rows[$0].countedBatch * rows[$0].size)
        }
    }

    /// All that the number of instructions depends on.
    private static var toolchain: String {
        let lines = output(of: path(of: "swift"), ["--version"]).text.split(separator: "\n")
        let parts = ["Swift version ", "Target: "].compactMap { start in
            lines.first { $0.contains(start) }.map { $0[$0.range(of: start)!.lowerBound...] }
        }
        return (parts + ["C library \(versionOfLibc)"]).joined(separator: ", ")
    }

    private func record(_ figures: [Figure]) {
        func grouped(_ figure: Double) -> String {
            let digits = Array(String(Int(figure.rounded())))
            return digits.indices.reduce("") {
                $0 + ($1 > 0 && (digits.count - $1) % 3 == 0 ? "_" : "") + String(digits[$1])
            }
        }
        let text = """
            // Written by `swift run -c release benchmarks --instructions --record`.

            let recordedBy = "\(Report.toolchain)"

            let recorded: [String: Double] = [
            \(figures.map { "    \"\($0.name)\": \(grouped($0.median))," }.joined(separator: "\n"))
            ]

            """
        let file = root.appendingPathComponent("Sources/Benchmarks/Main/Recorded.swift")
        try! text.write(to: file, atomically: false, encoding: .utf8)
        print("\nwritten to \(file.path)")
    }

    // MARK: Showing

    private func printJSON(_ document: Document) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        print(String(decoding: try! encoder.encode(document), as: UTF8.self))
    }

    private func show(_ document: Document) {
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
            let isOutdated = verdict.against == Report.asRecorded && verdict.ratio < 0.9 && !isCopied
            print(
                name(both) + cell(verdict.ratio) + cell(verdict.must) + cell(verdict.aim),
                verdict.holds ? isOutdated ? " lower: --record" : "" : " missed")
        }
    }

    /// Runs everything, linked and copied.
    private func printTable() -> Int32 {
        let columns = [[], ["--copied"]].map { way in
            [["--json"], ["--json", "--instructions", "100 modules"]].flatMap { options -> [Verdict] in
                let said = output(of: ownPath, way + options).text
                guard let document = try? JSONDecoder().decode(Document.self, from: Data(said.utf8)) else { fail(said) }
                return document.verdicts.filter { $0.against != Report.asRecorded }
            }
        }
        func text(_ figure: Double, _ unit: Row.Unit?) -> String {
            String(format: figure < 100 ? "%.2f" : "%.0f", figure) + (unit.map { " \($0.rawValue)" } ?? " ×")
        }
        print("| what | must | aim | linked | copied |", "| --- | --- | --- | --- | --- |", separator: "\n")
        for row in columns[0] + columns[1].filter({ copied in !columns[0].contains(where: copied.isAbout) }) {
            let figures = columns.map { column in
                column.first(where: row.isAbout).map {
                    $0.holds ? text($0.ratio, $0.unit) : "**\(text($0.ratio, $0.unit))**"
                } ?? "–"
            }
            let bars = [row.must, row.aim].map { bar in
                bar.map { (row.atLeast ? "≥ " : "≤ ") + text($0, row.unit) } ?? ""
            }
            let both = row.name + (row.against.map { " / \($0)" } ?? "")
            print("| \(([both] + bars + figures).joined(separator: " | ")) |")
        }
        return 0
    }
}
#endif
