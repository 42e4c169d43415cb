// What belongs to the main actor is made there.
// error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated context
import Dowel

@MainActor protocol Navigator: AnyObject {}
@MainActor final class StackNavigator: Navigator { init() {} }

let dependencies = Dependencies {
    #if MENDED
    Module.main { StackNavigator() as any Navigator }
    #else
    Module { StackNavigator() as any Navigator }
    #endif
}
