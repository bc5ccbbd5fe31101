// A fixed team of threads that share the parts of one job after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace prunedbpe {

/// A job has as many parts as the team has members. The caller is a member and takes part; the other
/// threads sleep between two jobs. Learning starts thousands of short jobs, so the threads are kept
/// rather than made each time, and whoever is awake takes the next part: on a busy machine the caller
/// does a part itself rather than wait for a thread that is not running.
class WorkerTeam {
public:
    /// `size` 0 means one worker per core.
    explicit WorkerTeam(unsigned size);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

    /// Will threads be late? A guess, for whoever may do a short job alone as well: yes for a while after the caller had
    /// to wait for one that the system did not let run.
    bool is_late() const { return late_until_ != Clock::time_point{} && Clock::now() < late_until_; }

    /// Runs job(part) for part = 0 .. size-1, on any of the threads, and returns when all are done. No
    /// part may wait for another one. The first part's exception, in their order, is thrown here.
    void run(const std::function<void(unsigned)>& job);

private:
    using Clock = std::chrono::steady_clock;

    void work();
    /// Waits for the parts that other threads have taken.
    void wait_for_others();
    void end();
    /// Does parts of the job of `round` until none is left to take.
    void take_parts(std::uint32_t round);

    std::vector<std::thread> threads_;
    std::vector<std::exception_ptr> errors_;  // by part
    const std::function<void(unsigned)>* job_ = nullptr;
    std::atomic<std::uint32_t> round_{0};    // goes up by one when a job is there, or the team ends
    std::atomic<std::uint64_t> next_{0};     // round in the high half, next part to take in the low one
    std::atomic<std::uint32_t> unfinished_{0};  // parts of this round that are not done
    // The caller's own:
    Clock::time_point late_until_;
    Clock::time_point again_until_;  // a thread that is late before is late again
    int patience_ = 1;               // how many times as long as it was waited for
    bool has_own_cores_ = true;  // more threads than cores must not keep each other waiting
    std::atomic<bool> ending_{false};
};

/// Part `index` of `parts` nearly equal contiguous parts of [0, count).
struct Part {
    std::size_t begin;
    std::size_t end;
};
constexpr Part part_of(std::size_t count, unsigned index, unsigned parts) {
    return {count * index / parts, count * (index + 1) / parts};
}

}  // namespace prunedbpe
