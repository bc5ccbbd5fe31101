// Counting the pairs of the corpus as it stands: exactly, or as an upper bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/pair_table.hpp"
#include "util/block_vector.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

/// One pair in one worker's part of the corpus.
struct CountedPair {
    union {
        std::int64_t weight = 0;  // until the pairs to keep are chosen; then
        Position* next;           // where this worker writes its next occurrence, if anywhere
    };
    std::uint32_t occurrences = 0;
};

/// Before the first merge: an array of all pairs of bytes.
class BytePairCounter {
public:
    /// Takes its memory: by the thread that is going to count.
    void start() { entries_.resize(byte_count * byte_count); }

    CountedPair& operator[](std::uint64_t key) { return entries_[(key >> 32) * byte_count + (key & 0xFF)]; }
    void add(std::uint64_t key, std::int64_t weight) {
        CountedPair& entry = (*this)[key];
        entry.weight += weight;
        ++entry.occurrences;
    }
    /// All pairs that were added, by key.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t left = 0; left < byte_count; ++left) {
            for (std::uint32_t right = 0; right < byte_count; ++right) {
                CountedPair& entry = entries_[left * byte_count + right];
                if (entry.occurrences != 0) visit(pair_key(left, right), entry);
            }
        }
    }

private:
    std::vector<CountedPair> entries_;
};

/// Any pairs, found by open addressing; notes where they occur.
class PairCounter {
public:
    struct Record {
        std::uint32_t entry;
        Position position;
    };

    PairCounter() : slots_(1 << 12) {}

    void add(std::uint64_t key, Position position, std::int64_t weight) {
        std::size_t at = hash_key(key) & (slots_.size() - 1);
        while (slots_[at] != 0 && entries_[slots_[at] - 1].key != key) at = (at + 1) & (slots_.size() - 1);
        if (slots_[at] == 0) {
            entries_.push_back({key, {}});
            slots_[at] = static_cast<std::uint32_t>(entries_.size());
        }
        const std::uint32_t place = slots_[at] - 1;
        if (entries_.size() * 2 > slots_.size()) grow();
        CountedPair& pair = entries_[place].pair;
        pair.weight += weight;
        ++pair.occurrences;
        records_.push_back({place, position});
    }

    /// By the number in a record.
    CountedPair& operator[](std::uint32_t entry) { return entries_[entry].pair; }
    template <class Visit>
    void for_each(Visit&& visit) {
        for (Entry& entry : entries_) visit(entry.key, entry.pair);
    }
    /// All occurrences, in the order they were added.
    const BlockVector<Record, 16>& records() const { return records_; }

private:
    struct Entry {
        std::uint64_t key;
        CountedPair pair;
    };

    void grow() {
        slots_.assign(slots_.size() * 2, 0);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            std::size_t at = hash_key(entries_[i].key) & (slots_.size() - 1);
            while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = static_cast<std::uint32_t>(i + 1);
        }
    }

    std::vector<std::uint32_t> slots_;  // place in entries_ + 1; 0 means empty
    std::vector<Entry> entries_;
    BlockVector<Record, 16> records_;
};

/// Sums of the weights of all pairs that share a hash, up to `most`: never below a pair's frequency.
/// Two bytes for each cell, so that millions of rare pairs are ruled out without an entry for them.
class PairSketch {
public:
    using Cell = std::uint16_t;
    static constexpr std::int64_t most = std::numeric_limits<Cell>::max();

    explicit PairSketch(std::size_t cells)
        : cells_(std::bit_ceil(cells)), shift_(64 - std::countr_zero(cells_.size())) {}

    void add(std::uint64_t key, std::int64_t weight) {
        Cell& cell = cells_[place(key)];
        cell = static_cast<Cell>(std::min(most, cell + std::min(weight, most)));
    }
    /// Adds another worker's cells [part.begin, part.end).
    void add(const PairSketch& other, Part part) {
        for (std::size_t i = part.begin; i < part.end; ++i) {
            cells_[i] = static_cast<Cell>(std::min(most, std::int64_t{cells_[i]} + other.cells_[i]));
        }
    }

    std::size_t size() const { return cells_.size(); }
    /// At least the frequency of every pair, as far as `most` goes.
    std::int64_t largest() const { return *std::max_element(cells_.begin(), cells_.end()); }
    bool may_reach(std::uint64_t key, std::int64_t frequency) const {
        return cells_[place(key)] >= std::min(frequency, most);
    }

private:
    std::size_t place(std::uint64_t key) const {
        // Left and right rank in one word below 2^56, spread by one multiplication.
        return ((key >> 32) << 28 ^ key) * 0x9E3779B97F4A7C15 >> shift_;
    }

    std::vector<Cell> cells_;  // a power of two, at least two
    int shift_;
};

/// Every pair of some chunks, from left to right: its key, its position, its weight.
template <class Visit>
void for_each_pair(const FlatCorpus& corpus, Part chunks, Visit&& visit) {
    for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        const std::int64_t weight = corpus.chunk_weight(chunk);
        Position at = corpus.chunk_begin(chunk);
        const Position end = corpus.chunk_end(chunk);
        std::uint32_t left = corpus.rank_at(at);
        for (Position next = at + corpus.length(left); next < end;) {
            const std::uint32_t right = corpus.rank_at(next);
            visit(pair_key(left, right), at, weight);
            at = next;
            left = right;
            next += corpus.length(right);
        }
    }
}

/// The same in a corpus of bytes, where the next token is known to be one slot away without looking at this one.
template <class Visit>
void for_each_byte_pair(const FlatCorpus& corpus, Part chunks, Visit&& visit) {
    for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        const std::int64_t weight = corpus.chunk_weight(chunk);
        const Position last = corpus.chunk_end(chunk) - 1;
        for (Position at = corpus.chunk_begin(chunk); at < last; ++at) {
            visit(pair_key(corpus.rank_at(at), corpus.rank_at(at + 1)), at, weight);
        }
    }
}

}  // namespace prunedbpe
