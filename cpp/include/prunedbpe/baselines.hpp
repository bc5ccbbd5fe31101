// Baselines that do not choose among the Standard merges: Picky BPE and GreedTok.
//
// Picky BPE is BPE that removes a token when a merge has used up most of it.
// After a merge of m replacements, a part whose count fell to f is removed if m / (f + m) reaches the threshold:
// its remaining occurrences are split into its own parts, and it leaves the vocabulary. Bytes are never removed.
// Encoding replays merges and splits in training order. Chizhov et al. 2024, "BPE Gets Picky", arXiv 2409.04599;
// docs/concepts/baselines.md lists the differences.
//
// Learning is single-threaded and does not share the Standard learner's queue, which relies on frequencies that
// only fall. Here they may rise.
//
// GreedTok covers the corpus with strings, without merges. Each step takes the string that joins the most neighbouring
// bytes that no token joins yet. Lim et al. 2025, "A Partition Cover Approach to Tokenization", arXiv 2501.06246.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// One step of training. Tokens are numbered in order of creation, bytes first; the same string is always the
/// same token, whichever pair spells it.
struct PickyEvent {
    enum Kind : std::uint32_t {
        merge = 0,  ///< the pair (first, second) becomes `token`
        split = 1,  ///< `token` becomes entries [first, second) of the learner's `parts`
    };
    std::uint32_t kind;
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t token;
};
static_assert(sizeof(PickyEvent) == 16);  // numpy sees uint32[n, 4]

/// A fraction, so that comparisons are exact.
struct Share {
    std::int64_t numerator;
    std::int64_t denominator;
};

class PickyLearner {
public:
    PickyLearner(const ChunkCountsView& counts, Share threshold);
    ~PickyLearner();

    /// Merges up to `steps` more pairs, each with the removals it causes. Stops early once `required` learned
    /// tokens are present or no pair is left that occurs twice. Returns how many pairs it merged.
    std::size_t advance(std::size_t steps, std::size_t required);

    /// Learned tokens that are in the vocabulary, without the bytes.
    std::size_t present_count() const;
    std::span<const PickyEvent> events() const;
    /// The parts of all splits, flat; each split event gives its range.
    std::span<const std::uint32_t> parts() const;
    /// By event: tokens it added to the corpus, weighted by chunk counts; negative for a merge.
    std::span<const std::int64_t> changes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Replays the events on any chunk. Immutable; threads may share one.
class PickyEncoder {
public:
    PickyEncoder(std::span<const PickyEvent> events, std::span<const std::uint32_t> parts);
    ~PickyEncoder();

    /// Appends the tokens of a chunk.
    void encode(std::string_view chunk, std::vector<std::uint32_t>& tokens) const;

    /// The tokens of a text that the caller has cut: chunk i ends at ends[i], and they cover `text`.
    std::vector<std::uint32_t> encode_chunks(std::string_view text, std::span<const std::int64_t> ends) const;

    /// By event: how many tokens longer it makes a corpus. Parallel over chunks.
    std::vector<std::int64_t> changes(const ChunkCountsView& counts, unsigned threads) const;

private:
    struct Events;
    std::unique_ptr<Events> events_;
};

class GreedTokLearner {
public:
    /// Candidates occur at least `least_frequency` times, overlapping occurrences included.
    GreedTokLearner(const ChunkCountsView& counts, std::int64_t least_frequency);
    ~GreedTokLearner();

    /// Takes up to `steps` more tokens, fewer if no candidate joins anything. Returns how many.
    std::size_t advance(std::size_t steps);

    /// The tokens in order of choice, one after another, and where each begins; one offset more than tokens.
    std::string_view tokens() const;
    std::span<const std::int64_t> offsets() const;
    /// By token: how many neighbours it joined, weighted by chunk counts. The corpus became that much shorter.
    std::span<const std::int64_t> scores() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// By token, how much shorter it makes a corpus when the tokens cover it in this order.
std::vector<std::int64_t> greedtok_scores(std::string_view tokens, std::span<const std::int64_t> offsets,
                                          const ChunkCountsView& counts);

}  // namespace prunedbpe
