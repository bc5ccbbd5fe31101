// Counting: documents -> unique chunks, each with its count and its first position in the corpus.
//
// The position of a chunk's occurrence is its byte offset in the corpus, all documents laid end to
// end. Counts add and first positions take the least, so any split of the work gives the same table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Unique chunks in order of first appearance, as flat arrays. Chunk i is bytes
/// [offsets[i], offsets[i + 1]) of `bytes`; every chunk is at least one byte long.
struct ChunkCounts {
    HugeVector<std::uint8_t> bytes;
    HugeVector<std::int64_t> offsets;
    HugeVector<std::int64_t> counts;
    HugeVector<std::int64_t> first_positions;
};

/// The same, borrowed.
struct ChunkCountsView {
    std::span<const std::uint8_t> bytes;
    std::span<const std::int64_t> offsets;
    std::span<const std::int64_t> counts;
    std::span<const std::int64_t> first_positions;

    std::size_t size() const { return counts.size(); }
    std::string_view chunk(std::size_t i) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[i],
                static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

/// Looks for an empty chunk, a count below one, or a first position that is not behind the one before. The arrays must
/// be of matching lengths.
std::optional<WrongRow> find_wrong_row(const ChunkCountsView& counts);

/// How often each of the 256 bytes occurs in the corpus: chunks weighted by their counts.
std::vector<std::int64_t> count_bytes(const ChunkCountsView& counts);

/// Collects chunk counts. Every worker fills a table of its own; `finish` reduces them.
class ChunkCounter {
public:
    /// `threads` 0 means one per core.
    explicit ChunkCounter(unsigned threads);
    ~ChunkCounter();

    /// Cuts the documents of a batch, which are in the order of the text, and counts their chunks; the batch follows
    /// what came before.
    void add_documents(NextChunk next, std::string_view text, std::span<const DocumentSpan> documents);

    /// Counts chunks cut by somebody else: chunk i of `text` ends at `ends[i]`, they cover `text`.
    void add_chunks(std::string_view text, std::span<const std::int64_t> ends);

    /// Adds a table of a corpus part that starts `shift` bytes into the corpus.
    void add_counts(const ChunkCountsView& part, std::int64_t shift);

    /// Bytes of all documents added so far, the position where the next one starts.
    std::int64_t position() const { return position_; }

    /// The table, in order of first appearance; leaves the counter empty.
    ChunkCounts finish();

private:
    struct Workers;
    std::unique_ptr<Workers> workers_;
    std::int64_t position_ = 0;
};

}  // namespace prunedbpe
