// A stand-in for the C library of WASI: with it on the search path `canImport(WASILibc)` is true on Linux, so that the
// branch for a system of one thread is compiled and run. The library takes nothing from it.
