#include "util/worker_team.hpp"

#include <algorithm>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace prunedbpe {
namespace {

/// Short jobs follow each other within microseconds, and waking a sleeping thread takes about fifty: threads spin for
/// about that long before they sleep.
constexpr int spin_count = 8000;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Spins until `value` is no longer `old`; false if that takes too long.
bool spin_until_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < spin_count; ++i) {
        if (value.load(std::memory_order_acquire) != old) return true;
        pause();
    }
    return false;
}

}  // namespace

WorkerTeam::WorkerTeam(unsigned size) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (size == 0) size = cores;
    may_spin_ = size <= cores;
    parts_ = std::make_unique<PartState[]>(size);
    try {
        for (unsigned part = 1; part < size; ++part) threads_.emplace_back([this, part] { work(part); });
    } catch (...) {
        end();  // the system refused a thread; those that run must not outlive the team
        throw;
    }
}

WorkerTeam::~WorkerTeam() { end(); }

void WorkerTeam::end() {
    is_ending_.store(true);
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run_call(const Call& call) {
    call_ = call;
    interrupt_ = Interrupt::current();
    const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
    // No full barrier: a thread that falls asleep at this moment may miss the job. The caller then does its part, and
    // the next job wakes it.
    round_.store(round, std::memory_order_release);
    round_.notify_all();
    for (unsigned part = 0; part < size(); ++part) {
        if (begin(part, round)) finish(part, round);
    }
    for (unsigned part = 1; part < size(); ++part) wait_for(part, round);
    std::exception_ptr first_error;
    for (unsigned part = 0; part < size(); ++part) {
        std::exception_ptr error = std::exchange(parts_[part].error, nullptr);
        if (first_error == nullptr) first_error = std::move(error);
    }
    if (first_error != nullptr) std::rethrow_exception(first_error);
}

bool WorkerTeam::begin(unsigned part, std::uint32_t round) {
    // The difference is signed, so that the comparison survives the wrap-around of the round counter.
    std::uint32_t state = parts_[part].state.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(2 * round - state) > 0 &&
           parts_[part].state.compare_exchange_strong(state, 2 * round);
}

void WorkerTeam::finish(unsigned part, std::uint32_t round) {
    try {
        const Interrupt::Shared shared(interrupt_);
        call_.function(call_.target, part);
    } catch (...) {
        parts_[part].error = std::current_exception();
    }
    // Sequentially consistent, as in wait_for: either this thread sees that the caller sleeps, or the caller sees that
    // the part is done.
    parts_[part].state.store(2 * round + 1);
    if (caller_sleeps_.load()) {
        { const std::lock_guard lock(mutex_); }  // the caller is past its last look at the state
        part_is_done_.notify_one();
    }
}

void WorkerTeam::wait_for(unsigned part, std::uint32_t round) {
    const std::atomic<std::uint32_t>& state = parts_[part].state;
    if (state.load(std::memory_order_acquire) != 2 * round) return;
    if (may_spin_ && spin_until_change(state, 2 * round)) return;
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true);
    while (state.load() == 2 * round) {
        part_is_done_.wait_for(lock, Interrupt::default_interval);
        if (interrupt_ != nullptr) {
            lock.unlock();  // asking may take long: Python runs signal handlers
            interrupt_->should_stop();
            lock.lock();
        }
    }
    caller_sleeps_.store(false);
}

void WorkerTeam::work(unsigned part) {
    for (std::uint32_t seen = 0;;) {
        if (!may_spin_ || !spin_until_change(round_, seen)) round_.wait(seen, std::memory_order_acquire);
        // Read the round before the flag: the flag is set first, so a thread that sees the last round also sees the
        // flag and does not wait for another round.
        seen = round_.load(std::memory_order_acquire);
        if (is_ending_.load(std::memory_order_acquire)) return;
        if (begin(part, seen)) finish(part, seen);
    }
}

}  // namespace prunedbpe
