// On the main actor too: another request could see the instance before it is configured.
// error: 'shared'
import Dowel

@MainActor final class View { weak var presenter: Presenter? }
@MainActor final class Presenter { init(view: View) {} }

let dependencies = Dependencies {
    #if MENDED
    Module.main(.objectGraph) {
        View()
    } configure: { (view, presenter: Presenter) in
        view.presenter = presenter
    }
    #else
    Module.main(.shared) {
        View()
    } configure: { (view, presenter: Presenter) in
        view.presenter = presenter
    }
    #endif
}
