// Tiny corpora, and the method by its definition, to test learning and merging against.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "prunedbpe/counts.hpp"
#include "prunedbpe/types.hpp"

namespace plain {

using prunedbpe::Merge;
using prunedbpe::Rank;
using Ranks = std::vector<std::uint32_t>;

/// Chunks with their counts, in order.
struct Corpus {
    std::vector<std::pair<std::string, std::int64_t>> chunks;
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> counts;

    void add(const std::string& chunk, std::int64_t count) {
        chunks.emplace_back(chunk, count);
        bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        counts.push_back(count);
    }
    prunedbpe::ChunkCountsView view() const { return {bytes, offsets, counts, {}}; }
};

inline Corpus random_corpus(check::Random& random) {
    static const std::vector<std::string> alphabets{"a", "ab", "abc", "abcdefghijklmnop"};
    const std::string& alphabet = alphabets[random.below(alphabets.size())];
    const std::size_t longest = random.below(4) == 0 ? 90 : 12;
    Corpus corpus;
    for (std::size_t i = random.below(12); i > 0; --i) {
        // Sometimes a count of more than 32 bits, or just at the limit.
        const std::size_t kind = random.below(20);
        const std::int64_t count = kind == 0   ? std::int64_t{1} << 33
                                   : kind == 1 ? 0xFFFFFFFF - static_cast<std::int64_t>(random.below(2))
                                               : static_cast<std::int64_t>(1 + random.below(4));
        corpus.add(random.word(alphabet, longest), count);
    }
    return corpus;
}

/// Replaces the pair from left to right; returns how often.
inline std::int64_t replace(Ranks& ranks, Merge merge, std::uint32_t merged) {
    Ranks replaced;
    std::int64_t times = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (i + 1 < ranks.size() && ranks[i] == raw(merge.left) && ranks[i + 1] == raw(merge.right)) {
            replaced.push_back(merged);
            ++times;
            ++i;
        } else {
            replaced.push_back(ranks[i]);
        }
    }
    ranks = std::move(replaced);
    return times;
}

inline Ranks as_ranks(const std::string& chunk) {
    Ranks ranks;
    for (const char byte : chunk) ranks.push_back(static_cast<unsigned char>(byte));
    return ranks;
}

struct Learned {
    std::vector<Merge> merges;
    std::vector<std::int64_t> frequencies;
    std::vector<std::int64_t> applied;
};

inline Learned learn(const Corpus& corpus, std::size_t merge_count) {
    std::vector<Ranks> chunks;
    for (const auto& [chunk, count] : corpus.chunks) chunks.push_back(as_ranks(chunk));
    Learned learned;
    while (learned.merges.size() < merge_count) {
        // Count every pair again: frequency, and order of first occurrence.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::int64_t>> pairs;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            for (std::size_t i = 0; i + 1 < chunks[c].size(); ++i) {
                const auto order = static_cast<std::int64_t>(pairs.size());
                auto& [frequency, first] =
                    pairs.try_emplace({chunks[c][i], chunks[c][i + 1]}, 0, order).first->second;
                frequency += corpus.chunks[c].second;
            }
        }
        const auto best = std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second.first, -a.second.second) < std::pair(b.second.first, -b.second.second);
        });
        if (best == pairs.end() || best->second.first < 2) break;
        const Merge merge{Rank{best->first.first}, Rank{best->first.second}};
        std::int64_t applied = 0;
        const auto merged = static_cast<std::uint32_t>(prunedbpe::byte_count + learned.merges.size());
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            applied += replace(chunks[c], merge, merged) * corpus.chunks[c].second;
        }
        learned.merges.push_back(merge);
        learned.frequencies.push_back(best->second.first);
        learned.applied.push_back(applied);
    }
    return learned;
}

/// Applies all merges one after another, each from left to right.
inline Ranks merge(const std::vector<Merge>& merges, const std::string& chunk) {
    Ranks ranks = as_ranks(chunk);
    for (std::size_t i = 0; i < merges.size(); ++i) {
        replace(ranks, merges[i], static_cast<std::uint32_t>(prunedbpe::byte_count + i));
    }
    return ranks;
}

inline std::vector<std::uint32_t> flat(std::span<const Merge> merges) {
    std::vector<std::uint32_t> ranks;
    for (const Merge& merge : merges) {
        ranks.push_back(raw(merge.left));
        ranks.push_back(raw(merge.right));
    }
    return ranks;
}

}  // namespace plain
