import Dowel
import Testing

/// The example: a kitchen, with thermometers and a stove that is set by them.
enum Kitchen {
    protocol Thermometer: Sendable { var degrees: Int { get } }
    struct Dial: Thermometer { let degrees: Int }

    protocol Stove: AnyObject, Sendable { var report: String { get } }
    /// Cannot be made from nothing.
    final class GasStove: Stove {
        let report: String

        init(thermometer: any Thermometer, cook: Cook?, rings: Rings) {
            report = "\(thermometer.degrees) degrees on \(rings.count) rings for \(cook?.name ?? "nobody")"
        }
    }
    struct Rings { let count: Int }
    struct Cook { let name: String }

    /// Has no initializer of its own, and asks in methods that do not mutate.
    struct Board {
        @Inject<any Thermometer> private var thermometer: any Thermometer
        let unit: String

        func reading() -> String { "\(thermometer.degrees) \(unit)" }
    }
}

@Suite struct HolySwift {
    typealias Thermometer = Kitchen.Thermometer
    typealias Dial = Kitchen.Dial

    @Test func `an instance is registered under the type it is given as, until the next build`() async {
        await #expect(processExitsWith: .success) {
            Resolver.register(Dial(degrees: 90) as any Thermometer)
            let registered: any Thermometer = Resolver.resolve()
            let concrete: Dial? = Resolver.find()

            Resolver.register(Dial(degrees: 60) as any Thermometer)
            Resolver.register(Dial(degrees: 240) as any Thermometer, "oven")
            let registeredLater: any Thermometer = Resolver.resolve()
            let registeredByName: any Thermometer = Resolver.resolve("oven")

            Dependencies { Module { Dial(degrees: 20) as any Thermometer } }.build()
            let built: any Thermometer = Resolver.resolve()

            #expect(registered.degrees == 90)
            #expect(concrete == nil)
            #expect(registeredLater.degrees == 60)
            #expect(registeredByName.degrees == 240)
            #expect(built.degrees == 20)
        }
    }

    @Test func `the type to resolve is inferred`() {
        func degrees(of thermometer: any Thermometer, on rings: Kitchen.Rings = Resolver.resolve()) -> Int {
            thermometer.degrees * rings.count
        }
        let dependencies = Dependencies {
            Module { Dial(degrees: 21) as any Thermometer }
            Module { Kitchen.Rings(count: 2) }
        }

        let (annotated, passed) = dependencies.override {
            let thermometer: any Thermometer = Resolver.resolve()
            return (thermometer.degrees, degrees(of: Resolver.resolve()))
        }

        #expect(annotated == 21)
        #expect(passed == 42)
    }

    @Test func `what is resolved into an optional is never nil: it stops where nobody offers it`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Dependencies { Module { Dial(degrees: 21) as any Thermometer } }.build()
            let dial: (any Thermometer)? = Resolver.resolve()
            print("\(dial!.degrees) degrees", to: &StandardError.stream)
            let _: Kitchen.Rings? = Resolver.resolve()
        }

        #expect(holds(text(of: result), "21 degrees", "nobody offers ParityTests.Kitchen.Rings"))
    }

    @Test func `a struct without an initializer of its own injects, and reads in a method that does not mutate`() {
        Dependencies {}.override {
            Resolver.register(Dial(degrees: 37) as any Thermometer)
            let board = Kitchen.Board(unit: "C")

            #expect(board.reading() == "37 C")
        }
    }

    @Test func `any initializer serves, for its parameters are resolved`() {
        let kitchen = Dependencies {
            Module { Dial(degrees: 180) as any Thermometer }
            Module { Kitchen.Rings(count: 4) }
            Module { Kitchen.GasStove(thermometer: $0, cook: $1, rings: $2) as any Kitchen.Stove }
        }
        let staffed = Dependencies {
            kitchen
            Module { Kitchen.Cook(name: "Ada") }
        }

        let report = kitchen.override { (Resolver.resolve() as any Kitchen.Stove).report }
        let staffedReport = staffed.override { (Resolver.resolve() as any Kitchen.Stove).report }

        #expect(report == "180 degrees on 4 rings for nobody")
        #expect(staffedReport == "180 degrees on 4 rings for Ada")
    }
}
