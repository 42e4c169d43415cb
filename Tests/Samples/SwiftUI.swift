// Stands in for SwiftUI where there is none: enough for the samples to compile, no more.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
@MainActor public protocol View {
    associatedtype Body: View
    var body: Body { get }
}

public struct Text: View {
    public init(_ text: String) {}
    public var body: Never { fatalError() }
}

extension Never: View { public var body: Never { fatalError() } }

@propertyWrapper public struct State<Value> {
    public let wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
