// A fixed team of threads that run the parts of one job after another.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {

/// A job has one part per member. The caller is member 0; the other members are threads that live as long as the team,
/// because learning runs thousands of jobs of a few microseconds. Part i always goes to thread i, whose cache holds the
/// data, with one exception: the caller takes every part that no thread has begun by the time it is done with its own.
/// So a thread that is asleep or preempted delays nobody unless it is in the middle of a part.
class WorkerTeam {
public:
    /// `size` 0 means one worker per core.
    explicit WorkerTeam(unsigned size);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

    /// Runs job(part) for part = 0 .. size-1 and returns when all are done. Parts must not wait for each other. If
    /// parts throw, the exception of the lowest one is rethrown here. All parts work under the caller's Interrupt.
    template <class Job>
    void run(Job&& job) {
        run_call(Call{[](void* target, unsigned part) { (*static_cast<std::remove_reference_t<Job>*>(target))(part); },
                      const_cast<void*>(static_cast<const void*>(&job))});
    }

private:
    /// A borrowed job. Unlike std::function it never allocates.
    struct Call {
        void (*function)(void* target, unsigned part) = nullptr;
        void* target = nullptr;
    };

    /// Progress of one part. One cache line each, to avoid false sharing.
    struct alignas(64) PartState {
        std::atomic<std::uint32_t> state{1};  // 2 * round once the part has begun in that round, + 1 once it is done
        std::exception_ptr error;
    };

    void run_call(const Call& call);
    /// What each thread does until the team ends.
    void work(unsigned part);
    /// Claims a part of a round; false if another member has it already, or the round is over.
    bool begin(unsigned part, std::uint32_t round);
    void finish(unsigned part, std::uint32_t round);
    /// Returns when a part is done; meanwhile asks the Interrupt whether to stop.
    void wait_for(unsigned part, std::uint32_t round);
    void end();

    // Written by the caller and polled by all others: one cache line carries the signal and the job.
    alignas(64) std::atomic<std::uint32_t> round_{0};  // rises by one with every job, and when the team ends
    Call call_;
    Interrupt* interrupt_ = nullptr;
    std::atomic<bool> is_ending_{false};

    std::unique_ptr<PartState[]> parts_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable part_is_done_;
    std::atomic<bool> caller_sleeps_{false};  // until part_is_done_
    bool may_spin_;  // false if there are more members than cores: a spinning thread would hold up a working one
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
