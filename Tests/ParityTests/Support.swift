import Foundation
import Testing

/// Counts, from any thread.
final class Counter: @unchecked Sendable {
    /// Protects `count`.
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }
    func add() { lock.withLock { count += 1 } }

    /// The value, counted.
    func counting<T>(_ value: T) -> T {
        add()
        return value
    }
}

/// Collects values from any thread.
final class Basket<Value>: @unchecked Sendable {
    /// Protects `content`.
    private let lock = NSLock()
    private var content: [Value] = []

    var values: [Value] { lock.withLock { content } }
    func add(_ value: Value) { lock.withLock { content.append(value) } }
}

/// Lets nobody pass before all have come; afterwards it stands open.
final class Meeting: @unchecked Sendable {
    /// Protects `absent`.
    private let condition = NSCondition()
    private var absent: Int

    init(of count: Int) { absent = count }

    func wait() {
        condition.lock()
        defer { condition.unlock() }
        absent -= 1
        if absent <= 0 { condition.broadcast() }
        while absent > 0 { condition.wait() }
    }
}

/// Runs `body` on real threads, which may block, and comes back when all have ended; or, with an issue, when they are
/// stuck for good, so that an exit test fails and does not hang.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let done = DispatchGroup()
    for index in 0..<count {
        done.enter()
        Thread.detachNewThread {
            body(index)
            done.leave()
        }
    }
    if done.wait(timeout: .now() + 60) == .timedOut { Issue.record("the threads are stuck") }
}

/// What a program that stopped has said.
func text(of result: ExitTest.Result?) -> String { String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) }

/// Whether the fragments stand in the text, one after the other.
func holds(_ text: String, _ fragments: String...) -> Bool {
    var rest = text[...]
    for fragment in fragments {
        guard let found = rest.range(of: fragment) else { return false }
        rest = rest[found.upperBound...]
    }
    return true
}

/// Two references to one object.
func same(_ one: AnyObject, _ other: AnyObject) -> Bool { one === other }

/// Where an exit test leaves words for its parent, unbuffered.
struct StandardError: TextOutputStream {
    nonisolated(unsafe) static var stream = StandardError()

    func write(_ string: String) { FileHandle.standardError.write(Data(string.utf8)) }
}
