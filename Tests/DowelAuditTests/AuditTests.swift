import AuditFixtures
import Dowel
import DowelAudit
import Foundation
import Observation
import Testing

// The rest of the sites, some of them in types whose names are those of the other target's.

private struct Private {
    @Inject var service: any Service
}

private struct Structure {
    @Inject var service: any Service
    @Inject var twice: (any Unoffered)??
    private let constant = Inject<any Service>("of another name")
}

private final class Heir: Base {
    @Inject private var tuple: (Int, any Service)
    private lazy var lazy = Inject<any Service>()
    @Inject private var `a raw name`: any Service
}

/// None of these is a site, though the name of each one's type begins with that of an Inject's.
private struct Misleading {
    var pair: (Inject<any Service>, Int)?
    var closure: (Inject<any Service>) -> Void = { _ in }
    var metatype = Inject<any Service>.self
}

/// What it holds is no stored property.
private enum Payload {
    case one(Inject<any Service>)
}

private class GenericBase<Element: Sequence> {
    @Inject var lost: any Nobody
    @Inject var member: Element.Element
    @Inject var pair: (first: Int, _v9: Int, last: Element.Element)
    // The compiler shortens what is repeated, to a letter with a number before it.
    @Inject var repeated: (A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, Element.Element)
    @Inject var runs: (A, B, A, A, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, Element.Element)
    @Inject var alone: (A, B, A, A, B, B, B, x: Int)?
}

private typealias I = Int
private typealias A = Unicode.Scalar
private typealias B = Unicode.Scalar.Properties

private struct Row<each Column> {}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
private struct GenericConstraints<Element, Other> {
    @Inject var array: any Sequence<Element>
    @Inject var closure: () -> any Sequence<Other>
    @Inject var constant: (any Sequence<Int>)?
    @Inject var equatable: (any Equatable)?
    @Inject var labels: (length: Int, a_maximum_of_x: String)?
    @Inject var row: Row<Int, Row<>>?
    @Inject var rowOfOther: Row<Int, Other>
    @Inject var underscores: (_q: Int, _9x: (any Equatable)?)?
}

private struct Named<Key, let number: Int> {}

@available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private struct GenericNumbers<let first: Int, let second: Int> {
    @Inject var one: InlineArray<first, Int>
    @Inject var other: InlineArray<second, Int>
    @Inject var third: Named<String, first>
    @Inject var repeated: (I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, InlineArray<first, Int>)
}

private final class GenericHeir: GenericBase<[Int]> {
    @Inject var composed: any Service & AnyObject
}

private enum Space {
    actor Actor {
        @Inject var closure: @Sendable () -> Int
    }
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
@Observable private final class Observed {
    @ObservationIgnored @Inject private var service: any Service
}

private struct Unique: ~Copyable {
    @Inject var service: any Service
}

private protocol Nobody {}

private struct Real: Service, NamedService {}
private final class RealObject: Service {}

private let complete = Dependencies {
    Module { Real() as any Service }
    Module { RealObject() as any Service & AnyObject }
    Module("named") { Real() as any NamedService }
    Module { Box<Int>() }
    Module { (1, Real()) as (Int, any Service) }
    Module { { 1 } as @Sendable () -> Int }
}

/// The fixtures' sites: those that the other tests of this program declare are not meant.
private func isFixture(_ site: Dependencies.Site) -> Bool {
    ["AuditFixtures.", "DowelAuditTests."].contains { site.owner.hasPrefix($0) }
}

/// Uses every type of this file in a way that the optimizer cannot see through.
@inline(never) private func useOwnFixtures() -> [String] {
    var used =
        [Private(), Structure(), Heir(), GenericHeir(), Space.Actor(), Misleading(), Payload.one(Inject())] as [Any]
    if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) { used.append(GenericNumbers<1, 2>()) }
    if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *) { used += [GenericConstraints<Int, Int>(), Observed()] }
    return used.map { "\($0)" } + ["\(Unique.self as any ~Copyable.Type)"]
}

@Suite struct AuditTests {
    init() { #expect(useFixtures().count + useOwnFixtures().count > 20) }

    @Test func `every site in every kind of owner is found`() throws {
        let sites = try complete.sites().filter(isFixture)

        let found = sites.filter { $0.wanted != nil }
        #expect(found.count == 38)
        #expect(
            found.map(\.description) == [
                "AuditFixtures.Actor.service",
                "AuditFixtures.Base.service",
                "AuditFixtures.Enumeration.Nested.lost",
                "AuditFixtures.Enumeration.Nested.Deeper.service",
                "AuditFixtures.FilePrivate.lost",
                "AuditFixtures.Generic.service",
                "AuditFixtures.Generic.Nested.service",
                "AuditFixtures.Heir.box",
                "AuditFixtures.InClosure.service",
                "AuditFixtures.Local.service",
                "AuditFixtures.OpenStructure.service",
                "AuditFixtures.Private.optional",
                "AuditFixtures.Private.service",
                "AuditFixtures.Shared._underscored",
                "AuditFixtures.Shared.service",
                "AuditFixtures.String.Extension.service",
                "AuditFixtures.Structure.constant",
                "AuditFixtures.Structure.named",
                "AuditFixtures.Structure.service",
                "AuditFixtures.View.service",
                "DowelAuditTests.GenericBase.alone",
                "DowelAuditTests.GenericBase.lost",
                "DowelAuditTests.GenericConstraints.constant",
                "DowelAuditTests.GenericConstraints.equatable",
                "DowelAuditTests.GenericConstraints.labels",
                "DowelAuditTests.GenericConstraints.row",
                "DowelAuditTests.GenericConstraints.underscores",
                "DowelAuditTests.GenericHeir.composed",
                "DowelAuditTests.Heir.`a raw name`",
                "DowelAuditTests.Heir.lazy",
                "DowelAuditTests.Heir.tuple",
                "DowelAuditTests.Observed.service",
                "DowelAuditTests.Private.service",
                "DowelAuditTests.Space.Actor.closure",
                "DowelAuditTests.Structure.constant",
                "DowelAuditTests.Structure.service",
                "DowelAuditTests.Structure.twice",
                "DowelAuditTests.Unique.service",
            ])
    }

    /// This only has to compile.
    @Test(arguments: try complete.sites().filter(isFixture))
    func `sites may be the arguments of a test`(site: Dependencies.Site) {
        #expect(!site.property.isEmpty)
    }

    @Test func `a site says which type it wants`() throws {
        let sites = try complete.sites().filter(isFixture)

        let wanted = Dictionary(uniqueKeysWithValues: sites.map { ($0.description, $0.wanted ?? Never.self) })
        #expect(wanted["AuditFixtures.Actor.service"] == (any Service).self)
        #expect(wanted["AuditFixtures.Structure.constant"] == (any Service).self)
        #expect(wanted["AuditFixtures.Heir.box"] == Box<Int>.self)
        #expect(wanted["AuditFixtures.Private.optional"] == (any Unoffered)?.self)
        #expect(wanted["DowelAuditTests.GenericHeir.composed"] == (any Service & AnyObject).self)
    }

    @Test func `exactly the sites that nobody offers are named`() throws {
        let error = #expect(throws: WiringError.self) { try complete.audit(passingOver: 12, where: isFixture) }

        let problems = try #require(error).problems
        try #require(problems.count == 3)
        #expect(problems[0].contains("Enumeration.Nested.lost asks for AuditFixtures.Unoffered, which nobody offers"))
        #expect(problems[0].contains("Offer it: Module { … as any AuditFixtures.Unoffered }"))
        #expect(problems[1].contains("FilePrivate.lost asks for AuditFixtures.Unoffered, which nobody offers"))
        #expect(problems[2].contains("GenericBase.lost asks for DowelAuditTests.Nobody, which nobody offers"))
    }

    @Test func `a program that lacks nothing passes, and nothing is made for it`() throws {
        struct None: Unoffered, Nobody {}
        let modules = Dependencies {
            complete
            Module { () -> any Unoffered in fatalError("made") }
            Module { () -> any Nobody in fatalError("made") }
        }

        try modules.audit(passingOver: 12, where: isFixture)
    }

    @Test func `an optional site is never missing`() throws {
        let sites = try Dependencies {}.sites().filter(isFixture)

        let optional = sites.filter { ["optional", "twice"].contains($0.property) }
        #expect(optional.count == 2)
        #expect(optional.allSatisfy { !$0.isMissing && !$0.isOffered })
    }

    @Test func `an optional site is offered where what it wraps is`() throws {
        let modules = Dependencies { Module { () -> any Unoffered in fatalError("made") } }

        let optional = try modules.sites().filter { isFixture($0) && ["optional", "twice"].contains($0.property) }

        #expect(optional.count == 2)
        #expect(optional.allSatisfy { $0.isOffered })
    }

    @Test func `a type that is offered under a name serves its sites`() throws {
        let unnamed = Dependencies { Module { Real() as any NamedService } }
        let named = Dependencies { Module("whatever") { Real() as any NamedService } }

        #expect(try unnamed.sites().contains { $0.property == "named" && $0.isOffered && isFixture($0) })
        #expect(try named.sites().contains { $0.property == "named" && $0.isOffered && isFixture($0) })
    }

    @Test func `another type of the very name that is wanted is pointed out`() throws {
        let modules = Dependencies { AnotherFile.module }

        let error = #expect(throws: WiringError.self) {
            try modules.audit { $0.owner == "DowelAuditTests.GenericBase" && $0.property == "lost" }
        }

        let place = "\(AnotherFile.module.file):\(AnotherFile.module.line)"
        try #expect(#require(error).description.contains("Another type of this very name is at \(place)"))
    }

    @Test func `a site whose type depends on generic parameters is counted, not forgotten`() throws {
        let error = #expect(throws: WiringError.self) {
            try complete.audit { isFixture($0) && $0.owner == "AuditFixtures.Generic" }
        }

        try #expect(#require(error).problems.count == 1)
        try #expect(#require(error).description.contains("passes over 1"))
        try #expect(#require(error).description.contains("AuditFixtures.Generic.elements"))
        for known in 1...2 {
            try complete.audit(passingOver: known) { isFixture($0) && $0.owner == "AuditFixtures.Generic" }
        }
    }

    @Test func `a site that asks for a member of a generic parameter is counted too`() throws {
        let sites = try complete.sites().filter { $0.owner == "DowelAuditTests.GenericBase" }

        #expect(sites.map(\.property) == ["alone", "lost", "member", "pair", "repeated", "runs"])
        #expect(sites.map { $0.wanted == nil } == [false, false, true, true, true, true])
    }

    @Test func `a site whose type is constrained by a generic parameter is counted too`() throws {
        let sites = try complete.sites().filter { $0.owner == "DowelAuditTests.GenericConstraints" }

        let known = ["constant", "equatable", "labels", "row", "underscores"]
        #expect(sites.filter { $0.wanted != nil }.map(\.property) == known)
        #expect(sites.filter { $0.wanted == nil }.map(\.property) == ["array", "closure", "rowOfOther"])
    }

    @Test func `a site whose type has a number from a generic parameter is counted too`() throws {
        let sites = try complete.sites().filter { $0.owner == "DowelAuditTests.GenericNumbers" }

        #expect(sites.map(\.property) == ["one", "other", "repeated", "third"])
        #expect(sites.allSatisfy { $0.wanted == nil })
    }

    @Test func `an audit that sees no site fails`() throws {
        let error = #expect(throws: WiringError.self) { try complete.audit { $0.owner.hasPrefix("Mistyped.") } }

        try #expect(#require(error).description.contains("no injection site"))
    }

    @Test func `what is wrong among the modules is reported too`() throws {
        let broken = Dependencies {
            complete
            Module { (_: any Nobody) in Real() }
        }

        let error = #expect(throws: WiringError.self) { try broken.audit { $0.owner == "AuditFixtures.Actor" } }

        try #expect(#require(error).problems.count == 1)
        try #expect(#require(error).description.contains("Nobody, which nobody offers"))
    }

    /// Fifteen times what it takes in a debug build: this fails where somebody reads all that the program holds.
    /// The thread sanitizer makes every access ten times as dear. Others use the processor too: its time is counted.
    @Test(.enabled(if: dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") == nil, "not under the thread sanitizer"))
    func `the audit takes under 200 milliseconds of the processor`() throws {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }

        let times = try (0..<5).map { _ in
            let begin = now()
            _ = try complete.sites()
            return now() - begin
        }

        #expect(try #require(times.min()) < 0.2)
    }

    // In 6.2 the code of an exit test captures nothing.
    #if (os(Linux) || os(macOS)) && compiler(>=6.3)
    @Test(.enabled(if: Tool.exists("swiftc"), "there is no swiftc on the path to compile a program with"))
    func `what is compiled without reflection metadata cannot be seen, and that fails`() async throws {
        let folder = try Tool.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("Blind.swift")
        let library = folder.appendingPathComponent("libBlind.so")
        try "public struct Hidden { let number = 1 }".write(to: source, atomically: true, encoding: .utf8)
        let arguments = ["-emit-library", "-module-name", "Blind", "-Xfrontend", "-disable-reflection-metadata"]
        try Tool.run("swiftc", arguments + [source.path, "-o", library.path])
        let path = library.path

        // In a process of its own: what is loaded once stays.
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = try Dependencies {}.sites()

            try #require(dlopen(path, RTLD_NOW) != nil)

            let error = #expect(throws: WiringError.self) { try Dependencies {}.audit() }

            let text = "\(error as Any)"
            #expect(text.contains("cannot see") && text.contains("Blind is compiled without reflection metadata"))
            try complete.audit(unseen: ["Blind"]) { $0.owner == "DowelAuditTests.Private" }
        }
    }

    @Test(.enabled(if: Tool.exists("swiftc"), "there is no swiftc on the path to compile a program with"))
    func `an Inject of another copy of Dowel is pointed out`() async throws {
        let folder = try Tool.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("Copy.swift")
        let library = folder.appendingPathComponent("libCopy.so")
        let copy = """
            public enum Resolver { public final class Inject<Value> {} }
            public struct Screen { let number = Resolver.Inject<Int>() }
            """
        try copy.write(to: source, atomically: true, encoding: .utf8)
        // It has names that are this program's too: its own come first.
        let arguments = ["-emit-library", "-module-name", "Dowel", "-Xlinker", "-Bsymbolic"]
        try Tool.run("swiftc", arguments + [source.path, "-o", library.path])
        let path = library.path

        await #expect(processExitsWith: .success) { [path = path as String] in
            try #require(dlopen(path, RTLD_NOW) != nil)

            let error = #expect(throws: WiringError.self) { try Dependencies {}.sites() }

            #expect("\(error as Any)".contains("Dowel.Screen.number is an Inject of another copy of Dowel"))
        }
    }
    #endif

    @Test func `a concrete type that nobody offers has no any in the line to paste`() throws {
        let error = #expect(throws: WiringError.self) {
            try Dependencies {}.audit { $0.owner == "AuditFixtures.Heir" && $0.property == "box" }
        }

        try #expect(#require(error).description.contains("Offer it: Module { … as AuditFixtures.Box<Swift.Int> }."))
    }

    @Test func `what would do for a site, were it offered as the type that is asked for, is named with it`() throws {
        struct None: Unoffered {}
        final class Lower: Box<Int>, Unoffered, @unchecked Sendable {}
        let modules = Dependencies {
            Module { 3 }
            Module { None() }
            Module("a name") { Lower() }
        }

        let error = #expect(throws: WiringError.self) { try modules.audit { ["lost", "box"].contains($0.property) } }

        let problems = try #require(error).problems
        let places = modules.modules.map { "(\($0.file):\($0.line))" }
        let lost = try #require(problems.first { $0.contains("FilePrivate.lost") })
        let box = try #require(problems.first { $0.contains("Heir.box") })
        #expect(lost.contains("Perhaps `as any AuditFixtures.Unoffered` is missing: "))
        #expect(lost.contains("None \(places[1]), "))
        #expect(lost.contains("Lower \(places[2]). Offer it: "))
        #expect(!lost.contains("Int"))
        #expect(box.contains("Perhaps `as AuditFixtures.Box<Swift.Int>` is missing: "))
        #expect(box.contains("Lower \(places[2]). Offer it: "))
        #expect(!box.contains("None"))
    }

    @Test func `what a case of an enum holds is no site`() throws {
        #expect(try Dependencies {}.sites().allSatisfy { $0.owner != "DowelAuditTests.Payload" })
    }

    @Test func `a site whose type nobody knows is not said to be missing`() throws {
        let sites = try Dependencies {}.sites().filter { $0.owner == "AuditFixtures.Generic" && $0.wanted == nil }

        #expect(!sites.isEmpty)
        #expect(sites.allSatisfy { !$0.isMissing && !$0.isOffered })
    }

    @Test func `sites whose types nobody knows are counted all, also where some are known`() throws {
        let isGeneric = { @Sendable (site: Dependencies.Site) in
            site.owner == "DowelAuditTests.GenericConstraints" && site.wanted == nil
        }

        let error = #expect(throws: WiringError.self) {
            try Dependencies {}.audit(passingOver: 2, where: isGeneric)
        }

        let text = try #require(error).description
        #expect(text.contains("The audit passes over 3, whose types"))
        #expect(text.contains("say audit(passingOver: 3)."))
    }
}
