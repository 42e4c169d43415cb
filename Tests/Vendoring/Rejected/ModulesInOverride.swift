// A module stands in the block that runs under the override.
// error: call can throw, but it is not marked with 'try'
// says: this block is code: list the modules in the braces before .override
import Dowel

protocol Log: Sendable {}
struct Console: Log {}
struct Mock: Log {}

func test() {
    let dependencies = Dependencies { Module { Console() as any Log } }
    #if MENDED
    Dependencies { Module { Mock() as any Log } }.override { print(dependencies) }
    #else
    dependencies.override { Module { Mock() as any Log } }
    #endif
}
