#include "prunedbpe/shortest.hpp"

#include <atomic>
#include <stdexcept>

#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// Chunks a worker takes at a time: chunks differ in length, and a counter shared by all is cheap
/// at that pace.
constexpr std::size_t chunks_at_once = 4096;
constexpr std::size_t texts_at_once = 16;

}  // namespace

ShortestEncoder::ShortestEncoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                                 std::span<const std::uint32_t> ids, NextChunk next)
    : strings_(bytes, offsets, ids), next_(next) {
    for (unsigned byte = 0; byte < byte_count; ++byte) {
        const std::uint32_t state = strings_.child(DoubleArray::root, static_cast<unsigned char>(byte));
        if (state == DoubleArray::nowhere || !strings_.is_string(state)) {
            throw std::invalid_argument("byte " + std::to_string(byte) + " is not among the visible strings");
        }
    }
}

std::uint32_t ShortestEncoder::length(std::string_view chunk, ShortestScratch& scratch) const {
    const std::size_t n = chunk.size();
    if (n < 2) return static_cast<std::uint32_t>(n);
    if (scratch.fewest.size() <= n) scratch.fewest.resize(n + 1);
    std::uint32_t* const fewest = scratch.fewest.data();
    fewest[n] = 0;
    for (std::size_t begin = n; begin-- > 0;) {
        std::uint32_t state = strings_.child(DoubleArray::root, static_cast<unsigned char>(chunk[begin]));
        std::uint32_t best = fewest[begin + 1];
        for (std::size_t end = begin + 1; end < n;) {
            state = strings_.child(state, static_cast<unsigned char>(chunk[end]));
            if (state == DoubleArray::nowhere) break;
            ++end;
            if (strings_.is_string(state) && fewest[end] < best) best = fewest[end];
        }
        fewest[begin] = best + 1;
    }
    return fewest[0];
}

void ShortestEncoder::append_chunk(std::string_view chunk, ShortestScratch& scratch,
                                   std::vector<std::uint32_t>& ids) const {
    const std::size_t n = chunk.size();
    if (scratch.fewest.size() <= n) scratch.fewest.resize(n + 1);
    if (scratch.ends.size() < n) {
        scratch.ends.resize(n);
        scratch.states.resize(n);
    }
    std::uint32_t* const fewest = scratch.fewest.data();
    fewest[n] = 0;
    for (std::size_t begin = n; begin-- > 0;) {
        std::uint32_t state = strings_.child(DoubleArray::root, static_cast<unsigned char>(chunk[begin]));
        std::uint32_t best = fewest[begin + 1], best_state = state;
        std::size_t best_end = begin + 1;
        for (std::size_t end = begin + 1; end < n;) {
            state = strings_.child(state, static_cast<unsigned char>(chunk[end]));
            if (state == DoubleArray::nowhere) break;
            ++end;
            // Ends only grow, so "not worse" lets the longest of equals win: the tie rule.
            if (strings_.is_string(state) && fewest[end] <= best) {
                best = fewest[end];
                best_end = end;
                best_state = state;
            }
        }
        fewest[begin] = best + 1;
        scratch.ends[begin] = static_cast<std::uint32_t>(best_end);
        scratch.states[begin] = best_state;
    }
    for (std::size_t at = 0; at < n; at = scratch.ends[at]) ids.push_back(strings_.value(scratch.states[at]));
}

void ShortestEncoder::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
    ShortestScratch scratch;
    for_each_chunk(next_, text, [&](std::string_view chunk) { append_chunk(chunk, scratch, ids); });
}

void ShortestEncoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends,
                                    std::vector<std::uint32_t>& ids) const {
    ShortestScratch scratch;
    std::size_t begin = 0;
    for (const std::int64_t end : ends) {
        append_chunk(text.substr(begin, static_cast<std::size_t>(end) - begin), scratch, ids);
        begin = static_cast<std::size_t>(end);
    }
}

IdLists ShortestEncoder::encode_batch(std::span<const std::string_view> texts, unsigned threads) const {
    WorkerTeam team(threads);
    std::vector<std::vector<std::uint32_t>> lists(texts.size());
    std::atomic<std::size_t> next_text{0};
    team.run([&](unsigned) {
        for (std::size_t first; (first = next_text.fetch_add(texts_at_once)) < texts.size();) {
            for (std::size_t i = first; i < std::min(first + texts_at_once, texts.size()); ++i) {
                encode(texts[i], lists[i]);
            }
        }
    });
    IdLists result;
    result.offsets.reserve(texts.size() + 1);
    result.offsets.push_back(0);
    for (const auto& list : lists) result.offsets.push_back(result.offsets.back() + static_cast<std::int64_t>(list.size()));
    result.ids.reserve(static_cast<std::size_t>(result.offsets.back()));
    for (const auto& list : lists) result.ids.insert(result.ids.end(), list.begin(), list.end());
    return result;
}

std::vector<std::uint32_t> ShortestEncoder::chunk_lengths(const ChunkCountsView& counts, unsigned threads) const {
    WorkerTeam team(threads);
    std::vector<std::uint32_t> lengths(counts.size());
    std::atomic<std::size_t> next_chunk{0};
    team.run([&](unsigned) {
        ShortestScratch scratch;
        for (std::size_t first; (first = next_chunk.fetch_add(chunks_at_once)) < counts.size();) {
            for (std::size_t i = first; i < std::min(first + chunks_at_once, counts.size()); ++i) {
                lengths[i] = length(counts.chunk(i), scratch);
            }
        }
    });
    return lengths;
}

std::int64_t ShortestEncoder::total_length(const ChunkCountsView& counts, unsigned threads) const {
    const std::vector<std::uint32_t> lengths = chunk_lengths(counts, threads);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) total += counts.counts[i] * lengths[i];
    return total;
}

}  // namespace prunedbpe
