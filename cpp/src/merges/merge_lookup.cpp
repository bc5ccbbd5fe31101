#include <algorithm>
#include <bit>

#include "merges/merge_chunk.hpp"

namespace prunedbpe {

MergeLookup::MergeLookup(std::span<const Merge> merges)
    : filter_(std::bit_ceil(merges.size() * 8 + 64) / 64),
      filter_shift_(64 - std::countr_zero(filter_.size() * 64)),
      ranks_(std::bit_ceil(merges.size() * 2 + 2), none),
      mask_(ranks_.size() - 1) {
    parts_.reserve(byte_count + merges.size());
    for (std::uint32_t byte = 0; byte < byte_count; ++byte) parts_.push_back({Rank{byte}, Rank{byte}});
    parts_.insert(parts_.end(), merges.begin(), merges.end());
    for (std::uint32_t rank = byte_count; rank < parts_.size(); ++rank) {
        const std::uint64_t hash = hash_pair(raw(parts_[rank].left), raw(parts_[rank].right));
        const std::uint64_t bit = hash >> filter_shift_;
        filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
        std::size_t at = hash & mask_;  // of a pair that is given twice the first merge is found
        while (ranks_[at] != none) at = (at + 1) & mask_;
        ranks_[at] = rank;
    }
}

}  // namespace prunedbpe
