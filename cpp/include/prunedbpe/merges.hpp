// Learning: chunk counts -> merges. Exact BPE, incremental, the same for any number of threads.
//
// The pair with the highest frequency is merged next; of equals, the one whose first occurrence in
// the corpus comes first (pair_order.hpp). Every occurrence of a pair is known by its position, so a
// merge costs its own occurrences and nothing else, however long the chunks are.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/growing_column.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

class Learner {
public:
    /// How threads share the work; the result is the same.
    struct Sharing {
        std::size_t split_from;  ///< a merge of so many occurrences is split, smaller ones are done several at a time
        bool always = false;     ///< also while the system keeps threads from running, and on little text
    };

    /// Lays out the corpus, already merged by `merges`: a learner that has learned them itself would
    /// be in the same state. `threads` 0 means one per core. A corpus of fewer than `whole_below` bytes of
    /// unique chunks is indexed whole, a larger one down to a falling frequency; the result is the same.
    /// Copies what it needs of `counts`. Throws std::length_error beyond 2^32 bytes of unique chunks.
    Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads, const Sharing& sharing,
            std::size_t whole_below = std::size_t{1} << 20);
    ~Learner();

    /// Learns up to `merge_count` more merges; returns how many. Fewer if no pair is left that occurs twice, or after
    /// about so many seconds, but then at least one.
    std::size_t advance(std::size_t merge_count, double seconds = std::numeric_limits<double>::infinity());

    /// Was no pair left that occurs twice?
    bool is_exhausted() const { return is_exhausted_; }

    /// What this learner has learned itself, in order, without the merges it was given.
    const GrowingColumn<Merge>& merges() const { return merges_; }
    /// Frequency of the pair when it was chosen, overlapping occurrences counted.
    const GrowingColumn<std::int64_t>& frequencies() const { return frequencies_; }
    /// Replacements made; at most the frequency.
    const GrowingColumn<std::int64_t>& applied() const { return applied_; }

    /// Bytes of memory held by the learner's own structures.
    std::size_t memory() const;

private:
    struct State;
    std::unique_ptr<State> state_;
    GrowingColumn<Merge> merges_;
    GrowingColumn<std::int64_t> frequencies_;
    GrowingColumn<std::int64_t> applied_;
    bool is_exhausted_ = false;
};

/// Looks for a merge of ranks that are not lower than its own, or with a number below zero. The arrays must be of one
/// length.
std::optional<WrongRow> find_wrong_merge(std::span<const Merge> merges, std::span<const std::int64_t> frequencies,
                                         std::span<const std::int64_t> applied);

/// How often each merge is applied on a corpus: the replacements of merge i, weighted by the chunk
/// counts. Parallel over chunks.
std::vector<std::int64_t> replay(std::span<const Merge> merges, const ChunkCountsView& counts, unsigned threads);

}  // namespace prunedbpe
