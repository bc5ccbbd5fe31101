#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

thread_local Interrupt* current_interrupt = nullptr;

/// Something that has another address in every thread.
const void* this_thread() { return &current_interrupt; }

}  // namespace

Interrupt::Interrupt(bool (*ask)(), Interval interval)
    : ask_(ask), interval_(interval), before_(current_interrupt), owner_(this_thread()) {
    current_interrupt = this;
}

Interrupt::~Interrupt() { current_interrupt = before_; }

Interrupt* Interrupt::current() { return current_interrupt; }

Interrupt::Shared::Shared(Interrupt* interrupt) : before_(current_interrupt) { current_interrupt = interrupt; }

Interrupt::Shared::~Shared() { current_interrupt = before_; }

bool Interrupt::should_stop() {
    if (owner_ == this_thread() && !is_stopped_.load(std::memory_order_relaxed)) {
        const auto now = std::chrono::steady_clock::now();
        if (next_ask_ == decltype(next_ask_)()) next_ask_ = now + interval_;  // a short call never asks
        if (now < next_ask_) return false;
        if (ask_()) is_stopped_.store(true, std::memory_order_relaxed);
        next_ask_ = now + interval_;
    }
    return is_stopped_.load(std::memory_order_relaxed);
}

void poll_interrupt() {
    if (Interrupt* const interrupt = current_interrupt; interrupt != nullptr && interrupt->should_stop()) {
        throw Interrupted();
    }
}

}  // namespace prunedbpe
