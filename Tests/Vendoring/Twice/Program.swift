// One of two libraries offers its type, the one named last asks for its own: which is missing, if it is not the first.
import Glibc

@main enum Program {
    static func main() {
        call("offer", in: CommandLine.arguments[1])
        call("ask", in: CommandLine.arguments[2])
        print("found")
    }

    private static func call(_ name: String, in library: String) {
        guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), let function = dlsym(handle, name) else {
            fatalError(String(cString: dlerror()))
        }
        unsafeBitCast(function, to: (@convention(c) () -> Void).self)()
    }
}
