// Substrings of chunks that would be worth a place among the candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/lower_bound.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// The cheapest costs of all chunks: those of chunk i begin at offsets[i] + i and are one more than its bytes.
using PathCosts = std::span<const std::uint32_t>;

/// All substrings of two bytes or more with a worth of `least` or more; `least` must be positive. The worth of a string
/// is the sum of count * max(0, costs[end] - costs[begin] - unit) over all places [begin, end) where it matches,
/// overlapping ones too: what L gains from multipliers so large that no cheapest path gets cheaper by these edges.
/// Returns nothing if there are more than `most`.
///
/// Sorts the suffixes of all chunks byte by byte, and drops a group of suffixes as soon as no string that begins like
/// them can be worth `least`. Memory: 8 bytes per unique byte.
std::optional<Substrings> find_substrings(const ChunkCountsView& counts, PathCosts costs, std::int64_t unit,
                                          std::int64_t least, std::size_t most, WorkerTeam& team);

}  // namespace prunedbpe
