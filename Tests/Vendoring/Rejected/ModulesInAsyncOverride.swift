// The same where it could be awaited.
// error: call can throw, but it is not marked with 'try'
// says: this block is code: list the modules in the braces before .override
import Dowel

protocol Log: Sendable {}
struct Console: Log {}
struct Mock: Log {}

func test() async {
    let dependencies = Dependencies { Module { Console() as any Log } }
    #if MENDED
    await Dependencies { Module { Mock() as any Log } }.override { await Task.yield() }
    print(dependencies)
    #else
    await dependencies.override { Module { Mock() as any Log } }
    #endif
}
