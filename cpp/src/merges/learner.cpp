#include "prunedbpe/merges.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "merges/flat_corpus.hpp"
#include "merges/merge_batch.hpp"
#include "merges/neighbour_tally.hpp"
#include "merges/pair_index.hpp"
#include "merges/settlement.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// How far ahead in an occurrence list the slots are fetched: occurrences are far apart in memory.
constexpr std::uint32_t prefetch_distance = 24;

/// Threads that the system keeps from running are waited for if a merge has this many times as many occurrences as make
/// it worth sharing.
constexpr std::size_t long_job = 8;

/// Corpora of fewer bytes of unique chunks are learned by one thread: their merges are so small that threads spend what
/// they gain on passing cache lines to each other.
constexpr std::size_t shared_from = 1 << 19;

/// Merges of a batch for each thread. More are seldom independent, and fewer do not outweigh what it costs that all
/// threads start and end a step together.
constexpr std::size_t batch_share = 16;

}  // namespace

struct Learner::State {
    State(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads, const Sharing& share,
          std::size_t whole_below)
        : team(share.always || counts.bytes.size() >= shared_from ? threads : 1),
          corpus(counts, merges, team),
          index(corpus, team, whole_below, batch_share),
          batch(batch_share * team.size()),
          places(team.size()),
          findings(std::max<std::size_t>(team.size(), MergeBatch::most)),
          outboxes(team.size(), Outbox(team.size())),
          sharing(share) {}

    /// Does the next merges of the queue, one or more and `limit` at the most, and brings the index up to date. False if
    /// no pair is left that is frequent enough.
    bool advance(std::size_t limit);
    /// A batch of one: its occurrences are shared by all threads.
    void finish_single();
    /// A batch of several: each is looked at by one thread.
    void finish_several();

    /// Runs a job of as many parts as there are workers: on all threads, or, while the system keeps them from running, on
    /// one, unless it is a long job.
    template <class Job>
    void run(Job&& job) {
        const Pair& first = batch.members()[0].merge.pair;
        const bool is_long = first.count - first.head >= sharing.split_from * long_job;
        if (team.size() > 1 && (is_long || sharing.always || !team.is_late())) {
            team.run(job);
        } else {
            for (unsigned worker = 0; worker < team.size(); ++worker) job(worker);
        }
    }

    /// Looks at the occurrences of a part of the pair's list, in ascending order. `use` gets each that is to be replaced,
    /// the place behind it and what stands there. It may replace it at once.
    template <class Use>
    void find(const Replacement& merge, Part part, NeighbourPlaces& lent, Findings& found, Use&& use) const;
    /// A part of the pair's list, in whole chunks: occurrences of one chunk may overlap.
    Part part_of_list(const Pair& pair, unsigned part) const;
    /// First occurrence at or after list place `at` that lies in another chunk than the one before.
    std::uint32_t chunk_border(const Pair& pair, std::uint32_t at) const;
    /// Fills lists of new pairs with what a worker has found; all shards are settled.
    void fill_lists(unsigned worker) {
        for (std::size_t place = 0; place < end_of_places(finished); ++place) {
            if (findings[place].worker != worker) continue;
            findings[place].fill_lists();
            findings[place].give_places_back();
        }
    }
    void replace(const Replacement& merge, Position at) {
        corpus.replace(at, merge.pair.left(), merge.pair.right(), merge.merged);
    }

    WorkerTeam team;
    FlatCorpus corpus;
    PairIndex index;
    MergeBatch batch;
    std::vector<NeighbourPlaces> places;  // by worker
    std::vector<Findings> findings;       // of the merges of a batch, or of the parts of a single one
    std::vector<Outbox> outboxes;         // by worker
    Sharing sharing;
    std::vector<Finished> finished;  // by the last `advance`
};

Learner::Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads, const Sharing& sharing,
                 std::size_t whole_below)
    : state_(std::make_unique<State>(counts, merges, threads, sharing, whole_below)) {}

Learner::~Learner() = default;

std::size_t Learner::advance(std::size_t merge_count, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point started = Clock::now();
    const auto is_late = [&] { return std::chrono::duration<double>(Clock::now() - started).count() >= seconds; };
    std::size_t count = 0;
    while (count < merge_count && (count == 0 || !is_late())) {
        if (!state_->advance(merge_count - count)) {
            is_exhausted_ = true;
            break;
        }
        for (const auto& [merge, first, parts] : state_->finished) {
            std::int64_t applied = 0;
            for (std::size_t i = first; i < first + parts; ++i) applied += state_->findings[i].applied;
            merges_.push_back({Rank{merge.pair.left()}, Rank{merge.pair.right()}});
            frequencies_.push_back(merge.pair.frequency);
            applied_.push_back(applied);
        }
        count += state_->finished.size();
    }
    return count;
}

bool Learner::State::advance(std::size_t limit) {
    if (index.best_shard() == nullptr) return false;
    batch.plan(index, corpus, limit, sharing.split_from);
    if (batch.members().size() == 1) {
        finish_single();
    } else {
        finish_several();
    }

    // The corpus and all shards are up to date: which pairs come next, and where new ones occur.
    index.choose_open_bins();
    run([&](unsigned worker) {
        index.find_best(worker);
        fill_lists(worker);
    });
    return true;
}

void Learner::State::finish_single() {
    const Replacement merge = batch.members()[0].merge;
    finished = {{merge, 0, team.size()}};
    corpus.add_rank(merge.pair.left(), merge.pair.right());
    run([&](unsigned part) {
        Findings& found = findings[part];
        found.worker = part;
        find(merge, part_of_list(merge.pair, part), places[part], found,
             [&](Position at, Position, std::uint32_t) { replace(merge, at); });
        outboxes[part].clear();
        outboxes[part].add(merge, found, part, index, least_gain(index.floor(), team.size()));
    });
    run([&](unsigned place) { settle(finished, outboxes, findings, index, place); });
}

void Learner::State::finish_several() {
    // 1. Look at the occurrences of all; the corpus stays as it is.
    std::atomic<std::size_t> next_place{0};
    run([&](unsigned worker) {
        outboxes[worker].clear();
        for (std::size_t place; (place = next_place.fetch_add(1)) < batch.members().size();) {
            const Replacement& merge = batch.members()[place].merge;
            Findings& found = findings[place];
            found.occurrences.clear();
            found.cut = MergeBatch::most;
            found.worker = worker;
            find(merge, {merge.pair.head, merge.pair.count}, places[worker], found,
                 [&](Position at, Position behind, std::uint32_t rank) {
                     found.occurrences.push_back(at);
                     if (rank != FlatCorpus::boundary) batch.note_neighbour(found, place, corpus, behind, rank);
                 });
            found.give_places_back();
            outboxes[worker].add(merge, found, place, index, index.floor());
        }
    });

    // 2. Do those that may be done together.
    batch.cut(findings);
    finished.assign(batch.members().begin(), batch.members().end());
    for (const Finished& one : finished) corpus.add_rank(one.merge.pair.left(), one.merge.pair.right());
    run([&](unsigned worker) {
        for (const Finished& one : finished) {
            if (findings[one.first].worker != worker) continue;
            for (const Position at : findings[one.first].occurrences) replace(one.merge, at);
        }
        settle(finished, outboxes, findings, index, worker);
    });
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

template <class Use>
void Learner::State::find(const Replacement& merge, Part part, NeighbourPlaces& lent, Findings& found, Use&& use) const {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const std::uint32_t merged_length = corpus.length(a) + corpus.length(b);
    const Position* const list = merge.pair.positions;
    found.left.start(lent.left, t + 1);
    found.right.start(lent.right, t + 1);
    found.applied = found.rejoined = 0;
    Position behind = 0;  // the last occurrence
    Position chunk_end = 0;
    std::int64_t chunk_weight = 0;
    const auto prefetch = [&](Position at) {
        // From the neighbour before to the one after: often two cache lines.
        __builtin_prefetch(corpus.slot(at - 1), 1);
        __builtin_prefetch(corpus.slot(at + merged_length), 1);
    };
    for (std::size_t i = part.begin; i < std::min(part.begin + prefetch_distance, part.end); ++i) prefetch(list[i]);
    for (std::size_t i = part.begin; i < part.end; ++i) {
        if (i + prefetch_distance < part.end) prefetch(list[i + prefetch_distance]);
        const Position at = list[i];
        if (at < behind || !corpus.holds(at, a, b)) continue;
        std::int64_t weight = corpus.small_weight_at(at);
        if (weight == 0) {
            if (at >= chunk_end) {
                const std::size_t chunk = corpus.chunk_at(at);
                chunk_end = corpus.chunk_end(chunk);
                chunk_weight = corpus.chunk_weight(chunk);
            }
            weight = chunk_weight;
        }
        const bool follows_another = at == behind;
        behind = at + merged_length;
        const std::uint32_t left = corpus.left_of(at), right = corpus.rank_at(behind);
        use(at, behind, right);
        found.applied += weight;
        if (follows_another) {
            // "t a b" becomes "t t": the newest record on the right is that of "t a", made when the
            // first t was; no such pair is left here.
            found.right.take_back(weight);
            found.rejoined += weight;
            found.left.add(t, at - merged_length, weight);
        } else if (left != FlatCorpus::boundary) {
            found.left.add(left, at - corpus.length(left), weight);
        }
        if (right != FlatCorpus::boundary) found.right.add(right, at, weight);
    }
}

Part Learner::State::part_of_list(const Pair& pair, unsigned part) const {
    const Part run = part_of(pair.count - pair.head, part, team.size());
    return {chunk_border(pair, pair.head + static_cast<std::uint32_t>(run.begin)),
            chunk_border(pair, pair.head + static_cast<std::uint32_t>(run.end))};
}

std::uint32_t Learner::State::chunk_border(const Pair& pair, std::uint32_t at) const {
    if (at == pair.head || at == pair.count) return at;
    const Position end = corpus.chunk_end(corpus.chunk_at(pair.positions[at - 1]));
    // By bisection: with one chunk for the whole corpus the border is far away.
    const Position* const border = std::lower_bound(pair.positions + at, pair.positions + pair.count, end);
    return static_cast<std::uint32_t>(border - pair.positions);
}

std::size_t Learner::memory() const {
    std::size_t total = state_->corpus.memory() + state_->index.memory();
    for (const Findings& found : state_->findings) total += found.memory();
    for (const Outbox& outbox : state_->outboxes) total += outbox.memory();
    for (const NeighbourPlaces& lent : state_->places) total += lent.memory();
    return total;
}

}  // namespace prunedbpe
