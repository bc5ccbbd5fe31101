// All unique chunks as one flat array of slots, a slot per byte.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "merges/pair.hpp"
#include "prunedbpe/counts.hpp"
#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/types.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A token writes its rank into the first and the last slot of its span; the slots between hold
/// `interior`, and a `boundary` slot stands before, between and after the chunks. So the token that
/// starts at p is slot[p], the next one starts at p + length, and the one before ends at p - 1 and
/// starts `length` slots before p: neighbours in O(1), without links and without moving memory.
///
/// The high ten bits of a token's slots hold the count of its chunk if it is below 1024, else 0. Nearly all
/// unique chunks are that rare, so the weight of an occurrence seldom needs a look-up of its chunk.
///
/// A `Position` is the slot of a token's first byte; for a pair, of its left token. It has 32 bits, or 64 if there are
/// more slots. All that is stored by position, in every class with this parameter, has that width, and so has the number
/// of positions in a list.
///
/// Memory: 4 bytes per byte of unique chunks, 8 per chunk, and 4 per 64 slots; with 64-bit positions 16 and 8 instead of
/// the 8 and the last 4.
template <class Position>
class FlatCorpus {
public:
    static constexpr unsigned rank_bits = 22;
    static constexpr std::uint32_t rank_mask = (1u << rank_bits) - 1;
    static constexpr std::uint32_t boundary = rank_mask;
    static constexpr std::uint32_t interior = rank_mask - 1;

    /// As many slots as a corpus can have, for this type of positions.
    static constexpr std::size_t max_slots = std::numeric_limits<Position>::max() - 1;

    /// Lays out the chunks with `merges` applied; chunks of one byte hold no pair and are left out. There may be
    /// `max_slots` at most.
    FlatCorpus(const ChunkCountsView& counts, std::span<const Merge> merges, WorkerTeam& team);

    std::uint32_t rank_at(Position at) const { return slots_[at] & rank_mask; }
    Position length(std::uint32_t rank) const { return lengths_[rank]; }
    const std::uint32_t* slot(Position at) const { return slots_.get() + at; }

    /// Rank of the token after the one of `rank` at `at`, or `boundary`.
    std::uint32_t right_of(Position at, std::uint32_t rank) const { return rank_at(at + lengths_[rank]); }
    /// Rank of the token that ends just before `at`, or `boundary`.
    std::uint32_t left_of(Position at) const { return rank_at(at - 1); }

    /// Does the pair stand at `at`?
    bool holds(Position at, Pair pair) const {
        return rank_at(at) == pair.left && right_of(at, pair.left) == pair.right;
    }

    /// Makes the pair at `at` the token `merged`. Threads may write to different chunks at the same time.
    void replace(Position at, Pair pair, std::uint32_t merged) {
        const Position middle = at + lengths_[pair.left], last = middle + lengths_[pair.right] - 1;
        const std::uint32_t slot = (slots_[at] & ~rank_mask) | merged;
        slots_[middle - 1] = interior;
        slots_[middle] = interior;
        slots_[at] = slot;
        slots_[last] = slot;
    }

    /// Appends the rank that the pair becomes. Throws std::length_error beyond four million ranks.
    void add_rank(Pair pair);
    std::uint32_t rank_count() const { return static_cast<std::uint32_t>(lengths_.size()); }

    /// Bytes of the chunks, plus the boundaries.
    std::size_t slot_count() const { return slot_count_; }
    std::size_t chunk_count() const { return chunks_.size(); }
    Position chunk_begin(std::size_t chunk) const { return chunk == 0 ? 1 : chunks_[chunk - 1].end + 1; }
    Position chunk_end(std::size_t chunk) const { return chunks_[chunk].end; }
    std::int64_t chunk_weight(std::size_t chunk) const {
        const std::uint32_t count = chunks_[chunk].count;
        return count != wide ? count : wide_count(chunk);
    }
    /// Count of the chunk of the token at `at` if its slot holds it, else 0.
    std::uint32_t small_weight_at(Position at) const { return slots_[at] >> rank_bits; }
    /// The chunk that holds a position: look up the first chunk of its block, then take at most 21 steps.
    std::size_t chunk_at(Position at) const {
        std::size_t chunk = block_first_chunk_[at >> block_bits];
        while (chunks_[chunk].end <= at) ++chunk;
        return chunk;
    }

    /// A worker's contiguous part of the chunks; parts are nearly equal in bytes.
    Part chunk_part(unsigned worker, unsigned workers) const {
        const Part slots = part_of(slot_count_ - 1, worker, workers);
        return {first_chunk_from(slots.begin), first_chunk_from(slots.end)};
    }

    std::size_t memory() const;

private:
    static constexpr unsigned block_bits = 6;
    static constexpr std::uint32_t wide = 0xFFFFFFFF;  // as a count: the real one is in wide_counts_

    // End and count share a cache line, so a weight costs one miss. Counts that do not fit are rare.
    struct Chunk {
        Position end;         // of the slots
        std::uint32_t count;  // or `wide`
    };
    struct WideCount {
        std::size_t chunk;
        std::int64_t count;
    };

    std::int64_t wide_count(std::size_t chunk) const;
    /// The first chunk that ends after slot `at`, or the number of chunks.
    std::size_t first_chunk_from(std::size_t at) const;

    HugeArray<std::uint32_t> slots_;
    std::size_t slot_count_ = 0;
    std::vector<Position> lengths_;  // by rank, in bytes
    HugeVector<Chunk> chunks_;
    std::vector<WideCount> wide_counts_;  // in order of chunk
    HugeVector<Position> block_first_chunk_;  // by 2^block_bits slots: the first chunk that ends after their first
};

}  // namespace prunedbpe
