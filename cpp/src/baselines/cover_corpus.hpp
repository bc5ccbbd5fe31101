// A corpus for GreedTok: the bytes of the unique chunks, which neighbours are joined, and every place of a string.
//
// All suffixes of all chunks are sorted, so the occurrences of a string are a range of them. 20 bytes of memory for each
// byte of the unique chunks; 36 while sorting.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/counts.hpp"

namespace prunedbpe::cover {

/// Where a byte stands when all unique chunks are laid end to end.
using Position = std::uint32_t;

/// Longer tokens are not considered.
inline constexpr std::size_t longest_token = 254;

/// The occurrences of a string: entries [begin, end) of the sorted suffixes.
struct Occurrences {
    std::uint32_t begin;
    std::uint32_t end;
};

class CoverCorpus {
public:
    /// Throws std::length_error if the chunks do not fit 32-bit positions.
    explicit CoverCorpus(const ChunkCountsView& counts);

    std::size_t suffix_count() const { return suffixes_.size(); }
    Position suffix(std::size_t entry) const { return suffixes_[entry]; }
    /// Length of a suffix, at most `longest_token`.
    std::size_t suffix_length(std::size_t entry) const { return lengths_[entry]; }
    std::int64_t weight(std::size_t entry) const { return weights_[entry]; }
    /// How many bytes this entry has in common with the one before it, at most `longest_token`.
    std::size_t common_length(std::size_t entry) const { return common_lengths_[entry]; }
    std::string_view bytes(Position position, std::size_t length) const {
        return std::string_view(text_).substr(position, length);
    }

    Occurrences find(std::string_view token) const;

    /// Whether two of the occurrences overlap, so that covering one excludes the other.
    bool overlap(Occurrences occurrences, std::size_t length);

    /// How many neighbours a token would join, weighted by the chunks' counts. A place is skipped if a joined pair of
    /// neighbours crosses one of its ends, or if it overlaps a place to its left that counts.
    std::int64_t score(Occurrences occurrences, std::size_t length, bool overlapping);

    /// Joins the neighbours that `score` counts.
    void cover(Occurrences occurrences, std::size_t length, bool overlapping);

private:
    /// Visits position and weight of every occurrence, in ascending order if that matters.
    template <class Visit>
    void for_each_place(Occurrences occurrences, bool ascending, Visit visit);
    void sort_places(Occurrences occurrences);
    bool is_free(Position position, std::size_t length) const;

    std::string text_;
    std::vector<std::int64_t> ends_;    ///< by chunk: where it ends in the text
    std::vector<std::int64_t> counts_;  ///< by chunk
    std::vector<std::uint32_t> chunk_of_;
    std::vector<Position> suffixes_;
    // By entry, like the suffixes, so that reading them in order costs no cache misses.
    std::vector<std::int64_t> weights_;  ///< count of the chunk
    std::vector<std::uint8_t> lengths_;
    std::vector<std::uint8_t> common_lengths_;
    /// joined_[p + 1]: whether bytes p and p + 1 belong to one token. Never true across two chunks.
    std::vector<std::uint8_t> joined_;
    std::vector<Position> ascending_;  ///< scratch of `sort_places`
};

}  // namespace prunedbpe::cover
