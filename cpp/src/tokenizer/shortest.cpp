#include "prunedbpe/shortest.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "prunedbpe/interrupt.hpp"
#include "tokenizer/double_array.hpp"
#include "tokenizer/encode_texts.hpp"
#include "tokenizer/workspace.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// Chunks a worker takes at a time: few enough to balance the load, enough to make the shared counter cheap.
constexpr std::size_t chunks_at_once = 4096;

/// Working memory of one thread, kept between chunks.
struct Scratch {
    std::vector<std::uint32_t> fewest;   ///< F, by the length of the prefix
    std::vector<std::uint32_t> begins;   ///< by prefix: where the last token of the best answer begins
    std::vector<std::uint32_t> strings;  ///< and which string it is

    void make_room(std::size_t length) {
        if (fewest.size() > length) return;
        fewest.resize(length + 1);
        begins.resize(length + 1);
        strings.resize(length + 1);
    }
};

struct ShortestWorkspace : Workspace {
    Scratch scratch;

    void forget_large() {
        Workspace::forget_large();
        if (is_large(scratch.fewest)) scratch = {};
    }
};

/// The fewest tokens of a chunk. `reversed` holds the strings spelled backwards.
std::uint32_t find_length(const DoubleArray& reversed, std::string_view chunk, Scratch& scratch) {
    const std::size_t n = chunk.size();
    if (n < 2) return static_cast<std::uint32_t>(n);
    scratch.make_room(n);
    std::uint32_t* const fewest = scratch.fewest.data();
    fewest[0] = 0;
    for (std::size_t end = 1; end <= n; ++end) {
        if (end % poll_bytes == 0) [[unlikely]] poll_interrupt();
        std::size_t begin = end - 1;
        DoubleArray::Node node = reversed.first(static_cast<unsigned char>(chunk[begin]));
        std::uint32_t best = fewest[begin];
        while (begin > 0 && reversed.step(node, static_cast<unsigned char>(chunk[begin - 1]))) {
            --begin;
            if (node.is_string() && fewest[begin] < best) best = fewest[begin];
        }
        fewest[end] = best + 1;
    }
    return fewest[n];
}

/// The same, and the last token of every prefix, from which the tokens follow.
std::uint32_t find_tokens(const DoubleArray& reversed, std::string_view chunk, Scratch& scratch) {
    const std::size_t n = chunk.size();
    scratch.make_room(n);
    std::uint32_t* const fewest = scratch.fewest.data();
    fewest[0] = 0;
    for (std::size_t end = 1; end <= n; ++end) {
        if (end % poll_bytes == 0) [[unlikely]] poll_interrupt();
        std::size_t begin = end - 1, best_begin = begin;
        DoubleArray::Node node = reversed.first(static_cast<unsigned char>(chunk[begin]));
        std::uint32_t best = fewest[begin], best_string = node.longest();
        while (begin > 0 && reversed.step(node, static_cast<unsigned char>(chunk[begin - 1]))) {
            --begin;
            // Tokens only grow, so "not worse" picks the longest of equals: the tie rule.
            if (node.is_string() && fewest[begin] <= best) {
                best = fewest[begin];
                best_begin = begin;
                best_string = node.longest();
            }
        }
        fewest[end] = best + 1;
        scratch.begins[end] = static_cast<std::uint32_t>(best_begin);
        scratch.strings[end] = best_string;
    }
    return fewest[n];
}

/// Encodes a new chunk.
struct Split {
    const DoubleArray& reversed;
    std::span<const std::uint32_t> string_ids;
    Scratch& scratch;

    void append_short(const ShortChunkCache::Key&, std::string_view chunk, IdBuffer& ids) const { append(chunk, ids); }

    void append(std::string_view chunk, IdBuffer& ids) const {
        const std::uint32_t count = find_tokens(reversed, chunk, scratch);
        std::uint32_t* out = ids.room(count) + count;
        ids.advance_to(out);
        for (std::size_t end = chunk.size(); end > 0; end = scratch.begins[end]) {
            *--out = string_ids[scratch.strings[end]];
        }
    }
};

/// Calls `visit(worker, i, scratch)` for every chunk i. Workers take chunks as they get done.
template <class Visit>
void for_each_chunk(WorkerTeam& team, std::size_t count, Visit visit) {
    std::atomic<std::size_t> next_chunk{0};
    team.run([&](unsigned worker) {
        Scratch scratch;
        for (std::size_t first; (first = next_chunk.fetch_add(chunks_at_once)) < count;) {
            poll_interrupt();
            const std::size_t last = std::min(first + chunks_at_once, count);
            for (std::size_t i = first; i < last; ++i) visit(worker, i, scratch);
        }
    });
}

/// Spells every string backwards. Walking back from the end of a prefix keeps the best answer in registers; walking
/// forward from its start would update F in memory for every token, which is up to a fifth slower.
std::vector<std::uint8_t> reverse_each(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets) {
    std::vector<std::uint8_t> reversed(bytes.begin(), bytes.end());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        std::reverse(reversed.begin() + offsets[i], reversed.begin() + offsets[i + 1]);
    }
    return reversed;
}

}  // namespace

struct ShortestEncoder::Parts {
    using Loan = WorkspacePool<ShortestWorkspace>::Loan;

    ChunkLoop<Split> loop(std::string_view text, ShortestWorkspace& work, IdBuffer& ids) const {
        return {work.known, Split{reversed, string_ids, work.scratch}, text, ids};
    }

    void encode(const UnicodeText& unicode, ShortestWorkspace& work, IdBuffer& ids) const {
        const std::string_view text = to_utf8(unicode, work.utf8);
        with_scanner(next, [&]<NextChunk next_chunk>() { loop(text, work, ids).template append_text<next_chunk>(); });
    }

    DoubleArray reversed;
    std::vector<std::uint32_t> string_ids;
    NextChunk next;
    WorkspacePool<ShortestWorkspace> workspaces{};
};

ShortestEncoder::ShortestEncoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                                 std::span<const std::uint32_t> ids, NextChunk next) {
    if (offsets.size() != ids.size() + 1) throw std::invalid_argument("one id is needed for every string");
    check_ids(ids);
    parts_.reset(new Parts{DoubleArray(reverse_each(bytes, offsets), offsets), {ids.begin(), ids.end()}, next});
}

ShortestEncoder::~ShortestEncoder() = default;

void ShortestEncoder::encode(const UnicodeText& text, IdBuffer& ids) const {
    Parts::Loan work(parts_->workspaces);
    parts_->encode(text, *work, ids);
}

void ShortestEncoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends, IdBuffer& ids) const {
    Parts::Loan work(parts_->workspaces);
    parts_->loop(text, *work, ids).append_chunks(ends);
}

EncodedBatch ShortestEncoder::encode_batch(std::span<const UnicodeText> texts, unsigned threads) const {
    return encode_texts(texts, threads, parts_->workspaces,
                        [&](std::size_t i, ShortestWorkspace& work, IdBuffer& ids) { parts_->encode(texts[i], work, ids); });
}

EncodedBatch ShortestEncoder::encode_documents(std::string_view text, std::span<const DocumentSpan> documents,
                                               unsigned threads) const {
    return encode_batch(as_texts(text, documents), threads);
}

std::vector<std::uint32_t> ShortestEncoder::chunk_lengths(const ChunkCountsView& counts, unsigned threads) const {
    std::vector<std::uint32_t> lengths(counts.size());
    WorkerTeam team(threads);
    for_each_chunk(team, counts.size(), [&](unsigned, std::size_t i, Scratch& scratch) {
        lengths[i] = find_length(parts_->reversed, counts.chunk(i), scratch);
    });
    return lengths;
}

std::int64_t ShortestEncoder::total_length(const ChunkCountsView& counts, unsigned threads) const {
    const std::vector<std::uint32_t> lengths = chunk_lengths(counts, threads);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) total += counts.counts[i] * lengths[i];
    return total;
}

std::vector<std::int64_t> ShortestEncoder::token_counts(const ChunkCountsView& counts, unsigned threads) const {
    const std::vector<std::uint32_t>& ids = parts_->string_ids;
    WorkerTeam team(threads);
    std::vector<std::vector<std::int64_t>> by_string(team.size(), std::vector<std::int64_t>(ids.size()));
    for_each_chunk(team, counts.size(), [&](unsigned worker, std::size_t i, Scratch& scratch) {
        const std::string_view chunk = counts.chunk(i);
        find_tokens(parts_->reversed, chunk, scratch);
        for (std::size_t end = chunk.size(); end > 0; end = scratch.begins[end]) {
            by_string[worker][scratch.strings[end]] += counts.counts[i];
        }
    });
    std::vector<std::int64_t> by_id(std::size_t{*std::max_element(ids.begin(), ids.end())} + 1);
    for (const std::vector<std::int64_t>& part : by_string) {
        for (std::size_t string = 0; string < ids.size(); ++string) by_id[ids[string]] += part[string];
    }
    return by_id;
}

}  // namespace prunedbpe
