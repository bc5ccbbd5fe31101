// Choosing which tokens to hide so that text gets shortest, the inner loop of automatic visibility; token ids and
// expansions for a given choice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Hides `count` learned tokens one by one, always the cheapest, and returns their ranks in that order; so the
/// first k are the answer for k. Hiding t turns each occurrence into w(t) visible tokens and costs
/// price(t) * flow(t) * (w(t) - 1). Its flow moves to its parts, whose costs rise. Costs never fall, so a lazy heap
/// that corrects an entry when it comes to the front is exact. Of equals, the newer token is hidden first.
///
/// `exposure` and `price` are by rank, bytes first. O((merges + hidden * expansion) log merges). Throws
/// std::invalid_argument if the sizes do not match or `count` exceeds the merges.
std::vector<std::uint32_t> hide_cheapest(std::span<const Merge> merges, std::span<const double> exposure,
                                         std::span<const double> price, std::size_t count);

/// Token id of every rank: visible tokens in order of rank, then `special_count` unassigned ids, then internal tokens.
std::vector<std::uint32_t> assign_token_ids(std::span<const bool> visible, std::size_t special_count);

/// The visible tokens that stand for each rank.
struct ExpandedRanks {
    std::vector<std::uint32_t> ids;     ///< token ids, flat
    std::vector<std::int64_t> offsets;  ///< rank r is ids [offsets[r], offsets[r + 1])
};
/// Expands internal tokens recursively. Parts must have lower ranks than their token, and bytes must be visible.
ExpandedRanks expand_internal(std::span<const Merge> merges, std::span<const bool> visible,
                              std::span<const std::uint32_t> token_ids);

}  // namespace prunedbpe
