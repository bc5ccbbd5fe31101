// What an encoding call writes while it works, lent out by an encoder and kept for the next call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "tokenizer/chunk_loop.hpp"

namespace prunedbpe {

/// What every kind of encoder has of it. A kind adds its own.
struct Workspace {
    KnownChunks known;
    std::string utf8;

    /// A call with a huge text must not leave its memory behind.
    void forget_large() {
        if (is_large(utf8)) std::string().swap(utf8);
    }

protected:
    template <class Container>
    static bool is_large(const Container& container) {
        return container.capacity() > 1 << 20;
    }
};

/// Workspaces nobody uses. At most as many as there are places stay; no locks, and a call takes one
/// exchange to get its own and one to give it back.
template <class Space>
class WorkspacePool {
public:
    class Loan {
    public:
        explicit Loan(WorkspacePool& pool) : pool_(pool), space_(pool.take()) {}
        ~Loan() {
            space_->forget_large();
            pool_.give_back(std::move(space_));
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
        for (auto& place : places_) delete place.load();
    }

private:
    std::unique_ptr<Space> take() {
        for (auto& place : places_) {
            if (place.load(std::memory_order_relaxed) == nullptr) continue;
            if (Space* found = place.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Space>(found);
        }
        return std::make_unique<Space>();
    }

    void give_back(std::unique_ptr<Space> space) {
        for (auto& place : places_) {
            Space* empty = nullptr;
            if (place.compare_exchange_strong(empty, space.get(), std::memory_order_release, std::memory_order_relaxed)) {
                static_cast<void>(space.release());
                return;
            }
        }
    }

    std::array<std::atomic<Space*>, 16> places_{};
};

}  // namespace prunedbpe
