#include "visibility/candidate_edges.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace prunedbpe {
namespace {

/// Calls found(token) for every candidate that begins at `begin`, shortest first.
template <class Found>
void for_each_match(const DoubleArray& strings, std::string_view chunk, std::size_t begin, Found&& found) {
    DoubleArray::Node node = strings.first(static_cast<unsigned char>(chunk[begin]));
    for (std::size_t end = begin + 1; end < chunk.size() && strings.step(node, static_cast<unsigned char>(chunk[end])); ++end) {
        if (node.is_string()) found(node.longest());
    }
}

}  // namespace

CandidateEdges::CandidateEdges(const ChunkCountsView& counts, const DoubleArray& strings,
                               std::span<const std::uint32_t> lengths, WorkerTeam& team)
    : byte_offsets_(counts.offsets.begin(), counts.offsets.end()), lengths_(lengths.begin(), lengths.end()) {
    edges_at_.resize(counts.bytes.size());
    edge_offsets_.resize(counts.size() + 1);
    edge_offsets_[0] = 0;
    // Twice through the text: first to count the edges, then to write each to its place.
    share_out(team, 0, counts.size(), [&](unsigned, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::string_view chunk = counts.chunk(i);
            std::int64_t edges = 0;
            for (std::size_t at = 0; at < chunk.size(); ++at) {
                std::size_t matches = 0;
                for_each_match(strings, chunk, at, [&](std::uint32_t) { ++matches; });
                if (matches > std::numeric_limits<std::uint16_t>::max()) {
                    throw std::length_error("more than 65,535 candidate tokens match at one place");
                }
                edges_at_[static_cast<std::size_t>(byte_offsets_[i]) + at] = static_cast<std::uint16_t>(matches);
                edges += static_cast<std::int64_t>(matches);
            }
            edge_offsets_[i + 1] = edges;
        }
    });
    for (std::size_t i = 0; i < counts.size(); ++i) edge_offsets_[i + 1] += edge_offsets_[i];
    tokens_.resize(static_cast<std::size_t>(edge_offsets_.back()));
    share_out(team, 0, counts.size(), [&](unsigned, std::size_t first, std::size_t last) {
        std::uint32_t* out = tokens_.data() + edge_offsets_[first];
        for (std::size_t i = first; i < last; ++i) {
            const std::string_view chunk = counts.chunk(i);
            for (std::size_t at = 0; at < chunk.size(); ++at) {
                for_each_match(strings, chunk, at, [&](std::uint32_t token) { *out++ = token; });
            }
        }
    });
}

std::size_t CandidateEdges::memory() const {
    return (byte_offsets_.size() + edge_offsets_.size()) * sizeof(std::int64_t) + edges_at_.size() * sizeof(std::uint16_t) +
           (tokens_.size() + lengths_.size()) * sizeof(std::uint32_t);
}

}  // namespace prunedbpe
