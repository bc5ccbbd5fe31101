// A fixed team of threads that all run the same function, again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace prunedbpe {

/// The caller is worker 0 and takes part; the other size - 1 threads sleep between two runs. Learning
/// starts thousands of short runs, so the threads are kept rather than made each time.
class WorkerTeam {
public:
    /// `size` 0 means one worker per core.
    explicit WorkerTeam(unsigned size);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

    /// Runs job(worker) for worker = 0 .. size-1 and returns when all are done. The first worker's
    /// exception, in worker order, is thrown here.
    void run(const std::function<void(unsigned)>& job);

private:
    void work(unsigned worker);
    void end();

    std::vector<std::thread> threads_;
    std::vector<std::exception_ptr> errors_;
    const std::function<void(unsigned)>* job_ = nullptr;
    std::atomic<std::uint32_t> round_{0};    // goes up by one when a job is there, or the team ends
    std::atomic<std::uint32_t> running_{0};  // workers of this round that are not done
    bool has_own_cores_ = true;  // more threads than cores must not keep each other waiting
    bool ending_ = false;
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
