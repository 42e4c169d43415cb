import Dowel
import Foundation
import Synchronization
import Testing

#if DEBUG
/// Under the thread sanitizer, which works in debug builds, every access costs ten times as much.
let rounds = 100
#else
let rounds = 2_000
#endif

/// Runs `body` on real threads that start together, and returns when all of them have ended.
///
/// Tasks that block one another on the few threads of the pool would hang, whatever the library does.
func onThreads(_ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (Int) -> Void) {
    let start = Barrier(count)
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            start.wait()
            body(index)
            group.leave()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
    group.wait()
}

/// Lets nobody go on before all are there; serves again and again. Where some never come it ends the program: a hang
/// tells nothing.
final class Barrier: @unchecked Sendable {
    /// Protects `arrived` and `turn`.
    private let condition = NSCondition()
    private let count: Int
    private var arrived = 0
    private var turn = 0

    init(_ count: Int) { self.count = count }

    func wait() {
        condition.lock()
        defer { condition.unlock() }
        let mine = turn
        arrived += 1
        if arrived == count {
            arrived = 0
            turn += 1
            condition.broadcast()
        }
        let limit = Date(timeIntervalSinceNow: 300)
        while turn == mine { if !condition.wait(until: limit) { fatalError("the others never came") } }
    }
}

/// Where two threads meet, to go on in the same moment: they spin, since whoever is woken up comes too late for a race.
/// Who has spun for long sleeps all the same: on a busy processor each turn given away costs whole slices of time.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class Rendezvous: @unchecked Sendable {
    private let arrived = Atomic<Int>(0), sleeping = Atomic<Int>(0)
    private let condition = NSCondition()

    func meet() {
        let (_, mine) = arrived.add(1, ordering: .sequentiallyConsistent)
        if mine.isMultiple(of: 2) {
            // Either this sees that the other sleeps, or the other, before it does, that this has come.
            if sleeping.load(ordering: .sequentiallyConsistent) > 0 { condition.withLock { condition.broadcast() } }
            return
        }
        for _ in 0..<10_000 where arrived.load(ordering: .relaxed) > mine { return }
        condition.withLock {
            sleeping.add(1, ordering: .sequentiallyConsistent)
            while arrived.load(ordering: .sequentiallyConsistent) == mine { condition.wait() }
            sleeping.subtract(1, ordering: .sequentiallyConsistent)
        }
    }
}

/// A value that threads share, behind a lock.
final class Protected<Value>: @unchecked Sendable {
    /// Protects `stored`.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { withLock { $0 } }

    @discardableResult func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&stored)
    }
}

extension ExitTest.Result {
    /// What the program said when it ended.
    var text: String { String(decoding: standardErrorContent, as: UTF8.self) }
}

/// One of two private types of one name; the other is in FindingTests.swift.
private struct Config {
    let text = "another file's"
}

/// Lets other files use this file's `Config`.
enum AnotherFile {
    static let module = Module { Config() }
    static func text() -> String? { (Resolver.find() as Config?)?.text }
}
