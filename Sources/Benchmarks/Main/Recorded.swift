// Written by `swift run -c release benchmarks --instructions --record`.

let recordedBy = "Swift version 6.3.1 (swift-6.3.1-RELEASE), Target: x86_64-unknown-linux-gnu, C library 2.36"

let recorded: [String: Double] = [
    "hot read of a var": 136,
    "hot read of a lazy var": 352,
    "hot read of @Inject": 187,
    "the same by hand, unshared": 809,
    "new object and first read, unshared": 2_100,
    "the same by hand, shared": 544,
    "new object and first read, shared": 1_770,
    "make by hand": 386,
    "resolve unshared": 700,
    "resolve unshared, 1,000 modules": 700,
    "resolve shared": 376,
    "make a chain of 5 by hand": 1_802,
    "a chain of 5 by component()": 1_821,
    "resolve a chain of 5": 3_016,
    "make a root with 10 by hand": 4_131,
    "resolve a root with 10": 6_820,
    "Scope.shared": 548,
    "build a module of 1,000": 4_168,
    "build a module of 10,000": 4_177,
    "build a module of 1,000 in generic code": 5_899,
    "validate a module of 10,000 with 5 needs": 4_121,
    "100 modules and one resolve": 1_324_471,
]
