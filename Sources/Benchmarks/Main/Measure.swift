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
private let (ownProcess, unitOfPeak) = (RUSAGE_SELF, 1)
private func malloc_usable_size(_ block: UnsafeMutableRawPointer) -> Int { malloc_size(block) }
#else
private let (ownProcess, unitOfPeak) = (__rusage_who_t(RUSAGE_SELF.rawValue), 1024)
@_silgen_name("malloc_usable_size") private func malloc_usable_size(_ block: UnsafeMutableRawPointer) -> Int
#endif

/// The most that the process has had in memory, in bytes.
func peakMemory() -> Double {
    var usage = rusage()
    getrusage(ownProcess, &usage)
    return Double(Int(usage.ru_maxrss) * unitOfPeak)
}

func bytesAllocated(for object: AnyObject) -> Int { malloc_usable_size(Unmanaged.passUnretained(object).toOpaque()) }

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
        return (end - start) * 1e9 / Double(done)
    }
}

func median(_ figures: [Double]) -> Double {
    let sorted = figures.sorted()
    return (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
}
#endif
