// Interruption: how the caller of a long function stops it, on all its threads.
//
// The caller makes an Interrupt on its stack, and every loop that can take long calls poll_interrupt() now and then. Without
// an Interrupt nothing is interrupted: that is right for functions that return after a given time and go on later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>

namespace prunedbpe {

/// Thrown by interrupted work. What the work was changing may only be destroyed afterwards.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// A loop calls poll_interrupt() after about this many bytes: often enough to stop at once, seldom enough to be free.
inline constexpr std::size_t poll_bytes = 1 << 16;
/// The same for rows of a table.
inline constexpr std::size_t poll_rows = 1 << 13;

class Interrupt {
public:
    using Interval = std::chrono::milliseconds;
    static constexpr Interval default_interval{100};

    /// `ask` says whether to stop. Only this thread calls it, once per interval: Python runs signal handlers on one
    /// thread.
    explicit Interrupt(bool (*ask)(), Interval interval = default_interval);
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    /// The one that this thread works under, or nullptr.
    static Interrupt* current();

    /// Lets a thread work under the Interrupt of another one, for as long as this object lives.
    class Shared {
    public:
        explicit Shared(Interrupt* interrupt);
        ~Shared();
        Shared(const Shared&) = delete;
        Shared& operator=(const Shared&) = delete;

    private:
        Interrupt* const before_;
    };

    /// Asks, if this is the caller's thread and the interval is over. Returns whether to stop.
    bool should_stop();

private:
    bool (*const ask_)();
    const Interval interval_;
    Interrupt* const before_;
    std::chrono::steady_clock::time_point next_ask_{};  ///< not set before the first call of should_stop
    const void* const owner_;
    std::atomic<bool> is_stopped_{false};
};

/// Throws Interrupted if the work of this thread is to stop.
void poll_interrupt();

}  // namespace prunedbpe
