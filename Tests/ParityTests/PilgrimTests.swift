import Dowel
import Foundation
import Testing

/// The example: a theatre, with its stage, its prompter and its seats.
enum Theatre {
    protocol Curtain: AnyObject, Sendable {}
    final class VelvetCurtain: Curtain {}

    final class Prompter {}
    final class Stage {
        let prompter: Prompter
        init(prompter: Prompter) { self.prompter = prompter }
    }
    final class Wings {
        let prompter: Prompter
        init(prompter: Prompter) { self.prompter = prompter }
    }
    final class Play {
        let stage: Stage
        let wings: Wings
        init(stage: Stage, wings: Wings) { (self.stage, self.wings) = (stage, wings) }
    }

    /// Has a function for each lifetime.
    struct House {
        let scope = Scope()

        func component() -> any Curtain { scope.shared { VelvetCurtain() } }
        func component() -> Bell { scope.weakShared { Bell() } }
        func component() -> Prompter { scope.objectGraph { Prompter() } }
        func component() -> Stage { Stage(prompter: component()) }
        func component() -> Wings { Wings(prompter: component()) }
        func component() -> Play { scope.objectGraph { Play(stage: component(), wings: component()) } }
        func component() -> Poster { Poster() }

        // Alike in all but their places: two differ in the line alone, two in the column alone.
        func left() -> VelvetCurtain { scope.shared { VelvetCurtain() } }
        func rear() -> VelvetCurtain { scope.shared { VelvetCurtain() } }
        func pair() -> [VelvetCurtain] { [scope.shared { VelvetCurtain() }, scope.shared { VelvetCurtain() }] }
    }
    final class Bell: Sendable {}
    final class Poster {}

    // A view and its delegate, each of which knows the other.
    protocol BoardDelegate: AnyObject { var cue: String { get } }
    final class Board { weak var delegate: (any BoardDelegate)? }
    final class Operator: BoardDelegate {
        let board: Board
        let cue = "lights down"
        init(board: Board) { self.board = board }
    }
    final class Booth {
        let board: Board
        let delegate: any BoardDelegate
        init(board: Board, delegate: any BoardDelegate) { (self.board, self.delegate) = (board, delegate) }
    }
    struct BoothModule {
        let scope = Scope()

        func component() -> Board { scope.objectGraph({ Board() }, configure: { $0.delegate = component() }) }
        func component() -> any BoardDelegate { scope.objectGraph { Operator(board: component()) } }
        func component() -> Booth { scope.objectGraph { Booth(board: component(), delegate: component()) } }
    }

    // Seats are asked for with arguments that only the caller has.
    struct Guest: Hashable { let name: String }
    final class Seat: Sendable {
        let guest: Guest
        let row: Int
        init(guest: Guest, row: Int) { (self.guest, self.row) = (guest, row) }
    }
    protocol SeatModuleType: Sendable { func component(guest: Guest) -> Seat }
    struct SeatModule: SeatModuleType {
        let scope = Scope()

        func component(guest: Guest) -> Seat { scope.shared(for: guest) { component(guest: guest, row: 1) } }
        func component(late guest: Guest) -> Seat { scope.weakShared(for: guest) { component(guest: guest, row: 9) } }
        func component(member: Guest) -> Seat { scope.objectGraph(for: member) { component(guest: member, row: 2) } }
        func component(party: [Guest]) -> [Seat] { scope.objectGraph { party.map { component(member: $0) } } }
        func component(guest: Guest, row: Int) -> Seat { Seat(guest: guest, row: row) }
        func component() -> Usher { Usher(seats: self) }
    }

    /// Makes seats when guests come, long after it was itself made.
    struct Usher {
        let seats: any SeatModuleType
        func lead(_ name: String) -> Seat { seats.component(guest: Guest(name: name)) }
    }
    final class Foyer {
        @Inject private var seats: any SeatModuleType
        func welcome(_ name: String) -> Seat { seats.component(guest: Guest(name: name)) }
    }

    // Each needs the next to be made.
    final class Hen: Sendable { init(from: Egg?) {} }
    final class Egg: Sendable { init(from: Hen?) {} }
    final class Chick: Sendable {}
    enum Kept: String, Codable, CaseIterable { case shared, weakShared, objectGraph }

    /// A ring of modules: nobody comes further before `meeting` has.
    static func ring(_ kept: Kept, of length: Int, _ meeting: Meeting = Meeting(of: 1)) -> Dependencies {
        func link<T: Sendable, Next>(_ value: T, _ next: Next.Type) -> Module {
            let make: @Sendable () -> T = {
                meeting.wait()
                _ = Resolver.resolve() as Next
                return value
            }
            return switch kept {
            case .shared: Module(.shared, make)
            case .weakShared: Module(.weakShared, make)
            case .objectGraph: Module(.objectGraph, make)
            }
        }
        return Dependencies {
            link(Hen(from: nil), Egg.self)
            if length == 2 {
                link(Egg(from: nil), Hen.self)
            } else {
                link(Egg(from: nil), Chick.self)
                link(Chick(), Hen.self)
            }
        }
    }

    /// The same ring, of the functions of one module.
    struct Coop: Sendable {
        let scope = Scope()
        let kept: Kept
        var meeting = Meeting(of: 1)

        func hen() -> Hen { keep(1) { Hen(from: egg()) } }
        func egg() -> Egg { keep(2) { Egg(from: hen()) } }

        private func keep<T: Sendable>(_ id: Int, _ make: () -> T) -> T {
            let make = {
                meeting.wait()
                return make()
            }
            return switch kept {
            case .shared: scope.shared(for: id, make)
            case .weakShared: scope.weakShared(for: id, make)
            case .objectGraph: scope.objectGraph(for: id, make)
            }
        }
    }
}

@Suite struct Pilgrim {
    typealias House = Theatre.House
    typealias Prompter = Theatre.Prompter
    typealias Stage = Theatre.Stage
    typealias Wings = Theatre.Wings
    typealias Play = Theatre.Play
    typealias Board = Theatre.Board
    typealias Seat = Theatre.Seat
    typealias Kept = Theatre.Kept

    @Suite struct `each function has a lifetime of its own` {
        @Test func `in a module, by its scope`() {
            let house = House()

            let curtains: [any Theatre.Curtain] = [house.component(), house.component()]
            let bells: [Theatre.Bell] = [house.component(), house.component()]
            let play: Play = house.component()
            let prompter: Prompter = house.component()
            let posters: [Theatre.Poster] = [house.component(), house.component()]

            #expect(curtains[0] === curtains[1])
            #expect(bells[0] === bells[1])
            #expect(play.stage.prompter === play.wings.prompter)
            #expect(play.stage.prompter !== prompter)
            #expect(posters[0] !== posters[1])
        }

        @Test func `whatever type it shares with others, by its place`() {
            let house = House()

            let curtains = [house.left(), house.rear()] + house.pair()

            #expect(Set(curtains.map { ObjectIdentifier($0) }).count == 4)
            #expect(house.rear() === curtains[1])
            #expect(house.pair()[1] === curtains[3])
        }

        @Test func `on a module, by its lifetime`() {
            let dependencies = Dependencies {
                Module(.shared) { Theatre.VelvetCurtain() as any Theatre.Curtain }
                Module(.weakShared) { Theatre.Bell() }
                Module(.objectGraph) { Prompter() }
                Module(.unshared) { Theatre.Poster() }
            }

            dependencies.override {
                func two<T>() -> (T, T) { (Resolver.resolve(), Resolver.resolve()) }
                let curtains: (any Theatre.Curtain, any Theatre.Curtain) = two()
                let bells: (Theatre.Bell, Theatre.Bell) = two()
                let prompters: (Prompter, Prompter) = two()
                let posters: (Theatre.Poster, Theatre.Poster) = two()

                #expect(curtains.0 === curtains.1)
                #expect(bells.0 === bells.1)
                #expect(prompters.0 !== prompters.1)
                #expect(posters.0 !== posters.1)
            }
            #expect(
                dependencies.modules.map { "\($0.lifetime)" } == ["shared", "weakShared", "objectGraph", "unshared"])
        }
    }

    @Test func `shared is made exactly once, although many threads ask before it is there`() {
        let (made, asked) = (Counter(), Counter())
        /// Made when that many have begun to ask.
        @Sendable func bell(onceAsked count: Int) -> Theatre.Bell {
            while asked.value < count { sched_yield() }
            return made.counting(Theatre.Bell())
        }
        let (scope, bells) = (Scope(), Basket<Theatre.Bell>())

        Dependencies { Module(.shared) { bell(onceAsked: 8) } }.override {
            let sites = (0..<8).map { _ in Inject<Theatre.Bell>() }
            onThreads(8) { index in
                asked.add()
                bells.add(sites[index].wrappedValue)
                asked.add()
                bells.add(scope.shared { bell(onceAsked: 16) })
            }
        }

        #expect(bells.values.count == 16)
        #expect(Set(bells.values.map { ObjectIdentifier($0) }).count == 2)
        #expect(made.value == 2)
    }

    @Test func `weakShared is gone with its last outside owner, and made anew afterwards`() {
        let made = Counter()
        let dependencies = Dependencies {
            Module(.weakShared) { made.counting(Theatre.VelvetCurtain()) as any Theatre.Curtain }
        }

        dependencies.override {
            var first: (any Theatre.Curtain)? = Resolver.resolve()
            var second: (any Theatre.Curtain)? = Resolver.resolve()
            weak let observed = first
            let areOne = first === second
            first = nil
            let isKeptByTheOther = observed != nil
            second = nil
            let isGone = observed == nil
            let third: any Theatre.Curtain = Resolver.resolve()

            #expect(areOne)
            #expect(isKeptByTheOther)
            #expect(isGone)
            #expect(made.value == 2)
            withExtendedLifetime(third) {}
        }

        let house = House()
        weak var bell: Theatre.Bell?
        do {
            let (one, other): (Theatre.Bell, Theatre.Bell) = (house.component(), house.component())
            bell = one
            #expect(one === other)
        }
        #expect(bell == nil)
    }

    @Test func `weakShared stops where it is a struct, which nobody owns together with others`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module(.weakShared) { Theatre.Guest(name: "Ada") } }.build()
            _ = Resolver.resolve() as Theatre.Guest
        }

        #expect(holds(text(of: result), "Theatre.Guest", "is .weakShared, but not a class", ".shared"))
    }

    @Test func `objectGraph is one instance for each outermost request, across modules and a scope`() {
        let dependencies = Dependencies {
            Module(.shared) { House() }
            Module(.objectGraph) { Prompter() }
            Module { Stage(prompter: $0) }
            Module { Wings(prompter: $0) }
            Module { Play(stage: $0, wings: $1) }
            Module("mixed") { (prompter: Prompter, house: House) in
                [prompter, Resolver.resolve(), house.component(), house.component()] as [Prompter]
            }
        }

        dependencies.override {
            let (first, second): (Play, Play) = (Resolver.resolve(), Resolver.resolve())
            let mixed: [Prompter] = Resolver.resolve("mixed")
            let house: House = Resolver.resolve()

            #expect(first.stage.prompter === first.wings.prompter)
            #expect(first.stage.prompter !== second.stage.prompter)
            #expect(mixed[0] === mixed[1])
            #expect(mixed[2] === mixed[3])
            #expect(mixed[2] !== house.component() as Prompter)
        }
    }

    @Test func `an initializer is given what another function of the module makes`() {
        let house = House()

        let stage: Stage = house.component()
        let play: Play = house.component()

        #expect(type(of: stage.prompter) == Prompter.self)
        #expect(play.wings.prompter === play.stage.prompter)
    }

    final class Musician {
        var conductor: Conductor?
        var hall: String?
    }
    final class Conductor {
        let musicians: [Musician]
        var hall: String?
        init(musicians: [Musician]) { self.musicians = musicians }
    }

    @Test func `properties are configured after the initializers of the whole graph, in the order of creation`() {
        let events = Basket<String>()
        let dependencies = Dependencies {
            Module(.objectGraph) {
                events.add("musician made")
                return Musician()
            } configure: { (musician: Musician, conductor: Conductor) in
                events.add("musician configured")
                musician.conductor = conductor
            }
            Module(.objectGraph) { (musician: Musician) in
                events.add("conductor made")
                return Conductor(musicians: [musician])
            } configure: {
                events.add("conductor configured")
                $0.hall = Resolver.resolve("hall")
            }
            Module("hall") { "great hall" }
        }

        let conductor: Conductor = dependencies.override { Resolver.resolve() }

        #expect(
            events.values == ["musician made", "conductor made", "musician configured", "conductor configured"])
        #expect(conductor.musicians[0].conductor === conductor)
        #expect(conductor.hall == "great hall")
        conductor.musicians[0].conductor = nil
    }

    @Test func `a view and its delegate refer to each other within a graph`() {
        let byModules = Dependencies {
            Module(.objectGraph) {
                Board()
            } configure: {
                $0.delegate = $1
            }
            Module(.objectGraph) { Theatre.Operator(board: $0) as any Theatre.BoardDelegate }
            Module { Theatre.Booth(board: $0, delegate: $1) }
        }

        let booth: Theatre.Booth = byModules.override { Resolver.resolve() }
        let boothByScope: Theatre.Booth = Theatre.BoothModule().component()

        for booth in [booth, boothByScope] {
            #expect(booth.board.delegate === booth.delegate)
            #expect((booth.delegate as? Theatre.Operator)?.board === booth.board)
            #expect(booth.board.delegate?.cue == "lights down")
        }
        #expect(booth.board !== boothByScope.board)
    }

    #if compiler(>=6.3)  // In 6.2 the code of an exit test captures nothing.
    @Suite struct `a cycle among initializers stops, and names its path` {
        static let (hen, egg) = ("ParityTests.Theatre.Hen", "ParityTests.Theatre.Egg")
        let fromHen = "Dependency cycle: \(hen) → \(egg) → \(hen)"
        let fromEgg = "Dependency cycle: \(egg) → \(hen) → \(egg)"

        @Test(arguments: Kept.allCases) func `among modules, in every lifetime that keeps`(kept: Kept) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kept] in
                Theatre.ring(kept, of: 2).build()
                _ = Resolver.resolve() as Theatre.Hen
            }

            #expect(text(of: result).contains(fromHen))
        }

        @Test(arguments: Kept.allCases) func `in a scope, in every lifetime that keeps`(kept: Kept) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kept] in
                _ = Theatre.Coop(kept: kept).hen()
            }

            #expect(text(of: result).contains(fromHen))
        }

        @Test(arguments: [Kept.shared, .weakShared]) func `entered by two threads`(kept: Kept) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kept] in
                Theatre.ring(kept, of: 2, Meeting(of: 2)).build()
                onThreads(2) { index in
                    if index == 0 {
                        _ = Resolver.resolve() as Theatre.Hen
                    } else {
                        _ = Resolver.resolve() as Theatre.Egg
                    }
                }
            }

            #expect(text(of: result).contains(fromHen) || text(of: result).contains(fromEgg))
        }

        @Test(arguments: [Kept.shared, .weakShared]) func `in a scope, entered by two threads`(kept: Kept) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kept] in
                let coop = Theatre.Coop(kept: kept, meeting: Meeting(of: 2))
                onThreads(2) { index in
                    if index == 0 { _ = coop.hen() } else { _ = coop.egg() }
                }
            }

            #expect(text(of: result).contains(fromHen) || text(of: result).contains(fromEgg))
        }

        @Test(arguments: [Kept.shared, .weakShared]) func `entered by three threads`(kept: Kept) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kept] in
                Theatre.ring(kept, of: 3, Meeting(of: 3)).build()
                onThreads(3) { index in
                    switch index {
                    case 0: _ = Resolver.resolve() as Theatre.Hen
                    case 1: _ = Resolver.resolve() as Theatre.Egg
                    default: _ = Resolver.resolve() as Theatre.Chick
                    }
                }
            }

            #expect(
                text(of: result).contains(
                    /Dependency cycle: (\S+) → ParityTests\.Theatre\.\w+ → ParityTests\.Theatre\.\w+ → \1\s/))
        }
    }
    #endif

    @Test func `arguments come at run time, and a lifetime keeps one instance for each of them`() {
        let module = Theatre.SeatModule()
        let (ada, bea) = (Theatre.Guest(name: "Ada"), Theatre.Guest(name: "Bea"))

        let (seatOfAda, seatOfBea) = (module.component(guest: ada), module.component(guest: bea))
        let (late, later) = (module.component(late: ada), module.component(late: bea))
        let party = module.component(party: [ada, bea, ada])

        #expect(seatOfAda.guest == ada)
        #expect(seatOfBea.guest == bea)
        #expect(module.component(guest: ada) === seatOfAda)
        #expect([late, later].map(\.guest) == [ada, bea])
        #expect(module.component(late: ada) === late)
        #expect(party.map(\.guest) == [ada, bea, ada])
        #expect(party[0] === party[2])
        #expect(module.component(guest: ada, row: 7).row == 7)
        #expect(module.component(guest: ada, row: 7) !== module.component(guest: ada, row: 7))
    }

    @Test func `a module is itself given to an initializer, and serves as a factory`() {
        struct Cloakroom: Theatre.SeatModuleType {
            func component(guest: Theatre.Guest) -> Seat { Seat(guest: guest, row: 0) }
        }
        let dependencies = Dependencies {
            Module(.shared) { Theatre.SeatModule() as any Theatre.SeatModuleType }
            Module(Theatre.Usher.init)
        }

        let usher: Theatre.Usher = Theatre.SeatModule().component()
        let injected: Theatre.Usher = dependencies.override { Resolver.resolve() }
        let stood = Theatre.Usher(seats: Cloakroom()).lead("Cay")

        #expect(usher.lead("Ada").guest.name == "Ada")
        #expect(usher.lead("Ada") === usher.lead("Ada"))
        #expect(injected.lead("Bea").row == 1)
        #expect(stood.row == 0)
    }

    @Test func `what is injectable is found by its type, and by a key`() {
        let dependencies = Dependencies {
            Module { Theatre.Guest(name: "anyone") }
            Module("patron") { Theatre.Guest(name: "Ada") }
            Module("stage", .shared) { Theatre.Bell() }
            Module("bar", .shared) { Theatre.Bell() }
        }

        let (byType, byKey, byOtherKey) = dependencies.override {
            (
                Resolver.resolve() as Theatre.Guest, Resolver.resolve("patron") as Theatre.Guest,
                Resolver.find("critic") as Theatre.Guest?
            )
        }
        let bells = dependencies.override { ["stage", "bar", "bar"].map { Resolver.resolve($0) as Theatre.Bell } }

        #expect(byType.name == "anyone")
        #expect(byKey.name == "Ada")
        #expect(byOtherKey == nil)
        #expect(bells[0] !== bells[1])
        #expect(bells[1] === bells[2])
    }

    @Test func `a set of dependencies takes in another, whose modules serve its own`() {
        let seats = Dependencies { Module(.shared) { Theatre.SeatModule() as any Theatre.SeatModuleType } }
        let theatre = Dependencies {
            seats
            Dependencies { Module(Theatre.Usher.init) }
        }
        let bar = Dependencies {
            seats
            Module("bar") { Theatre.Bell() }
        }
        let both = Dependencies {
            theatre
            bar
        }

        let seat = theatre.override { (Resolver.resolve() as Theatre.Usher).lead("Ada") }

        #expect(seat.guest.name == "Ada")
        #expect(theatre.modules.count == 2)
        #expect(throws: Never.self) { try theatre.validate() }
        // What both bring along is one module, as it stands in one place.
        #expect(throws: Never.self) { try both.validate() }
    }

    @Test func `an object injects the module that it asks for its parts`() {
        let dependencies = Dependencies {
            Module(.shared) { Theatre.SeatModule() as any Theatre.SeatModuleType }
        }

        dependencies.override {
            let (foyer, other) = (Theatre.Foyer(), Theatre.Foyer())

            let seat = foyer.welcome("Ada")

            #expect(seat.guest.name == "Ada")
            #expect(foyer.welcome("Ada") === seat)
            #expect(other.welcome("Ada") === seat)
        }
    }
}
