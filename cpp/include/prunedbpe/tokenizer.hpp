// The finished tokenizer: text -> token ids and back. Encoders and decoders are immutable; threads may share one.
//
// Encoder cuts by merge rank and expands internal tokens; ShortestEncoder (shortest.hpp) cuts into the fewest tokens.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/types.hpp"
#include "prunedbpe/unicode_text.hpp"

namespace prunedbpe {

/// Token ids of many texts: text i is ids [offsets[i], offsets[i + 1]).
struct EncodedBatch {
    IdBuffer ids;
    std::vector<std::int64_t> offsets;
};

/// Borrowed lists of token ids: list i is ids [offsets[i], offsets[i + 1]).
struct IdListsView {
    std::span<const std::uint32_t> ids;
    std::span<const std::int64_t> offsets;
};

/// BPE-dropout: skips merges at random, to show a model several segmentations of one text.
struct Dropout {
    double probability = 0;  ///< 0 is plain encoding
    std::uint64_t seed = 0;
};

/// A chunk that is one token, whatever the merges make of it.
struct WholeChunk {
    std::string_view bytes;
    std::uint32_t id;
};

/// Encodes by merge rank. Linear in the text.
class Encoder {
public:
    /// `expansions` are the visible token ids of every rank (expand_internal); ids are below 2^29. Every token must be
    /// reachable (find_unreachable). `next` may be null; then only encode_chunks works.
    /// Copies `whole_chunks`; dropout does not use them.
    Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next,
            std::span<const WholeChunk> whole_chunks = {});
    ~Encoder();

    /// Appends the token ids of `text`.
    void encode(const UnicodeText& text, const Dropout& dropout, IdBuffer& ids) const;

    /// Appends the token ids of a text that the caller has cut: chunk i ends at ends[i], and they cover `text`.
    void encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                       IdBuffer& ids) const;

    /// Encodes many texts on `threads` threads (0: one per core). Text i uses seed + i, so the result equals that of
    /// encoding the texts one by one.
    EncodedBatch encode_batch(std::span<const UnicodeText> texts, const Dropout& dropout, unsigned threads) const;

    /// The same for documents of one UTF-8 text, without dropout.
    EncodedBatch encode_documents(std::string_view text, std::span<const DocumentSpan> documents, unsigned threads) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Encodes a batch slice by slice: while the caller uses one slice, other threads encode the next. With one thread, the
/// caller's thread encodes each slice on demand.
class SlicedBatch {
public:
    /// Borrows all its arguments, and works under the Interrupt of the calling thread.
    SlicedBatch(const Encoder& encoder, std::span<const UnicodeText> texts, const Dropout& dropout, unsigned threads);
    SlicedBatch(const SlicedBatch&) = delete;
    SlicedBatch& operator=(const SlicedBatch&) = delete;

    /// The ids of the next texts; nothing after the last one. Throws LoneSurrogate with the text's index in the batch.
    std::optional<EncodedBatch> next();

private:
    void start();

    const Encoder& encoder_;
    std::span<const UnicodeText> texts_;
    Dropout dropout_;
    unsigned threads_;
    std::size_t begin_ = 0, end_ = 0;     ///< texts of the running slice
    std::future<EncodedBatch> running_;   ///< not valid after the last slice
};

class Decoder {
public:
    /// Token id i spells bytes [offsets[i], offsets[i + 1]).
    Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

    /// Number of token ids; all are below it.
    std::size_t size() const { return tokens_.size(); }

    struct Measured {
        std::size_t bytes;    ///< length of the text up to `unknown`
        std::size_t unknown;  ///< index of the first id that is not in the vocabulary; ids.size() if there is none
    };
    Measured measure(std::span<const std::uint32_t> ids) const;

    /// Writes the text of known ids to `text`, whose size is Measured::bytes.
    void write(std::span<const std::uint32_t> ids, std::span<char> text) const;

private:
    /// Holds a token of up to 15 bytes itself, so that a token costs one cache line.
    struct Token {
        static constexpr unsigned char is_long = 255;
        char bytes[15];
        unsigned char length;  ///< or is_long: `bytes` holds the token's offset in long_bytes_ and its length
    };
    static_assert(sizeof(Token) == 16);

    std::vector<Token> tokens_;
    std::vector<std::uint8_t> lengths_;  ///< Token::length alone, small enough for the L1 cache
    std::string long_bytes_;
};

}  // namespace prunedbpe
