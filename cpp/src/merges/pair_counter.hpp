// Counting the pairs of the corpus as it stands: exactly, or as an upper bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/pair.hpp"
#include "prunedbpe/interrupt.hpp"
#include "util/block_vector.hpp"

namespace prunedbpe {

/// One pair in one worker's part of the corpus.
template <class Position>
struct CountedPair {
    union {
        std::int64_t weight = 0;  ///< while counting: the pair's frequency in this part
        Position* room;           ///< afterwards: where this worker writes its next occurrence; nullptr if dropped
    };
    Position occurrences = 0;
};

/// Counts pairs of bytes, before the first merge, in an array of all 65,536.
template <class Position>
class BytePairCounter {
public:
    /// Allocates the array; on the thread that will count, so that the memory is local to it.
    void start() { entries_.resize(byte_count * byte_count); }

    CountedPair<Position>& operator[](Pair pair) { return entries_[pair.left * byte_count + pair.right]; }
    void add(Pair pair, std::int64_t weight) {
        CountedPair<Position>& entry = (*this)[pair];
        entry.weight += weight;
        ++entry.occurrences;
    }
    /// Visits all counted pairs, in order of their ranks.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t left = 0; left < byte_count; ++left) {
            for (std::uint32_t right = 0; right < byte_count; ++right) {
                CountedPair<Position>& entry = (*this)[{left, right}];
                if (entry.occurrences != 0) visit(Pair{left, right}, entry);
            }
        }
    }

private:
    std::vector<CountedPair<Position>> entries_;
};

/// Counts any pairs in a hash table, and records every occurrence.
template <class Position>
class PairCounter {
public:
    struct Record {
        Position entry;  ///< index for operator[]
        Position position;
    };

    PairCounter() : slots_(1 << 12) {}

    void add(Pair pair, Position position, std::int64_t weight) {
        std::size_t at = hash_pair(pair) & (slots_.size() - 1);
        while (slots_[at] != 0 && entries_[slots_[at] - 1].pair != pair) at = (at + 1) & (slots_.size() - 1);
        if (slots_[at] == 0) {
            entries_.push_back({pair, {}});
            slots_[at] = static_cast<Position>(entries_.size());
        }
        const Position entry = slots_[at] - 1;
        if (entries_.size() * 2 > slots_.size()) grow();
        entries_[entry].counted.weight += weight;
        ++entries_[entry].counted.occurrences;
        records_.push_back({entry, position});
    }

    CountedPair<Position>& operator[](Position entry) { return entries_[entry].counted; }
    template <class Visit>
    void for_each(Visit&& visit) {
        for (Entry& entry : entries_) visit(entry.pair, entry.counted);
    }
    /// All occurrences, in the order they were added.
    const BlockVector<Record, 16>& records() const { return records_; }

private:
    struct Entry {
        Pair pair;
        CountedPair<Position> counted;
    };

    void grow() {
        slots_.assign(slots_.size() * 2, 0);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            std::size_t at = hash_pair(entries_[i].pair) & (slots_.size() - 1);
            while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = static_cast<Position>(i + 1);
        }
    }

    std::vector<Position> slots_;  // index in entries_ + 1; 0 means empty
    std::vector<Entry> entries_;
    BlockVector<Record, 16> records_;
};

/// An upper bound on the frequency of every pair: sums of weights by hash, saturating at `max_sum` (a count-min sketch
/// of one row). At two bytes a cell, it rules out millions of rare pairs without a table entry for each.
class PairSketch {
public:
    using Cell = std::uint16_t;
    static constexpr std::int64_t max_sum = std::numeric_limits<Cell>::max();

    explicit PairSketch(std::size_t cells)
        : cells_(std::bit_ceil(cells)), shift_(64 - std::countr_zero(cells_.size())) {}

    void add(Pair pair, std::int64_t weight) {
        Cell& cell = cells_[cell_of(pair)];
        cell = static_cast<Cell>(std::min(max_sum, cell + std::min(weight, max_sum)));
    }
    /// Adds cells [part.begin, part.end) of another sketch of the same size.
    void add(const PairSketch& other, Part part) {
        for (std::size_t i = part.begin; i < part.end; ++i) {
            cells_[i] = static_cast<Cell>(std::min(max_sum, std::int64_t{cells_[i]} + other.cells_[i]));
        }
    }

    std::size_t size() const { return cells_.size(); }
    /// At least the highest frequency, or `max_sum`.
    std::int64_t largest() const { return *std::max_element(cells_.begin(), cells_.end()); }
    /// False only if the pair's frequency is below `frequency`.
    bool may_reach(Pair pair, std::int64_t frequency) const {
        return cells_[cell_of(pair)] >= std::min(frequency, max_sum);
    }

private:
    std::size_t cell_of(Pair pair) const {
        // Ranks have 22 bits: both fit one word without overlap, and one multiplication spreads them.
        return (std::uint64_t{pair.left} << 28 ^ pair.right) * 0x9E3779B97F4A7C15 >> shift_;
    }

    std::vector<Cell> cells_;  // a power of two, at least two
    int shift_;
};

/// Visits every pair of some chunks from left to right: the pair, its position, its weight.
template <class Position, class Visit>
void for_each_pair(const FlatCorpus<Position>& corpus, Part chunks, Visit&& visit) {
    for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        if (chunk % poll_rows == 0) poll_interrupt();
        const std::int64_t weight = corpus.chunk_weight(chunk);
        Position at = corpus.chunk_begin(chunk);
        const Position end = corpus.chunk_end(chunk);
        std::uint32_t left = corpus.rank_at(at);
        for (Position next = at + corpus.length(left); next < end;) {
            const std::uint32_t right = corpus.rank_at(next);
            visit(Pair{left, right}, at, weight);
            at = next;
            left = right;
            next += corpus.length(right);
        }
    }
}

/// The same before the first merge, when every token is one slot long: no load depends on the one before.
template <class Position, class Visit>
void for_each_byte_pair(const FlatCorpus<Position>& corpus, Part chunks, Visit&& visit) {
    for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        if (chunk % poll_rows == 0) poll_interrupt();
        const std::int64_t weight = corpus.chunk_weight(chunk);
        const Position last = corpus.chunk_end(chunk) - 1;
        for (Position at = corpus.chunk_begin(chunk); at < last; ++at) {
            visit(Pair{corpus.rank_at(at), corpus.rank_at(at + 1)}, at, weight);
        }
    }
}

}  // namespace prunedbpe
