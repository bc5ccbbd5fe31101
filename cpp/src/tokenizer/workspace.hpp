// What an encoding call writes while it works, lent out by the encoder and kept for the next call.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "prunedbpe/merger.hpp"
#include "tokenizer/backtracking.hpp"
#include "tokenizer/chunk_cache.hpp"

namespace prunedbpe {

struct Workspace {
    Backtracker::Scratch backtracking;
    MergeScratch merging;  // for dropout only
    ShortChunkCache short_chunks;
    LongChunkCache long_chunks;
    std::string utf8;

    /// A call with a huge text must not leave its memory behind.
    void forget_large() {
        constexpr std::size_t kept = 1 << 20;
        if (backtracking.dead_ends.capacity() + backtracking.ranks.capacity() > kept) backtracking = {};
        if (merging.ranks.capacity() > kept) merging = {};
        if (utf8.capacity() > kept) std::string().swap(utf8);
    }
};

/// Workspaces nobody uses. At most as many as there are places stay; no locks, and a call takes one
/// exchange to get its own and one to give it back.
class WorkspacePool {
public:
    class Loan {
    public:
        explicit Loan(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}
        ~Loan() {
            workspace_->forget_large();
            pool_.give_back(std::move(workspace_));
        }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        Workspace& operator*() const { return *workspace_; }

    private:
        WorkspacePool& pool_;
        std::unique_ptr<Workspace> workspace_;
    };

    WorkspacePool() = default;
    WorkspacePool(const WorkspacePool&) = delete;
    WorkspacePool& operator=(const WorkspacePool&) = delete;
    ~WorkspacePool() {
        for (auto& place : places_) delete place.load();
    }

private:
    std::unique_ptr<Workspace> take() {
        for (auto& place : places_) {
            if (place.load(std::memory_order_relaxed) == nullptr) continue;
            if (Workspace* found = place.exchange(nullptr, std::memory_order_acquire)) {
                return std::unique_ptr<Workspace>(found);
            }
        }
        return std::make_unique<Workspace>();
    }

    void give_back(std::unique_ptr<Workspace> workspace) {
        for (auto& place : places_) {
            Workspace* empty = nullptr;
            if (place.compare_exchange_strong(empty, workspace.get(), std::memory_order_release,
                                              std::memory_order_relaxed)) {
                static_cast<void>(workspace.release());
                return;
            }
        }
    }

    std::array<std::atomic<Workspace*>, 16> places_{};
};

}  // namespace prunedbpe
