// Allocator for occurrence lists: many small ones that come and go, a few huge ones.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <vector>

#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// A slab allocator with four size classes for each power of two and a free list for each class. A general
/// allocator would spend as much on its own headers as on a typical list. Larger lists are taken best-fit from
/// the spare ones. Learning frees its largest lists early, and cutting up those is cheaper than fresh pages,
/// which the system would have to clear.
template <class Position>
class PositionPool {
public:
    PositionPool() = default;
    PositionPool(const PositionPool&) = delete;
    PositionPool& operator=(const PositionPool&) = delete;

    /// Allocates one block for lists that hold this many positions in all.
    void reserve(std::size_t positions) {
        positions += positions / 16;
        if (positions > largest_pooled) spare_.emplace(positions, take_block(positions));
    }

    Position* allocate(std::size_t count) {
        if (count > largest_pooled) return allocate_large(count);
        const SizeClass size_class = class_of(static_cast<std::uint32_t>(count));
        if (Position* list = free_[size_class.index]; list != nullptr) {
            std::memcpy(&free_[size_class.index], list, sizeof(Position*));
            return list;
        }
        if (slab_left_ < size_class.capacity) start_slab();
        slab_left_ -= size_class.capacity;
        return slab_ + slab_left_;
    }

    void release(Position* list, std::size_t count) {
        if (count > largest_pooled) {
            spare_.emplace(count, list);
            return;
        }
        // The first eight bytes of a free list point to the next one.
        const SizeClass size_class = class_of(static_cast<std::uint32_t>(count));
        std::memcpy(list, &free_[size_class.index], sizeof(Position*));
        free_[size_class.index] = list;
    }

    /// Frees all lists.
    void clear() {
        free_.fill(nullptr);
        spare_.clear();
        blocks_.clear();
        slab_left_ = 0;
        size_ = 0;
    }

    std::size_t memory() const { return size_ * sizeof(Position); }

private:
    static constexpr std::size_t slab_size = 1 << 19;
    static constexpr std::size_t largest_pooled = 1 << 14;

    struct SizeClass {
        std::uint32_t index;
        std::uint32_t capacity;
    };

    /// Capacities 2, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...: rounding up wastes at most a quarter.
    static SizeClass class_of(std::uint32_t count) {
        if (count <= 4) return count <= 2 ? SizeClass{0, 2} : SizeClass{1, 4};
        const auto power = static_cast<std::uint32_t>(std::bit_width(count - 1)) - 3;  // of a quarter step
        const std::uint32_t steps = ((count - 1) >> power) + 1;                        // 5 to 8
        return {2 + power * 4 + steps - 5, steps << power};
    }

    /// Best fit. A remainder too small to serve a large list is wasted.
    Position* allocate_large(std::size_t count) {
        const auto found = spare_.lower_bound(count);
        if (found == spare_.end()) return take_block(count);
        const auto [size, list] = *found;
        spare_.erase(found);
        if (size - count > largest_pooled) spare_.emplace(size - count, list + count);
        return list;
    }

    void start_slab() {
        slab_left_ = spare_.empty() ? slab_size : std::min(slab_size, std::prev(spare_.end())->first);
        slab_ = allocate_large(slab_left_);
    }

    Position* take_block(std::size_t size) {
        blocks_.push_back(make_huge_array<Position>(size));
        size_ += size;
        return blocks_.back().get();
    }

    std::array<Position*, 64> free_{};               // by size class: the first free list, or nullptr
    std::multimap<std::size_t, Position*> spare_;  // free large lists and remainders, by size
    Position* slab_ = nullptr;
    std::size_t slab_left_ = 0;  // slab_[0 .. slab_left_) is free
    std::vector<HugeArray<Position>> blocks_;
    std::size_t size_ = 0;  // of all blocks, in positions
};

}  // namespace prunedbpe
