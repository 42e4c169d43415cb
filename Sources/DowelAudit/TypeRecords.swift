// What the compiler leaves in a program about its types, read in place, so that nothing is made for it.
// The offsets in this file are Swift's stable ABI.

import Dowel

/// The stored properties of the running program that are an `Inject`, and what keeps others from being seen.
nonisolated struct TypeRecords {
    /// `wanted` is nil if it depends on the owner's generic parameters.
    private(set) var properties: [(owner: String, isPrivate: Bool, name: String, wanted: Any.Type?)] = []
    private(set) var obstacles: Set<String> = []

    init(unseen: Set<String>) {
        let images = Image.all
        let types = images.flatMap { $0.types.descriptors }
        if types.isEmpty { obstacles = ["this platform shows no types"] }
        // What comes from C never has fields.
        for type in types where type.isStructOrClass && !type.hasFields && !type.module.hasPrefix("__C") {
            if unseen.contains(type.module) { continue }
            let mend = "take out what disables it, or pass unseen: [\"\(type.module)\"] if nothing in it asks"
            obstacles.insert("\(type.module) is compiled without reflection metadata: \(mend)")
        }
        for list in images.flatMap({ $0.fields.lists }) { look(into: list) }
    }

    private mutating func look(into list: FieldList) {
        guard let owner = list.owner, owner.isStructOrClass else { return }
        for field in list.fields where field.type.descriptor?.name == TypeRecords.inject {
            // A lazy variable is an optional here. A tuple, function or metatype may begin with an Inject and be none.
            let type = field.type.resolved(in: owner).flatMap { unwrapping($0).last }
            if let type, !(type is AnyClass) { continue }
            if let type, !(type is any Resolver.Site.Type) {
                obstacles.insert("\(owner.name).\(field.name) is an Inject of another copy of Dowel: link it once")
                continue
            }
            properties.append((owner.name, owner.isPrivate, field.name, (type as? any Resolver.Site.Type)?.wanted))
        }
    }

    private static let inject = String(_typeName(Inject<Never>.self, qualified: true).prefix { $0 != "<" })
}

/// A module, a type, or what stands between them.
private nonisolated struct Descriptor {
    enum Kind: UInt32 { case module, `extension`, anonymous, `class` = 16, `struct`, `enum` }

    let address: UnsafeRawPointer

    var kind: Kind? { Kind(rawValue: address.load(as: UInt32.self) & 31) }
    var isGeneric: Bool { address.load(as: UInt32.self) & 128 != 0 }
    var isStructOrClass: Bool { kind == .struct || kind == .class }
    var hasFields: Bool { address.relative(at: 16) != nil }
    var parent: Descriptor? { address.indirectable(at: 4).map(Descriptor.init) }
    var module: String { parent?.module ?? name }
    var isPrivate: Bool { kind == .anonymous || parent?.isPrivate ?? false }  // Or local.

    /// The names from the module inwards; a private or local context between them has none.
    var name: String {
        let own: String? =
            switch kind {
            case .module, .class, .struct, .enum: address.relative(at: 8)?.text
            case .extension: address.relative(at: 8).flatMap { TypeName(start: $0).resolved(in: self) }.map { "\($0)" }
            default: nil
            }
        return [parent?.name, own].compactMap(\.self).joined(separator: ".")
    }
}

/// A type's stored properties.
private nonisolated struct FieldList {
    let start: UnsafeRawPointer

    var owner: Descriptor? { start.relative(at: 0).flatMap { TypeName(start: $0).descriptor } }
    var fields: [Field] { (0..<count).map { Field(start: start + 16 + $0 * fieldSize) } }
    var size: Int { 16 + count * fieldSize }
    private var fieldSize: Int { Int(start.load(fromByteOffset: 10, as: UInt16.self)) }
    private var count: Int { Int(start.load(fromByteOffset: 12, as: UInt32.self)) }
}

private nonisolated struct Field {
    let start: UnsafeRawPointer

    var type: TypeName { TypeName(start: start.relative(at: 4) ?? start) }

    /// The name in the source: the storage of a wrapper or of a lazy variable, itself a variable, has a prefix.
    var name: String {
        let text = start.relative(at: 8)?.text ?? "", tick = text.hasPrefix("`") ? "`" : ""
        let name = text.dropFirst(tick.count), isVariable = start.load(as: UInt32.self) & 2 != 0
        let prefix = isVariable ? ["$__lazy_storage_$_", "_"].first { name.hasPrefix($0) } : nil
        return tick + name.dropFirst(prefix?.count ?? 0)
    }
}

/// A type's mangled name, in which a byte below 32 begins a reference to a descriptor.
private nonisolated struct TypeName {
    let start: UnsafeRawPointer

    /// The type; nil if it depends on its owner's generic parameters: there the runtime would find none, or a wrong
    /// one, or end the program. A parameter is an "x" or a "q", and a type that follows from one has a "Q", unless that
    /// begins a list, "QP". None of these letters counts after an "S", with which a known name begins, or inside an
    /// identifier, which has its length before it. After an "S", a "$" or an "A", a number is not a length; letters
    /// after an "A" repeat earlier parts, up to the first capital one.
    func resolved(in owner: Descriptor) -> Any.Type? {
        var length = 0, isKnown = false, isIndex = false, number = 0, identifier = 0
        while case let byte = start.load(fromByteOffset: length, as: UInt8.self), byte != 0 {
            length += byte >= 0x20 ? 1 : byte < 0x18 ? 5 : 1 + MemoryLayout<UInt>.size
            let isPlain = !isKnown && !isIndex, next = start.load(fromByteOffset: length, as: UInt8.self)
            if identifier > 0 {
                identifier -= 1
            } else if 48...57 ~= byte {
                number = number * 10 + Int(byte) - 48
            } else if isPlain, number > 0 {
                (identifier, number) = (number - 1, 0)
            } else if isPlain, owner.isGeneric, "Qqx".utf8.contains(byte), [byte, next] != [UInt8]("QP".utf8) {
                return nil
            } else {
                isKnown = isPlain && byte == UInt8(ascii: "S")
                isIndex = isPlain ? "$A".utf8.contains(byte) : isIndex && byte >= UInt8(ascii: "a")
                number = 0
            }
        }
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        return _getTypeByMangledNameInContext(bytes, UInt(length), genericContext: nil, genericArguments: nil)
    }

    /// The descriptor of the type itself, before any generic arguments.
    var descriptor: Descriptor? {
        switch start.load(as: UInt8.self) {
        case 1: (start + 1).relative(at: 0).map(Descriptor.init)
        case 2: (start + 1).relative(at: 0).map { Descriptor(address: $0.load(as: UnsafeRawPointer.self)) }
        default: nil
        }
    }
}

/// A part of an image that holds records of one kind.
private nonisolated struct Section {
    let start: UnsafeRawPointer
    let size: Int

    var descriptors: [Descriptor] {
        stride(from: 0, to: size, by: 4).compactMap { start.indirectable(at: $0).map(Descriptor.init) }
    }

    var lists: [FieldList] {
        var (lists, offset): ([FieldList], Int) = ([], 0)
        while offset < size {
            let list = FieldList(start: start + offset)
            let isPadding = list.start.load(as: UInt32.self) == 0
            if !isPadding { lists.append(list) }
            offset += isPadding ? 4 : list.size
        }
        return lists
    }
}

nonisolated extension UnsafeRawPointer {
    /// The address at the distance that is stored there in four bytes; nil if that is zero.
    fileprivate func relative(at offset: Int) -> UnsafeRawPointer? {
        let distance = Int(loadUnaligned(fromByteOffset: offset, as: Int32.self))
        return distance == 0 ? nil : self + offset + distance
    }

    /// The same, but an odd distance leads to the address of the address.
    fileprivate func indirectable(at offset: Int) -> UnsafeRawPointer? {
        let distance = Int(load(fromByteOffset: offset, as: Int32.self))
        let target = self + offset + (distance & ~3)
        return distance == 0 ? nil : distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer.self)
    }

    fileprivate var text: String { withSpaces(String(cString: assumingMemoryBound(to: UInt8.self))) }
}

// MARK: - Platform

/// A program or a library in memory.
private nonisolated struct Image {
    let types: Section
    let fields: Section
}

#if canImport(Darwin)
import Darwin
import MachO

nonisolated extension Image {
    fileprivate static var all: [Image] {
        (0..<_dyld_image_count()).compactMap { index in
            guard let header = _dyld_get_image_header(index) else { return nil }
            func section(_ name: String) -> Section? {
                #if _pointerBitWidth(_64)
                let header = UnsafeRawPointer(header).assumingMemoryBound(to: mach_header_64.self)
                #endif
                var size: UInt = 0
                guard let start = getsectiondata(header, "__TEXT", name, &size) else { return nil }
                return Section(start: UnsafeRawPointer(start), size: Int(size))
            }
            guard let types = section("__swift5_types") else { return nil }
            return Image(types: types, fields: section("__swift5_fieldmd") ?? Section(start: types.start, size: 0))
        }
    }
}
#else
/// Calls `body` for each image, with its list: a version and three pointers, then each section's address and size.
@_silgen_name("swift_enumerateAllMetadataSections") private nonisolated func enumerateSections(
    _ body: @convention(c) (_ list: UnsafePointer<UInt>, _ images: UnsafeMutableRawPointer) -> Bool,
    _ images: UnsafeMutableRawPointer)

nonisolated extension Image {
    fileprivate static var all: [Image] {
        var images: [Image] = []
        withUnsafeMutablePointer(to: &images) { images in
            enumerateSections(
                { list, images in
                    func section(_ index: Int) -> Section? {
                        UnsafeRawPointer(bitPattern: list[index]).map { Section(start: $0, size: Int(list[index + 1])) }
                    }
                    if let types = section(8) {
                        let image = Image(types: types, fields: section(14) ?? Section(start: types.start, size: 0))
                        images.assumingMemoryBound(to: [Image].self).pointee.append(image)
                    }
                    return true
                }, images)
        }
        return images
    }
}
#endif
