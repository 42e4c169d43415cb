// What the samples of that article talk about, and do not show.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Log: Sendable {}
public struct Console: Log { public init() {} }

public protocol Cache: AnyObject, Sendable {}
public final class ImageCache: Cache { public init() {} }

public struct Parser { public init() {} }
public struct Session: Sendable { public init(user: Int) {} }

public final class Draft { public init() {} }
public struct Editor {
    public let draft: Draft
    public init(draft: Draft) { self.draft = draft }
}
public struct Preview {
    public let draft: Draft
    public init(draft: Draft) { self.draft = draft }
}
public struct Window {
    public let editor: Editor, preview: Preview
    public init(editor: Editor, preview: Preview) { (self.editor, self.preview) = (editor, preview) }
}

public final class ListView { public weak var presenter: ListPresenter?; public init() {} }
public final class ListPresenter {
    public let view: ListView
    public init(view: ListView) { self.view = view }
}
