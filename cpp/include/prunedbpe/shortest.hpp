// Text -> the fewest visible tokens: vocabulary-only segmentation, exact.
//
// D(i), the fewest tokens for the bytes from i to the end of the chunk, is filled from the end: D(n) = 0, and D(i) is
// 1 + the least D(i + |t|) over the visible tokens t that match at i. Time O(n * longest token), memory O(n). Among
// segmentations with the same number of tokens, the one with the longest first token wins, then the longest second one,
// and so on; so the result is unique.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/tokenizer.hpp"

namespace prunedbpe {

/// Immutable; threads may share one. The functions without a comment are those of Encoder.
class ShortestEncoder {
public:
    /// Visible string i is bytes [offsets[i], offsets[i + 1]) and has the token id ids[i], below 2^29. The 256 bytes
    /// must be among them. `next` may be null; then only encode_chunks and the lengths work.
    ShortestEncoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                    std::span<const std::uint32_t> ids, NextChunk next);
    ~ShortestEncoder();

    void encode(const UnicodeText& text, IdBuffer& ids) const;
    void encode_chunks(std::string_view text, std::span<const std::int64_t> ends, IdBuffer& ids) const;
    EncodedBatch encode_batch(std::span<const UnicodeText> texts, unsigned threads) const;
    EncodedBatch encode_documents(std::string_view text, std::span<const DocumentSpan> documents, unsigned threads) const;

    /// The fewest tokens of every unique chunk, each counted once. Parallel over chunks.
    std::vector<std::uint32_t> chunk_lengths(const ChunkCountsView& counts, unsigned threads) const;

    /// The fewest tokens of the whole corpus: chunk lengths weighted by chunk counts.
    std::int64_t total_length(const ChunkCountsView& counts, unsigned threads) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace prunedbpe
