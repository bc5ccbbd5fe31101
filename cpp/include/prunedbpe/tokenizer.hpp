// The finished tokenizer: text -> token ids and back. Immutable; any number of threads may share one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/merger.hpp"
#include "prunedbpe/pretokenize.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Flat lists of token ids: list i is ids [offsets[i], offsets[i + 1]).
struct IdLists {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets;
};

struct IdListsView {
    std::span<const std::uint32_t> ids;
    std::span<const std::int64_t> offsets;
};

/// Leaving out merges at random while encoding, to show a model several segmentations of one text.
struct Dropout {
    double probability = 0;
    std::uint64_t seed = 0;
};

class Encoder {
public:
    /// `expansions` gives, by rank, the visible token ids that stand for a token: itself if it is
    /// visible, its parts if it is internal. `next` may be null; then only encode_chunks works.
    Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next);

    /// Appends the token ids of `text`, valid UTF-8.
    void encode(std::string_view text, const Dropout& dropout, std::vector<std::uint32_t>& ids) const;

    /// The same for chunks cut by somebody else: chunk i ends at ends[i], they cover `text`.
    void encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                       std::vector<std::uint32_t>& ids) const;

    /// Encodes many texts on `threads` threads (0: one per core), results in order. Text i drops
    /// merges by seed + i, so the batch equals its texts encoded one by one.
    IdLists encode_batch(std::span<const std::string_view> texts, const Dropout& dropout, unsigned threads) const;

private:
    void append_chunk(std::string_view chunk, MergeScratch& scratch, std::vector<std::uint32_t>& ids) const;
    void append_chunk_dropout(std::string_view chunk, double probability, std::uint64_t& state,
                              MergeScratch& scratch, std::vector<std::uint32_t>& ids) const;
    void append_expanded(const std::vector<std::uint32_t>& ranks, std::vector<std::uint32_t>& ids) const;

    MergeLookup lookup_;
    std::vector<std::uint32_t> expansion_ids_;
    std::vector<std::uint32_t> expansion_offsets_;
    NextChunk next_;
};

class Decoder {
public:
    /// Token id i spells bytes [offsets[i], offsets[i + 1]).
    Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

    /// The bytes of all tokens, one after the other. Throws std::out_of_range naming a bad id.
    std::string decode(std::span<const std::uint32_t> ids) const;

private:
    std::string bytes_;
    std::vector<std::int64_t> offsets_;
};

}  // namespace prunedbpe
