import Dowel
import Testing

/// The example: a lighthouse, which is wired of lamps, horns and keepers.
enum Lighthouse {
    protocol Lamp: AnyObject, Sendable { var colour: String { get } }
    final class WhiteLamp: Lamp { let colour = "white" }
    final class RedLamp: Lamp { let colour = "red" }

    protocol Horn: Sendable { var signal: String { get } }
    struct FogHorn: Horn { let signal: String }

    /// Asks for all it uses by properties.
    final class Keeper {
        @Inject private var lamp: any Lamp
        @Inject var spare: any Lamp

        var light: any Lamp { lamp }
    }

    struct Named {
        @Inject("bay") var lamp: any Lamp
        @Inject("bay") var horn: any Horn
        @Inject var plain: any Lamp
    }

    // What a feature's module makes, told apart by its type.
    struct Tower {
        let lamp: any Lamp
        let steps: Int
    }
    struct Watch {
        let tower: Tower
        let hour: Int
    }
    final class Logbook {
        @Inject private var weather: any WeatherModuleType

        func entry() -> String { "sea \(weather.component() as Sea)" }
    }

    enum Sea: String { case calm, rough }

    protocol WeatherModuleType: Sendable { func component() -> Sea }
    struct WeatherModule: WeatherModuleType { func component() -> Sea { .rough } }

    protocol TowerModuleType {
        func component() -> any Lamp
        func component() -> Tower
        func component(hour: Int) -> Watch
        func component() -> Logbook
        func component() -> [Sea]
    }
    struct TowerModule: TowerModuleType, Module.Components {
        @Inject private var weather: any WeatherModuleType

        func component() -> any Lamp { WhiteLamp() }
        func component() -> Tower { Tower(lamp: component(), steps: 120) }
        func component(hour: Int) -> Watch { Watch(tower: component(), hour: hour) }
        func component() -> Logbook { Logbook() }
        func component() -> [Sea] { [.calm, weather.component()] }
    }

    final class Visitor {
        @Inject private var tower: any TowerModuleType
        private(set) lazy var logbook: Logbook = tower.component()
    }

    /// Asks for what no test offers it.
    struct Stranded {
        static let file = #fileID
        static let line = #line + 1
        @Inject("harbour") var lamp: any Lamp
    }

    static var modules: Dependencies {
        Dependencies {
            Module { WeatherModule() as any WeatherModuleType }
            Module { TowerModule() as any TowerModuleType }
        }
    }
}

@Suite struct Shank {
    typealias Lamp = Lighthouse.Lamp
    typealias Horn = Lighthouse.Horn
    typealias WhiteLamp = Lighthouse.WhiteLamp
    typealias RedLamp = Lighthouse.RedLamp
    typealias FogHorn = Lighthouse.FogHorn

    @Test func `a block registers by type, and nothing is made yet`() {
        let made = Counter()

        let dependencies = Dependencies {
            Module { made.counting(WhiteLamp()) as any Lamp }
            Module { made.counting(FogHorn(signal: "two short")) as any Horn }
        }
        let madeByTheBlock = made.value
        let horn: any Horn = dependencies.override { Resolver.resolve() }

        #expect(madeByTheBlock == 0)
        #expect(dependencies.modules.map { "\($0.type)" } == ["Lamp", "Horn"])
        #expect(horn.signal == "two short")
        #expect(made.value == 1)
    }

    @Test func `build makes them the process's dependencies, and a second build replaces the first`() async {
        await #expect(processExitsWith: .success) {
            let built = Dependencies {
                Module { WhiteLamp() as any Lamp }
                Module { FogHorn(signal: "long") as any Horn }
            }.build()
            let before: any Lamp = Resolver.resolve()

            Dependencies { Module { RedLamp() as any Lamp } }.build()
            let after: any Lamp = Resolver.resolve()
            let horn: (any Horn)? = Resolver.find()

            #expect(built.modules.count == 2)
            #expect(before.colour == "white")
            #expect(after.colour == "red")
            #expect(horn == nil)
        }

        let refused = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { (lamp: any Lamp) in FogHorn(signal: lamp.colour) as any Horn } }.build()
        }
        #expect(holds(text(of: refused), "1 wiring problem", "Lighthouse.Horn", "needs", "Lighthouse.Lamp"))
    }

    @Test func `an injected property is made at the first read, then kept, whichever threads read it`() {
        let made = Counter()
        let everyoneIsMaking = Meeting(of: 8)
        let dependencies = Dependencies {
            Module {
                made.add()
                everyoneIsMaking.wait()
                return WhiteLamp() as any Lamp
            }
        }

        let site = dependencies.override { Inject<any Lamp>() }
        let madeByTheDeclaration = made.value
        let lamps = Basket<any Lamp>()
        onThreads(8) { _ in lamps.add(site.wrappedValue) }
        let readings = made.value
        let later = site.wrappedValue

        #expect(madeByTheDeclaration == 0)
        #expect(readings == 8)
        #expect(lamps.values.count == 8)
        #expect(lamps.values.allSatisfy { $0 === later })
        #expect(made.value == readings)
    }

    @Test func `two injected properties of one type get two instances`() {
        Dependencies { Module { WhiteLamp() as any Lamp } }.override {
            let keeper = Lighthouse.Keeper()

            #expect(!same(keeper.light, keeper.spare))
            #expect(same(keeper.light, keeper.light))
        }
    }

    @Test func `a name is added to the type, so that two types may share it`() {
        let dependencies = Dependencies {
            Module("bay", .shared) { RedLamp() as any Lamp }
            Module("bay") { FogHorn(signal: "bay") as any Horn }
            Module { WhiteLamp() as any Lamp }
        }

        dependencies.override {
            let named = Lighthouse.Named()

            #expect(named.lamp.colour == "red")
            #expect(named.horn.signal == "bay")
            #expect(named.plain.colour == "white")
            #expect(same(named.lamp, Lighthouse.Named().lamp))
        }
    }

    // That a missing one does not compile is proven by Tests/Vendoring/Rejected/MissingComponent.swift.
    @Test func `components are told apart by their types, and may take parameters`() {
        let module = Lighthouse.TowerModule()

        let lamp: any Lamp = module.component()
        let tower: Lighthouse.Tower = module.component()
        let watch: Lighthouse.Watch = module.component(hour: 4)

        #expect(lamp.colour == "white")
        #expect(tower.steps == 120)
        #expect(watch.hour == 4)
        #expect(watch.tower.lamp.colour == "white")
    }

    @Test func `a module asks for other modules, and what it makes asks for modules too`() {
        Lighthouse.modules.override {
            let module: any Lighthouse.TowerModuleType = Resolver.resolve()

            let seas: [Lighthouse.Sea] = module.component()
            let logbook: Lighthouse.Logbook = module.component()

            #expect(seas == [.calm, .rough])
            #expect(logbook.entry() == "sea rough")
        }
    }

    @Test func `a lazy property takes its component from an injected module`() {
        Lighthouse.modules.override {
            let visitor = Lighthouse.Visitor()

            let logbook = visitor.logbook

            #expect(logbook.entry() == "sea rough")
            #expect(same(visitor.logbook, logbook))
        }
    }

    @Test func `a missing module stops at the first read, with the place, what comes near and the mend`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module("bay") { RedLamp() as any Lamp } }.build()
            let stranded = Lighthouse.Stranded()
            print("created, and not yet read", to: &StandardError.stream)
            _ = stranded.lamp
        }

        let said = text(of: result)
        #expect(
            holds(
                said, "created, and not yet read", "nobody offers ParityTests.Lighthouse.Lamp \"harbour\"",
                "\(Lighthouse.Stranded.file):\(Lighthouse.Stranded.line)"))
        #expect(said.lowercased().contains("lighthouse.lamp \"bay\" (paritytests/shanktests.swift:"))
        #expect(holds(said, "Module(\"harbour\")", "as", "Lamp"))
    }

    @Suite struct `what stops for a missing module also tells` {
        @Test func `which concrete types are offered in place of the protocol, and what was being made`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies {
                    Module { RedLamp() }
                    Module { Lighthouse.Tower(lamp: Resolver.resolve(), steps: 90) }
                }.build()
                _ = Resolver.resolve() as Lighthouse.Tower
            }

            #expect(
                holds(
                    text(of: result), "nobody offers ParityTests.Lighthouse.Lamp", "concrete types",
                    "`as any ParityTests.Lighthouse.Lamp` is missing", "ParityTests.Lighthouse.RedLamp (",
                    "while making ParityTests.Lighthouse.Tower ("))
        }

        enum Ship { struct Tower {} }

        @Test func `what has the same short name elsewhere`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                Dependencies { Module { Ship.Tower() } }.build()
                _ = Resolver.resolve() as Lighthouse.Tower
            }

            #expect(holds(text(of: result), "nobody offers", "Lighthouse.Tower", "Ship.Tower (", "is offered"))
        }

        @Test func `that build was never called`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Lighthouse.Keeper().light
            }

            #expect(holds(text(of: result), "nobody offers", "build() was never called"))
        }
    }

    @Suite struct `its faults are absent` {
        enum Day { struct Plan { let text = "by day" } }
        enum Night { struct Plan { let text = "by night" } }
        struct Plans {
            @Inject var day: Day.Plan
            @Inject var night: Night.Plan
        }

        @Test func `nested types of one short name keep apart`() {
            let dependencies = Dependencies {
                Module { Day.Plan() }
                Module { Night.Plan() }
            }

            dependencies.override {
                let plans = Plans()

                #expect(plans.day.text == "by day")
                #expect(plans.night.text == "by night")
            }
        }

        struct Choice { @Inject var lamp: (any Lamp)? }

        @Test func `an optional is filled where its type is offered, and nil only where it is not`() {
            let offered = Dependencies { Module { WhiteLamp() as any Lamp } }.override { Choice().lamp }
            let missing = Dependencies { Module { FogHorn(signal: "") as any Horn } }.override { Choice().lamp }

            #expect(offered?.colour == "white")
            #expect(missing == nil)
        }

        @Test func `threads may read while others build`() async {
            await #expect(processExitsWith: .success) {
                let sets = [
                    Dependencies { Module(.shared) { WhiteLamp() as any Lamp } },
                    Dependencies { Module(.shared) { RedLamp() as any Lamp } },
                ]
                sets[0].build()
                let colours = Basket<String>()

                onThreads(4) { index in
                    for round in 0..<500 {
                        if index == 0 {
                            sets[round % 2].build()
                        } else {
                            colours.add(Lighthouse.Keeper().light.colour)
                        }
                    }
                }

                #expect(colours.values.count == 1500)
                #expect(Set(colours.values).isSubset(of: ["white", "red"]))
            }
        }

        @Test(arguments: [true, false]) func `the block takes if, switch, for, arrays, nothing and blocks`(isRed: Bool)
        {
            let horns = ["north", "south"]
            let inner = Dependencies { Module { Day.Plan() } }

            let dependencies = Dependencies {
                if isRed {
                    Module { RedLamp() as any Lamp }
                } else {
                    Module { WhiteLamp() as any Lamp }
                }
                for horn in horns { Module(horn) { FogHorn(signal: horn) as any Horn } }
                switch isRed {
                case true: Module { Night.Plan() }
                case false: Dependencies {}
                }
                if isRed { [Module("extra") { Night.Plan() }] }
                inner
            }

            #expect(dependencies.modules.count == (isRed ? 6 : 4))
            dependencies.override {
                #expect((Resolver.resolve() as any Lamp).colour == (isRed ? "red" : "white"))
                #expect((Resolver.resolve("south") as any Horn).signal == "south")
                #expect(((Resolver.find() as Night.Plan?) != nil) == isRed)
                #expect((Resolver.resolve() as Day.Plan).text == "by day")
            }
        }
    }
}
