// Choosing what to hide so that text gets shortest: the inner loop of automatic visibility.
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

}  // namespace prunedbpe
