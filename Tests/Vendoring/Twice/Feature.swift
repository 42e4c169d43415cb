// Built into a library together with a copy of Dowel that is its own.
import Dowel

/// What the library offers.
public let dependencies = Dependencies { Module { 1 } }
