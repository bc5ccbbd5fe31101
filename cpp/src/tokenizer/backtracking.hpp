// A chunk to ranks from left to right: take the longest token that may follow the last one; if none may, take the last
// one back and try a shorter one.
//
// The idea is from the `bpe` crate of GitHub's rust-gems (crates/bpe/README.md). The result is that of merging by rank,
// because only one sequence of tokens has all its neighbours allowed (adjacency.hpp). A position that proved a dead end
// is never entered again, so time is linear in the chunk, whatever it holds, and memory is one bit per byte plus the
// tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/vocabulary.hpp"
#include "tokenizer/double_array.hpp"
#include "tokenizer/expansions.hpp"
#include "vocabulary/adjacency.hpp"

namespace prunedbpe {

class Backtracker {
public:
    /// Borrows `lookup` and `expansions`.
    Backtracker(const MergeLookup& lookup, std::span<const Merge> merges, const TokenStrings& strings,
                const Expansions& expansions);

    /// Memo of recent questions: two tokens, and the longest prefix of the second that is a token and may follow the
    /// first. A run of one character repeats the same question at every token: for a megabyte of spaces, with tokens of
    /// 2, 3, 4, 5, 8, 12, 14 and 15 of them, the memo saves 70 % of the time. Ordinary text rarely repeats itself.
    struct Followers {
        static constexpr int bits = 12;
        struct Entry {
            std::uint64_t question = ~std::uint64_t{0};  ///< first token << 32 | second token
            std::uint32_t longest = 0;
        };
        std::vector<Entry> entries;  ///< empty until first used
    };

    /// Working memory of one thread.
    struct Scratch {
        Followers followers;
        std::vector<std::uint64_t> dead_ends;  ///< one bit per position
        std::vector<std::uint32_t> ranks;
    };

    static constexpr std::size_t short_limit = 63;  ///< positions 0-63 fit a register

    /// Writes the visible ids of a chunk of at most `short_limit` bytes, at most one per byte; returns their end.
    std::uint32_t* encode_short(std::string_view chunk, std::uint32_t* out) const;

    /// Appends the visible ids of a chunk of any length.
    void encode(std::string_view chunk, Scratch& scratch, IdBuffer& ids) const;

private:
    /// What a step needs to know about a token, in one cache line.
    struct alignas(32) Token {
        Signature signature;
        std::uint32_t length;   ///< bytes
        std::uint32_t shorter;  ///< the longest token that is a proper prefix, or DoubleArray::none
        std::uint32_t id;       ///< or Expansions::internal
    };

    class AskAlways;
    class AskOnce;

    template <class DeadEnds, class Ranks, class Neighbours>
    void split(std::string_view chunk, DeadEnds dead_ends, Ranks& ranks, Neighbours neighbours) const;

    DoubleArray strings_;
    Adjacency adjacency_;
    std::vector<Token> tokens_;  ///< by rank; one more stands for the start of a chunk, which any token may follow
    const Expansions& expansions_;
};

}  // namespace prunedbpe
