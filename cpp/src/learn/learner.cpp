#include "prunedbpe/learn.hpp"

#include <algorithm>

#include "learn/flat_corpus.hpp"
#include "learn/neighbour_tally.hpp"
#include "learn/pair_index.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// How far ahead in an occurrence list the slots are fetched: occurrences are far apart in memory.
constexpr std::uint32_t prefetch_distance = 24;

/// What one worker finds while it replaces a pair (a, b) by a new token t.
struct Findings {
    NeighbourTally left;   // x before t: the pair (x, t) is new, an (x, a) is gone
    NeighbourTally right;  // y after t: the pair (t, y) is new, a (b, y) is gone
    std::int64_t applied = 0;
    std::int64_t rejoined = 0;  // weight of "t a" that became "t t": a (b, a) is gone all the same

    void clear() {
        left.clear();
        right.clear();
        applied = rejoined = 0;
    }
};

/// Visits neighbours, each announced a few steps before its turn.
template <class Announce, class Visit>
void for_each_ahead(const std::vector<std::uint32_t>& neighbours, Announce&& announce, Visit&& visit) {
    constexpr std::size_t ahead = 8;
    for (std::size_t i = 0; i < std::min(ahead, neighbours.size()); ++i) announce(neighbours[i]);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        if (i + ahead < neighbours.size()) announce(neighbours[i + ahead]);
        visit(neighbours[i]);
    }
}

}  // namespace

struct Learner::State {
    State(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
          std::size_t least_parallel, std::size_t whole_below)
        : team(threads),
          corpus(counts, merges, team),
          index(corpus, team, whole_below),
          findings(team.size()),
          parallel_from(least_parallel) {}

    struct Replacement {
        Pair pair;
        std::uint32_t merged;
    };

    /// Replaces the occurrences [begin, end) of the pair's list, in ascending order.
    void replace(const Replacement& merge, std::uint32_t begin, std::uint32_t end, Findings& found);
    /// First occurrence at or after list place `at` that lies in another chunk than the one before.
    std::uint32_t chunk_border(const Pair& pair, std::uint32_t at) const;
    /// Lowers the pairs that lost occurrences and gives every new pair its list.
    void settle(const Replacement& merge, unsigned workers);
    template <class Key>
    void allocate_lists(NeighbourTally Findings::*side, unsigned workers, std::vector<Position*>& lists, Key key);
    /// Writes one worker's records into the lists, behind those of the workers before it.
    static void fill_lists(NeighbourTally& tally, const std::vector<Position*>& lists);

    WorkerTeam team;
    FlatCorpus corpus;
    PairIndex index;
    std::vector<Findings> findings;     // one for each worker
    std::size_t parallel_from;          // occurrences that make a merge worth waking the other workers
    std::vector<Position*> left_lists;  // of the new pair (x, t), by x
    std::vector<Position*> right_lists;
    std::vector<std::uint32_t> settled;  // by rank: the stamp under which its list was last allocated
    std::uint32_t settlements = 0;       // two for each merge; 2^31 merges are out of reach
};

Learner::Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
                 std::size_t parallel_from, std::size_t whole_below)
    : state_(std::make_unique<State>(counts, merges, threads, parallel_from, whole_below)) {}

Learner::~Learner() = default;

std::size_t Learner::advance(std::size_t merge_count) {
    State& s = *state_;
    for (std::size_t done = 0; done < merge_count; ++done) {
        // 1. The best pair becomes a token.
        const std::optional<std::uint32_t> best = s.index.pop_best();
        if (!best) return done;
        const Pair pair = s.index[*best];
        const State::Replacement merge{pair, s.corpus.rank_count()};
        s.corpus.add_rank(pair.left(), pair.right());

        // 2. Replace its occurrences; workers take runs of whole chunks.
        const unsigned workers = pair.count - pair.head >= s.parallel_from ? s.team.size() : 1;
        for (unsigned worker = 0; worker < workers; ++worker) {
            s.findings[worker].left.reserve_ranks(s.corpus.rank_count());
            s.findings[worker].right.reserve_ranks(s.corpus.rank_count());
        }
        if (workers == 1) {
            s.replace(merge, pair.head, pair.count, s.findings[0]);
        } else {
            s.team.run([&](unsigned worker) {
                const Part part = part_of(pair.count - pair.head, worker, workers);
                const auto border = [&](std::size_t at) {
                    return s.chunk_border(pair, pair.head + static_cast<std::uint32_t>(at));
                };
                s.replace(merge, border(part.begin), border(part.end), s.findings[worker]);
            });
        }

        // 3. Bring the pairs around it up to date.
        std::int64_t applied = 0;
        for (unsigned worker = 0; worker < workers; ++worker) applied += s.findings[worker].applied;
        s.index.remove(*best);
        s.settle(merge, workers);
        merges_.push_back({Rank{pair.left()}, Rank{pair.right()}});
        frequencies_.push_back(pair.frequency);
        applied_.push_back(applied);
    }
    return merge_count;
}

void Learner::State::replace(const Replacement& merge, std::uint32_t begin, std::uint32_t end, Findings& found) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const std::uint32_t merged_length = corpus.length(t);
    const Position* const list = merge.pair.positions;
    Position chunk_end = 0;
    std::int64_t chunk_weight = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
        if (i + prefetch_distance < end) __builtin_prefetch(corpus.slot(list[i + prefetch_distance]), 1);
        const Position at = list[i];
        if (!corpus.holds(at, a, b)) continue;
        std::int64_t weight = corpus.small_weight_at(at);
        if (weight == 0) {
            if (at >= chunk_end) {
                const std::size_t chunk = corpus.chunk_at(at);
                chunk_end = corpus.chunk_end(chunk);
                chunk_weight = corpus.chunk_weight(chunk);
            }
            weight = chunk_weight;
        }
        const std::uint32_t left = corpus.left_of(at), right = corpus.rank_at(at + merged_length);
        corpus.replace(at, a, b, t);
        found.applied += weight;
        if (left == t) {
            // "t a b" became "t t": the newest record on the right is that of "t a", made when the
            // first t was; no such pair is left here.
            found.right.take_back(weight);
            found.rejoined += weight;
        }
        if (left != FlatCorpus::boundary) found.left.add(left, at - corpus.length(left), weight);
        if (right != FlatCorpus::boundary) found.right.add(right, at, weight);
    }
}

std::uint32_t Learner::State::chunk_border(const Pair& pair, std::uint32_t at) const {
    if (at == pair.head || at == pair.count) return at;
    const Position end = corpus.chunk_end(corpus.chunk_at(pair.positions[at - 1]));
    // By bisection: with one chunk for the whole corpus the border is far away.
    const Position* const border = std::lower_bound(pair.positions + at, pair.positions + pair.count, end);
    return static_cast<std::uint32_t>(border - pair.positions);
}

void Learner::State::settle(const Replacement& merge, unsigned workers) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    settled.resize(std::max<std::size_t>(settled.size(), t + 1), 0);
    left_lists.resize(settled.size());
    right_lists.resize(settled.size());

    // 1. Lost occurrences first: none of these pairs holds t, so none of them is new.
    for (unsigned worker = 0; worker < workers; ++worker) {
        Findings& found = findings[worker];
        for_each_ahead(
            found.left.touched(), [&](std::uint32_t x) { index.prefetch(pair_key(x, a)); },
            [&](std::uint32_t x) {
                if (x != t) index.decrease(pair_key(x, a), found.left[x].weight);
            });
        for_each_ahead(
            found.right.touched(), [&](std::uint32_t y) { index.prefetch(pair_key(b, y)); },
            [&](std::uint32_t y) { index.decrease(pair_key(b, y), found.right[y].weight); });
        if (found.rejoined != 0) index.decrease(pair_key(b, a), found.rejoined);
    }

    // 2. A list of the exact size for every new pair that occurs often enough to matter.
    allocate_lists(&Findings::left, workers, left_lists, [t](std::uint32_t x) { return pair_key(x, t); });
    allocate_lists(&Findings::right, workers, right_lists, [t](std::uint32_t y) { return pair_key(t, y); });

    // 3. Fill them, and forget the findings.
    const auto fill = [this](unsigned worker) {
        fill_lists(findings[worker].left, left_lists);
        fill_lists(findings[worker].right, right_lists);
        findings[worker].clear();
    };
    if (workers == 1) {
        fill(0);
    } else {
        team.run(fill);
    }
    index.queue_added();
}

template <class Key>
void Learner::State::allocate_lists(NeighbourTally Findings::*side, unsigned workers,
                                    std::vector<Position*>& lists, Key key) {
    // A stamp of its own for each merge and side tells which neighbours are done.
    const std::uint32_t stamp = ++settlements;
    for (unsigned worker = 0; worker < workers; ++worker) {
        for (const std::uint32_t neighbour : (findings[worker].*side).touched()) {
            if (settled[neighbour] == stamp) continue;
            settled[neighbour] = stamp;
            std::int64_t weight = 0;
            std::uint32_t total = 0;
            for (unsigned w = 0; w < workers; ++w) {
                NeighbourTally::Sum& sum = (findings[w].*side)[neighbour];
                if (!sum.touched) continue;  // it would not be cleared either
                weight += sum.weight;
                const std::uint32_t begin = total;
                total += sum.occurrences;
                sum.occurrences = begin;  // from here on: where this worker writes next
            }
            lists[neighbour] = index.add(key(neighbour), weight, total);
        }
    }
}

void Learner::State::fill_lists(NeighbourTally& tally, const std::vector<Position*>& lists) {
    for (const NeighbourTally::Record& record : tally.records()) {
        if (Position* list = lists[record.neighbour]) list[tally[record.neighbour].occurrences++] = record.position;
    }
}

std::size_t Learner::memory() const {
    std::size_t total = state_->corpus.memory() + state_->index.memory();
    for (const Findings& found : state_->findings) total += found.left.memory() + found.right.memory();
    return total;
}

}  // namespace prunedbpe
