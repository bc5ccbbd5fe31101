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

struct Learner::State {
    State(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
          std::optional<std::size_t> split_threshold)
        : team(split_threshold || counts.bytes.size() >= shared_from ? threads : 1),
          split_from(split_threshold.value_or(default_split_from)),
          corpus(counts, merges, team),
          index(corpus, team, batch_share),
          batch(batch_share * team.size()),
          sum_indexes(team.size()),
          scan_memory(std::max<std::size_t>(team.size(), MergeBatch::max_size)),
          changes(team.size(), PairChanges(team.size())) {}

    /// Does the next merges, at least one and `limit` at most. False if no pair is frequent enough.
    bool advance(std::size_t limit);
    /// Scans and replaces the occurrences of the only merge of the batch, a part on each thread.
    void merge_in_parts();
    /// Scans the merges of the batch, one thread each, and replaces those that are independent.
    void merge_together();
    /// The scans of a merge of the batch.
    std::span<const OccurrenceScan> scans_of(std::size_t member) const {
        return scans.size() > batch.merges().size() ? scans : scans.subspan(member, 1);
    }

    WorkerTeam team;
    std::size_t split_from;
    FlatCorpus corpus;
    PairIndex index;
    MergeBatch batch;
    std::vector<SumIndexes> sum_indexes;      // by worker
    std::vector<OccurrenceScan> scan_memory;  // kept between batches
    std::vector<PairChanges> changes;         // by worker
    std::span<OccurrenceScan> scans;          // of the last batch: one for each merge, or the parts of a single one
};

Learner::Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
                 std::optional<std::size_t> split_from)
    : state_(std::make_unique<State>(counts, merges, threads, split_from)) {}

Learner::~Learner() = default;

std::size_t Learner::advance(std::size_t merge_count, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point started = Clock::now();
    const auto is_over = [&] { return std::chrono::duration<double>(Clock::now() - started).count() >= seconds; };
    std::size_t count = 0;
    while (count < merge_count && (count == 0 || !is_over())) {
        if (!state_->advance(merge_count - count)) {
            is_exhausted_ = true;
            break;
        }
        const std::span<const ChosenMerge> done = state_->batch.merges();
        for (std::size_t member = 0; member < done.size(); ++member) {
            merges_.push_back({Rank{done[member].pair().left}, Rank{done[member].pair().right}});
            frequencies_.push_back(done[member].indexed.frequency);
            applied_.push_back(0);
            for (const OccurrenceScan& scan : state_->scans_of(member)) applied_.back() += scan.applied;
        }
        count += done.size();
    }
    return count;
}

bool Learner::State::advance(std::size_t limit) {
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
        for (OccurrenceScan& scan : scans) {
            if (scan.worker != worker) continue;
            scan.left.fill_lists();
            scan.right.fill_lists();
            scan.return_sum_indexes();
        }
    });
    return true;
}

void Learner::State::merge_in_parts() {
    const ChosenMerge merge = batch.merges()[0];
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
    team.run([&](unsigned shard) { update_shard({&merge, 1}, scans, changes, index, shard); });
}

void Learner::State::merge_together() {
    // 1. Scan all merges; the corpus stays as it is.
    scans = std::span(scan_memory).first(batch.merges().size());
    std::atomic<std::size_t> next_member{0};
    team.run([&](unsigned worker) {
        changes[worker].clear();
        for (std::size_t member; (member = next_member.fetch_add(1)) < scans.size();) {
            const ChosenMerge& merge = batch.merges()[member];
            OccurrenceScan& scan = scans[member];
            scan.worker = worker;
            scan.to_replace.clear();
            scan.batch_limit = scans.size();
            scan_occurrences(corpus, merge, {merge.indexed.first_alive, merge.indexed.position_count},
                             sum_indexes[worker], scan, [&](Position at, Position after, std::uint32_t rank) {
                                 scan.to_replace.push_back(at);
                                 if (rank != FlatCorpus::boundary) {
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
    for (const ChosenMerge& merge : batch.merges()) corpus.add_rank(merge.pair());
    team.run([&](unsigned worker) {
        for (std::size_t member = 0; member < scans.size(); ++member) {
            if (scans[member].worker != worker) continue;
            const ChosenMerge& merge = batch.merges()[member];
            for (const Position at : scans[member].to_replace) corpus.replace(at, merge.pair(), merge.merged);
        }
        update_shard(batch.merges(), scans, changes, index, worker);
    });
}

std::size_t Learner::memory() const {
    std::size_t total = state_->corpus.memory() + state_->index.memory();
    for (const OccurrenceScan& scan : state_->scan_memory) total += scan.memory();
    for (const PairChanges& changes : state_->changes) total += changes.memory();
    for (const SumIndexes& lent : state_->sum_indexes) total += lent.memory();
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
