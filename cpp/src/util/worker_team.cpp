#include "util/worker_team.hpp"

#include <algorithm>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace prunedbpe {
namespace {

/// Short runs follow each other within microseconds, and waking a sleeping thread takes some fifty:
/// it pays to look again for about as long before going to sleep.
constexpr int looks_before_sleep = 2000;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits until `value` is another one than `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, bool look) {
    for (int i = 0; look && i < looks_before_sleep; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause();
    }
    value.wait(old);
}

}  // namespace

WorkerTeam::WorkerTeam(unsigned size) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (size == 0) size = cores;
    has_own_cores_ = size <= cores;
    errors_.resize(size);
    threads_.reserve(size - 1);
    try {
        for (unsigned worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { work(worker); });
    } catch (...) {  // the system gives no more threads: send home those that wait, or the program ends
        end();
        throw;
    }
}

WorkerTeam::~WorkerTeam() { end(); }

void WorkerTeam::end() {
    ending_ = true;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(unsigned)>& job) {
    std::fill(errors_.begin(), errors_.end(), nullptr);
    job_ = &job;
    running_.store(static_cast<std::uint32_t>(threads_.size()));
    if (!threads_.empty()) {
        round_.fetch_add(1);
        round_.notify_all();
    }
    try {
        job(0);
    } catch (...) {
        errors_[0] = std::current_exception();
    }
    for (std::uint32_t left = running_.load(); left != 0; left = running_.load()) {
        wait_for_change(running_, left, has_own_cores_);
    }
    for (const std::exception_ptr& error : errors_) {
        if (error) std::rethrow_exception(error);
    }
}

void WorkerTeam::work(unsigned worker) {
    for (std::uint32_t seen = 0;; ++seen) {
        wait_for_change(round_, seen, has_own_cores_);
        if (ending_) return;
        try {
            (*job_)(worker);
        } catch (...) {
            errors_[worker] = std::current_exception();
        }
        if (running_.fetch_sub(1) == 1) running_.notify_one();
    }
}

}  // namespace prunedbpe
