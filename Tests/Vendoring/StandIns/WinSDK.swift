// A stand-in for the C library of Windows: with it on the search path `canImport(WinSDK)` is true on Linux, so that the
// branch for Windows is compiled and run where there is none.
import Glibc

/// A number of 32 bits.
public typealias DWORD = UInt32

/// A new slot, of which each thread has its own.
public func TlsAlloc() -> DWORD {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
}

/// What this thread has in the slot.
public func TlsGetValue(_ index: DWORD) -> UnsafeMutableRawPointer! { pthread_getspecific(index) }

/// Writes it.
@discardableResult public func TlsSetValue(_ index: DWORD, _ value: UnsafeMutableRawPointer!) -> Bool {
    pthread_setspecific(index, value) == 0
}
