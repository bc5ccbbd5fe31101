// After the occurrences of a merge are scanned: the changed pairs -> the shards of the index.
//
// Each worker sorts the changes it found by the shard that holds the pair (PairChanges). After a barrier, each worker
// updates one shard with the changes of all workers. So every shard has one writer, and no lock is needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merges/occurrence_scan.hpp"
#include "merges/pair_index.hpp"

namespace prunedbpe {

/// A pair has lost occurrences of this weight.
struct Decrease {
    Pair pair;
    std::int64_t weight;
    std::uint32_t scan;  ///< that found it
};

/// A new pair, with the sum that one scan found of it.
struct NewPair {
    Pair pair;
    std::uint32_t sum;   ///< index in the scan's tally
    std::uint16_t scan;  ///< that found it
    bool is_left;        ///< in the scan's left tally, not in the right one
};

/// What the scans of one worker change, by shard; within a shard, in order of scans.
class alignas(64) PairChanges {
public:
    explicit PairChanges(std::size_t shards) : decreases_(shards), new_pairs_(shards) {}

    void clear();
    /// Appends what scan number `number` changes. New pairs whose weight in this scan is below `least` are left out.
    template <class Position>
    void add(const ChosenMerge<Position>& merge, const OccurrenceScan<Position>& scan, std::size_t number,
             const PairIndex<Position>& index, std::int64_t least);

    /// Changes found by the scans before `scan_end`.
    std::span<const Decrease> decreases(std::size_t shard, std::size_t scan_end) const;
    std::span<const NewPair> new_pairs(std::size_t shard, std::size_t scan_end) const;

    std::size_t memory() const;

private:
    std::vector<std::vector<Decrease>> decreases_;  // by shard
    std::vector<std::vector<NewPair>> new_pairs_;   // by shard
};

/// If a new pair reaches `floor` over `parts` scans, its weight in at least one of them is this or more.
inline std::int64_t least_part(std::int64_t floor, std::size_t parts) {
    const auto count = static_cast<std::int64_t>(parts);
    return (floor + count - 1) / count;
}

/// Updates one shard after `merges`: removes the merged pairs, lowers frequencies, adds the new pairs that reach the
/// floor, and points the tallies to where `fill_lists` must write. Different shards may be updated at the same time.
/// `scans` has one scan for each merge, or the parts of a single one, which then still hold their sum indexes.
template <class Position>
void update_shard(std::span<const ChosenMerge<Position>> merges, std::span<OccurrenceScan<Position>> scans,
                  std::span<const PairChanges> changes, PairIndex<Position>& index, unsigned shard);

}  // namespace prunedbpe
