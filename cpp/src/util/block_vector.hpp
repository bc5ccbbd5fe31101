// A vector that grows by blocks: elements never move, and growing never needs twice the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace prunedbpe {

/// Elements are not initialised: whoever appends one writes it.
template <class T, unsigned block_bits = 12>
class BlockVector {
public:
    BlockVector() = default;
    BlockVector(BlockVector&& other) noexcept
        : blocks_(std::move(other.blocks_)), size_(std::exchange(other.size_, 0)) {}
    BlockVector& operator=(BlockVector&& other) noexcept {
        blocks_ = std::move(other.blocks_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return blocks_[i >> block_bits][i & (block_size - 1)]; }
    const T& operator[](std::size_t i) const { return blocks_[i >> block_bits][i & (block_size - 1)]; }

    void push_back(const T& value) {
        if (size_ == blocks_.size() << block_bits) {
            blocks_.push_back(std::make_unique_for_overwrite<T[]>(block_size));
        }
        (*this)[size_++] = value;
    }

private:
    static constexpr std::size_t block_size = std::size_t{1} << block_bits;

    std::vector<std::unique_ptr<T[]>> blocks_;
    std::size_t size_ = 0;
};

}  // namespace prunedbpe
