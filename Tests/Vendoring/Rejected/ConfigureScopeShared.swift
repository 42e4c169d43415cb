// A scope's kept instances cannot be configured either.
// error: extra trailing closure passed in call
import Dowel

final class View: @unchecked Sendable { var title = "" }

struct ScreenModule {
    private let scope = Scope()
    #if MENDED
    func component() -> View {
        scope.objectGraph {
            View()
        } configure: {
            $0.title = "Main"
        }
    }
    #else
    func component() -> View {
        scope.shared {
            View()
        } configure: {
            $0.title = "Main"
        }
    }
    #endif
}
