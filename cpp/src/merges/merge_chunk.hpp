// Apply a merge list to one chunk: bytes -> ranks.
//
// The lowest-ranked pair of the chunk is merged first, the leftmost of equals; that is the same as
// applying all merges one after the other, each from left to right, because a pair that a merge
// creates always has a higher rank than the merge. Used for encoding, for replay, and to bring a
// learner to the state of its checkpoint.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "merges/pair.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Which merge two adjacent ranks take part in, if any. Immutable.
class MergeLookup {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFF;  ///< not a rank

    explicit MergeLookup(std::span<const Merge> merges);

    /// Rank of the token that `left` and `right` merge into, or `none`.
    std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t hash = hash_pair({left, right});
        if (!may_have(hash)) return none;
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const std::uint32_t rank = ranks_[at];
            if (rank == none) return none;
            if (raw(parts_[rank].left) == left && raw(parts_[rank].right) == right) return rank;
        }
    }

    /// The two parts of a token; for a byte, the byte itself twice.
    const Merge& parts(std::uint32_t rank) const { return parts_[rank]; }

private:
    /// Most look-ups are for pairs that never merge. A Bloom filter of eight bits per merge answers nearly
    /// all of those and stays in the cache.
    bool may_have(std::uint64_t hash) const {
        const std::uint64_t bit = hash >> filter_shift_;
        return filter_[bit >> 6] >> (bit & 63) & 1;
    }

    std::vector<std::uint64_t> filter_;
    int filter_shift_;
    // The hash table holds ranks only and compares pairs through parts_: together they are less than half
    // as large as a table of pairs and ranks.
    std::vector<std::uint32_t> ranks_;  // by hash; a power of two, at most half full
    std::size_t mask_;
    std::vector<Merge> parts_;  // by rank
};

/// Working memory of one thread, kept between chunks.
struct MergeScratch {
    std::vector<std::uint32_t> ranks;  ///< the result: ranks of the chunk's tokens

    // Of long chunks only:
    struct Candidate {
        std::uint32_t rank;  // of the merge
        std::uint32_t at;    // byte offset of the left token
    };
    std::vector<Candidate> heap;
    std::vector<Candidate> dropped;       // by dropout, since the last merge
    std::vector<std::uint32_t> previous;  // by byte offset: of the token before
    std::vector<std::uint32_t> next;      // by byte offset: of the token after
};

/// Merges `chunk` into scratch.ranks.
void merge_chunk(const MergeLookup& lookup, std::string_view chunk, MergeScratch& scratch);

/// The same with BPE-dropout (Provilkov et al. 2020): at every step each possible merge is skipped with
/// `probability`. `state` is that of the random generator; the same state gives the same result.
void merge_chunk_dropout(const MergeLookup& lookup, std::string_view chunk, double probability,
                         std::uint64_t& state, MergeScratch& scratch);

/// The same as merge_chunk, adding `weight` to applied[i] for every replacement by merge i.
void merge_chunk_recording(const MergeLookup& lookup, std::string_view chunk, std::int64_t weight,
                           std::span<std::int64_t> applied, MergeScratch& scratch);

}  // namespace prunedbpe
