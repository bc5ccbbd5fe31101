// The shortest paths through one chunk, and what each token is worth to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "visibility/candidate_edges.hpp"

namespace prunedbpe {

/// Working memory of one thread: the visible edges of one chunk, and the fewest tokens of its prefixes and suffixes.
class ShortestPaths {
public:
    /// In a longer chunk, the occurrences of a token are judged one by one, as if each were a token of its own; an exact
    /// answer would need a search per token, quadratic in the chunk.
    static constexpr std::size_t exact_up_to = 256;

    explicit ShortestPaths(const CandidateEdges& edges) : edges_(edges) {}

    /// Finds the paths of a chunk over the tokens t with states[t] & visible. Only `for_each_gain` needs the hidden ones.
    void find(std::size_t chunk, const std::uint8_t* states, std::uint8_t visible, bool with_hidden = false);

    /// Tokens of a shortest path.
    std::uint32_t fewest() const { return forward_[size_]; }

    /// Calls report(begin, token, loss) for every visible token whose loss is not 0, from left to right; more than once for
    /// a token of a long chunk.
    template <class Report>
    void for_each_loss(Report&& report);

    /// Calls report(token, gain) for every hidden token whose gain is not 0; more than once for a token of a long chunk.
    template <class Report>
    void for_each_gain(Report&& report);

private:
    struct Edge {
        std::uint32_t begin;
        std::uint32_t end;
    };

    /// Tokens of the shortest path that avoids one visible edge: it has a cut right after the edge's first byte, or some
    /// other edge spans that place. Gives up at `enough`.
    std::uint32_t fewest_avoiding(std::size_t edge, std::uint32_t enough) const;

    /// Tokens of the shortest path without a visible token, or with a hidden one.
    std::uint32_t fewest_without(std::uint32_t token);
    std::uint32_t fewest_with(std::uint32_t token);
    template <class Use>
    std::uint32_t search(std::span<const Edge> edges, Use&& use);

    static bool occurs_again(std::span<const std::uint32_t> tokens, std::uint32_t token) {
        return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
    }

    const CandidateEdges& edges_;
    std::size_t size_ = 0;
    std::vector<Edge> shown_, hidden_;  ///< by begin, then by end
    std::vector<std::uint32_t> shown_tokens_, hidden_tokens_;
    std::vector<std::uint32_t> first_shown_;  ///< by position, and at its end: the first visible edge that begins there
    std::vector<std::uint32_t> reach_;        ///< by position: the last end of the edges that begin there or before
    std::vector<std::uint32_t> forward_, backward_;  ///< by position: fewest tokens before and after it
    std::vector<std::uint32_t> scratch_;
    std::vector<std::uint32_t> reported_;
};

template <class Report>
void ShortestPaths::for_each_loss(Report&& report) {
    const std::uint32_t best = fewest();
    const bool is_exact = size_ <= exact_up_to;
    // Only tokens of every shortest path have a loss, so one such path shows all of them.
    reported_.clear();
    for (std::uint32_t at = 0; at < size_;) {
        std::size_t chosen = first_shown_[at];
        while (chosen < first_shown_[at + 1] && 1 + backward_[shown_[chosen].end] != backward_[at]) ++chosen;
        if (chosen == first_shown_[at + 1]) {  // a single byte
            ++at;
            continue;
        }
        const std::uint32_t token = shown_tokens_[chosen];
        const auto [begin, end] = shown_[chosen];
        at = end;
        const std::span<const std::uint32_t> tokens(shown_tokens_);
        const bool is_repeated =
            is_exact && (occurs_again(tokens.first(chosen), token) || occurs_again(tokens.subspan(chosen + 1), token));
        if (is_repeated) {
            if (occurs_again(reported_, token)) continue;
            reported_.push_back(token);
        }
        const std::uint32_t otherwise = is_repeated ? fewest_without(token) : fewest_avoiding(chosen, best);
        if (otherwise > best) report(begin, token, otherwise - best);
    }
}

template <class Report>
void ShortestPaths::for_each_gain(Report&& report) {
    const std::uint32_t best = fewest();
    const bool is_exact = size_ <= exact_up_to;
    const std::span<const std::uint32_t> tokens(hidden_tokens_);
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
        const std::uint32_t token = tokens[i];
        std::uint32_t with = forward_[hidden_[i].begin] + 1 + backward_[hidden_[i].end];
        if (is_exact) {
            if (occurs_again(tokens.first(i), token)) continue;
            if (occurs_again(tokens.subspan(i + 1), token)) with = fewest_with(token);
        }
        if (with < best) report(token, best - with);
    }
}

}  // namespace prunedbpe
