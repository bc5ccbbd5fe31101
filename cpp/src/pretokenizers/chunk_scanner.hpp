// The chunks of a text one after the other. Where the bytes allow it, the ends of all chunks of a block are found
// together (chunk_ends.hpp), and a chunk costs a few instructions on registers; reading it byte by byte
// waits for a load at every chunk and guesses at every byte.
#pragma once

#include <bit>
#include <cstdint>

#include "pretokenizers/chunk_ends.hpp"
#include "pretokenizers/scanners.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace prunedbpe {

/// One or more chunks that follow each other: bit i says that one ends at `base + i`. The lowest comes first.
struct ChunkRun {
    const char* base;
    std::uint64_t ends;

    template <class Use>
    void for_each_end(Use&& use) const {
        for (std::uint64_t left = ends; left != 0; left &= left - 1) use(base + std::countr_zero(left));
    }
};

/// The chunks of one text, which must be UTF-8, from left to right, as `next_chunk` cuts them.
template <NextChunk next_chunk>
class ChunkScanner {
public:
    /// The chunks of a run begin before this many bytes have passed.
    static constexpr std::ptrdiff_t reach = 64;

    explicit ChunkScanner(const char* end) : end_(end) {}

    /// The chunk at `at`, where the last one ended, and those behind it that are known by then. `at` must be before the
    /// end of the text.
    ChunkRun next(const char* at) {
#ifdef PRUNEDBPE_HAS_BYTE_CLASSES
        if constexpr (requires { BlockRules<next_chunk>::find_ends; }) {
            // Where a script of three bytes begins, there is nothing to find.
            if (static_cast<unsigned char>(*at) < 0xE3) {
                if (const std::uint64_t ends = find_sure(at)) return {block_, ends};
            }
        }
#endif
        return {next_chunk(at, end_), 1};
    }

private:
    const char* const end_;

#ifdef PRUNEDBPE_HAS_BYTE_CLASSES
    static_assert(reach >= ByteClasses::width);

    /// The ends of the chunk at `at` and of those behind it in its block, as far as they are sure.
    std::uint64_t find_sure(const char* at) {
        using Rules = BlockRules<next_chunk>;
        // As numbers: before the first block there is nothing to point into.
        const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(block_);
        if (offset < block_size_) {
            if (ends_.doubtful >> offset & 1) return 0;
            // Where the bits foresaw no begin, as inside a number, what follows is not as they have it.
            if (ends_.begins >> offset & 1) {
                const std::uint64_t sure = sure_from(offset);
                if (sure != 0 || ends_.doubtful >> offset != 0) return sure;
            }
        }
        if (!ByteClasses::are_known_at<Rules::only_ascii>(at, end_)) return 0;
        const ByteClasses classes = ByteClasses::of<Rules::only_ascii>(at, end_);
        block_ = at;
        block_size_ = classes.size;
        ends_ = Rules::find_ends(classes);
        return sure_from(0);
    }

    /// Ends up to the first doubtful byte: the chunk that holds it has none.
    std::uint64_t sure_from(std::size_t offset) const {
        const std::uint64_t from = ~std::uint64_t{0} << offset;
        const std::uint64_t doubtful = ends_.doubtful & from;
        const std::uint64_t up_to = doubtful ^ (doubtful - 1);  // all, if nothing is doubtful
        return ends_.begins & (from << 1) & up_to;
    }

    const char* block_ = nullptr;
    std::size_t block_size_ = 0;
    ChunkEnds ends_{};
#endif
};

/// Calls `use` with the scanner as a template argument, so that a loop over chunks has it inline.
template <class Use>
decltype(auto) with_scanner(NextChunk next, Use&& use) {
    if (next == next_paper) return use.template operator()<next_paper>();
    if (next == next_reference) return use.template operator()<next_reference>();
    if (next == next_gpt2) return use.template operator()<next_gpt2>();
    if (next == next_cl100k) return use.template operator()<next_cl100k>();
    if (next == next_o200k) return use.template operator()<next_o200k>();
    return use.template operator()<next_none>();
}

}  // namespace prunedbpe
