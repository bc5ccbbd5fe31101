// A fixed team of threads that share the parts of one job after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace prunedbpe {

/// A job has as many parts as the team has members, and each member has a part that it does every time: what it works on
/// stays in its cache. The caller is a member; the other threads sleep between two jobs. Learning starts thousands of
/// jobs of a microsecond, so the threads are kept rather than made each time, and a part that its thread has not begun
/// when the caller is done with its own is done by the caller: on a busy machine that thread may not be running.
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

    /// Runs job(part) for part = 0 .. size-1, and returns when all are done. No part may wait for another one. The first
    /// part's exception, in their order, is thrown here.
    template <class Job>
    void run(Job&& job) {
        run_call(Call{[](void* target, unsigned part) { (*static_cast<std::remove_reference_t<Job>*>(target))(part); },
                      const_cast<void*>(static_cast<const void*>(&job))});
    }

private:
    using Clock = std::chrono::steady_clock;

    /// A job that is somebody else's: passing it on allocates nothing.
    struct Call {
        void (*function)(void* target, unsigned part) = nullptr;
        void* target = nullptr;
    };

    /// Where a part is done: twice the number of the last round in which it was begun, and one more when it was done. A
    /// cache line for each, written by whoever does the part, and read by the caller.
    struct alignas(64) Seat {
        std::atomic<std::uint32_t> state{1};
        std::exception_ptr error;
    };

    void run_call(const Call& call);
    void work(unsigned part);
    /// Begins a part, unless somebody else has.
    bool begin(unsigned part, std::uint32_t round);
    void finish(unsigned part, std::uint32_t round);
    /// Waits for the parts that other threads have begun.
    void wait_for_others(std::uint32_t round);
    void end();

    // Written by the caller when a job is there, and watched by all others: one cache line brings both.
    alignas(64) std::atomic<std::uint32_t> round_{0};  // goes up by one when a job is there, or the team ends
    Call call_;
    std::atomic<bool> ending_{false};

    // Who sleeps and must be woken. The library would ask this for us, but of all that sleep in the process, and wake
    // nobody by a call of the system.
    alignas(64) std::atomic<unsigned> sleepers_{0};
    std::atomic<bool> caller_sleeps_{false};

    std::unique_ptr<Seat[]> seats_;  // by part
    std::vector<std::thread> threads_;
    bool has_own_cores_ = true;  // more threads than cores must not keep each other waiting
    // The caller's own:
    Clock::time_point late_until_;
    Clock::time_point again_until_;  // a thread that is late before is late again
    int patience_ = 1;               // how many times as long as it was waited for
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
