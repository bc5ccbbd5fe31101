#include "merges/merge_batch.hpp"

#include <utility>

namespace prunedbpe {

template <class Position>
void MergeBatch<Position>::choose(PairIndex<Position>& index, const FlatCorpus<Position>& corpus, std::size_t limit,
                                  std::size_t split_from) {
    while (!merges_.empty()) drop_last();
    roles_.resize(corpus.rank_count());
    while (merges_.size() < std::min(limit, capacity_)) {
        PairShard<Position>* const shard = index.next_shard();
        if (shard == nullptr) break;
        const IndexedPair<Position>& next = shard->pair(*shard->front());
        const bool is_large = next.candidate_count() >= split_from;
        if (is_large && !merges_.empty()) break;
        if (roles_[next.pair.left].as_right > 0 || roles_[next.pair.right].last_as_left != none) break;
        take_front(*shard, corpus);
        if (is_large) break;
    }
}

template <class Position>
void MergeBatch<Position>::take_front(PairShard<Position>& shard, const FlatCorpus<Position>& corpus) {
    const IndexedPair<Position>& next = shard.pair(*shard.front());
    const std::size_t member = merges_.size();
    previous_as_left_[member] =
        std::exchange(roles_[next.pair.left].last_as_left, static_cast<std::uint8_t>(member));
    ++roles_[next.pair.right].as_right;
    merges_.push_back({next, static_cast<std::uint32_t>(corpus.rank_count() + member)});
    shards_.push_back(&shard);
    shard.take_front();
}

template <class Position>
void MergeBatch<Position>::cut(std::span<const OccurrenceScan<Position>> scans) {
    std::size_t limit = merges_.size();
    for (const OccurrenceScan<Position>& scan : scans) limit = std::min(limit, scan.batch_limit);
    std::size_t kept = 0;
    std::int64_t best_new = 0;  // the highest frequency of a new pair of the merges before
    // At equal frequencies the first position decides; leave that to the next batch.
    for (; kept < limit && merges_[kept].indexed.frequency > best_new; ++kept) {
        best_new = std::max({best_new, scans[kept].left.largest(), scans[kept].right.largest()});
    }
    while (merges_.size() > kept) {
        shards_.back()->give_back();
        drop_last();
    }
}

template class MergeBatch<std::uint32_t>;
template class MergeBatch<std::uint64_t>;

}  // namespace prunedbpe
