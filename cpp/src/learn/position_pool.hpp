// Memory for the occurrence lists: many small ones that come and go, a few huge ones.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "learn/flat_corpus.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// Lists are cut from slabs by size class, four classes for each power of two, and freed lists are
/// used again; a general allocator would spend as much on its own headers as on a typical list. Lists
/// too large for a slab come from the system and go back to it at once.
class PositionPool {
public:
    PositionPool() = default;
    PositionPool(const PositionPool&) = delete;
    PositionPool& operator=(const PositionPool&) = delete;

    Position* allocate(std::uint32_t count) {
        if (count > largest_pooled) {
            auto* list = static_cast<Position*>(std::malloc(std::size_t{count} * sizeof(Position)));
            if (list == nullptr) throw std::bad_alloc();
            large_memory_ += std::size_t{count} * sizeof(Position);
            return list;
        }
        const SizeClass size_class = class_of(count);
        if (Position* list = free_[size_class.index]; list != nullptr) {
            std::memcpy(&free_[size_class.index], list, sizeof(Position*));
            return list;
        }
        if (slab_left_ < size_class.capacity) {
            slabs_.push_back(make_huge_array<Position>(slab_size));
            slab_left_ = slab_size;
        }
        slab_left_ -= size_class.capacity;
        return slabs_.back().get() + slab_left_;
    }

    void release(Position* list, std::uint32_t count) {
        if (count > largest_pooled) {
            std::free(list);
            large_memory_ -= std::size_t{count} * sizeof(Position);
            return;
        }
        // A free list is a chain through the lists' own first eight bytes.
        const SizeClass size_class = class_of(count);
        std::memcpy(list, &free_[size_class.index], sizeof(Position*));
        free_[size_class.index] = list;
    }

    /// Frees the slabs with all lists in them. Lists too large for a slab must have been released.
    void clear() {
        free_.fill(nullptr);
        slabs_.clear();
        slab_left_ = 0;
    }

    std::size_t memory() const { return slabs_.size() * slab_size * sizeof(Position) + large_memory_; }

private:
    static constexpr std::uint32_t slab_size = 1 << 19;
    static constexpr std::uint32_t largest_pooled = 1 << 14;

    struct SizeClass {
        std::uint32_t index;
        std::uint32_t capacity;
    };

    /// Capacities 2, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...: at most a quarter is wasted.
    static SizeClass class_of(std::uint32_t count) {
        if (count <= 4) return count <= 2 ? SizeClass{0, 2} : SizeClass{1, 4};
        const auto power = static_cast<std::uint32_t>(std::bit_width(count - 1)) - 3;  // of a quarter step
        const std::uint32_t steps = ((count - 1) >> power) + 1;                        // 5 to 8
        return {2 + power * 4 + steps - 5, steps << power};
    }

    std::array<Position*, 64> free_{};
    std::vector<HugeArray<Position>> slabs_;
    std::uint32_t slab_left_ = 0;
    std::size_t large_memory_ = 0;
};

}  // namespace prunedbpe
