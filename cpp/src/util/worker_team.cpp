#include "util/worker_team.hpp"

#include <algorithm>
#include <utility>

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
    seats_ = std::make_unique<Seat[]>(size);
    try {
        for (unsigned part = 1; part < size; ++part) threads_.emplace_back([this, part] { work(part); });
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

void WorkerTeam::run_call(const Call& call) {
    call_ = call;
    const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
    // Nothing is waited for here, not even the cache line. A thread that goes to sleep at this very moment may miss the
    // job: then its part is done below, and the next job wakes it.
    round_.store(round, std::memory_order_release);
    if (sleepers_.load(std::memory_order_relaxed) > 0) round_.notify_all();
    for (unsigned part = 0; part < size(); ++part) {
        if (begin(part, round)) finish(part, round);
    }
    wait_for_others(round);
    for (unsigned part = 0; part < size(); ++part) {
        if (std::exception_ptr error = std::exchange(seats_[part].error, nullptr)) {
            for (unsigned other = part; other < size(); ++other) seats_[other].error = nullptr;
            std::rethrow_exception(error);
        }
    }
}

bool WorkerTeam::begin(unsigned part, std::uint32_t round) {
    // A thread that comes late, when its part was done for it and the next job is there, finds a later round.
    std::uint32_t state = seats_[part].state.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(2 * round - state) > 0 &&
           seats_[part].state.compare_exchange_strong(state, 2 * round);
}

void WorkerTeam::finish(unsigned part, std::uint32_t round) {
    try {
        call_.function(call_.target, part);
    } catch (...) {
        seats_[part].error = std::current_exception();
    }
    seats_[part].state.store(2 * round + 1);
    if (caller_sleeps_.load()) seats_[part].state.notify_one();
}

void WorkerTeam::wait_for_others(std::uint32_t round) {
    Clock::time_point slept_from;
    for (unsigned part = 1; part < size(); ++part) {
        const std::atomic<std::uint32_t>& state = seats_[part].state;
        while (state.load(std::memory_order_acquire) == 2 * round) {
            if (has_own_cores_ && see_change(state, 2 * round)) continue;
            if (slept_from == Clock::time_point{}) slept_from = Clock::now();
            caller_sleeps_.store(true);
            state.wait(2 * round);
        }
    }
    if (slept_from == Clock::time_point{}) return;
    caller_sleeps_.store(false);
    const Clock::time_point now = Clock::now();
    const Clock::duration slept = now - slept_from;
    patience_ = now < again_until_ ? std::min(2 * patience_, most_patience) : 1;
    late_until_ = now + patience_ * slept;
    again_until_ = late_until_ + most_patience * slept;
}

void WorkerTeam::work(unsigned part) {
    for (std::uint32_t seen = 0;;) {
        if (!has_own_cores_ || !see_change(round_, seen)) {
            sleepers_.fetch_add(1);
            round_.wait(seen);
            sleepers_.fetch_sub(1);
        }
        // The round first: it goes up after `ending_` is set, so whoever sees the last round sees the
        // end too. Asked the other way round, the end could slip in between, and be waited for.
        seen = round_.load(std::memory_order_acquire);
        if (ending_.load(std::memory_order_acquire)) return;
        if (begin(part, seen)) finish(part, seen);
    }
}

}  // namespace prunedbpe
