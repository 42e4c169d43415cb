import Dowel

nonisolated extension Dependencies {
    /// A stored property of this program that asks: an `@Inject`, or a plain constant that is an `Inject`.
    public struct Site: CustomStringConvertible, Sendable {
        /// The type that declares the property, from its module inwards.
        public let owner: String
        /// The property's name in the source.
        public let property: String
        /// The type asked for; nil if it depends on the owner's generic parameters, and so is not known yet.
        public let wanted: Any.Type?
        /// True if a module offers that type, under whatever name.
        public let isOffered: Bool
        /// True if the owner is private or local: another type may have the same name.
        let isPrivate: Bool

        /// True if no module offers what the property asks for. An optional is never missing: it is nil.
        public var isMissing: Bool { !isOffered && wanted != nil && !(wanted is any Wrapping.Type) }
        /// The owner and the property.
        public var description: String { "\(owner).\(property)" }
    }

    /// Every injection site of the running program, compared with these modules; makes nothing.
    ///
    /// It sees every stored property of every struct, class and actor of every module linked in, including private,
    /// nested and local types. It does not see static and local variables; an `Inject` inside something else, such as
    /// an array, a tuple, an enum or another wrapper; or types that the optimizer took out. In a release build these
    /// include some that are used, so run the audit in debug.
    ///
    /// Throws if there may be sites that it cannot see: a module compiled without reflection metadata hides all of its
    /// own. If that cannot be helped, and nothing in the module asks, name it: `sites(unseen: ["Vendor"])`.
    ///
    /// The name in `@Inject("name")` is not part of the property's type. So a site counts as offered if its type is
    /// offered at all, under any name or none; only reading the property shows whether that name is offered.
    public func sites(unseen: Set<String> = []) throws(WiringError) -> [Site] {
        let records = TypeRecords(unseen: unseen)
        if !records.obstacles.isEmpty {
            throw WiringError(records.obstacles.sorted().map { "The audit cannot see everything: \($0)." })
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
    /// Throws one error with all that `validate()` finds, and every injection site whose type nobody offers. A site
    /// whose type depends on its owner's generic parameters cannot be judged: say how many of these you know of, or
    /// the audit throws. If the test program has sites of its own, take only those of your modules:
    ///
    ///     try dependencies.audit(passingOver: 1) { $0.owner.hasPrefix("Shop.") }
    ///
    /// Finding no site at all is an error as well. `sites()` tells what is seen and what is not.
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

/// The type, and for an optional the type that it wraps: a module of either will do.
nonisolated func unwrapping(_ type: Any.Type) -> [Any.Type] {
    [type] + ((type as? any Wrapping.Type).map { unwrapping($0.auditWrapped) } ?? [])
}

/// Whether the type is one like `any P`.
nonisolated func isProtocol(_ type: Any.Type) -> Bool { _typeName(Swift.type(of: type)).hasSuffix(".Protocol") }

/// Whether a value of the first type is known to be one of the other too: of a superclass, or of a protocol that the
/// first conforms to.
nonisolated func isKind(_ type: Any.Type, of other: Any.Type) -> Bool {
    func isBelow<T>(_ other: T.Type) -> Bool { type is T.Type }
    func conforms<T>(_ metatype: T.Type) -> Bool { type is T }
    if _openExistential(other, do: isBelow) { return true }
    // In code generic over `any P`, `T.Type` is the metatype of `any P` alone, not `any P.Type`, whose mangled name
    // has two letters more. No private type is found by its name; of a type linked twice, the other one may be found.
    guard #available(iOS 14, macOS 11, tvOS 14, watchOS 7, *), isProtocol(other), let name = _mangledTypeName(other),
        _typeByName(name) == other, let metatype = _typeByName(name + "Xp")
    else { return false }
    return _openExistential(metatype, do: conforms)
}

/// The name as the source has it: Swift shows a private context as an address, and spaces as ones that do not break.
nonisolated func name(of type: Any.Type, short: Bool = false) -> String {
    let words = _typeName(type, qualified: !short).split(omittingEmptySubsequences: false) { $0 == "(" }
    let rest = words.dropFirst().map { word in
        word.hasPrefix("unknown context at ") ? String(word.drop { $0 != ")" }.dropFirst(2)) : "(\(word)"
    }
    return withSpaces(words[0] + rest.joined())
}

/// A name in backticks may have spaces, which the compiler keeps as ones that do not break.
nonisolated func withSpaces(_ name: some StringProtocol) -> String { String(name.map { $0 == "\u{A0}" ? " " : $0 }) }

/// An optional, seen by code that does not know its type.
nonisolated protocol Wrapping {
    static var auditWrapped: Any.Type { get }
}

nonisolated extension Optional: Wrapping {
    static var auditWrapped: Any.Type { Wrapped.self }
}
