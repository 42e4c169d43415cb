// Written by `swift run -c release benchmarks --instructions --record`.

let recordedBy = "Swift version 6.3.1 (swift-6.3.1-RELEASE), Target: x86_64-unknown-linux-gnu, C library 2.36"

let recorded: [String: Double] = [
    "hot read of a var": 136,
    "hot read of a lazy var": 352,
    "hot read of @Inject": 187,
    "the same by hand, unshared": 809,
    "new object and first read, unshared": 1_943,
    "the same by hand, shared": 544,
    "new object and first read, shared": 1_641,
    "make by hand": 386,
    "resolve unshared": 679,
    "resolve unshared, 1,000 modules": 679,
    "resolve shared": 414,
    "make a chain of 5 by hand": 1_802,
    "a chain of 5 by component()": 1_821,
    "resolve a chain of 5": 3_001,
    "make a root with 10 by hand": 4_131,
    "resolve a root with 10": 6_713,
    "Scope.shared": 474,
    "build a module of 1,000": 2_998,
    "build a module of 10,000": 3_147,
    "build a module of 1,000 in generic code": 4_516,
    "validate a module of 10,000 with 5 needs": 2_318,
    "100 modules and one resolve": 1_175_631,
]
