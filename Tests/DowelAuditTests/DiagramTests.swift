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

private enum Inner {
    struct Screen {}
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

    @Test func `a name of any type is text, whatever it means to the language`() {
        let modules = Dependencies {
            Module(#"a "name" \ with ]"#) { `Odd "name" <b> & #(n0) end`<any API>() }
        }

        #expect(modules.diagram(.mermaid).contains(##"n0["#96;Odd #34;name#34; #60;b#62; #38; #35;(n0) end"##))
        #expect(modules.diagram(.dot).contains(#"n0 [label="`Odd \"name\" <b> &amp; #(n0) end"#))
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
        #expect(text.contains("    \(structure) --> \(service)\n"))
        #expect(text.contains("    \(structure) --> \(named)\n"))
        #expect(text.contains("    \(filePrivate) --> \(lost)\n"))
        #expect(text.components(separatedBy: "\(structure) --> \(service)\n").count == 2)
    }

    @Test func `sites that may ask for any of several names share one way to them`() throws {
        _ = useFixtures()
        let modules = Dependencies {
            for number in 0..<3 { Module("\(number)") { () -> any Service in fatalError("made") } }
        }
        let sites = try modules.sites().filter { $0.owner.hasPrefix("AuditFixtures.") }

        let text = modules.diagram(.mermaid, sites: sites)

        let structure = try #require(node("Structure", in: text))
        let choice = try #require(node("Service<br/>under a name", in: text))
        #expect(text.contains("    \(structure) --> \(choice)\n"))
        #expect(text.components(separatedBy: "    \(choice) --> ").count == 4)
        for number in 0..<3 {
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
        }
        let file = Tool.temporary("drawing.dot")
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
}
