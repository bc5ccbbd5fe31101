#include "util/worker_team.hpp"

#include <algorithm>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace prunedbpe {
namespace {

/// Short runs follow each other within microseconds, and waking a sleeping thread takes some fifty:
/// it pays to look again for about as long before going to sleep.
constexpr int looks_before_sleep = 8000;

/// A thread that is stopped in the middle of its part keeps the caller waiting until the system lets it
/// run again, milliseconds later. If its core is wanted by others, this will happen again: short jobs are
/// not shared for as long, and each time that the next thread is late soon after for twice as long, up to
/// this many times. So little is lost on a busy machine, and little to a single interruption.
constexpr int most_patience = 16;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Looks for a while whether `value` is another one than `old`.
bool see_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < looks_before_sleep; ++i) {
        if (value.load(std::memory_order_acquire) != old) return true;
        pause();
    }
    return false;
}

}  // namespace

WorkerTeam::WorkerTeam(unsigned size) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (size == 0) size = cores;
    has_own_cores_ = size <= cores;
    errors_.resize(size);
    try {
        for (unsigned worker = 1; worker < size; ++worker) threads_.emplace_back([this] { work(); });
    } catch (...) {
        end();  // the system would not start so many: those that run must not outlive the team
        throw;
    }
}

WorkerTeam::~WorkerTeam() { end(); }

void WorkerTeam::end() {
    ending_.store(true);
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(unsigned)>& job) {
    std::fill(errors_.begin(), errors_.end(), nullptr);
    job_ = &job;
    unfinished_.store(size());
    const std::uint32_t round = round_.load() + 1;
    next_.store(std::uint64_t{round} << 32);
    round_.store(round);
    if (!threads_.empty()) round_.notify_all();
    take_parts(round);
    wait_for_others();
    for (const std::exception_ptr& error : errors_) {
        if (error) std::rethrow_exception(error);
    }
}

void WorkerTeam::wait_for_others() {
    Clock::time_point slept_from;
    for (std::uint32_t left = unfinished_.load(); left != 0; left = unfinished_.load()) {
        if (has_own_cores_ && see_change(unfinished_, left)) continue;
        if (slept_from == Clock::time_point{}) slept_from = Clock::now();
        unfinished_.wait(left);
    }
    if (slept_from == Clock::time_point{}) return;
    const Clock::time_point now = Clock::now();
    const Clock::duration slept = now - slept_from;
    patience_ = now < again_until_ ? std::min(2 * patience_, most_patience) : 1;
    late_until_ = now + patience_ * slept;
    again_until_ = late_until_ + most_patience * slept;
}

void WorkerTeam::take_parts(std::uint32_t round) {
    std::uint64_t next = next_.load();
    while (next >> 32 == round && static_cast<std::uint32_t>(next) < size()) {
        // A thread that comes late, when the next job is there, fails here. One that succeeds may
        // read the job: it stays until the part is done.
        if (!next_.compare_exchange_weak(next, next + 1)) continue;
        const auto part = static_cast<std::uint32_t>(next);
        try {
            (*job_)(part);
        } catch (...) {
            errors_[part] = std::current_exception();
        }
        if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
        next = next_.load();
    }
}

void WorkerTeam::work() {
    for (std::uint32_t seen = 0;;) {
        if (!has_own_cores_ || !see_change(round_, seen)) round_.wait(seen);
        // The round first: it goes up after `ending_` is set, so whoever sees the last round sees the
        // end too. Asked the other way round, the end could slip in between, and be waited for.
        seen = round_.load();
        if (ending_.load()) return;
        take_parts(seen);
    }
}

}  // namespace prunedbpe
