#include "merges/merge_batch.hpp"

#include <utility>

namespace prunedbpe {

void MergeBatch::plan(PairIndex& index, const FlatCorpus& corpus, std::size_t limit, std::size_t large) {
    while (!members_.empty()) forget_last();
    roles_.resize(corpus.rank_count());
    while (members_.size() < std::min(limit, capacity_)) {
        PairShard* const shard = index.next_shard();
        if (shard == nullptr) break;
        const Pair& pair = shard->pair(*shard->front());
        const bool is_large = pair.count - pair.head >= large;
        if (is_large && !members_.empty()) break;
        if (roles_[pair.left()].as_right > 0 || roles_[pair.right()].newest_as_left != none) break;
        take(*shard, corpus);
        if (is_large) break;
    }
}

void MergeBatch::take(PairShard& shard, const FlatCorpus& corpus) {
    const Pair& pair = shard.pair(*shard.front());
    const std::size_t place = members_.size();
    earlier_as_left_[place] = std::exchange(roles_[pair.left()].newest_as_left, static_cast<std::uint8_t>(place));
    ++roles_[pair.right()].as_right;
    members_.push_back({{pair, static_cast<std::uint32_t>(corpus.rank_count() + place)}, place, 1});
    shards_.push_back(&shard);
    shard.take_front();
}

void MergeBatch::cut(std::span<const Findings> findings) {
    findings = findings.first(members_.size());
    std::size_t most_kept = members_.size();
    for (const Findings& found : findings) most_kept = std::min(most_kept, found.cut);
    std::size_t kept = 0;
    std::int64_t best_gain = 0;  // the frequency of the best new pair of those before
    // Of equals the one seen first would come first; it is left to the next batch to tell which one that is.
    for (; kept < most_kept && members_[kept].merge.pair.frequency > best_gain; ++kept) {
        best_gain = std::max({best_gain, findings[kept].left.largest(), findings[kept].right.largest()});
    }
    while (members_.size() > kept) {
        shards_.back()->give_back();
        forget_last();
    }
}

}  // namespace prunedbpe
