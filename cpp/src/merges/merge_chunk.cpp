// Two mechanisms, proven equal by the tests: a plain scan for short chunks, where everything stays in
// a cache line or two, and a heap for long ones, where the scan would be quadratic.
#include <algorithm>
#include <bit>
#include <stdexcept>

#include "merges/merge_chunk.hpp"
#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

/// Longest chunk, in bytes, that is merged by scanning.
constexpr std::size_t scan_limit = 64;

struct NoRecord {
    void operator()(std::uint32_t) const {}
};

struct AddWeight {
    std::int64_t weight;
    std::span<std::int64_t> applied;
    void operator()(std::uint32_t rank) const { applied[rank - byte_count] += weight; }
};

/// Repeats: find the least pair rank, merge there, look up the two new pairs, close the gap. O(n^2).
template <class Record>
void merge_by_scan(const MergeLookup& lookup, std::string_view chunk, Record record, MergeScratch& scratch) {
    std::uint32_t ranks[scan_limit], pair_ranks[scan_limit];
    std::size_t count = chunk.size();
    for (std::size_t i = 0; i < count; ++i) ranks[i] = static_cast<unsigned char>(chunk[i]);
    for (std::size_t i = 0; i + 1 < count; ++i) pair_ranks[i] = lookup.find(ranks[i], ranks[i + 1]);
    while (count > 1) {
        const std::uint32_t* best = std::min_element(pair_ranks, pair_ranks + count - 1);
        if (*best == MergeLookup::none) break;
        const auto at = static_cast<std::size_t>(best - pair_ranks);
        record(*best);
        ranks[at] = *best;
        --count;
        std::copy(ranks + at + 2, ranks + count + 1, ranks + at + 1);
        std::copy(pair_ranks + at + 1, pair_ranks + count, pair_ranks + at);
        if (at > 0) pair_ranks[at - 1] = lookup.find(ranks[at - 1], ranks[at]);
        if (at + 1 < count) pair_ranks[at] = lookup.find(ranks[at], ranks[at + 1]);
    }
    scratch.ranks.assign(ranks, ranks + count);
}

/// Tokens as a doubly linked list over byte offsets, candidate merges in a heap ordered by rank, then
/// offset. A candidate is stale when its pair no longer stands there; it is checked when popped. O(n log n).
class LinkedChunk {
public:
    using Candidate = MergeScratch::Candidate;
    static constexpr std::uint32_t nowhere = 0xFFFFFFFF;

    LinkedChunk(const MergeLookup& lookup, std::string_view chunk, MergeScratch& scratch)
        : lookup_(lookup), s_(scratch) {
        const std::size_t count = chunk.size();
        if (count > nowhere) throw std::length_error("a chunk is longer than 4 GiB; cut the document");
        s_.ranks.resize(count);
        s_.next.resize(count);
        s_.previous.resize(count);
        s_.heap.clear();
        for (std::size_t i = 0; i < count; ++i) {
            s_.ranks[i] = static_cast<unsigned char>(chunk[i]);
            s_.next[i] = i + 1 < count ? static_cast<std::uint32_t>(i + 1) : nowhere;
            s_.previous[i] = static_cast<std::uint32_t>(i) - 1;  // nowhere for the first
        }
        for (std::size_t i = 0; i + 1 < count; ++i) {
            const std::uint32_t rank = lookup.find(s_.ranks[i], s_.ranks[i + 1]);
            if (rank != MergeLookup::none) s_.heap.push_back({rank, static_cast<std::uint32_t>(i)});
        }
        std::make_heap(s_.heap.begin(), s_.heap.end(), later);
    }

    bool has_candidates() const { return !s_.heap.empty(); }

    Candidate pop() {
        std::pop_heap(s_.heap.begin(), s_.heap.end(), later);
        const Candidate top = s_.heap.back();
        s_.heap.pop_back();
        return top;
    }

    void push(Candidate candidate) {
        s_.heap.push_back(candidate);
        std::push_heap(s_.heap.begin(), s_.heap.end(), later);
    }

    bool is_current(Candidate candidate) const {
        if (s_.ranks[candidate.at] == swallowed) return false;
        const std::uint32_t right = s_.next[candidate.at];
        return right != nowhere && lookup_.find(s_.ranks[candidate.at], s_.ranks[right]) == candidate.rank;
    }

    void merge(Candidate candidate) {
        const std::uint32_t at = candidate.at, right = s_.next[at];
        s_.ranks[at] = candidate.rank;
        s_.ranks[right] = swallowed;
        s_.next[at] = s_.next[right];
        if (s_.next[at] != nowhere) {
            s_.previous[s_.next[at]] = at;
            consider(at);
        }
        if (s_.previous[at] != nowhere) consider(s_.previous[at]);
    }

    /// Leaves only the tokens in scratch.ranks.
    void close_gaps() { std::erase(s_.ranks, swallowed); }

private:
    static constexpr std::uint32_t swallowed = 0xFFFFFFFF;  // no rank is that high

    static bool later(const Candidate& a, const Candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
    }

    void consider(std::uint32_t at) {
        const std::uint32_t rank = lookup_.find(s_.ranks[at], s_.ranks[s_.next[at]]);
        if (rank != MergeLookup::none) push({rank, at});
    }

    const MergeLookup& lookup_;
    MergeScratch& s_;
};

template <class Record>
void merge_by_heap(const MergeLookup& lookup, std::string_view chunk, Record record, MergeScratch& scratch) {
    LinkedChunk linked(lookup, chunk, scratch);
    for (std::size_t steps = 1; linked.has_candidates(); ++steps) {
        if (steps % poll_rows == 0) poll_interrupt();
        const auto candidate = linked.pop();
        if (!linked.is_current(candidate)) continue;
        record(candidate.rank);
        linked.merge(candidate);
    }
    linked.close_gaps();
}

template <class Record>
void merge_any(const MergeLookup& lookup, std::string_view chunk, Record record, MergeScratch& scratch) {
    if (chunk.size() <= scan_limit) {
        merge_by_scan(lookup, chunk, record, scratch);
    } else {
        merge_by_heap(lookup, chunk, record, scratch);
    }
}

/// splitmix64: small, good enough for coin flips, and the same on every platform.
double next_unit(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace

MergeLookup::MergeLookup(std::span<const Merge> merges)
    : filter_(std::bit_ceil(merges.size() * 8 + 64) / 64),
      filter_shift_(64 - std::countr_zero(filter_.size() * 64)),
      ranks_(std::bit_ceil(merges.size() * 2 + 2), none),
      mask_(ranks_.size() - 1) {
    parts_.reserve(byte_count + merges.size());
    for (std::uint32_t byte = 0; byte < byte_count; ++byte) parts_.push_back({Rank{byte}, Rank{byte}});
    parts_.insert(parts_.end(), merges.begin(), merges.end());
    for (std::uint32_t rank = byte_count; rank < parts_.size(); ++rank) {
        const std::uint64_t hash = hash_pair({raw(parts_[rank].left), raw(parts_[rank].right)});
        const std::uint64_t bit = hash >> filter_shift_;
        filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
        std::size_t at = hash & mask_;  // if a pair is given twice, the first merge is found
        while (ranks_[at] != none) at = (at + 1) & mask_;
        ranks_[at] = rank;
    }
}

void merge_chunk(const MergeLookup& lookup, std::string_view chunk, MergeScratch& scratch) {
    merge_any(lookup, chunk, NoRecord{}, scratch);
}

void merge_chunk_recording(const MergeLookup& lookup, std::string_view chunk, std::int64_t weight,
                           std::span<std::int64_t> applied, MergeScratch& scratch) {
    merge_any(lookup, chunk, AddWeight{weight, applied}, scratch);
}

void merge_chunk_dropout(const MergeLookup& lookup, std::string_view chunk, double probability,
                         std::uint64_t& state, MergeScratch& scratch) {
    LinkedChunk linked(lookup, chunk, scratch);
    // A step tries the candidates in order until one is not dropped; those dropped before it are
    // candidates again in the next step, with a new coin each.
    scratch.dropped.clear();
    for (std::size_t steps = 1; linked.has_candidates(); ++steps) {
        if (steps % poll_rows == 0) poll_interrupt();
        const auto candidate = linked.pop();
        if (!linked.is_current(candidate)) continue;
        if (next_unit(state) < probability) {
            scratch.dropped.push_back(candidate);
            continue;
        }
        linked.merge(candidate);
        for (const auto& again : scratch.dropped) linked.push(again);
        scratch.dropped.clear();
    }
    linked.close_gaps();
}

}  // namespace prunedbpe
