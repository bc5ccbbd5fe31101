// Counting: documents -> unique chunks, each with its count and its first position in the corpus.
//
// The position of an occurrence is its byte offset in the corpus, all documents laid end to end. Counts add up and
// first positions take the minimum, so any split of the work gives the same table.
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

/// Unique chunks in order of first appearance, as flat arrays.
struct ChunkCounts {
    HugeVector<std::uint8_t> bytes;            ///< all chunks, one after another; none is empty
    HugeVector<std::int64_t> offsets;          ///< chunk i is [offsets[i], offsets[i + 1]) of `bytes`
    HugeVector<std::int64_t> counts;           ///< by chunk: occurrences in the corpus
    HugeVector<std::int64_t> first_positions;  ///< by chunk, rising
};

/// A borrowed ChunkCounts. Functions that do not need `first_positions` accept it empty.
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

/// A table and where its chunks occur: a sparse matrix of chunks and sources, by row.
struct SourceCounts {
    ChunkCounts total;
    HugeVector<std::int64_t> offsets;   ///< chunk i has the cells [offsets[i], offsets[i + 1])
    HugeVector<std::uint32_t> sources;  ///< by cell; rising within a chunk
    HugeVector<std::int64_t> counts;    ///< by cell: occurrences of the chunk in the source
};

/// The first row with an empty chunk, a count below one, a first position that does not rise, or with which the corpus
/// has 2^63 bytes or more: below that no sum over the corpus can overflow. The arrays must have matching lengths.
std::optional<WrongRow> find_wrong_row(const ChunkCountsView& counts);

/// Occurrences of each of the 256 bytes, weighted by chunk counts.
std::vector<std::int64_t> count_bytes(const ChunkCountsView& counts);

/// A borrowed SourceCounts; `offsets` is empty if the counts are not divided by source.
struct SourceCountsView {
    ChunkCountsView total;
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> sources;
    std::span<const std::int64_t> counts;
};

class DrainedCounts;

/// Collects chunk counts. Every worker fills a table of its own; `finish` reduces them to one. Memory: about 64 bytes
/// for each unique chunk of up to 16 bytes in each table, longer chunks add their bytes; if counts are divided by source,
/// 16 bytes for each source in which a chunk occurs.
///
/// Sources are numbers below `max_sources`; a larger number throws std::out_of_range.
class ChunkCounter {
public:
    static constexpr std::uint32_t max_sources = 1024;

    /// `threads` 0 means one per core. Only with `by_source` are counts divided; otherwise sources are ignored.
    explicit ChunkCounter(unsigned threads, bool by_source = false);
    ~ChunkCounter();

    /// Cuts the documents of a batch with `next` and counts their chunks; `documents` are in ascending order. The batch
    /// follows all that was added before. `sources` names the source of every document; empty, all are of source 0.
    /// Throws std::out_of_range if a document reaches beyond `text`.
    void add_documents(NextChunk next, std::string_view text, std::span<const DocumentSpan> documents,
                       std::span<const std::uint32_t> sources = {});

    /// Counts chunks that the caller has cut: chunk i of `text` ends at `ends[i]`, and together they cover `text`. Uses
    /// one thread.
    void add_chunks(std::string_view text, std::span<const std::int64_t> ends, std::uint32_t source = 0);

    /// Adds the table of a part of the corpus that starts `shift` bytes into it. Uses one thread.
    void add_counts(const ChunkCountsView& part, std::int64_t shift, std::uint32_t source = 0);

    /// As `add_counts`, for a table that is divided by source. Throws std::out_of_range if its arrays do not match.
    void add_source_counts(const SourceCountsView& part, std::int64_t shift);

    /// Joins sources: what was counted for source i now belongs to `groups[i]`. There must be a group for every source
    /// added so far.
    void regroup(std::span<const std::uint32_t> groups);

    /// Bytes of all documents added so far, which is the position of the next one.
    std::int64_t position() const { return position_; }

    /// Bytes held.
    std::size_t memory() const;

    /// Takes out what was counted, by hash bucket, and leaves the counter empty.
    DrainedCounts drain();

    /// Returns the table of all sources and leaves the counter empty.
    ChunkCounts finish();

    /// Returns the table and its division by source, and leaves the counter empty.
    SourceCounts finish_by_source();

private:
    struct Workers;
    std::unique_ptr<Workers> workers_;
    std::int64_t position_ = 0;
};

/// Tables taken out of a counter. Equal chunks are in the same bucket, whichever counter they come from, so tables of
/// any size can be joined bucket by bucket.
class DrainedCounts {
public:
    static constexpr std::size_t buckets = 256;

    DrainedCounts(DrainedCounts&&) noexcept;
    ~DrainedCounts();

    /// The chunks of one bucket in order of first position. Several threads may call it.
    SourceCounts bucket(std::size_t bucket) const;

private:
    friend class ChunkCounter;
    struct Tables;
    explicit DrainedCounts(std::unique_ptr<Tables> tables);
    std::unique_ptr<Tables> tables_;
};

}  // namespace prunedbpe
