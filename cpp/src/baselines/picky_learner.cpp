#include <algorithm>
#include <string>
#include <unordered_map>

#include "baselines/picky_corpus.hpp"
#include "baselines/picky_pairs.hpp"
#include "prunedbpe/baselines.hpp"

namespace prunedbpe {

using picky::BestPair;
using picky::PairName;
using picky::PickyCorpus;
using picky::PickyPairs;
using picky::Position;

struct PickyLearner::State {
    State(const ChunkCountsView& counts, Share least_share) : corpus(counts), pairs(corpus), threshold(least_share) {
        for (unsigned byte = 0; byte < byte_count; ++byte) {
            tokens.push_back({.string = std::string(1, static_cast<char>(byte)), .present = true});
            numbers.emplace(tokens.back().string, byte);
        }
        for (std::size_t chunk = 0; chunk < corpus.chunk_count(); ++chunk) {
            const std::int64_t weight = corpus.chunk_weight(chunk);
            for (Position at = corpus.chunk_begin(chunk); at < corpus.chunk_end(chunk); ++at) {
                tokens[corpus.token_at(at)].count += weight;
                if (at + 1 < corpus.chunk_end(chunk)) add_pair(corpus.token_at(at), at, at + 1, weight);
            }
        }
        pairs.settle();
    }

    struct Token {
        std::string string;
        std::uint32_t left = 0, right = 0;  // of the pair that made it first
        std::int64_t count = 0;             // in the corpus, now
        bool present = false;
        std::vector<Position> positions = {};  // every place it was put at; checked when read
    };

    void add_pair(std::uint32_t left, Position at, Position right_at, std::int64_t weight) {
        const std::uint32_t right = corpus.token_at(right_at);
        if (left != PickyCorpus::boundary && right != PickyCorpus::boundary) pairs.add({left, right}, at, weight);
    }
    void remove_pair(std::uint32_t left, std::uint32_t right, std::int64_t weight) {
        if (left != PickyCorpus::boundary && right != PickyCorpus::boundary) pairs.remove({left, right}, weight);
    }

    /// Puts `parts` where the tokens `old` stand, from `at` on, and brings counts and pairs up to date.
    void rewrite(Position at, std::span<const std::uint32_t> old, std::span<const std::uint32_t> parts,
                 std::int64_t weight);
    std::uint32_t token_of(PairName name);
    std::int64_t merge(const BestPair& best, std::uint32_t token);
    void remove_if_used_up(std::uint32_t token, std::int64_t merged);
    void append_present(std::uint32_t token, std::vector<std::uint32_t>& found) const;

    PickyCorpus corpus;
    PickyPairs pairs;
    Share threshold;
    std::vector<Token> tokens;
    std::unordered_map<std::string, std::uint32_t> numbers;
    std::size_t present_count = 0;
    std::vector<PickyEvent> events;
    std::vector<std::uint32_t> parts;
    std::vector<std::int64_t> changes;
};

PickyLearner::PickyLearner(const ChunkCountsView& counts, Share threshold)
    : state_(std::make_unique<State>(counts, threshold)) {}
PickyLearner::~PickyLearner() = default;

std::size_t PickyLearner::present_count() const { return state_->present_count; }
std::span<const PickyEvent> PickyLearner::events() const { return state_->events; }
std::span<const std::uint32_t> PickyLearner::parts() const { return state_->parts; }
std::span<const std::int64_t> PickyLearner::changes() const { return state_->changes; }

std::size_t PickyLearner::advance(std::size_t steps, std::size_t required) {
    State& s = *state_;
    for (std::size_t done = 0; done < steps; ++done) {
        if (s.present_count >= required) return done;
        // 1. The best pair becomes a token, a new one or one that was there before.
        const std::optional<BestPair> best = s.pairs.take_best();
        if (!best) return done;
        const std::uint32_t token = s.token_of(best->name);
        if (!s.tokens[token].present) {
            s.tokens[token].present = true;
            ++s.present_count;
        }
        const std::int64_t merged = s.merge(*best, token);
        s.events.push_back({PickyEvent::merge, best->name.left, best->name.right, token});
        s.changes.push_back(-merged);
        s.pairs.settle();
        // 2. A part that was hardly used otherwise goes, the left one first.
        s.remove_if_used_up(best->name.left, merged);
        if (best->name.left != best->name.right) s.remove_if_used_up(best->name.right, merged);
    }
    return steps;
}

std::uint32_t PickyLearner::State::token_of(PairName name) {
    std::string string = tokens[name.left].string + tokens[name.right].string;
    const auto [found, is_new] = numbers.emplace(string, static_cast<std::uint32_t>(tokens.size()));
    if (is_new) {
        corpus.add_token(static_cast<std::uint32_t>(string.size()));
        tokens.push_back({.string = std::move(string), .left = name.left, .right = name.right});
    }
    return found->second;
}

void PickyLearner::State::rewrite(Position at, std::span<const std::uint32_t> old,
                                  std::span<const std::uint32_t> fresh, std::int64_t weight) {
    // 1. The pairs inside and at both ends go.
    const std::uint32_t before = corpus.token_before(at);
    Position end = at;
    std::uint32_t left = before;
    for (const std::uint32_t token : old) {
        remove_pair(left, token, weight);
        tokens[token].count -= weight;
        end += corpus.length(token);
        left = token;
    }
    remove_pair(left, corpus.token_at(end), weight);
    // 2. The new tokens are written.
    Position place = at;
    for (const std::uint32_t token : fresh) {
        corpus.write(place, token);
        tokens[token].count += weight;
        if (token >= byte_count) tokens[token].positions.push_back(place);
        place += corpus.length(token);
    }
    // 3. Their pairs come.
    if (before != PickyCorpus::boundary) add_pair(before, at - corpus.length(before), at, weight);
    place = at;
    for (const std::uint32_t token : fresh) {
        const Position next = place + corpus.length(token);
        add_pair(token, place, next, weight);
        place = next;
    }
}

std::int64_t PickyLearner::State::merge(const BestPair& best, std::uint32_t token) {
    const std::uint32_t old[] = {best.name.left, best.name.right}, fresh[] = {token};
    std::int64_t merged = 0;
    for (const Position at : best.positions) {
        if (!corpus.holds(at, best.name.left, best.name.right)) continue;
        const std::int64_t weight = corpus.weight_at(at);
        rewrite(at, old, fresh, weight);
        merged += weight;
    }
    return merged;
}

void PickyLearner::State::remove_if_used_up(std::uint32_t token, std::int64_t merged) {
    if (token < byte_count) return;
    const auto total = static_cast<__int128>(tokens[token].count) + merged;
    if (static_cast<__int128>(merged) * threshold.denominator < total * threshold.numerator) return;

    std::vector<std::uint32_t> split;
    append_present(tokens[token].left, split);
    append_present(tokens[token].right, split);
    std::vector<Position> places = std::move(tokens[token].positions);
    tokens[token].positions.clear();
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const std::uint32_t old[] = {token};
    const std::int64_t count = tokens[token].count;
    for (const Position at : places) {
        if (corpus.token_at(at) == token) rewrite(at, old, split, corpus.weight_at(at));
    }
    tokens[token].present = false;
    --present_count;
    const auto begin = static_cast<std::uint32_t>(parts.size());
    parts.insert(parts.end(), split.begin(), split.end());
    events.push_back({PickyEvent::split, begin, static_cast<std::uint32_t>(parts.size()), token});
    changes.push_back(count * static_cast<std::int64_t>(split.size() - 1));
    pairs.settle();
}

void PickyLearner::State::append_present(std::uint32_t token, std::vector<std::uint32_t>& found) const {
    if (tokens[token].present) {
        found.push_back(token);
        return;
    }
    append_present(tokens[token].left, found);
    append_present(tokens[token].right, found);
}

}  // namespace prunedbpe
