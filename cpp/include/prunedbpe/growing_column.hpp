// A column that grows, of which others hold the beginning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace prunedbpe {

/// Values are only ever added. So whoever holds the memory and the size that the column had when asked sees the same
/// values for ever, at no cost: new ones are written behind them, or, where there is no room, elsewhere.
template <class T>
class GrowingColumn {
public:
    void push_back(const T& value) {
        if (size_ == capacity_) grow();
        memory_[size_++] = value;
    }

    std::size_t size() const { return size_; }
    std::span<const T> span() const { return {memory_.get(), size_}; }
    operator std::span<const T>() const { return span(); }

    std::shared_ptr<const T[]> memory() const { return memory_; }

private:
    void grow() {
        capacity_ = std::max<std::size_t>(4 * capacity_, 1024);  // memory that is not written yet costs nothing
        std::shared_ptr<T[]> larger(new T[capacity_]);
        std::copy_n(memory_.get(), size_, larger.get());
        memory_ = std::move(larger);
    }

    std::shared_ptr<T[]> memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace prunedbpe
