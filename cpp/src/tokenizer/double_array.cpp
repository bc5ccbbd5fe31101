#include "tokenizer/double_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>

#include "prunedbpe/types.hpp"

namespace prunedbpe {
namespace {

/// One bit for each slot of a block.
using Bits = std::array<std::uint64_t, 4>;

bool has(const Bits& bits, std::size_t i) { return bits[i >> 6] >> (i & 63) & 1; }
void clear(Bits& bits, std::size_t i) { bits[i >> 6] &= ~(std::uint64_t{1} << (i & 63)); }

/// Bit i of the result is bit i ^ byte.
Bits permuted(const Bits& bits, unsigned byte) {
    constexpr std::uint64_t halves[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                        0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
    Bits result;
    for (unsigned word = 0; word < 4; ++word) {
        std::uint64_t value = bits[word ^ (byte >> 6)];
        for (unsigned step = 0; step < 6; ++step) {
            if (byte >> step & 1) {
                const unsigned shift = 1u << step;
                value = (value & halves[step]) << shift | (value >> shift & halves[step]);
            }
        }
        result[word] = value;
    }
    return result;
}

/// Allocates slots in blocks of 256; a base and all its children share a block.
class SlotFinder {
public:
    /// A base that no node has, whose slots for `labels` are free; takes them. An only child goes into the cache line of
    /// its parent if possible: long strings end in chains of such nodes.
    std::size_t take(std::span<const unsigned char> labels, std::size_t parent) {
        if (labels.size() == 1) {
            const std::size_t block = parent / 256, line = parent % 256 / 8 * 8;
            for (std::size_t slot = line; slot < line + 8; ++slot) {
                const std::size_t base = slot ^ labels[0];
                if (has(blocks_[block].free_slots, slot) && has(blocks_[block].free_bases, base)) {
                    return occupy(block, base, labels);
                }
            }
        }
        // Tries only the newest two blocks: older ones are nearly full.
        for (std::size_t block = std::max<std::size_t>(blocks_.size(), 2) - 2; block < blocks_.size(); ++block) {
            Bits possible = blocks_[block].free_bases;
            for (const unsigned char label : labels) {
                const Bits free = permuted(blocks_[block].free_slots, label);
                for (unsigned word = 0; word < 4; ++word) possible[word] &= free[word];
            }
            for (unsigned word = 0; word < 4; ++word) {
                if (possible[word] == 0) continue;
                return occupy(block, word * 64 + static_cast<std::size_t>(std::countr_zero(possible[word])), labels);
            }
        }
        constexpr std::uint64_t ones = ~std::uint64_t{0};
        blocks_.push_back({{ones, ones, ones, ones}, {ones, ones, ones, ones}});
        return take(labels, parent);
    }

    std::size_t slot_count() const { return blocks_.size() * 256; }

private:
    struct Block {
        Bits free_slots;
        Bits free_bases;
    };

    std::size_t occupy(std::size_t block, std::size_t base, std::span<const unsigned char> labels) {
        clear(blocks_[block].free_bases, base);
        for (const unsigned char label : labels) clear(blocks_[block].free_slots, base ^ label);
        return block * 256 + base;
    }

    std::vector<Block> blocks_{Block{}};  // the block that stays empty has nothing to give
};

}  // namespace

/// Sorts the strings, then lays the nodes of their trie out depth first, so that the nodes of a string end up close
/// together.
class DoubleArray::Builder {
public:
    Builder(DoubleArray& result, std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
        : result_(result), bytes_(reinterpret_cast<const char*>(bytes.data())), offsets_(offsets) {
        if (offsets.size() > none) throw std::length_error("a vocabulary has at most 2^23 tokens");
        strings_.reserve(offsets.size());
        for (std::uint32_t i = 0; i + 1 < offsets.size(); ++i) {
            const std::string_view text = text_of(i);
            if (text.empty()) throw std::invalid_argument("a token must not be empty");
            std::uint64_t prefix = 0;
            for (std::size_t at = 0; at < 8; ++at) {
                prefix = prefix << 8 | (at < text.size() ? static_cast<unsigned char>(text[at]) : 0);
            }
            strings_.push_back({prefix, i});
        }
        std::sort(strings_.begin(), strings_.end(), [&](const String& a, const String& b) {
            return a.prefix != b.prefix ? a.prefix < b.prefix : text_of(a.index) < text_of(b.index);
        });
    }

    void build() {
        result_.shorter_.assign(strings_.size(), none);
        result_.nodes_.assign(byte_count, free_slot());
        pending_.push_back({0, 0, 0, strings_.size(), none});
        while (!pending_.empty()) {
            const Pending node = pending_.back();
            pending_.pop_back();
            lay_out(node);
        }
        for (unsigned byte = 0; byte < byte_count; ++byte) {
            const Node node = result_.first(static_cast<unsigned char>(byte));
            if (node.label() == byte && node.is_string()) continue;
            throw std::invalid_argument("byte " + std::to_string(byte) + " is not among the tokens");
        }
        result_.starts_.reserve(byte_count * byte_count);
        for (unsigned first = 0; first < byte_count; ++first) {
            const Node parent = result_.first(static_cast<unsigned char>(first));
            for (unsigned second = 0; second < byte_count; ++second) {
                Node node = parent;
                const bool is_there = result_.step(node, static_cast<unsigned char>(second));
                result_.starts_.push_back(is_there ? node : Node(0, Node::no_label, parent.longest(), 1, false));
            }
        }
    }

private:
    struct String {
        std::uint64_t prefix;  // the first eight bytes, the first one highest: decides nearly all comparisons
        std::uint32_t index;
    };
    struct Pending {
        std::size_t slot;
        std::size_t depth;
        std::size_t begin, end;  // the strings that begin with its path, in order
        std::uint32_t longest;   // of its parent
    };

    static Node free_slot() { return Node(0, Node::no_label, none, 0, false); }

    std::string_view text_of(std::uint32_t i) const {
        return {bytes_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
    }
    std::string_view sorted(std::size_t i) const { return text_of(strings_[i].index); }

    void lay_out(Pending node) {
        const bool is_string = node.begin < node.end && sorted(node.begin).size() == node.depth;
        std::size_t at = node.begin;
        if (is_string) {
            const std::uint32_t string = strings_[at++].index;
            result_.shorter_[string] = node.longest;
            node.longest = string;
            if (at < node.end && sorted(at).size() == node.depth) {
                throw std::invalid_argument("two tokens spell the same string");
            }
        }
        labels_.clear();
        const std::size_t first_child = pending_.size();
        while (at < node.end) {
            const char label = sorted(at)[node.depth];
            const std::size_t begin = at;
            while (at < node.end && sorted(at)[node.depth] == label) ++at;
            labels_.push_back(static_cast<unsigned char>(label));
            pending_.push_back({0, node.depth + 1, begin, at, node.longest});
        }
        std::size_t base = 0;
        if (!labels_.empty()) {
            base = finder_.take(labels_, node.slot);
            if (finder_.slot_count() > std::size_t{1} << Node::base_bits) {
                throw std::length_error("the vocabulary is too large: its trie has more than 2^24 nodes");
            }
            result_.nodes_.resize(finder_.slot_count(), free_slot());
            for (std::size_t i = 0; i < labels_.size(); ++i) pending_[first_child + i].slot = base ^ labels_[i];
        }
        if (node.depth == 0) {
            result_.root_base_ = base;
        } else {
            const auto label = static_cast<unsigned char>(sorted(node.begin)[node.depth - 1]);
            const std::size_t length = node.longest == none ? 0 : text_of(node.longest).size();
            result_.nodes_[node.slot] = Node(base, label, node.longest, length, is_string);
        }
    }

    DoubleArray& result_;
    const char* bytes_;
    std::span<const std::int64_t> offsets_;
    std::vector<String> strings_;  // in order
    SlotFinder finder_;
    std::vector<Pending> pending_;
    std::vector<unsigned char> labels_;
};

DoubleArray::DoubleArray(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets) {
    Builder(*this, bytes, offsets).build();
}

}  // namespace prunedbpe
