// A growing array of token ids that leaves new elements uninitialised: they are written at once anyway.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace prunedbpe {

class IdBuffer {
public:
    struct Free {
        void operator()(std::uint32_t* p) const { std::free(p); }
    };
    using Owner = std::unique_ptr<std::uint32_t[], Free>;

    /// Room for at least `count` ids after the last one; `advance` makes them part of the buffer.
    std::uint32_t* room(std::size_t count) {
        if (capacity_ - size_ < count) [[unlikely]] grow(count);
        return ids_.get() + size_;
    }
    void advance(std::size_t count) { size_ += count; }
    /// The same, given the end of what was written.
    void advance_to(const std::uint32_t* end) { size_ = static_cast<std::size_t>(end - ids_.get()); }

    void append(std::span<const std::uint32_t> ids) {
        std::uint32_t* to = room(ids.size());
        for (const std::uint32_t id : ids) *to++ = id;
        advance(ids.size());
    }

    /// Keeps the first `size` ids.
    void cut(std::size_t size) { size_ = size; }
    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::uint32_t* data() { return ids_.get(); }
    const std::uint32_t* data() const { return ids_.get(); }
    std::span<const std::uint32_t> span() const { return {ids_.get(), size_}; }

    /// Gives the memory away, shrunk to size; leaves the buffer empty.
    Owner release() {
        std::uint32_t* old = ids_.release();
        void* cut = std::realloc(old, (size_ ? size_ : 1) * sizeof(std::uint32_t));
        size_ = capacity_ = 0;
        return Owner(static_cast<std::uint32_t*>(cut ? cut : old));
    }

private:
    void grow(std::size_t count) {
        const std::size_t wanted = std::max(size_ + count, capacity_ + capacity_ / 2);
        void* grown = std::realloc(ids_.get(), wanted * sizeof(std::uint32_t));
        if (grown == nullptr) throw std::bad_alloc();
        static_cast<void>(ids_.release());
        ids_.reset(static_cast<std::uint32_t*>(grown));
        capacity_ = wanted;
    }

    Owner ids_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace prunedbpe
