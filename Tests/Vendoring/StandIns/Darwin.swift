// A stand-in for Apple's C library: with it on the search path `canImport(Darwin)` is true on Linux, so that the branch
// for Apple's systems is compiled and run where there is none of them.
@_exported import Glibc

@_silgen_name("gettid") private func gettid() -> pid_t

/// Apple's library has this one, Glibc has not.
public func pthread_main_np() -> Int32 { gettid() == getpid() ? 1 : 0 }
