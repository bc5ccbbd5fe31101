// A chunk to ranks, from left to right: the longest token that may follow the last one; where none may,
// the last one is taken back and a shorter one tried.
//
// The result is that of merging by rank, because only one sequence of tokens has all its neighbours
// allowed (adjacency.hpp). A place that proved a dead end is never entered again, so the time is linear
// in the chunk, and the memory one bit for each byte and the tokens themselves: this holds for a
// chunk of 100 MB as for one of ten bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "tokenizer/adjacency.hpp"
#include "tokenizer/expansions.hpp"
#include "tokenizer/token_trie.hpp"

namespace prunedbpe {

class Backtracker {
public:
    /// `expansions` must live as long.
    Backtracker(const MergeLookup& lookup, std::span<const Merge> merges, const Expansions& expansions);

    /// What may follow a token, of questions asked lately: pairs of tokens, and the longest beginning of the second that is
    /// a token and may follow the first. A long run of one character asks the same at every token: a megabyte of spaces
    /// took 105 ms where there are tokens of 2, 3, 4, 5, 8, 12, 14 and 15 of them, and takes 30. Ordinary text asks too
    /// many different questions to gain by it.
    struct Followers {
        static constexpr int bits = 12;
        struct Entry {
            std::uint64_t pair = ~std::uint64_t{0};
            std::uint32_t longest = 0;
        };
        std::vector<Entry> entries;
    };

    /// Working memory of one thread.
    struct Scratch {
        Followers followers;
        std::vector<std::uint64_t> dead_ends;
        std::vector<std::uint32_t> ranks;
    };

    static constexpr std::size_t short_limit = 63;

    /// Writes the visible ids of a chunk of at most 63 bytes, as many as it has bytes at the most; returns
    /// their end.
    std::uint32_t* encode_short(std::string_view chunk, std::uint32_t* out) const;

    /// Appends the visible ids of a chunk of any length.
    void encode(std::string_view chunk, Scratch& scratch, IdBuffer& ids) const;

private:
    /// What a step needs to know of a token, in one place of the cache.
    struct alignas(32) Token {
        Signature signature;
        std::uint32_t length;   // bytes
        std::uint32_t shorter;  // the longest token that is a proper prefix, or none
        std::uint32_t id;       // or `internal`
    };
    static constexpr std::uint32_t internal = 0xFFFFFFFF;

    class AskAlways;
    class AskOnce;

    template <class DeadEnds, class Ranks, class Neighbours>
    void split(std::string_view chunk, DeadEnds dead_ends, Ranks& ranks, Neighbours neighbours) const;

    TokenTrie trie_;
    Adjacency adjacency_;
    std::vector<Token> tokens_;  // by rank; the one behind the last stands for the beginning of a chunk
    const Expansions& expansions_;
};

}  // namespace prunedbpe
