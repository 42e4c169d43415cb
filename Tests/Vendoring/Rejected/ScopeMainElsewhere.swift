// What belongs to the main actor is asked for there.
// error: main actor-isolated
import Dowel

final class Canvas { var lines = 0 }

struct CanvasModule: Sendable {
    private let scope = Scope()

    #if MENDED
    @MainActor func component() -> Canvas { scope.main.shared { Canvas() } }
    #else
    func component() -> Canvas { scope.main.shared { Canvas() } }
    #endif
}
