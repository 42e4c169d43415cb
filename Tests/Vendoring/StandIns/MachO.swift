// A stand-in for Apple's loader: it shows this system's images as Apple's would, so that the audit's branch for Apple's
// systems is compiled and run where there is none of them.

/// The header of an image, as a number.
public struct mach_header {}
/// The same where pointers have 64 bits.
public struct mach_header_64 {}

@_silgen_name("swift_enumerateAllMetadataSections") private func enumerateSections(
    _ body: @convention(c) (_ list: UnsafePointer<UInt>, _ lists: UnsafeMutableRawPointer) -> Bool,
    _ lists: UnsafeMutableRawPointer)

private var images: [UnsafePointer<UInt>] {
    var images: [UnsafePointer<UInt>] = []
    withUnsafeMutablePointer(to: &images) { images in
        enumerateSections(
            { list, images in
                images.assumingMemoryBound(to: [UnsafePointer<UInt>].self).pointee.append(list)
                return true
            }, images)
    }
    return images
}

/// How many images are loaded.
public func _dyld_image_count() -> UInt32 { UInt32(images.count) }

/// The header of one of them: here its list of sections.
public func _dyld_get_image_header(_ index: UInt32) -> UnsafePointer<mach_header>! {
    UnsafeRawPointer(images[Int(index)]).assumingMemoryBound(to: mach_header.self)
}

/// Where a section of an image lies.
public func getsectiondata(
    _ header: UnsafePointer<mach_header_64>!, _ segment: UnsafePointer<CChar>!, _ section: UnsafePointer<CChar>!,
    _ size: UnsafeMutablePointer<UInt>!
) -> UnsafeMutablePointer<UInt8>! {
    let places = ["__swift5_types": 8, "__swift5_fieldmd": 14]
    guard String(cString: segment) == "__TEXT", let place = places[String(cString: section)] else { return nil }
    let list = UnsafeRawPointer(header).assumingMemoryBound(to: UInt.self)
    size.pointee = list[place + 1]
    return UnsafeMutablePointer(bitPattern: list[place])
}
