// Uses the library and nothing beside it.
import Dowel

@main enum Plain {
    static func main() {
        Dependencies { Module { "plain" } }.build()
        print(Resolver.resolve() as String)
    }
}
