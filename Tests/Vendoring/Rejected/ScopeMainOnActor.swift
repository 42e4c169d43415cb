// What is made on the main actor uses nothing of another one.
// error: can not be mutated from the main actor
import Dowel

final class Canvas: Sendable {}

actor Studio {
    private let scope = Scope()
    private var count = 0

    #if MENDED
    func component() async -> Canvas {
        count += 1
        return await scope.main.shared { Canvas() }
    }
    #else
    func component() async -> Canvas {
        await scope.main.shared {
            count += 1
            return Canvas()
        }
    }
    #endif
}
