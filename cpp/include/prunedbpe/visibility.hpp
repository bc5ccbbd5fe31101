// Choosing what to hide so that text gets shortest, the inner loop of automatic visibility; and what stands for hidden
// tokens then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Hides `count` learned tokens one by one, always the cheapest, and returns their ranks in that
/// order; so the first k of them are the answer for k. Hiding t turns each of its occurrences into
/// w(t) visible tokens and costs price(t) * flow(t) * (w(t) - 1); it hands its flow to its parts,
/// which makes those dearer. Costs therefore only rise, and a queue that corrects an entry when it
/// comes to the front is exact. Of equals the newer token goes first.
///
/// `exposure` and `price` are by rank, bytes first. O((merges + hidden * expansion) log merges).
std::vector<std::uint32_t> hide_cheapest(std::span<const Merge> merges, std::span<const double> exposure,
                                         std::span<const double> price, std::size_t count);

/// Token id of every rank: visible tokens in their order, `special_count` ids left out, then internal ones.
std::vector<std::uint32_t> assign_token_ids(std::span<const bool> visible, std::size_t special_count);

/// What is visible of each rank: flat token ids, and where those of each begin.
struct ExpandedRanks {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets;
};
/// Parts have lower ranks than their token; bytes are visible.
ExpandedRanks expand_internal(std::span<const Merge> merges, std::span<const bool> visible,
                              std::span<const std::uint32_t> token_ids);

}  // namespace prunedbpe
