// Working memory of an encoding call, borrowed from the encoder and kept for the next call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
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

/// Idle workspaces, at most 16. Lock-free: a call costs one atomic exchange to take one and one to return it.
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
        for (auto& slot : slots_) delete slot.load();
    }

private:
    std::unique_ptr<Space> take() {
        for (auto& slot : slots_) {
            if (slot.load(std::memory_order_relaxed) == nullptr) continue;
            if (Space* found = slot.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Space>(found);
        }
        return std::make_unique<Space>();
    }

    void put_back(std::unique_ptr<Space> space) {
        for (auto& slot : slots_) {
            Space* empty = nullptr;
            if (slot.compare_exchange_strong(empty, space.get(), std::memory_order_release, std::memory_order_relaxed)) {
                static_cast<void>(space.release());
                return;
            }
        }
    }

    std::array<std::atomic<Space*>, 16> slots_{};
};

}  // namespace prunedbpe
