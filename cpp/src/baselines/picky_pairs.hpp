// The pairs of the Picky learner: frequencies that fall and rise, and the queue of the best one.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "baselines/picky_corpus.hpp"
#include "util/hash.hpp"

namespace prunedbpe::picky {

struct PairName {
    std::uint32_t left;
    std::uint32_t right;
    std::uint64_t key() const { return static_cast<std::uint64_t>(left) << 32 | right; }
};

/// A pair that comes up for merging, with all its occurrences in ascending order.
struct BestPair {
    PairName name;
    std::int64_t frequency;
    std::vector<Position> positions;
};

class PickyPairs {
public:
    explicit PickyPairs(const PickyCorpus& corpus) : corpus_(corpus) {}

    void add(PairName name, Position at, std::int64_t weight);
    void remove(PairName name, std::int64_t weight);

    /// Puts pairs whose frequency rose into the queue; call it after every merge or split.
    void settle();

    /// The pair of the highest frequency, of equals the one that occurs first; nothing if no pair
    /// occurs twice. Its occurrences are handed over: the caller replaces them all.
    std::optional<BestPair> take_best();

private:
    struct Pair {
        std::int64_t frequency = 0;
        std::vector<Position> positions;  // from `head` on; destroyed ones are recognised by the slots
        std::uint32_t head = 0;
        Position least = 0xFFFFFFFF;  // no occurrence stands before it
        std::uint32_t stamp = 0;  // of its one entry in the queue that counts
        bool sorted = true;       // ascending and without repeats
        bool risen = false;
    };
    /// Never below the truth: frequencies that rise make a new entry, and falling ones are corrected
    /// when the entry comes up. An entry with an old stamp has been replaced by a newer one.
    struct Entry {
        std::int64_t frequency;
        Position first;
        std::uint32_t stamp;
        std::uint64_t key;
        bool operator<(const Entry& other) const {
            return frequency != other.frequency ? frequency < other.frequency : first > other.first;
        }
    };
    struct Hash {
        std::size_t operator()(std::uint64_t key) const { return hash_key(key); }
    };

    static PairName name_of(std::uint64_t key) {
        return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
    }
    Position first_position(PairName name, Pair& pair) const;
    void push(std::uint64_t key, Pair& pair, Position first);

    const PickyCorpus& corpus_;
    std::unordered_map<std::uint64_t, Pair, Hash> pairs_;
    std::vector<Entry> queue_;
    std::vector<std::uint64_t> risen_;
    std::uint32_t stamps_ = 0;
};

}  // namespace prunedbpe::picky
