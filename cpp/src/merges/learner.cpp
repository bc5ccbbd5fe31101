#include <algorithm>
#include <atomic>
#include <chrono>

#include "merges/flat_corpus.hpp"
#include "merges/index_update.hpp"
#include "merges/merge_batch.hpp"
#include "merges/occurrence_scan.hpp"
#include "merges/pair_index.hpp"
#include "prunedbpe/merges.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// Merges of a batch for each thread. More are seldom independent; fewer do not pay for the barriers.
constexpr std::size_t batch_share = 16;

}  // namespace

/// What does not depend on the width of positions.
struct Learner::State {
    virtual ~State() = default;
    /// Does the next merges, at least one and `limit` at most, and appends them to those of `learner`. False if no pair
    /// is frequent enough.
    virtual bool advance(std::size_t limit, Learner& learner) = 0;
    virtual std::size_t memory() const = 0;
};

template <class Position>
struct Learner::StateOf final : State {
    using Chosen = ChosenMerge<Position>;
    using Scan = OccurrenceScan<Position>;

    StateOf(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
            std::optional<std::size_t> split_threshold)
        : team(split_threshold || counts.bytes.size() >= shared_from ? threads : 1),
          split_from(split_threshold.value_or(default_split_from)),
          corpus(counts, merges, team),
          index(corpus, team, batch_share),
          batch(batch_share * team.size()),
          sum_indexes(team.size()),
          scan_memory(std::max<std::size_t>(team.size(), batch.max_size)),
          changes(team.size(), PairChanges(team.size())) {}

    bool advance(std::size_t limit, Learner& learner) override;
    std::size_t memory() const override;
    /// Scans and replaces the occurrences of the only merge of the batch, a part on each thread.
    void merge_in_parts();
    /// Scans the merges of the batch, one thread each, and replaces those that are independent.
    void merge_together();
    /// The scans of a merge of the batch.
    std::span<const Scan> scans_of(std::size_t member) const {
        return scans.size() > batch.merges().size() ? scans : scans.subspan(member, 1);
    }

    WorkerTeam team;
    std::size_t split_from;
    FlatCorpus<Position> corpus;
    PairIndex<Position> index;
    MergeBatch<Position> batch;
    std::vector<SumIndexes> sum_indexes;  // by worker
    std::vector<Scan> scan_memory;        // kept between batches
    std::vector<PairChanges> changes;     // by worker
    std::span<Scan> scans;                // of the last batch: one for each merge, or the parts of a single one
};

Learner::Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
                 std::optional<std::size_t> split_from, std::size_t narrow_slots) {
    const std::size_t slots = counts.bytes.size() + counts.size() + 1;  // or up to 512 fewer: chunks of one byte
    if (slots <= std::min(narrow_slots, FlatCorpus<std::uint32_t>::max_slots)) {
        state_ = std::make_unique<StateOf<std::uint32_t>>(counts, merges, threads, split_from);
    } else {
        state_ = std::make_unique<StateOf<std::uint64_t>>(counts, merges, threads, split_from);
    }
}

Learner::~Learner() = default;

std::size_t Learner::advance(std::size_t merge_count, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point started = Clock::now();
    const auto is_over = [&] { return std::chrono::duration<double>(Clock::now() - started).count() >= seconds; };
    std::size_t count = 0;
    while (count < merge_count && (count == 0 || !is_over())) {
        const std::size_t known = merges_.size();
        if (!state_->advance(merge_count - count, *this)) {
            is_exhausted_ = true;
            break;
        }
        count += merges_.size() - known;
    }
    return count;
}

std::size_t Learner::memory() const { return state_->memory(); }

template <class Position>
bool Learner::StateOf<Position>::advance(std::size_t limit, Learner& learner) {
    if (index.best_shard() == nullptr) return false;
    // 1. Choose one large merge or several small ones; scan and replace their occurrences; update the index.
    batch.choose(index, corpus, limit, split_from);
    if (batch.merges()[0].indexed.candidate_count() >= split_from) {
        merge_in_parts();
    } else {
        merge_together();
    }
    // 2. Find the pairs that come next, and fill the lists of the new ones.
    index.choose_open_bins();
    team.run([&](unsigned worker) {
        index.find_best(worker);
        for (Scan& scan : scans) {
            if (scan.worker != worker) continue;
            scan.left.fill_lists();
            scan.right.fill_lists();
            scan.return_sum_indexes();
        }
    });
    const std::span<const Chosen> done = batch.merges();
    for (std::size_t member = 0; member < done.size(); ++member) {
        learner.merges_.push_back({Rank{done[member].pair().left}, Rank{done[member].pair().right}});
        learner.frequencies_.push_back(done[member].indexed.frequency);
        learner.applied_.push_back(0);
        for (const Scan& scan : scans_of(member)) learner.applied_.back() += scan.applied;
    }
    return true;
}

template <class Position>
void Learner::StateOf<Position>::merge_in_parts() {
    const Chosen merge = batch.merges()[0];
    scans = std::span(scan_memory).first(team.size());
    corpus.add_rank(merge.pair());
    team.run([&](unsigned worker) {
        scans[worker].worker = worker;
        scan_occurrences(corpus, merge, part_of_list(corpus, merge.indexed, worker, team.size()), sum_indexes[worker],
                         scans[worker],
                         [&](Position at, Position, std::uint32_t) { corpus.replace(at, merge.pair(), merge.merged); });
        changes[worker].clear();
        changes[worker].add(merge, scans[worker], worker, index, least_part(index.floor(), team.size()));
    });
    team.run([&](unsigned shard) { update_shard<Position>({&merge, 1}, scans, changes, index, shard); });
}

template <class Position>
void Learner::StateOf<Position>::merge_together() {
    // 1. Scan all merges; the corpus stays as it is.
    scans = std::span(scan_memory).first(batch.merges().size());
    std::atomic<std::size_t> next_member{0};
    team.run([&](unsigned worker) {
        changes[worker].clear();
        for (std::size_t member; (member = next_member.fetch_add(1)) < scans.size();) {
            const Chosen& merge = batch.merges()[member];
            Scan& scan = scans[member];
            scan.worker = worker;
            scan.to_replace.clear();
            scan.batch_limit = scans.size();
            scan_occurrences(corpus, merge, {merge.indexed.first_alive, merge.indexed.position_count},
                             sum_indexes[worker], scan, [&](Position at, Position after, std::uint32_t rank) {
                                 scan.to_replace.push_back(at);
                                 if (rank != corpus.boundary) {
                                     batch.note_adjacent(scan, member, corpus, after, rank);
                                 }
                             });
            scan.return_sum_indexes();
            changes[worker].add(merge, scan, member, index, index.floor());
        }
    });

    // 2. Replace those that are independent.
    batch.cut(scans);
    scans = scans.first(batch.merges().size());
    for (const Chosen& merge : batch.merges()) corpus.add_rank(merge.pair());
    team.run([&](unsigned worker) {
        for (std::size_t member = 0; member < scans.size(); ++member) {
            if (scans[member].worker != worker) continue;
            const Chosen& merge = batch.merges()[member];
            for (const Position at : scans[member].to_replace) corpus.replace(at, merge.pair(), merge.merged);
        }
        update_shard<Position>(batch.merges(), scans, changes, index, worker);
    });
}

template <class Position>
std::size_t Learner::StateOf<Position>::memory() const {
    std::size_t total = corpus.memory() + index.memory();
    for (const Scan& scan : scan_memory) total += scan.memory();
    for (const PairChanges& found : changes) total += found.memory();
    for (const SumIndexes& lent : sum_indexes) total += lent.memory();
    return total;
}

std::optional<WrongRow> find_wrong_merge(std::span<const Merge> merges, std::span<const std::int64_t> frequencies,
                                         std::span<const std::int64_t> applied) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
        if (has_late_part(merges[i], i)) return WrongRow{i, "pair"};
        if (frequencies[i] < 0) return WrongRow{i, "frequency"};
        if (applied[i] < 0) return WrongRow{i, "applied count"};
    }
    return std::nullopt;
}

}  // namespace prunedbpe
