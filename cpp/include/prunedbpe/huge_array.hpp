// Large arrays of plain values in huge pages.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace prunedbpe {

namespace detail {
struct Free {
    void operator()(void* p) const { std::free(p); }
};
}  // namespace detail

/// Uninitialised memory. Random access to hundreds of megabytes in small pages misses the TLB nearly every
/// time, and faulting the pages in one by one costs as much as clearing them.
template <class T>
using HugeArray = std::unique_ptr<T[], detail::Free>;

template <class T>
HugeArray<T> make_huge_array(std::size_t size) {
    constexpr std::size_t page = std::size_t{1} << 21;
    std::size_t bytes = size * sizeof(T);
    void* memory;
    if (bytes < page) {
        memory = std::aligned_alloc(64, (bytes / 64 + 1) * 64);  // 64: entries do not straddle cache lines
    } else {
        bytes = (bytes + page - 1) / page * page;
        memory = std::aligned_alloc(page, bytes);
#ifdef __linux__
        // A tail of less than half a huge page stays in small pages: a huge one would waste memory.
        if (memory != nullptr) madvise(memory, (size * sizeof(T) + page / 2) / page * page, MADV_HUGEPAGE);
#endif
    }
    if (memory == nullptr) throw std::bad_alloc();
    return HugeArray<T>(static_cast<T*>(memory));
}

/// Allocator of such memory for std::vector; `resize` leaves new values uninitialised.
template <class T>
struct HugeAllocator {
    using value_type = T;

    T* allocate(std::size_t size) { return make_huge_array<T>(size).release(); }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
    bool operator==(const HugeAllocator&) const = default;
};

template <class T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace prunedbpe
