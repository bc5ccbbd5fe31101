// Learning: chunk counts -> merges. Exact BPE, incremental, the same for any number of threads.
//
// The pair with the highest frequency is merged next; of equals, the one whose first occurrence in the corpus comes
// first (pair_order.hpp). Every occurrence of a pair is known by its position, so a merge costs its own occurrences and
// nothing else, however long the chunks are.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

class Learner {
public:
    /// From this many occurrences on, splitting one merge between threads pays for its barriers.
    static constexpr std::size_t default_split_from = 512;
    /// Below this many bytes of unique chunks, threads cost more than they save: merges are small, and most of the time
    /// goes into moving cache lines between cores.
    static constexpr std::size_t shared_from = std::size_t{1} << 19;

    /// Lays out and indexes the corpus with `merges` applied: the state of a learner that has learned them itself.
    /// Copies what it needs of `counts`. `threads` 0 means one per core. A merge with `split_from` occurrences or more
    /// is split between the threads; smaller ones are done several at a time. Without a value it is
    /// `default_split_from`, and a corpus below `shared_from` is learned by one thread.
    /// Positions in the corpus have 32 bits up to `narrow_slots` slots, one for each byte of the unique chunks and one
    /// for each chunk; beyond that, and beyond what 32 bits can tell apart, they have 64. No argument but `counts` and
    /// `merges` changes the result.
    Learner(const ChunkCountsView& counts, std::span<const Merge> merges, unsigned threads,
            std::optional<std::size_t> split_from = std::nullopt,
            std::size_t narrow_slots = std::numeric_limits<std::size_t>::max());
    ~Learner();

    /// Learns up to `merge_count` more merges and returns how many it learned: fewer if no pair is left that occurs
    /// twice, or once `seconds` have passed, but then at least one.
    std::size_t advance(std::size_t merge_count, double seconds = std::numeric_limits<double>::infinity());

    /// Has `advance` run out of pairs that occur twice?
    bool is_exhausted() const { return is_exhausted_; }

    /// The merges that this learner has learned, in order, without those it was given.
    const std::vector<Merge>& merges() const { return merges_; }
    /// By merge: frequency of the pair when it was chosen, overlapping occurrences counted.
    const std::vector<std::int64_t>& frequencies() const { return frequencies_; }
    /// By merge: replacements made, weighted by chunk counts; at most the frequency.
    const std::vector<std::int64_t>& applied() const { return applied_; }

    /// Bytes of memory held by the learner's own structures.
    std::size_t memory() const;

private:
    struct State;
    template <class Position>
    struct StateOf;
    std::unique_ptr<State> state_;
    std::vector<Merge> merges_;
    std::vector<std::int64_t> frequencies_;
    std::vector<std::int64_t> applied_;
    bool is_exhausted_ = false;
};

/// The first merge of a rank that is not lower than its own, or with a negative number. The arrays must have one
/// length.
std::optional<WrongRow> find_wrong_merge(std::span<const Merge> merges, std::span<const std::int64_t> frequencies,
                                         std::span<const std::int64_t> applied);

/// How often each merge is applied on a corpus: the replacements of merge i, weighted by the chunk counts. Parallel
/// over chunks.
std::vector<std::int64_t> replay(std::span<const Merge> merges, const ChunkCountsView& counts, unsigned threads);

}  // namespace prunedbpe
