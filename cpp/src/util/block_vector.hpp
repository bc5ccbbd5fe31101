// A vector that grows by blocks: elements never move, and growing never needs twice the memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// push_back is O(1) and leaves references to elements valid. Blocks are not initialised.
template <class T, unsigned block_bits = 12>
class BlockVector {
public:
    BlockVector() = default;
    BlockVector(BlockVector&& other) noexcept { *this = std::move(other); }
    BlockVector& operator=(BlockVector&& other) noexcept {
        memory_ = std::move(other.memory_);
        blocks_ = std::move(other.blocks_);
        spare_ = std::exchange(other.spare_, 0);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    std::size_t size() const { return size_; }
    std::size_t memory() const { return (blocks_.size() + spare_) * block_size * sizeof(T); }
    T& operator[](std::size_t i) { return blocks_[i >> block_bits][i & (block_size - 1)]; }
    const T& operator[](std::size_t i) const { return blocks_[i >> block_bits][i & (block_size - 1)]; }

    void push_back(const T& value) {
        if (size_ == blocks_.size() << block_bits) add_block();
        (*this)[size_++] = value;
    }

private:
    static constexpr std::size_t block_size = std::size_t{1} << block_bits;
    /// Allocate single blocks at first, then a huge page full of them at a time.
    static constexpr std::size_t blocks_per_page =
        std::max<std::size_t>((std::size_t{1} << 21) / (block_size * sizeof(T)), 1);

    void add_block() {
        if (spare_ == 0) {
            spare_ = blocks_.size() < blocks_per_page ? 1 : blocks_per_page;
            memory_.push_back(make_huge_array<T>(spare_ * block_size));
            blocks_.push_back(memory_.back().get());
        } else {
            blocks_.push_back(blocks_.back() + block_size);
        }
        --spare_;
    }

    std::vector<HugeArray<T>> memory_;
    std::vector<T*> blocks_;
    std::size_t spare_ = 0;  // allocated blocks after the last one in use
    std::size_t size_ = 0;
};

}  // namespace prunedbpe
