#if canImport(Glibc) || os(macOS)
import Dispatch
import Foundation

/// Counts the time of this thread's own work, as others may use the machine too.
func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Counts the time that passes for all.
func wallTime() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

#if os(macOS)
let versionOfLibc = ProcessInfo.processInfo.operatingSystemVersionString
private let children = RUSAGE_CHILDREN

/// The memory that the process has, in bytes; the most that it had so far.
private func residentMemory() -> Double {
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return Double(usage.ru_maxrss)
}
#else
@_silgen_name("gnu_get_libc_version") private func gnu_get_libc_version() -> UnsafePointer<CChar>
let versionOfLibc = String(cString: gnu_get_libc_version())
private let children = __rusage_who_t(RUSAGE_CHILDREN.rawValue)

/// The memory that the process has, in bytes. Not the most that it had: that begins with what its parent had.
private func residentMemory() -> Double {
    let fields = try! String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return Double(fields[1])! * Double(sysconf(Int32(_SC_PAGESIZE)))
}
#endif

func growthOfMemory(by work: () -> Void) -> Double {
    _ = residentMemory()  // To look for the first time takes memory too.
    let before = residentMemory()
    work()
    return residentMemory() - before
}

/// The processor's time that the programs took which this one started, and which have ended.
func timeOfChildren() -> Double {
    var usage = rusage()
    getrusage(children, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}

/// What each of some threads answers; they begin together.
func onThreads<Answer>(_ count: Int, _ work: @escaping () -> Answer) -> [Answer] {
    nonisolated(unsafe) let work = work
    nonisolated(unsafe) var answers: [Answer] = []
    let lock = NSLock(), ready = DispatchSemaphore(value: 0), start = DispatchSemaphore(value: 0),
        done = DispatchGroup()
    for _ in 0..<count {
        done.enter()
        Thread.detachNewThread {
            ready.signal()
            start.wait()
            let answer = work()
            lock.withLock { answers.append(answer) }
            done.leave()
        }
    }
    for _ in 0..<count { ready.wait() }
    for _ in 0..<count { start.signal() }
    done.wait()
    return answers
}

extension Row {
    /// Its figure, from a sample of so many seconds.
    func sample(_ seconds: Double) -> Double {
        switch work {
        case .figure(let figure): figure()
        case .times(let work): nanoseconds(each: work, for: seconds, by: threadTime)
        case .onThreads(let count, let prepare):
            1 / onThreads(count) { 1 / nanoseconds(each: prepare(), for: seconds, by: wallTime) }.reduce(0, +)
        }
    }

    private func nanoseconds(each work: (Int) -> Void, for seconds: Double, by now: () -> Double) -> Double {
        work(batch)  // What is done for the first time only is not counted.
        var (done, end) = (0, 0.0)
        let start = now()
        repeat {
            work(batch)
            done += batch
            end = now()
        } while end - start < seconds
        return (end - start) * 1e9 / Double(done * size)
    }
}

func printSamples(of rows: [Row], seconds: Double) {
    for row in rows { print(row.name, row.sample(seconds), separator: "\t") }
}

/// Does each row none and many times, between marks: the difference is what the row alone takes.
func count(_ rows: [Row]) {
    for row in rows {
        guard case .times(let work) = row.work else { continue }
        // What is done for the first time only is not counted, but in a row that is about just that.
        work(row.unit == .instructions ? 0 : row.countedBatch)
        mark()
        work(0)
        mark()
        work(row.countedBatch)
        mark()
    }
}

let nameOfMark = "benchmarks_mark"
@_silgen_name("benchmarks_mark") @inline(never) @_optimize(none) private func mark() {}

func median(_ figures: [Double]) -> Double {
    let sorted = figures.sorted()
    return (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
}
#endif
