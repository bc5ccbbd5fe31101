#include <algorithm>
#include <bit>

#include "prunedbpe/merger.hpp"

namespace prunedbpe {

MergeLookup::MergeLookup(std::span<const Merge> merges)
    : filter_(std::bit_ceil(merges.size() * 8 + 64) / 64),
      filter_shift_(64 - std::countr_zero(filter_.size() * 64)),
      slots_(std::bit_ceil(merges.size() * 2 + 2)),
      mask_(slots_.size() - 1) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const std::uint32_t left = raw(merges[i].left), right = raw(merges[i].right);
        const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | right;
        const std::uint64_t hash = hash_key(key), bit = hash >> filter_shift_;
        filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
        std::size_t at = hash & mask_;  // of a pair that is given twice the first merge is found
        while (slots_[at].rank != none) at = (at + 1) & mask_;
        slots_[at] = {key, static_cast<std::uint32_t>(byte_count + i)};
    }
}

}  // namespace prunedbpe
