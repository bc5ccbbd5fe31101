// The finished tokenizer: text -> token ids and back. Immutable; any number of threads may share one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/types.hpp"
#include "prunedbpe/unicode_text.hpp"

namespace prunedbpe {

/// Flat lists of token ids: list i is ids [offsets[i], offsets[i + 1]).
struct EncodedBatch {
    IdBuffer ids;
    std::vector<std::int64_t> offsets;
};

/// The same, of somebody else.
struct IdListsView {
    std::span<const std::uint32_t> ids;
    std::span<const std::int64_t> offsets;
};

/// Leaving out merges at random while encoding, to show a model several segmentations of one text.
struct Dropout {
    double probability = 0;
    std::uint64_t seed = 0;
};

/// The lowest rank whose own bytes do not merge into it, if there is one: then the token can never
/// appear, and an Encoder would not give what merging gives. Parts must have lower ranks than their token.
std::optional<std::uint32_t> find_unreachable(std::span<const Merge> merges);

class Encoder {
public:
    /// `expansions` gives, by rank, the visible token ids that stand for a token: itself if it is
    /// visible, its parts if it is internal. `next` may be null; then only encode_chunks works.
    /// Every token must be reachable (find_unreachable) and no string be spelled twice.
    Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next);
    ~Encoder();

    /// Appends the token ids of `text`.
    void encode(const UnicodeText& text, const Dropout& dropout, IdBuffer& ids) const;

    /// The same for chunks cut by somebody else: chunk i ends at ends[i], they cover `text`.
    void encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                       IdBuffer& ids) const;

    /// Encodes many texts on `threads` threads (0: one per core), results in order. Text i drops
    /// merges by seed + i, so the batch equals its texts encoded one by one.
    EncodedBatch encode_batch(std::span<const UnicodeText> texts, const Dropout& dropout, unsigned threads) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

class Decoder {
public:
    /// Token id i spells bytes [offsets[i], offsets[i + 1]).
    Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

    /// How many ids there are; all are below.
    std::size_t size() const { return tokens_.size(); }

    /// How many bytes the tokens spell, or, as `bad_place`, the place of the first id that is not in the
    /// vocabulary; it is ids.size() if there is none.
    struct Measured {
        std::size_t bytes;
        std::size_t bad_place;
    };
    Measured measure(std::span<const std::uint32_t> ids) const;

    /// Writes the bytes of all tokens, one after the other, to `text`, which is as large as measured.
    void write(std::span<const std::uint32_t> ids, std::span<char> text) const;

private:
    /// A token of up to 15 bytes stands here itself, so that a token costs one cache line.
    struct Token {
        static constexpr unsigned char is_long = 255;
        char bytes[15];
        unsigned char length;  // or is_long: `bytes` holds its place in long_bytes_ and its length
    };
    static_assert(sizeof(Token) == 16);

    std::vector<Token> tokens_;
    std::vector<std::uint8_t> lengths_;  // the lengths alone, small enough to stay in the fastest cache
    std::string long_bytes_;
};

}  // namespace prunedbpe
