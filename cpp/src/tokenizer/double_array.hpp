// A set of strings as a double array: J. Aoe, "An efficient digital search algorithm by using a double-array
// structure", IEEE Transactions on Software Engineering 15(9), 1989, doi:10.1109/32.31365.
//
// The child of a node by byte c is slot base ^ c, if that slot carries the label c. No two nodes share a base, so the
// label alone tells whose child a slot is, and a node fits into eight bytes: a step is one load. Every node also knows
// the longest string that its path begins with, so a walk need not remember the strings it passed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace prunedbpe {

class DoubleArray {
public:
    static constexpr std::uint32_t none = (1u << 23) - 1;  ///< no string

    /// String i is bytes [offsets[i], offsets[i + 1]). Throws std::invalid_argument if a string is empty or occurs
    /// twice, or if one of the 256 single bytes is missing; std::length_error beyond 2^23 strings or 2^24 nodes.
    /// O(total bytes), after sorting.
    DoubleArray(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

    /// From the low bits: base 24, label 9, longest string 23, its length 7, is_string 1.
    class Node {
    public:
        /// The longest string that the path to this node begins with.
        std::uint32_t longest() const { return static_cast<std::uint32_t>(bits_ >> longest_shift) & none; }
        /// Bytes of `longest`; 0 for 128 and more.
        std::uint32_t length() const { return static_cast<std::uint32_t>(bits_ >> length_shift) & (length_limit - 1); }
        /// Is the path itself a string?
        bool is_string() const { return bits_ >> 63 != 0; }

    private:
        friend class DoubleArray;
        static constexpr int base_bits = 24, longest_shift = 33, length_shift = 56;
        static constexpr std::uint32_t length_limit = 1u << 7;
        static constexpr std::uint64_t no_label = 256;  // of a free slot

        Node(std::size_t base, std::uint64_t label, std::uint32_t longest, std::size_t length, bool is_string)
            : bits_(base | label << base_bits | std::uint64_t{longest} << longest_shift |
                    std::uint64_t{length < length_limit ? length : 0} << length_shift | std::uint64_t{is_string} << 63) {}
        std::size_t base() const { return bits_ & ((1u << base_bits) - 1); }
        std::uint64_t label() const { return bits_ >> base_bits & 0x1FF; }

        std::uint64_t bits_;
    };

    /// The node of a single byte.
    Node first(unsigned char byte) const { return nodes_[root_base_ ^ byte]; }

    /// Moves `node` to its child; false if it has none by this byte.
    bool step(Node& node, unsigned char byte) const {
        const Node child = nodes_[node.base() ^ byte];
        if (child.label() != byte) return false;
        node = child;
        return true;
    }

    /// The last node on the way along [at, end), whose `longest` is the longest string that this text begins with; needs
    /// at < end. May skip nodes without a string of their own, so `is_string` means nothing here.
    Node walk(const char* at, const char* end) const {
        const auto byte = [&] { return static_cast<unsigned char>(*at++); };
        const unsigned char first_byte = byte();
        if (at == end) [[unlikely]] return first(first_byte);
        // Two steps at once. Text uses few pairs of bytes, so their nodes stay in the cache.
        Node node = starts_[std::size_t{first_byte} << 8 | byte()];
        while (at < end && step(node, byte())) {
        }
        return node;
    }

    /// By string: the longest other string that it begins with, or none.
    const std::vector<std::uint32_t>& shorter() const { return shorter_; }

private:
    class Builder;

    std::vector<Node> nodes_;  ///< by slot; block 0 (256 slots) is empty, and leaves have base 0: all their steps fail
    std::size_t root_base_ = 0;
    std::vector<Node> starts_;  ///< by two bytes: their node, or a leaf for the first one
    std::vector<std::uint32_t> shorter_;
};

}  // namespace prunedbpe
