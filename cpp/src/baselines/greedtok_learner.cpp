// GreedTok: candidates in a lazy heap, enumerated from the sorted suffixes down to a falling floor.
//
// The heap needs scores that never rise. Places only lose neighbours to join, or get blocked. A place that is blocked
// lets one count that overlaps it, which has no more to join in any corpus found so far: random ones, compared with
// the plain version, which measures every candidate in every step.

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>

#include "baselines/cover_corpus.hpp"
#include "prunedbpe/baselines.hpp"

namespace prunedbpe {

using cover::CoverCorpus;
using cover::Occurrences;
using cover::Position;

namespace {

struct Candidate {
    std::int64_t score;  ///< when it was last measured; scores fall while other tokens are taken
    Occurrences occurrences;
    Position first;  ///< its first occurrence
    std::uint16_t length;
    bool overlapping;

    /// Worse than another: the score is lower. Of tied ones the longer is worse, then the one that occurs later.
    bool operator<(const Candidate& other) const {
        return std::tuple(score, other.length, other.first) < std::tuple(other.score, length, first);
    }
};

}  // namespace

struct GreedTokLearner::State {
    State(const ChunkCountsView& counts, std::int64_t least) : corpus(counts), least_frequency(least) {}

    CoverCorpus corpus;
    std::int64_t least_frequency;
    std::priority_queue<Candidate> heap;
    /// Candidates below this bound are not in the heap yet. The bound of a string is its frequency times its
    /// neighbours inside, which its score never exceeds.
    std::int64_t floor = 0;
    std::string tokens;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> scores;

    /// Calls visit(occurrences, weight, shortest, longest) for every set of places that some strings share; the
    /// strings have the lengths `shortest` to `longest`.
    template <class Visit>
    void for_each_string(Visit visit) const;
    bool lower_floor();
    void add(Occurrences occurrences, std::size_t length);
    bool choose();
    void take(const Candidate& candidate);
};

template <class Visit>
void GreedTokLearner::State::for_each_string(Visit visit) const {
    // The open ranges of suffixes with a common beginning, each inside the one before it.
    struct Open {
        std::size_t depth;
        std::size_t begin;
        std::int64_t weight;
    };
    std::vector<Open> open{{0, 0, 0}};
    const std::size_t size = corpus.suffix_count();
    for (std::size_t entry = 0; entry <= size; ++entry) {
        const std::size_t common = entry < size ? corpus.common_length(entry) : 0;
        std::size_t begin = entry;
        std::int64_t weight = 0;
        while (open.back().depth > common) {
            Open closed = open.back();
            open.pop_back();
            closed.weight += weight;
            visit(Occurrences{static_cast<std::uint32_t>(closed.begin), static_cast<std::uint32_t>(entry)},
                  closed.weight, std::max(common, open.back().depth) + 1, closed.depth);
            begin = closed.begin;
            weight = closed.weight;
        }
        if (open.back().depth < common) open.push_back({common, begin, 0});
        open.back().weight += weight;
        if (entry == size) break;
        const std::size_t length = corpus.suffix_length(entry);
        if (open.back().depth < length) open.push_back({length, entry, 0});
        open.back().weight += corpus.weight(entry);
    }
}

bool GreedTokLearner::State::lower_floor() {
    if (floor == 1) return false;
    const std::int64_t ceiling = floor;
    if (ceiling == 0) {
        for_each_string([&](Occurrences, std::int64_t weight, std::size_t, std::size_t longest) {
            floor = std::max(floor, weight * (static_cast<std::int64_t>(longest) - 1));
        });
    }
    floor = std::max<std::int64_t>(floor / 2, 1);
    for_each_string([&](Occurrences occurrences, std::int64_t weight, std::size_t shortest, std::size_t longest) {
        if (weight < least_frequency) return;
        const auto least = static_cast<std::size_t>((floor + weight - 1) / weight) + 1;
        for (std::size_t length = std::max(shortest, least); length <= longest; ++length) {
            if (ceiling != 0 && weight * (static_cast<std::int64_t>(length) - 1) >= ceiling) break;
            add(occurrences, length);
        }
    });
    return true;
}

void GreedTokLearner::State::add(Occurrences occurrences, std::size_t length) {
    const bool overlapping = corpus.overlap(occurrences, length);
    const std::int64_t score = corpus.score(occurrences, length, overlapping);
    if (score == 0) return;
    Position first = corpus.suffix(occurrences.begin);
    for (std::size_t entry = occurrences.begin; entry < occurrences.end; ++entry)
        first = std::min(first, corpus.suffix(entry));
    heap.push({score, occurrences, first, static_cast<std::uint16_t>(length), overlapping});
}

/// Takes the best candidate; false if none is left.
bool GreedTokLearner::State::choose() {
    while (true) {
        if (heap.empty() || heap.top().score < floor || floor == 0) {
            if (lower_floor()) continue;
            if (heap.empty()) return false;
        }
        Candidate best = heap.top();
        heap.pop();
        const std::int64_t score = corpus.score(best.occurrences, best.length, best.overlapping);
        if (score == best.score) {
            take(best);
            return true;
        }
        best.score = score;
        if (score > 0) heap.push(best);
    }
}

void GreedTokLearner::State::take(const Candidate& candidate) {
    tokens += corpus.bytes(candidate.first, candidate.length);
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    scores.push_back(candidate.score);
    corpus.cover(candidate.occurrences, candidate.length, candidate.overlapping);
}

GreedTokLearner::GreedTokLearner(const ChunkCountsView& counts, std::int64_t least_frequency)
    : state_(std::make_unique<State>(counts, least_frequency)) {}
GreedTokLearner::~GreedTokLearner() = default;

std::size_t GreedTokLearner::advance(std::size_t steps) {
    std::size_t taken = 0;
    while (taken < steps && state_->choose()) ++taken;
    return taken;
}

std::string_view GreedTokLearner::tokens() const { return state_->tokens; }
std::span<const std::int64_t> GreedTokLearner::offsets() const { return state_->offsets; }
std::span<const std::int64_t> GreedTokLearner::scores() const { return state_->scores; }

std::vector<std::int64_t> greedtok_scores(std::string_view tokens, std::span<const std::int64_t> offsets,
                                          const ChunkCountsView& counts) {
    CoverCorpus corpus(counts);
    std::vector<std::int64_t> scores(offsets.size() - 1, 0);
    for (std::size_t token = 0; token < scores.size(); ++token) {
        const auto begin = static_cast<std::size_t>(offsets[token]);
        const std::size_t length = static_cast<std::size_t>(offsets[token + 1]) - begin;
        const Occurrences occurrences = corpus.find(tokens.substr(begin, length));
        if (occurrences.begin == occurrences.end) continue;
        const bool overlapping = corpus.overlap(occurrences, length);
        scores[token] = corpus.score(occurrences, length, overlapping);
        corpus.cover(occurrences, length, overlapping);
    }
    return scores;
}

}  // namespace prunedbpe
