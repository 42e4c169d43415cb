// What threads share must not be seen before it is configured.
// error: 'weakShared'
import Dowel

final class View: @unchecked Sendable { weak var presenter: Presenter? }
final class Presenter: @unchecked Sendable { init(view: View) {} }

let dependencies = Dependencies {
    #if MENDED
    Module(.objectGraph) {
        View()
    } configure: { (view, presenter: Presenter) in
        view.presenter = presenter
    }
    #else
    Module(.weakShared) {
        View()
    } configure: { (view, presenter: Presenter) in
        view.presenter = presenter
    }
    #endif
}
