#include <algorithm>
#include <string>
#include <unordered_map>

#include "baselines/picky_corpus.hpp"
#include "baselines/picky_pairs.hpp"
#include "prunedbpe/baselines.hpp"

namespace prunedbpe {

using picky::BestPair;
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
        pairs.queue_risen();
    }

    struct Token {
        std::string string;
        std::uint32_t left = 0, right = 0;  // the pair that made it first
        std::int64_t count = 0;             // in the corpus now
        bool present = false;
        std::vector<Position> positions = {};  // wherever it was ever written; checked when read
    };

    void add_pair(std::uint32_t left, Position at, Position right_at, std::int64_t weight) {
        const std::uint32_t right = corpus.token_at(right_at);
        if (left != PickyCorpus::boundary && right != PickyCorpus::boundary) pairs.add({left, right}, at, weight);
    }
    void remove_pair(std::uint32_t left, std::uint32_t right, std::int64_t weight) {
        if (left != PickyCorpus::boundary && right != PickyCorpus::boundary) pairs.remove({left, right}, weight);
    }

    /// Replaces the tokens `old`, which stand from `at` on, by `fresh`, and updates counts and pairs.
    void rewrite(Position at, std::span<const std::uint32_t> old, std::span<const std::uint32_t> fresh,
                 std::int64_t weight);
    /// The token that the pair spells, added if it is new.
    std::uint32_t token_of(Pair pair);
    /// Returns the replacements made.
    std::int64_t merge(const BestPair& best, std::uint32_t token);
    /// Removes a part of a merge of `merged` replacements if its share reaches the threshold.
    void remove_if_used_up(std::uint32_t token, std::int64_t merged);
    /// Appends the token or, if it was removed, what it is split into.
    void append_present(std::uint32_t token, std::vector<std::uint32_t>& found) const;

    PickyCorpus corpus;
    PickyPairs pairs;
    Share threshold;
    std::vector<Token> tokens;
    std::unordered_map<std::string, std::uint32_t> numbers;  // token by string
    std::size_t present_count = 0;                           // of learned tokens
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
        // 1. The best pair becomes a token: a new one, or one that was removed before.
        const std::optional<BestPair> best = s.pairs.take_best();
        if (!best) return done;
        const std::uint32_t token = s.token_of(best->pair);
        if (!s.tokens[token].present) {
            s.tokens[token].present = true;
            ++s.present_count;
        }
        const std::int64_t merged = s.merge(*best, token);
        s.events.push_back({PickyEvent::merge, best->pair.left, best->pair.right, token});
        s.changes.push_back(-merged);
        s.pairs.queue_risen();
        // 2. A part with little other use is removed, the left one first.
        s.remove_if_used_up(best->pair.left, merged);
        if (best->pair.left != best->pair.right) s.remove_if_used_up(best->pair.right, merged);
    }
    return steps;
}

std::uint32_t PickyLearner::State::token_of(Pair pair) {
    std::string string = tokens[pair.left].string + tokens[pair.right].string;
    const auto [found, is_new] = numbers.emplace(string, static_cast<std::uint32_t>(tokens.size()));
    if (is_new) {
        corpus.add_token(static_cast<std::uint32_t>(string.size()));
        tokens.push_back({.string = std::move(string), .left = pair.left, .right = pair.right});
    }
    return found->second;
}

void PickyLearner::State::rewrite(Position at, std::span<const std::uint32_t> old,
                                  std::span<const std::uint32_t> fresh, std::int64_t weight) {
    // 1. Remove the old pairs, inside and at both ends.
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
    // 2. Write the new tokens.
    Position position = at;
    for (const std::uint32_t token : fresh) {
        corpus.write(position, token);
        tokens[token].count += weight;
        if (token >= byte_count) tokens[token].positions.push_back(position);
        position += corpus.length(token);
    }
    // 3. Add their pairs.
    if (before != PickyCorpus::boundary) add_pair(before, at - corpus.length(before), at, weight);
    position = at;
    for (const std::uint32_t token : fresh) {
        const Position next = position + corpus.length(token);
        add_pair(token, position, next, weight);
        position = next;
    }
}

std::int64_t PickyLearner::State::merge(const BestPair& best, std::uint32_t token) {
    const std::uint32_t old[] = {best.pair.left, best.pair.right}, fresh[] = {token};
    std::int64_t merged = 0;
    for (const Position at : best.positions) {
        if (!corpus.holds(at, best.pair)) continue;
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
    std::vector<Position> positions = std::move(tokens[token].positions);
    tokens[token].positions.clear();
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    const std::uint32_t old[] = {token};
    const std::int64_t count = tokens[token].count;
    for (const Position at : positions) {
        if (corpus.token_at(at) == token) rewrite(at, old, split, corpus.weight_at(at));
    }
    tokens[token].present = false;
    --present_count;
    const auto begin = static_cast<std::uint32_t>(parts.size());
    parts.insert(parts.end(), split.begin(), split.end());
    events.push_back({PickyEvent::split, begin, static_cast<std::uint32_t>(parts.size()), token});
    changes.push_back(count * static_cast<std::int64_t>(split.size() - 1));
    pairs.queue_risen();
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
