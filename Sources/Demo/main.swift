// A weather desk: two features, one shared log, a rehearsal without the network, and a mistake that is caught in time.
import Dowel
import DowelAudit
import Foundation

// MARK: - What everybody shares

protocol Log: AnyObject, Sendable { func write(_ line: String) }
final class Console: Log { func write(_ line: String) { print("  log:", line) } }

struct Report: Sendable {
    let city: String
    let degrees: Int
    var text: String { "\(city) \(degrees) °C" }
}

protocol Stations: Sendable { func report(of city: String) -> Report }
struct RadioStations: Stations {
    let log: any Log
    func report(of city: String) -> Report {
        log.write("asking the station of \(city)")
        return Report(city: city, degrees: city.count * 3)
    }
}
struct RehearsedStations: Stations {
    func report(of city: String) -> Report { Report(city: city, degrees: -40) }
}

// MARK: - A feature: forecasts

protocol ForecastModuleType: Sendable { func component(city: String) -> Forecast }
struct Forecast {
    let city: String
    let stations: any Stations
    let archive: Archive
    func read() -> String {
        let report = stations.report(of: city)
        return "Today: \(report.text) (reading number \(archive.add(report)))"
    }
}

/// Shared by all forecasts of one module, on whatever threads.
final class Archive: @unchecked Sendable {
    private let lock = NSLock()  // Protects `reports`.
    private var reports: [Report] = []

    func add(_ report: Report) -> Int {
        lock.withLock {
            reports.append(report)
            return reports.count
        }
    }
}

struct ForecastModule: ForecastModuleType {
    let stations: any Stations
    private let scope = Scope()

    init(stations: any Stations) { self.stations = stations }

    func component() -> Archive { scope.shared { Archive() } }
    func component(city: String) -> Forecast { Forecast(city: city, stations: stations, archive: component()) }
}

// MARK: - A feature: warnings

protocol WarningModuleType: Sendable { func component() -> Warnings }
struct Warnings {
    let stations: any Stations
    let log: any Log
    func check(_ city: String) -> String {
        let report = stations.report(of: city)
        guard report.degrees < 0 else { return "No warning for \(city)." }
        log.write("a warning goes out")
        return "Frost in \(city)!"
    }
}

struct WarningModule: WarningModuleType {
    let stations: any Stations
    let log: any Log
    func component() -> Warnings { Warnings(stations: stations, log: log) }
}

// MARK: - The desk, which asks

final class Desk {
    @Inject private var forecasts: any ForecastModuleType
    @Inject private var warnings: any WarningModuleType

    func work() {
        for city in ["Oslo", "Lima"] { print(" ", forecasts.component(city: city).read()) }
        print(" ", warnings.component().check("Oslo"))
    }
}

/// Breaks a long text into lines that a terminal of 80 columns shows whole.
func show(_ text: String) {
    for paragraph in text.split(separator: "\n") {
        var line = " "
        for word in paragraph.split(separator: " ") {
            if line.count + word.count > 77 {
                print(line)
                line = "   "
            }
            line += " " + word
        }
        print(line)
    }
}

// MARK: - The program

let core = Dependencies {
    Module(.shared) { Console() as any Log }
    Module { RadioStations(log: $0) as any Stations }
}
let dependencies = Dependencies {
    core
    Module(.shared) { ForecastModule(stations: $0) as any ForecastModuleType }
    Module(.shared) { WarningModule(stations: $0, log: $1) as any WarningModuleType }
}.build()

print("The desk works")
Desk().work()

print("\nIt rehearses a cold day: one module is overridden, the others are made anew")
Dependencies { Module { RehearsedStations() as any Stations } }.override { Desk().work() }

print("\nSomebody forgets `as any Log`: validate() says")
let mistaken = Dependencies {
    Module(.shared) { Console() }
    Module { RadioStations(log: $0) as any Stations }
}
do { try mistaken.validate() } catch { show("\(error)") }

print("\nThe audit finds every @Inject of this program; somebody offers what each wants")
do {
    try dependencies.audit()
    let sites = try dependencies.sites()
    for site in sites { print("  \(site)") }

    print("\nThe wiring in Mermaid, which GitHub draws\n")
    print(dependencies.diagram(.mermaid, sites: sites), terminator: "")
} catch { show("\(error)") }
