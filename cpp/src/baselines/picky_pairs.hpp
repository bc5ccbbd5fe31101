// The pairs of the Picky learner: frequencies that fall and rise, and a queue of the most frequent.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "baselines/picky_corpus.hpp"
#include "merges/pair.hpp"

namespace prunedbpe::picky {

/// A pair that comes up for merging.
struct BestPair {
    Pair pair;
    std::vector<Position> positions;  ///< ascending; destroyed occurrences included
};

/// `add` and `remove` are O(1); the queue costs O(log pairs) for each change that reaches its front.
class PickyPairs {
public:
    explicit PickyPairs(const PickyCorpus& corpus) : corpus_(corpus) {}

    /// An occurrence has appeared at `at`, or disappeared.
    void add(Pair pair, Position at, std::int64_t weight);
    void remove(Pair pair, std::int64_t weight);

    /// Queues the pairs whose frequency rose; call it after every merge or split.
    void queue_risen();

    /// Removes and returns the pair of the highest frequency, of equals the one that occurs first; nothing
    /// if no pair occurs twice. The caller must replace all its occurrences.
    std::optional<BestPair> take_best();

private:
    struct Occurrences {
        std::int64_t frequency = 0;
        std::vector<Position> positions;  // destroyed ones stay, and are recognised by the slots
        std::uint32_t first_alive = 0;    // index into positions, if sorted; all before it are destroyed
        Position least = 0xFFFFFFFF;      // no occurrence stands before it
        std::uint32_t stamp = 0;          // of its one valid entry in the queue
        bool sorted = true;               // positions are ascending, without duplicates
        bool risen = false;               // is in risen_
    };
    /// Never too far back: a rising frequency makes a new entry, and a falling one is corrected when its entry
    /// comes up. An entry with an old stamp was replaced by a newer one.
    struct Entry {
        std::int64_t frequency;
        Position first;
        std::uint32_t stamp;
        Pair pair;
        bool operator<(const Entry& other) const {
            return frequency != other.frequency ? frequency < other.frequency : first > other.first;
        }
    };

    Position first_position(Pair pair, Occurrences& found) const;
    void push(Pair pair, Occurrences& found, Position first);

    const PickyCorpus& corpus_;
    std::unordered_map<Pair, Occurrences, PairHash> pairs_;
    std::vector<Entry> queue_;  // a heap
    std::vector<Pair> risen_;   // added to since the last queue_risen
    std::uint32_t stamps_ = 0;  // given so far
};

}  // namespace prunedbpe::picky
