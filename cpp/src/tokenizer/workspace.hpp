// Working memory of an encoding call, borrowed from the encoder and kept for the next call.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "tokenizer/chunk_loop.hpp"

namespace prunedbpe {

/// What both encoders need. Each derives its own.
struct Workspace {
    KnownChunks known;
    std::string utf8;

    /// Frees what a huge text has allocated.
    void forget_large() {
        if (is_large(utf8)) std::string().swap(utf8);
    }

protected:
    template <class Container>
    static bool is_large(const Container& container) {
        return container.capacity() > 1 << 20;
    }
};

/// Idle workspaces, at most one per core and 16 in all; those of further threads are freed when their calls end, because
/// each may hold 40 MB. Lock-free: a call costs one atomic exchange to take one and one to return it.
template <class Space>
class WorkspacePool {
public:
    class Loan {
    public:
        explicit Loan(WorkspacePool& pool) : pool_(pool), space_(pool.take()) {}
        ~Loan() {
            space_->forget_large();
            pool_.put_back(std::move(space_));
        }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        Space& operator*() const { return *space_; }

    private:
        WorkspacePool& pool_;
        std::unique_ptr<Space> space_;
    };

    WorkspacePool() = default;
    WorkspacePool(const WorkspacePool&) = delete;
    WorkspacePool& operator=(const WorkspacePool&) = delete;
    ~WorkspacePool() {
        for (Slot& slot : usable_) delete slot.load();
    }

private:
    using Slot = std::atomic<Space*>;

    std::unique_ptr<Space> take() {
        for (Slot& slot : usable_) {
            if (slot.load(std::memory_order_relaxed) == nullptr) continue;
            if (Space* found = slot.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Space>(found);
        }
        return std::make_unique<Space>();
    }

    void put_back(std::unique_ptr<Space> space) {
        for (Slot& slot : usable_) {
            Space* empty = nullptr;
            if (slot.compare_exchange_strong(empty, space.get(), std::memory_order_release, std::memory_order_relaxed)) {
                static_cast<void>(space.release());
                return;
            }
        }
    }

    std::array<Slot, 16> slots_{};
    const std::span<Slot> usable_ = std::span(slots_).first(
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, slots_.size()));
};

}  // namespace prunedbpe
