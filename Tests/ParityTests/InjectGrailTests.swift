import Dowel
import Foundation
import Testing

/// The example: an archive. A reading room has a catalogue, which has cards, which are printed.
enum Archive {
    // Each lists what it uses itself, and knows nothing of what its parts use.
    final class ReadingRoom {
        let catalogue: Catalogue
        init(catalogue: Catalogue) { self.catalogue = catalogue }
        func read() -> String { catalogue.cards.map(\.text).joined(separator: ", ") }
    }
    final class Catalogue {
        let cards: [any Card]
        init(first: any Card, second: any Card) { cards = [first, second] }
    }
    protocol Card { var text: String { get } }
    struct PlainCard: Card { var text: String { "card" } }
    struct DatedCard: Card {
        let calendar: Calendar
        var text: String { "card of \(calendar.year)" }
    }
    struct Calendar: Sendable { let year: Int }

    /// How the parents are made: written once, whatever their grandchildren come to need.
    protocol Wiring { func component() -> any Card }

    /// How cards were made at first.
    struct Before: Wiring { func component() -> any Card { PlainCard() } }

    /// How they are made since they need a calendar.
    struct After: Wiring {
        func component() -> any Card { DatedCard(calendar: component()) }
        func component() -> Calendar { Calendar(year: 1848) }
    }

    // What is made at the root, and handed down.
    final class Vault: Sendable {
        let opened: Counter
        init(opened: Counter) {
            self.opened = opened
            opened.add()
        }
    }
    struct Shelf {
        let vault: Vault
        let number: Int
    }
    struct Aisle {
        let shelves: [Shelf]
        init(shelf: (Int) -> Shelf) { shelves = (1...3).map(shelf) }
    }

    // What each reader of the module may see.
    protocol ShelfMaker { func component(number: Int) -> Shelf }
    protocol AisleMaker { func component() -> Aisle }
    struct VaultModule: ShelfMaker, AisleMaker {
        let vault: Vault

        func component() -> Vault { vault }
        func component(number: Int) -> Shelf { Shelf(vault: vault, number: number) }
        func component() -> Aisle { Aisle(shelf: component(number:)) }
    }
    struct Clerk {
        @Inject var shelves: any ShelfMaker
        func fetch(_ number: Int) -> Shelf { shelves.component(number: number) }
    }
    final class Director {
        @Inject private var aisles: any AisleMaker
        private(set) lazy var aisle: Aisle = aisles.component()
    }

    struct Ink: Sendable { let colour: String }
    struct Stamp {
        let text: Ink
        let edge: Ink
    }
    struct Label {
        let copies: Int
        let text: String
    }

    /// The modules of the whole archive are built here, and nowhere below.
    static func dependencies(_ opened: Counter, modules: Counter = Counter()) -> Dependencies {
        Dependencies {
            Module(.shared) { Vault(opened: opened) }
            Module(.shared) { modules.counting(VaultModule(vault: $0)) }
            Module { (module: VaultModule) in module as any ShelfMaker }
            Module { (module: VaultModule) in module as any AisleMaker }
        }
    }
}

extension Archive.Wiring {
    func component() -> Archive.ReadingRoom { Archive.ReadingRoom(catalogue: component()) }
    func component() -> Archive.Catalogue { Archive.Catalogue(first: component(), second: component()) }
}

@Suite struct InjectGrail {
    typealias Ink = Archive.Ink

    @Test func `a class lists its own needs only, whatever its parts need`() {
        let dependencies = Dependencies {
            Module(Archive.ReadingRoom.init)
            Module(Archive.Catalogue.init)
            Module { Archive.DatedCard(calendar: $0) as any Archive.Card }
            Module { Archive.Calendar(year: 1066) }
        }

        let room: Archive.ReadingRoom = dependencies.override { Resolver.resolve() }

        #expect(room.read() == "card of 1066, card of 1066")
        #expect(dependencies.modules.map(\.needs.count) == [1, 2, 1, 0])
    }

    @Test func `a new need of a grandchild changes no parent`() {
        let before: Archive.ReadingRoom = Archive.Before().component()
        let after: Archive.ReadingRoom = Archive.After().component()

        #expect(before.read() == "card, card")
        #expect(after.read() == "card of 1848, card of 1848")
    }

    @Test func `dependencies are pushed down from one root`() {
        let (opened, modules) = (Counter(), Counter())

        Archive.dependencies(opened, modules: modules).override {
            let openedByTheBlock = opened.value
            let director = Archive.Director()
            let shelf = Archive.Clerk().fetch(9)

            #expect(openedByTheBlock == 0)
            #expect(director.aisle.shelves.map(\.number) == [1, 2, 3])
            #expect(director.aisle.shelves.allSatisfy { $0.vault === shelf.vault })
            #expect(opened.value == 1)
            #expect(modules.value == 1)
        }
    }

    @Test func `what is needed is matched by type, and by name where several have one type`() {
        struct Desk {
            @Inject("text") var text: Ink
            @Inject("edge") var edge: Ink
            @Inject var stamp: Archive.Stamp
        }
        let dependencies = Dependencies {
            Module("text") { Ink(colour: "black") }
            Module("edge") { Ink(colour: "gold") }
            Module { Archive.Stamp(text: Resolver.resolve("text"), edge: Resolver.resolve("edge")) }
        }

        dependencies.override {
            let desk = Desk()

            #expect(desk.text.colour == "black")
            #expect(desk.edge.colour == "gold")
            #expect([desk.stamp.text.colour, desk.stamp.edge.colour] == ["black", "gold"])
        }
    }

    @Suite struct `numbers and texts are never filled in by guesswork` {
        @Test func `a bare one that nobody offers is reported, and one under a name does not fill it`() throws {
            let dependencies = Dependencies {
                Module(Archive.Label.init)
                Module { (isOpen: Bool) in Ink(colour: isOpen ? "red" : "grey") }
                Module("copies") { 3 }
            }

            let error = try #require(throws: WiringError.self) { try dependencies.validate() }

            #expect(error.problems.count == 3)
            for type in ["Int", "String", "Bool"] {
                #expect(error.problems.contains { $0.contains("A bare \(type) is never filled by guesswork") })
            }
            #expect(error.problems.allSatisfy { $0.contains("type of its own") && $0.contains("named module") })
        }

        @Test func `one registered without a name, on purpose, is taken`() throws {
            let dependencies = Dependencies {
                Module(Archive.Label.init)
                Module { 3 }
                Module { "fragile" }
            }

            try dependencies.validate()
            let label: Archive.Label = dependencies.override { Resolver.resolve() }

            #expect(label.copies == 3)
            #expect(label.text == "fragile")
        }
    }

    @Test func `the arguments that are left are passed by hand`() {
        let opened = Counter()

        let shelf = Archive.dependencies(opened).override { Archive.Clerk().fetch(41) }

        #expect(shelf.number == 41)
        #expect(shelf.vault.opened === opened)
    }

    @Test func `a class is still constructed by hand, with nothing built`() {
        struct Spare: Archive.ShelfMaker {
            let vault: Archive.Vault
            func component(number: Int) -> Archive.Shelf { Archive.Shelf(vault: vault, number: -number) }
        }

        let catalogue = Archive.Catalogue(first: Archive.PlainCard(), second: Archive.PlainCard())
        let room = Archive.ReadingRoom(catalogue: catalogue)
        let clerk = Archive.Clerk(shelves: Inject(given: Spare(vault: Archive.Vault(opened: Counter()))))

        #expect(room.read() == "card, card")
        #expect(clerk.fetch(5).number == -5)
        #expect(Mirror(reflecting: room).superclassMirror == nil)
    }

    @Suite struct `there is no magic: what is called is declared, and can be jumped to` {
        @Test func `a component is a function like any other`() {
            let module = Archive.VaultModule(vault: Archive.Vault(opened: Counter()))

            let makeShelf: (Int) -> Archive.Shelf = module.component(number:)
            let makeAisle: () -> Archive.Aisle = module.component

            #expect(makeShelf(8).number == 8)
            #expect(makeAisle().shelves.count == 3)
        }

        @Test func `the package generates no code, and depends on none that does`() throws {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 1...3 { root.deleteLastPathComponent() }

            let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)

            #expect(manifest.contains("name: \"Dowel\""))
            for word in [".package(", ".macro(", ".plugin(", "plugins:"] { #expect(!manifest.contains(word)) }
        }
    }

    @Test func `each class sees of a module what its protocol lists`() {
        let opened = Counter()

        Archive.dependencies(opened).override {
            let (clerk, director) = (Archive.Clerk(), Archive.Director())

            #expect(clerk.shelves is Archive.VaultModule)
            #expect(clerk.fetch(2).vault === director.aisle.shelves[0].vault)
        }
    }
}
