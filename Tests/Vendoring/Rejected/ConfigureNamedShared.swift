// A name changes nothing: what is kept cannot be configured.
// error: 'shared'
import Dowel

final class View: @unchecked Sendable { var title = "" }

let dependencies = Dependencies {
    #if MENDED
    Module("main") {
        View()
    } configure: {
        $0.title = "Main"
    }
    #else
    Module("main", .shared) {
        View()
    } configure: {
        $0.title = "Main"
    }
    #endif
}
