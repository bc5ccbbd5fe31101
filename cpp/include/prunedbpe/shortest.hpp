// The fewest visible tokens for a chunk: vocabulary-only segmentation, exact.
//
// D(i), the fewest tokens for the bytes from i to the chunk's end, is filled from the end:
// D(n) = 0, D(i) = 1 + the least D(i + |t|) over the visible tokens t that stand at i. Time is
// O(n * longest token), memory O(n). Of several answers with the same number of tokens the one with
// the longest first token is taken, then the longest second one, and so on; there is only one such.
//
// Immutable; any number of threads may share one.
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

/// Strings as a double array: the child of `state` by byte c is place base[state] + c, if that place
/// says that `state` is its parent. One step is one load of eight bytes.
class DoubleArray {
public:
    static constexpr std::uint32_t root = 0;
    static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
    static constexpr std::uint32_t no_value = 0xFFFFFFFF;

    /// String i is bytes [offsets[i], offsets[i + 1]) and has the value values[i]. The strings are
    /// distinct and not empty.
    DoubleArray(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                std::span<const std::uint32_t> values);

    /// The state after one more byte, or `nowhere`.
    std::uint32_t child(std::uint32_t state, unsigned char byte) const {
        const std::uint32_t at = (units_[state].base & base_mask) + byte;
        return units_[at].parent == state ? at : nowhere;
    }
    /// Is the way to this state a string of its own?
    bool is_string(std::uint32_t state) const { return (units_[state].base & string_bit) != 0; }
    std::uint32_t value(std::uint32_t state) const { return values_[state]; }

    std::size_t longest() const { return longest_; }
    std::size_t memory() const { return units_.capacity() * sizeof(Unit) + values_.capacity() * 4; }

private:
    static constexpr std::uint32_t string_bit = 0x80000000, base_mask = 0x7FFFFFFF;

    struct Unit {
        std::uint32_t base = 0;  // highest bit: is_string
        std::uint32_t parent = nowhere;
    };
    class Builder;

    std::vector<Unit> units_;
    std::vector<std::uint32_t> values_;  // by state; apart, because walking does not need them
    std::size_t longest_ = 0;
};

class ShortestEncoder {
public:
    /// Visible string i is bytes [offsets[i], offsets[i + 1]) and has the token id ids[i]; the 256
    /// bytes must be among them. `next` may be null; then only chunks cut by others can be encoded.
    ShortestEncoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                    std::span<const std::uint32_t> ids, NextChunk next);
    ~ShortestEncoder();

    /// Appends the token ids of `text`.
    void encode(const UnicodeText& text, IdBuffer& ids) const;

    /// The same for chunks cut by somebody else: chunk i ends at ends[i], they cover `text`.
    void encode_chunks(std::string_view text, std::span<const std::int64_t> ends, IdBuffer& ids) const;

    /// Encodes many texts on `threads` threads (0: one per core), results in order.
    EncodedBatch encode_batch(std::span<const UnicodeText> texts, unsigned threads) const;

    /// The fewest tokens of every unique chunk, once each; parallel over the chunks.
    std::vector<std::uint32_t> chunk_lengths(const ChunkCountsView& counts, unsigned threads) const;

    /// The fewest tokens of the whole corpus, chunks weighted by their counts.
    std::int64_t total_length(const ChunkCountsView& counts, unsigned threads) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace prunedbpe
