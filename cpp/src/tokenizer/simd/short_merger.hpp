// A chunk of up to 15 bytes to visible ids, by merging its lowest-ranked pair again and again.
//
// With AVX2 it is faster than backtracking where most characters have one byte. Where they have more, most merges only
// put characters together, and backtracking, which walks along whole tokens, is faster. The portable variant is slower
// than backtracking: it defines the result, and runs only if asked for by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/expansions.hpp"
#include "tokenizer/merge_rows.hpp"
#include "tokenizer/packed_chunk.hpp"
#include "util/simd/level.hpp"

namespace prunedbpe {

class ShortMerger {
public:
    using Key = PackedChunk<2>;
    static constexpr std::size_t room = Key::capacity + 1;  ///< ids that `encode` may write, whatever it returns

    /// Borrows `expansions`. On a CPU without AVX2, `encode` always declines.
    ShortMerger(std::span<const Merge> merges, const Expansions& expansions)
        : ShortMerger(merges, expansions, simd::best_level(), simd::best_level() == simd::Level::avx2) {}
    /// The variant of this level.
    ShortMerger(std::span<const Merge> merges, const Expansions& expansions, simd::Level level)
        : ShortMerger(merges, expansions, level, true) {}

    /// Writes the ids of a chunk and returns their end; nullptr if backtracking is faster or the vocabulary unsupported.
    std::uint32_t* encode(const Key& chunk, std::uint32_t* out) const;

private:
    ShortMerger(std::span<const Merge> merges, const Expansions& expansions, simd::Level level, bool is_wanted);

    /// Scans for the lowest rank.
    std::uint32_t* merge_portable(const Key& chunk, std::uint32_t* out) const;

    /// Keeps all pairs in the lanes of one or two registers; one instruction finds the lowest rank.
    std::uint32_t* merge_avx2(const Key& chunk, std::uint32_t* out) const;
    template <bool is_wide>
    std::uint32_t* merge_lanes(const Key& chunk, std::uint32_t* out) const;
    std::uint32_t* write_ids(const std::uint16_t* tokens, std::uint32_t begins, std::uint32_t* out) const;

    MergeRows rows_;
    simd::Level level_;
    bool is_usable_;
    const Expansions& expansions_;
    std::vector<std::uint32_t> ids_;  ///< by rank; or Expansions::internal
};

}  // namespace prunedbpe
