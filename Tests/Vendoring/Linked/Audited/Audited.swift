// Uses the audit: the one that shows that the check of the other sees what is linked.
import Dowel
import DowelAudit

@main enum Audited {
    static func main() {
        Dependencies { Module { "audited" } }.build()
        print(Resolver.resolve() as String)
    }
}
