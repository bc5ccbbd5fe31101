// The one definition of which pair is merged next.
#pragma once

#include <cstdint>

namespace prunedbpe {

/// A pair as it stands in the queue: with the frequency and first position it had when it was put
/// there. Later merges can only lower the frequency and move the first position to the right, so an
/// old entry never stands too far back, and correcting it when it comes to the front is enough.
template <class Position>
struct QueueEntry {
    std::int64_t frequency;
    Position first_position;
    std::uint32_t row;  ///< of the pair in its PairTable
};

/// Higher frequency first; of equals, the pair seen first in the corpus. No two pairs share a first
/// position, so the order is total.
template <class Position>
constexpr bool merges_before(const QueueEntry<Position>& a, const QueueEntry<Position>& b) {
    return a.frequency != b.frequency ? a.frequency > b.frequency : a.first_position < b.first_position;
}

}  // namespace prunedbpe
