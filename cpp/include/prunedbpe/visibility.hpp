// Choosing what to hide so that text merged by rank gets shortest: the inner loops of automatic visibility.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/sources.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Hides `count` learned tokens one by one, always the cheapest, and returns their ranks in that order; so the first k are
/// the answer for k. Hiding t turns each of its flow(t) occurrences into w(t) visible tokens, and costs price(t) times the
/// value of flow(t) * (w(t) - 1). Its flow moves to its parts, whose costs rise. Costs never fall, so a lazy heap that
/// corrects an entry when it comes to the front is exact. Of equals, the newer token is hidden first.
///
/// `exposure` is by rank, bytes first, and by source within a rank; `price` is by rank. O((merges + hidden * expansion) *
/// sources * log merges). Throws std::invalid_argument if the sizes do not match or `count` exceeds the merges.
std::vector<std::uint32_t> hide_cheapest(std::span<const Merge> merges, std::span<const std::int64_t> exposure,
                                         const SourceValue& value, std::span<const double> price, std::size_t count);

/// By token below `token_count`, and by source within a token: its occurrences in a corpus whose unique chunk i is cut
/// into list i of `chunks`. Throws std::invalid_argument if a token or a source is out of range.
std::vector<std::int64_t> tally_by_source(const IdListsView& chunks, const SourcesView& sources, std::size_t token_count);

}  // namespace prunedbpe
