import Dowel

nonisolated extension Dependencies {
    /// A stored property of this program that asks: an `@Inject`, or an `Inject` that is a plain constant.
    public struct Site: CustomStringConvertible, Sendable {
        /// The type that declares the property, from its module inwards.
        public let owner: String
        /// The property, as the source names it.
        public let property: String
        /// The type asked for, or nil where it depends on the owner's generic parameters and so is known to nobody yet.
        public let wanted: Any.Type?
        /// True where a module offers that type, under whatever name.
        public let isOffered: Bool
        /// True where the owner is private or local: another type may have its name.
        let isPrivate: Bool

        /// True where no module serves the property. An optional one is never missing: it is nil.
        public var isMissing: Bool { !isOffered && wanted != nil && !(wanted is any Wrapping.Type) }
        /// The owner and the property.
        public var description: String { "\(owner).\(property)" }
    }

    /// Every injection site of the running program, held against these modules; makes nothing.
    ///
    /// Seen is every stored property of every struct, class and actor of every module linked in, private, nested and
    /// local ones too. Not seen are static and local variables; an `Inject` inside something else, as in an array, a
    /// tuple, an enum or another wrapper; and types that the optimizer took out, for want of use, or in a release build
    /// also because it could do without: run the audit in debug.
    ///
    /// Throws where there may be more than can be seen: a module that is compiled without reflection metadata hides
    /// all. Where that cannot be helped, and nothing in it asks, name the module: `sites(unseen: ["Vendor"])`.
    ///
    /// A property's type does not tell the name it asks for, `@Inject("name")`. So a site counts as offered where its
    /// type is offered without a name or under any: that a named one gets *its* name, only reading it can show.
    public func sites(unseen: Set<String> = []) throws(WiringError) -> [Site] {
        let records = TypeRecords(unseen: unseen)
        if !records.obstacles.isEmpty {
            throw WiringError(records.obstacles.sorted().map { "The audit cannot see all: \($0)." })
        }
        let offered = Set(modules.map { ObjectIdentifier($0.type) })
        return records.properties.map {
            let fitting = $0.wanted.map(unwrapping)?.contains { offered.contains(ObjectIdentifier($0)) }
            return Site(
                owner: $0.owner, property: $0.name, wanted: $0.wanted, isOffered: fitting ?? false,
                isPrivate: $0.isPrivate)
        }.sorted { ($0.owner, $0.property) < ($1.owner, $1.property) }
    }

    /// Proves the wiring of the program in one line of a test: `try dependencies.audit()`.
    ///
    /// Throws one error with all that `validate()` finds, and every injection site that no module serves. A site whose
    /// type depends on its owner's generic parameters cannot be judged; say how many you know of, or it throws too.
    /// Where the test program has sites of its own, take only those of your modules:
    ///
    ///     try dependencies.audit(passingOver: 1) { $0.owner.hasPrefix("Shop.") }
    ///
    /// To find no site at all is an error as well. What a site is, and what is not seen, stands at `sites()`.
    public func audit(
        passingOver known: Int = 0, unseen: Set<String> = [], where isIncluded: (Site) -> Bool = { _ in true }
    ) throws(WiringError) {
        var problems: [String] = []
        do { try validate() } catch { problems = error.problems }
        let sites = try sites(unseen: unseen).filter(isIncluded)
        if sites.isEmpty {
            let hint = "is the code that asks linked in, and does the filter let it through?"
            problems.append("The audit found no injection site: \(hint)")
        }
        for site in sites where site.isMissing {
            guard let type = site.wanted else { continue }
            let wanted = name(of: type), article = isProtocol(type) ? "any " : ""
            let twin = modules.first { name(of: $0.type) == wanted }.map {
                "Another type of this very name is at \($0.file):\($0.line): is a library linked twice? "
            }
            let fitting = modules.filter { isKind($0.type, of: type) }
            let list = fitting.map { "\(name(of: $0.type)) (\($0.file):\($0.line))" }.joined(separator: ", ")
            let near = list.isEmpty ? "" : "Perhaps `as \(article)\(wanted)` is missing: \(list). "
            let mend = "Offer it: Module { … as \(article)\(wanted) }."
            problems.append("\(site) asks for \(wanted), which nobody offers. \(twin ?? near)\(mend)")
        }
        let generic = sites.filter { $0.wanted == nil }
        if generic.count > known {
            let list = generic.map(\.description).joined(separator: ", ")
            problems.append(
                "The audit passes over \(generic.count), whose types depend on generic parameters: \(list). "
                    + "Test them by hand, and say audit(passingOver: \(generic.count)).")
        }
        if !problems.isEmpty { throw WiringError(problems) }
    }
}

/// The type, and for an optional what is wrapped in it: a module of either will do.
nonisolated func unwrapping(_ type: Any.Type) -> [Any.Type] {
    [type] + ((type as? any Wrapping.Type).map { unwrapping($0.auditWrapped) } ?? [])
}

/// Whether it is the type of what conforms to a protocol, as `any P`.
nonisolated func isProtocol(_ type: Any.Type) -> Bool { _typeName(Swift.type(of: type)).hasSuffix(".Protocol") }

/// Whether a value of the one type is known to be one of the other too: of a class above it, or of a protocol that it
/// conforms to.
nonisolated func isKind(_ type: Any.Type, of other: Any.Type) -> Bool {
    func isBelow<T>(_ other: T.Type) -> Bool { type is T.Type }
    func conforms<T>(_ metatype: T.Type) -> Bool { type is T }
    if _openExistential(other, do: isBelow) { return true }
    // In code generic over `any P`, `T.Type` is the type of that alone; the name of `any P.Type` has two letters
    // more. No private type is found by its name, and where a library is linked twice, perhaps the other one.
    guard #available(iOS 14, macOS 11, tvOS 14, watchOS 7, *), isProtocol(other), let name = _mangledTypeName(other),
        _typeByName(name) == other, let metatype = _typeByName(name + "Xp")
    else { return false }
    return _openExistential(metatype, do: conforms)
}

/// The name as the source has it: Swift shows an address for a private context, and no common spaces.
nonisolated func name(of type: Any.Type, short: Bool = false) -> String {
    let words = _typeName(type, qualified: !short).split(omittingEmptySubsequences: false) { $0 == "(" }
    let rest = words.dropFirst().map { word in
        word.hasPrefix("unknown context at ") ? String(word.drop { $0 != ")" }.dropFirst(2)) : "(\(word)"
    }
    return withSpaces(words[0] + rest.joined())
}

/// A name in backticks may have spaces, which the compiler keeps as those that do not break.
nonisolated func withSpaces(_ name: some StringProtocol) -> String { String(name.map { $0 == "\u{A0}" ? " " : $0 }) }

/// An optional, seen by code that does not know its type.
nonisolated protocol Wrapping {
    static var auditWrapped: Any.Type { get }
}

nonisolated extension Optional: Wrapping {
    static var auditWrapped: Any.Type { Wrapped.self }
}
