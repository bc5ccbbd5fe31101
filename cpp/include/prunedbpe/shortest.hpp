// Text -> the fewest visible tokens: vocabulary-only segmentation, exact.
//
// F(j), the fewest tokens for the first j bytes of a chunk, is filled from the start: F(0) = 0, and F(j) is 1 + the least
// F(j - |t|) over the visible tokens t that end at j. F(n) is the paper's D(0). Time O(n * longest token), memory O(n).
// Among segmentations with the fewest tokens, the last token is the longest possible, then the one before it, and so on;
// so the result is unique. It is also that of a Unigram model of Hugging Face tokenizers whose scores are all -1.
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

    /// By token id, up to the highest: how often the token stands in the corpus.
    std::vector<std::int64_t> token_counts(const ChunkCountsView& counts, unsigned threads) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace prunedbpe
