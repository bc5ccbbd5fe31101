// The chunks of a text from left to right. Where the bytes allow it, the ends of all chunks of a block are found together
// (chunk_ends.hpp), which costs a few instructions per chunk. Scanning byte by byte instead costs a load latency per
// chunk and a branch per byte.
#pragma once

#include <bit>
#include <cstdint>

#include "pretokenizers/chunk_ends.hpp"
#include "pretokenizers/scanners.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace prunedbpe {

/// One or more adjacent chunks: bit i is set if one ends at `base + i`.
struct ChunkRun {
    const char* base;
    std::uint64_t ends;

    template <class Use>
    void for_each_end(Use&& use) const {
        for (std::uint64_t left = ends; left != 0; left &= left - 1) use(base + std::countr_zero(left));
    }
};

/// Cuts one text, which must be UTF-8, as `next_chunk` does. `Bytes` names the SIMD variant.
template <NextChunk next_chunk, class Bytes = SixteenBytes>
class ChunkScanner {
public:
    /// The chunks of a run begin within this many bytes.
    static constexpr std::ptrdiff_t reach = 64;

    explicit ChunkScanner(const char* end) : end_(end) {}

    /// The chunk at `at`, where the last one ended, and those after it that are already known. Needs `at` before the end
    /// of the text.
    ChunkRun next(const char* at) {
        if constexpr (requires { BlockRules<next_chunk>::find_ends; }) {
            // In three-byte scripts the blocks find nothing.
            if (static_cast<unsigned char>(*at) < 0xE3) {
                if (const std::uint64_t ends = find_sure(at)) return {block_, ends};
            }
        }
        return {next_chunk(at, end_), 1};
    }

private:
    static_assert(reach >= ByteClasses::width);

    /// The ends of the chunk at `at` and of those after it in its block, as far as they are certain.
    std::uint64_t find_sure(const char* at) {
        using Rules = BlockRules<next_chunk>;
        // As integers: before the first block there is no valid pointer to compare with.
        const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(block_);
        if (offset < block_size_) {
            if (ends_.doubtful >> offset & 1) return 0;
            // If the bits have no begin here, as inside a number, they are wrong about what follows.
            if (ends_.begins >> offset & 1) {
                const std::uint64_t sure = sure_from(offset);
                if (sure != 0 || ends_.doubtful >> offset != 0) return sure;
            }
        }
        if (!ByteClasses::are_known_at<Bytes, Rules::only_ascii>(at, end_)) return 0;
        const ByteClasses classes = ByteClasses::of<Bytes, Rules::only_ascii>(at, end_);
        block_ = at;
        block_size_ = classes.size;
        ends_ = Rules::find_ends(classes);
        return sure_from(0);
    }

    /// Ends up to the first doubtful byte; the chunk that holds it has none.
    std::uint64_t sure_from(std::size_t offset) const {
        const std::uint64_t from = ~std::uint64_t{0} << offset;
        const std::uint64_t doubtful = ends_.doubtful & from;
        const std::uint64_t up_to = doubtful ^ (doubtful - 1);  // all ones if nothing is doubtful
        return ends_.begins & (from << 1) & up_to;
    }

    const char* const end_;
    const char* block_ = nullptr;
    std::size_t block_size_ = 0;
    ChunkEnds ends_{};
};

/// Calls `use` with the scanner as a template argument, so that it inlines into a loop over chunks.
template <class Use>
decltype(auto) with_scanner(NextChunk next, Use&& use) {
    if (next == next_paper) return use.template operator()<next_paper>();
    if (next == next_reference) return use.template operator()<next_reference>();
    if (next == next_gpt2) return use.template operator()<next_gpt2>();
    if (next == next_cl100k) return use.template operator()<next_cl100k>();
    if (next == next_llama3) return use.template operator()<next_llama3>();
    if (next == next_qwen2) return use.template operator()<next_qwen2>();
    if (next == next_o200k) return use.template operator()<next_o200k>();
    return use.template operator()<next_none>();
}

}  // namespace prunedbpe
