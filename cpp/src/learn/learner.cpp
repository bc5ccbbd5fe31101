#include "prunedbpe/learn.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "learn/flat_corpus.hpp"
#include "learn/neighbour_tally.hpp"
#include "learn/pair_index.hpp"
#include "learn/settlement.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// How far ahead in an occurrence list the slots are fetched: occurrences are far apart in memory.
constexpr std::uint32_t prefetch_distance = 24;

/// How many times as many occurrences a merge must have to be shared with threads that sleep: waking
/// them takes some fifty microseconds, and a system call.
constexpr std::size_t waking_costs = 8;

}  // namespace

struct Learner::State {
    State(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
          std::size_t least_parallel, std::size_t whole_below)
        : team(threads),
          corpus(counts, merges, team),
          index(corpus, team, whole_below),
          findings(team.size()),
          settlements(team.size(), Settlement(team.size())),
          parallel_from(least_parallel) {}

    /// Is the pair so frequent that sharing it saves time? A team that sleeps is not worth waking for little.
    bool is_worth_sharing(const Pair& pair) const {
        const std::size_t occurrences = pair.count - pair.head;
        return team.size() > 1 && occurrences >= (team.is_prompt() ? parallel_from : parallel_from * waking_costs);
    }
    /// Replaces one part's occurrences of the pair's list, in ascending order.
    void replace(const Replacement& merge, unsigned part, unsigned parts);
    /// First occurrence at or after list place `at` that lies in another chunk than the one before.
    std::uint32_t chunk_border(const Pair& pair, std::uint32_t at) const;
    /// Fills the lists of the pairs that the last merge has made.
    void fill_lists(unsigned part) {
        for (Settlement& settlement : settlements) settlement.hand_out_rooms(part, findings[part]);
        findings[part].left.fill_lists();
        findings[part].right.fill_lists();
    }

    WorkerTeam team;
    FlatCorpus corpus;
    PairIndex index;
    std::vector<Findings> findings;       // by part of the occurrences
    std::vector<Settlement> settlements;  // by shard of the index
    std::size_t parallel_from;            // occurrences that make a merge worth sharing
};

Learner::Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
                 std::size_t parallel_from, std::size_t whole_below)
    : state_(std::make_unique<State>(counts, merges, threads, parallel_from, whole_below)) {}

Learner::~Learner() = default;

std::size_t Learner::advance(std::size_t merge_count, double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point started = Clock::now();
    const auto is_late = [&] { return std::chrono::duration<double>(Clock::now() - started).count() >= seconds; };
    State& s = *state_;
    std::size_t done = 0;
    std::uint32_t unfilled = FlatCorpus::boundary;  // the token whose new pairs have empty lists yet
    const auto fill_all = [&] {
        for (unsigned part = 0; part < s.team.size(); ++part) s.fill_lists(part);
        unfilled = FlatCorpus::boundary;
    };
    for (; done < merge_count && (done == 0 || !is_late()); ++done) {
        // 1. The best pair becomes a token.
        if (s.index.is_used_up()) fill_all();
        PairShard* const shard = s.index.best_shard();
        if (shard == nullptr) {
            is_exhausted_ = true;
            break;
        }
        const Replacement merge{shard->pop_front(), s.corpus.rank_count()};
        const Pair& pair = merge.pair;
        s.corpus.add_rank(pair.left(), pair.right());
        if (pair.left() == unfilled || pair.right() == unfilled) fill_all();

        // 2. Replace its occurrences, and bring the pairs around it up to date.
        if (s.is_worth_sharing(pair)) {
            // What the merge before has left to do is done on the way: each step that all workers start
            // and end together costs about a microsecond.
            s.team.run([&](unsigned part) {
                s.fill_lists(part);
                s.findings[part].start(s.corpus.rank_count());
                s.replace(merge, part, s.team.size());
            });
            s.team.run([&](unsigned place) {
                s.settlements[place].settle(merge, s.findings, s.index, place);
                s.index.shard(place).find_best(s.corpus);
            });
        } else {
            fill_all();
            s.findings[0].start(s.corpus.rank_count());
            s.replace(merge, 0, 1);
            s.settlements[0].settle_alone(merge, s.findings[0], s.index);
            for (unsigned place = 0; place < s.team.size(); ++place) s.index.shard(place).find_best(s.corpus);
        }
        unfilled = merge.merged;

        std::int64_t applied = 0;
        for (Findings& found : s.findings) applied += std::exchange(found.applied, 0);
        merges_.push_back({Rank{pair.left()}, Rank{pair.right()}});
        frequencies_.push_back(pair.frequency);
        applied_.push_back(applied);
    }
    fill_all();
    return done;
}

std::optional<WrongRow> find_wrong_merge(std::span<const Merge> merges, std::span<const std::int64_t> frequencies,
                                         std::span<const std::int64_t> applied) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
        if (std::max(raw(merges[i].left), raw(merges[i].right)) >= byte_count + i) return WrongRow{i, "pair"};
        if (frequencies[i] < 0) return WrongRow{i, "frequency"};
        if (applied[i] < 0) return WrongRow{i, "applied count"};
    }
    return std::nullopt;
}

void Learner::State::replace(const Replacement& merge, unsigned part, unsigned parts) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const std::uint32_t merged_length = corpus.length(t);
    const Position* const list = merge.pair.positions;
    // Parts are runs of whole chunks: occurrences of one chunk may overlap.
    const Part run = part_of(merge.pair.count - merge.pair.head, part, parts);
    const std::uint32_t begin = chunk_border(merge.pair, merge.pair.head + static_cast<std::uint32_t>(run.begin));
    const std::uint32_t end = chunk_border(merge.pair, merge.pair.head + static_cast<std::uint32_t>(run.end));
    Findings& found = findings[part];
    Position chunk_end = 0;
    std::int64_t chunk_weight = 0;
    const auto prefetch = [&](Position at) {
        // From the neighbour before to the one after: often two cache lines.
        __builtin_prefetch(corpus.slot(at - 1), 1);
        __builtin_prefetch(corpus.slot(at + merged_length), 1);
    };
    for (std::uint32_t i = begin; i < std::min(begin + prefetch_distance, end); ++i) prefetch(list[i]);
    for (std::uint32_t i = begin; i < end; ++i) {
        if (i + prefetch_distance < end) prefetch(list[i + prefetch_distance]);
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

std::size_t Learner::memory() const {
    std::size_t total = state_->corpus.memory() + state_->index.memory();
    for (const Findings& found : state_->findings) total += found.left.memory() + found.right.memory();
    return total;
}

}  // namespace prunedbpe
