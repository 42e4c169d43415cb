// Built into two libraries: each has a type of its own under one and the same name.
import Dowel

struct Config: Sendable {}

/// Offers this library's type.
@_cdecl("offer") public func offer() {
    Dependencies { Module { Config() } }.build()
}

/// Asks for this library's type.
@_cdecl("ask") public func ask() {
    let _: Config = Resolver.resolve()
}
