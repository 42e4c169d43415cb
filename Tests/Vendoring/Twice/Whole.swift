// A program with a Dowel of its own, which collects what another one's library offers.
import Dowel
import Feature

@main enum Whole {
    static func main() {
        do throws(WiringError) {
            try Dependencies {
                Module { 2 }
                Feature.dependencies
            }.validate()
        } catch {
            print(error)
        }
    }
}
