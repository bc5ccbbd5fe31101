// Where candidate tokens match in the unique chunks of a corpus, found once and kept as flat arrays.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/interrupt.hpp"
#include "tokenizer/double_array.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A chunk is a graph whose nodes are the positions between its bytes. An edge is a match of a token; the single bytes
/// are edges as well, but are not stored.
class CandidateEdges {
public:
    /// String i of `strings` has `lengths[i]` bytes; the first 256 are the bytes. Throws std::length_error if more than
    /// 65,535 candidates match at one place.
    CandidateEdges(const ChunkCountsView& counts, const DoubleArray& strings, std::span<const std::uint32_t> lengths,
                   WorkerTeam& team);

    struct Chunk {
        std::span<const std::uint16_t> edges_at;  ///< by byte of the chunk: how many edges begin there
        std::span<const std::uint32_t> tokens;    ///< the edges' tokens, by place and then by length
    };

    std::size_t chunk_count() const { return byte_offsets_.size() - 1; }
    Chunk chunk(std::size_t i) const {
        const auto begin = static_cast<std::size_t>(byte_offsets_[i]), end = static_cast<std::size_t>(byte_offsets_[i + 1]);
        const auto first = static_cast<std::size_t>(edge_offsets_[i]), last = static_cast<std::size_t>(edge_offsets_[i + 1]);
        return {{edges_at_.data() + begin, end - begin}, {tokens_.data() + first, last - first}};
    }
    /// Where the chunk begins among the bytes of all chunks.
    std::size_t first_byte(std::size_t chunk) const { return static_cast<std::size_t>(byte_offsets_[chunk]); }
    /// Where the chunk's edges begin among the edges of all chunks.
    std::size_t first_edge(std::size_t chunk) const { return static_cast<std::size_t>(edge_offsets_[chunk]); }
    std::size_t edge_count() const { return tokens_.size(); }
    std::uint32_t length(std::uint32_t token) const { return lengths_[token]; }
    std::size_t token_count() const { return lengths_.size(); }
    std::size_t memory() const;

private:
    HugeVector<std::int64_t> byte_offsets_;  ///< by chunk
    HugeVector<std::int64_t> edge_offsets_;  ///< by chunk
    HugeVector<std::uint16_t> edges_at_;     ///< by byte of all chunks
    HugeVector<std::uint32_t> tokens_;       ///< by edge
    std::vector<std::uint32_t> lengths_;     ///< by token
};

/// Gives every member of a team blocks of [begin, end) until none is left.
template <class Work>
void share_out(WorkerTeam& team, std::size_t begin, std::size_t end, Work&& work) {
    // Few enough to balance the load, enough to make the shared counter cheap.
    constexpr std::size_t at_once = 256;
    std::atomic<std::size_t> next{begin};
    team.run([&](unsigned member) {
        for (std::size_t first; (first = next.fetch_add(at_once)) < end;) {
            poll_interrupt();
            work(member, first, std::min(first + at_once, end));
        }
    });
}

}  // namespace prunedbpe
