// A chunk of up to 15 bytes to visible ids by merging, all its pairs in the lanes of one or two vector registers.
//
// Lane i holds the rank of the merge of the token that begins at byte i with the next one; one instruction finds the
// lowest, the leftmost of equals. Twice as quick as backtracking where most characters have one byte. Where they have
// more, most merges only put characters together, and backtracking, which walks along whole tokens, is quicker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/chunk_key.hpp"
#include "tokenizer/expansions.hpp"
#include "tokenizer/merge_rows.hpp"

namespace prunedbpe {

class LaneMerger {
public:
    using Key = PaddedKey<2>;
    static constexpr std::size_t room = Key::capacity + 1;  ///< `encode` may write so many ids, whatever it returns

    /// `expansions` must live as long.
    LaneMerger(std::span<const Merge> merges, const Expansions& expansions);

    /// Writes the ids of a chunk and returns their end; or nullptr if backtracking is quicker, or if this processor or
    /// vocabulary is none for it.
    std::uint32_t* encode(const Key& chunk, std::uint32_t* out) const {
        return is_usable_ ? encode_in_lanes(chunk, out) : nullptr;
    }

private:
    std::uint32_t* encode_in_lanes(const Key& chunk, std::uint32_t* out) const;

    /// `is_wide`: with more pairs than one register has lanes.
    template <bool is_wide>
    std::uint32_t* merge(const Key& chunk, std::uint32_t* out) const;

    std::uint32_t* write_ids(const std::uint16_t* tokens, std::uint32_t begins, std::uint32_t* out) const;

    MergeRows rows_;
    bool is_usable_;
    const Expansions& expansions_;
    static constexpr std::uint32_t internal = 0xFFFFFFFF;
    std::vector<std::uint32_t> ids_;  // by rank; or `internal`
};

}  // namespace prunedbpe
