import AuditFixtures
import Dowel
import DowelAudit
import Foundation
import Testing

private protocol API: Sendable {}
private protocol Log: Sendable {}
private protocol Cache: Sendable {}
private final class Client: API, Log, Cache, NamedService {}

private struct Screen {
    let number: Int
}

/// Its name is that of a private type of AuditTests.swift, which asks.
private struct Structure {}

private enum Inner {
    struct Screen {}
    struct Structure {}
}

private enum First { struct Twin {} }
private enum Second {
    struct Twin {}
    struct Unoffered {}
}

private struct `Odd "name" <b> & #(n0) end`<Element> {}

private let shop = Dependencies {
    Module { (_: any API, _: (any Cache)?, _: (any Log)?) in Screen(number: 1) }
    Module(.shared) { (_: Box<Int>) in Client() as any API }
    Module("net", .weakShared) { Client() as any API }
    Module(.objectGraph) { Client() as any Cache }
}

@Suite struct DiagramTests {
    @Test func `the Mermaid drawing shows modules, lifetimes and needs`() {
        let text = shop.diagram(.mermaid)

        #expect(
            text == """
                flowchart LR
                    classDef missing fill:#fdd,stroke:#c00,color:#900,stroke-dasharray:4
                    n0["Screen"]
                    n1("API<br/>shared")
                    n2{{"API<br/>“net”<br/>weakShared"}}
                    n3[["Cache<br/>objectGraph"]]
                    n4["Box#60;Int#62;<br/>nobody offers it"]:::missing
                    n0 --> n1
                    n0 -.-> n3
                    n1 --> n4

                """)
    }

    @Test func `the DOT drawing shows modules, lifetimes and needs`() {
        let text = shop.diagram(.dot)

        for line in [
            #"n0 [label="Screen", shape=box]"#,
            #"n1 [label="API\nshared", shape=box, style=rounded]"#,
            #"n2 [label="API\n“net”\nweakShared", shape=hexagon]"#,
            #"n3 [label="Cache\nobjectGraph", shape=box, peripheries=2]"#,
            #"n4 [label="Box<Int>\nnobody offers it", shape=box, style="dashed,filled""#,
            "n0 -> n1\n", "n0 -> n3 [style=dashed]\n", "n1 -> n4\n",
        ] { #expect(text.contains(line)) }
    }

    @Test func `an optional need that nobody offers is not drawn`() {
        #expect(!shop.diagram(.mermaid).contains("Log"))
        #expect(!shop.diagram(.dot).contains("Log"))
    }

    @Test func `two types of one short name are told apart`() {
        let modules = Dependencies {
            Module { Screen(number: 1) }
            Module { Inner.Screen() }
            Module { Client() as any API }
        }

        let text = modules.diagram(.dot)

        #expect(text.contains(#"label="DowelAuditTests.Screen""#))
        #expect(text.contains(#"label="DowelAuditTests.Inner.Screen""#))
        #expect(text.contains(#"label="API""#))
    }

    @Test func `two optionals of one short name are told apart`() {
        let modules = Dependencies {
            Module { Screen(number: 1) as Screen? }
            Module { Inner.Screen() as Inner.Screen? }
        }

        let text = modules.diagram(.dot)

        #expect(text.contains(#"label="Swift.Optional<DowelAuditTests.Screen>""#))
        #expect(text.contains(#"label="Swift.Optional<DowelAuditTests.Inner.Screen>""#))
    }

    @Test func `an owner and a type of one short name are told apart`() throws {
        _ = useFixtures()
        let modules = Dependencies { Module { Inner.Structure() } }
        let sites = try modules.sites().filter { $0.owner == "AuditFixtures.Structure" }

        let text = modules.diagram(.dot, sites: sites)

        #expect(text.contains(#"[label="DowelAuditTests.Inner.Structure", shape=box]"#))
        #expect(text.contains(#"[label="AuditFixtures.Structure", shape=note]"#))
    }

    @Test func `what two features bring along is drawn once`() {
        let core = Dependencies { Module { Client() as any API } }
        let modules = Dependencies {
            core
            core
        }

        #expect(modules.diagram(.mermaid).components(separatedBy: #"["API"]"#).count == 2)
    }

    @Test func `where an optional is offered as itself, its arrow goes there alone`() {
        let modules = Dependencies {
            Module { Client() as (any API)? }
            Module { Client() as any API }
            Module { (_: (any API)?) in Screen(number: 1) }
        }

        #expect(modules.diagram(.mermaid).hasSuffix("    n2 -.-> n0\n"))
        #expect(!modules.diagram(.mermaid).contains("n2 -.-> n1"))
    }

    @Test func `a name of any type is text, whatever it means to the language`() {
        let modules = Dependencies {
            Module(#"a "name" \ with ]"#) { `Odd "name" <b> & #(n0) end`<any API>() }
        }

        #expect(modules.diagram(.mermaid).contains(##"n0["#96;Odd #34;name#34; #60;b#62; #38; #35;(n0) end"##))
        #expect(modules.diagram(.dot).contains(#"n0 [label="`Odd \"name\" <b> &amp; #(n0) end"#))
    }

    @Test func `a name of two lines, or with a semicolon, stays one`() {
        let modules = Dependencies { Module("one;\ntwo") { Client() as any API } }

        #expect(modules.diagram(.mermaid).contains("“one#59;#10;two”"))
        #expect(modules.diagram(.dot).contains(#""API\n“one; two”""#))
    }

    @Test func `the sites are drawn in, with what they lack`() throws {
        _ = useFixtures()
        let modules = Dependencies {
            Module("named") { Client() as any NamedService }
            Module(.shared) { () -> any Service in fatalError("made") }
        }
        let sites = try modules.sites().filter { $0.owner.hasPrefix("AuditFixtures.") }

        let text = modules.diagram(.mermaid, sites: sites)

        let structure = try #require(node("Structure", in: text))
        let service = try #require(node("Service<br/>shared", in: text))
        let named = try #require(node("NamedService<br/>“named”", in: text))
        let lost = try #require(node("Unoffered<br/>nobody offers it", in: text))
        let filePrivate = try #require(node("FilePrivate", in: text))
        #expect(text.contains(#"    \#(structure)>"Structure"]"#))
        #expect(node("Enumeration.Nested", in: text) != nil)
        #expect(text.contains("    \(structure) --> \(service)\n"))
        #expect(text.contains("    \(structure) --> \(named)\n"))
        #expect(text.contains("    \(filePrivate) --> \(lost)\n"))
        #expect(text.components(separatedBy: "\(structure) --> \(service)\n").count == 2)
    }

    @Test func `sites that may ask for any of several names share one way to them`() throws {
        _ = useFixtures()
        let modules = Dependencies {
            for number in 0..<9 { Module("\(number)") { () -> any Service in fatalError("made") } }
        }
        let sites = try modules.sites().filter { $0.owner.hasPrefix("AuditFixtures.") }

        let text = modules.diagram(.mermaid, sites: sites)

        let structure = try #require(node("Structure", in: text))
        let choice = try #require(node("Service<br/>under a name", in: text))
        #expect(text.contains("    \(structure) --> \(choice)\n"))
        #expect(text.contains(#"    \#(choice){"Service<br/>under a name"}"#))
        let targets = text.components(separatedBy: "    \(choice) --> ").dropFirst().map { $0.prefix(2) }
        #expect(targets == (0..<9).map { "n\($0)" })
        for number in 0..<9 {
            let named = try #require(node("Service<br/>“\(number)”", in: text))
            #expect(text.components(separatedBy: " \(named)\n").count == 2)
        }
        #expect(modules.diagram(.dot, sites: sites).contains(#"[label="Service\nunder a name", shape=diamond]"#))
    }

    @Test func `who asks and is offered too has one node`() throws {
        let modules = Dependencies {
            Module(.objectGraph) { OpenStructure() }
            Module("second") { OpenStructure() }
            Module { () -> any Service in fatalError("made") }
        }
        let sites = try modules.sites().filter { $0.owner == "AuditFixtures.OpenStructure" }

        let text = modules.diagram(.mermaid, sites: sites)

        #expect(sites.count == 1)
        #expect(text.contains(#"n0[["OpenStructure<br/>objectGraph"]]"#))
        #expect(text.contains(#"n1["OpenStructure<br/>“second”"]"#))
        #expect(text.hasSuffix("    n0 --> n2\n    n1 --> n2\n"))
        #expect(!text.contains("n3"))
    }

    @Test func `who asks is not joined with another file's private type of the same name`() throws {
        let modules = Dependencies { Module { Structure() } }
        let sites = try modules.sites().filter { $0.owner == "DowelAuditTests.Structure" }

        let text = modules.diagram(.mermaid, sites: sites)

        #expect(!sites.isEmpty)
        #expect(text.contains(#"    n0["Structure"]"#) && text.contains(#"    n1>"Structure"]"#))
        #expect(!text.contains("    n0 -"))
    }

    @Test func `nor is a local type joined with an offered one of its name`() throws {
        _ = useFixtures()
        let modules = Dependencies { Module { Local() } }
        let sites = try modules.sites().filter { $0.owner == "AuditFixtures.Local" }

        let text = modules.diagram(.mermaid, sites: sites)

        #expect(sites.count == 1)
        #expect(text.contains(#"    n0["Local"]"#) && text.contains(#"    n1>"Local"]"#))
        #expect(!text.contains("    n0 -"))
    }

    @Test func `a site that asks for an unknown type says so`() throws {
        _ = useFixtures()
        let sites = try shop.sites().filter { $0.owner == "AuditFixtures.Generic" }

        let text = shop.diagram(.mermaid, sites: sites)

        #expect(text.contains("Generic<br/>elements: depends on generic parameters"))
    }

    @Test func `a drawing of nothing is a drawing`() {
        #expect(Dependencies {}.diagram(.mermaid).hasPrefix("flowchart"))
        #expect(Dependencies {}.diagram(.dot).hasSuffix("}\n"))
    }

    #if os(Linux) || os(macOS)
    @Test(.enabled(if: Tool.exists("dot"), "Graphviz is not installed here, so nothing renders the DOT drawing"))
    func `Graphviz renders the DOT drawing`() throws {
        _ = useFixtures()
        let modules = Dependencies {
            shop
            Module("a \"name\"\u{301} \\") { `Odd "name" <b> & #(n0) end`<any API>() }
            Module("\u{0}") { Client() as any API }
        }
        let folder = try Tool.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("drawing.dot")
        let sites = try modules.sites().filter { $0.owner.hasPrefix("AuditFixtures.") }
        try modules.diagram(.dot, sites: sites).write(to: file, atomically: true, encoding: .utf8)

        let picture = try Tool.run("dot", ["-Tsvg", file.path])

        #expect(picture.contains("</svg>"))
        #expect(picture.contains(">weakShared</text>"))
        #expect(picture.contains("nobody offers it</text>"))
        #expect(picture.contains(#"Odd &quot;name&quot; &lt;b&gt; &amp; #(n0) end"#))
    }
    #endif

    /// The id of the node with this label.
    private func node(_ label: String, in text: String) -> String? {
        let line = text.split(separator: "\n").first { $0.contains("\"\(label)\"") }
        return line.flatMap { $0.split(separator: " ").first }.map { String($0.prefix { $0.isLetter || $0.isNumber }) }
    }

    @Test func `a backslash in a name is text in the DOT drawing`() {
        let text = Dependencies { Module(#"a\"#) { Client() as any API } }.diagram(.dot)

        #expect(text.contains(#"[label="API\n“a\\”", shape=box]"#))
    }

    @Test func `what no picture can show is replaced in the DOT drawing`() {
        let text = Dependencies { Module("a\u{0}\u{1B}\u{FFFE}\t\nb") { Client() as any API } }.diagram(.dot)

        #expect(text.contains("“a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD} b”"))
    }

    @Test func `two needs of one short name are told apart`() {
        let text = Dependencies { Module { (_: First.Twin, _: Second.Twin) in Screen(number: 1) } }.diagram(.dot)

        #expect(text.contains(#"label="DowelAuditTests.First.Twin\nnobody offers it""#))
        #expect(text.contains(#"label="DowelAuditTests.Second.Twin\nnobody offers it""#))
    }

    @Test func `what a site asks for and a module of one short name are told apart`() throws {
        _ = useFixtures()
        let modules = Dependencies { Module { Second.Unoffered() } }
        let sites = try modules.sites().filter { $0.owner == "AuditFixtures.FilePrivate" }

        let text = modules.diagram(.dot, sites: sites)

        #expect(text.contains(#"label="AuditFixtures.Unoffered\nnobody offers it""#))
        #expect(text.contains(#"label="DowelAuditTests.Second.Unoffered""#))
    }

    @Test func `the arrow of an optional site is broken, and leads to what is wrapped`() throws {
        _ = useFixtures()
        let one = Dependencies { Module { () -> any Unoffered in fatalError("made") } }
        let named = Dependencies {
            for name in ["a", "b"] { Module(name) { () -> any Unoffered in fatalError("made") } }
        }
        let sites = try one.sites().filter { $0.description == "AuditFixtures.Private.optional" }

        #expect(one.diagram(.mermaid, sites: sites).hasSuffix("    n1 -.-> n0\n"))
        #expect(named.diagram(.mermaid, sites: sites).contains(#"n3{"Unoffered<br/>under a name"}"#))
        #expect(named.diagram(.mermaid, sites: sites).hasSuffix("    n2 -.-> n3\n"))
    }

    @Test func `a need that is offered under a name only is missing in the drawing`() {
        let text = Dependencies {
            Module("net") { Client() as any API }
            Module { (_: any API) in Screen(number: 1) }
        }.diagram(.mermaid)

        #expect(text.contains("API<br/>nobody offers it"))
        #expect(text.hasSuffix("    n1 --> n2\n"))
    }

    @Test func `a site's arrow goes to the module without a name, where there is one`() throws {
        _ = useFixtures()
        let modules = Dependencies {
            Module("net") { () -> any Service in fatalError("made") }
            Module { () -> any Service in fatalError("made") }
        }
        let sites = try modules.sites().filter { $0.owner == "AuditFixtures.Actor" }

        #expect(modules.diagram(.mermaid, sites: sites).hasSuffix("    n2 --> n1\n"))
        #expect(sites.count == 1)
    }
}
