// Picky BPE, a baseline: BPE that takes a token out again when a merge has used most of it up.
//
// After a merge that made m replacements, a part whose count fell to f is removed if m / (f + m) is at
// least the threshold: what is left of it in the corpus is split into its own parts, and it leaves the
// vocabulary. Encoding replays merges and splits in the order of training. Bytes are never removed.
// Chizhov et al. 2024, "BPE Gets Picky", arXiv 2409.04599; docs/concepts/baselines.md tells where this
// differs.
//
// Single-threaded learning: frequencies may rise here, so that the queue of the Standard learner,
// which rests on their only falling, does not serve.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// A merge: `first`, `second` become `token`. A split: `token` becomes parts [first, second) of a flat
/// array beside the events. Tokens are numbered in order of creation, bytes first; the same string is
/// the same token, also when another pair spells it.
struct PickyEvent {
    enum Kind : std::uint32_t { merge = 0, split = 1 };
    std::uint32_t kind;
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t token;
};
static_assert(sizeof(PickyEvent) == 16);  // numpy sees uint32[n, 4]

/// A share as a fraction, so that the comparison is exact.
struct Share {
    std::int64_t numerator;
    std::int64_t denominator;
};

class PickyLearner {
public:
    PickyLearner(const ChunkCountsView& counts, Share threshold);
    ~PickyLearner();

    /// Merges up to `steps` more pairs, each with the removals it leads to, until `required` learned
    /// tokens are present. Returns how many; fewer than asked for if the goal is reached, or if no
    /// pair is left that occurs twice.
    std::size_t advance(std::size_t steps, std::size_t required);

    /// Learned tokens that are in the vocabulary now.
    std::size_t present_count() const;
    std::span<const PickyEvent> events() const;
    /// What the splits split into.
    std::span<const std::uint32_t> parts() const;
    /// By event: how many tokens longer it made the corpus; negative for a merge.
    std::span<const std::int64_t> changes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Replays the events on any chunk. Immutable; any number of threads may share one.
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

}  // namespace prunedbpe
