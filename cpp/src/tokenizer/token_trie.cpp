#include "tokenizer/token_trie.hpp"

#include <array>
#include <bit>
#include <stdexcept>

#include "util/hash.hpp"

namespace prunedbpe {
namespace {

/// The trie while it grows: edges found by hashing, nodes numbered in the order they are made.
class GrowingTrie {
public:
    struct Edge {
        std::uint32_t parent;
        unsigned char byte;
    };

    explicit GrowingTrie(std::size_t tokens) : slots_(std::bit_ceil(tokens * 4 + 1024)) {
        edges.reserve(tokens * 2);
        edges.push_back({0, 0});  // the root has none
    }

    std::uint32_t child(std::uint32_t parent, unsigned char byte) {
        const std::uint64_t key = std::uint64_t{parent} << 8 | byte;
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash_key(key) & mask;
        for (; slots_[at] != 0; at = (at + 1) & mask) {
            const Edge& edge = edges[slots_[at]];
            if (edge.parent == parent && edge.byte == byte) return slots_[at];
        }
        slots_[at] = static_cast<std::uint32_t>(edges.size());
        edges.push_back({parent, byte});
        const std::uint32_t made = slots_[at];
        if (edges.size() * 2 > slots_.size()) grow();
        return made;
    }

    std::vector<Edge> edges;  // by node

private:
    void grow() {
        slots_.assign(slots_.size() * 2, 0);
        const std::size_t mask = slots_.size() - 1;
        for (std::uint32_t node = 1; node < edges.size(); ++node) {
            std::size_t at = hash_key(std::uint64_t{edges[node].parent} << 8 | edges[node].byte) & mask;
            while (slots_[at] != 0) at = (at + 1) & mask;
            slots_[at] = node;
        }
    }

    std::vector<std::uint32_t> slots_;  // nodes; 0: free
};

/// 256 yes or no answers.
using Bits = std::array<std::uint64_t, 4>;

/// The answers reordered: place i takes what stood at i ^ byte.
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

/// Finds places for children in blocks of 256 slots; a base and all its children share a block.
class SlotFinder {
public:
    /// A base no node has, whose slots for `bytes` are free; takes them. An only child goes into the cache
    /// line of its parent if it can: long tokens end in chains of such nodes.
    std::size_t take(std::span<const unsigned char> bytes, std::size_t parent_slot) {
        if (bytes.size() == 1 && !blocks_.empty()) {
            const std::size_t block = parent_slot / 256, line = parent_slot % 256 / 8 * 8;
            for (std::size_t slot = line; slot < line + 8; ++slot) {
                const std::size_t base = slot ^ bytes[0];
                if ((blocks_[block].free_slots[slot >> 6] >> (slot & 63) & 1) &&
                    (blocks_[block].free_bases[base >> 6] >> (base & 63) & 1)) {
                    return occupy(block, static_cast<unsigned>(base), bytes);
                }
            }
        }
        // Only the newest blocks are tried: older ones are nearly full, and trying costs time.
        const std::size_t tried = 2, first = blocks_.size() > tried ? blocks_.size() - tried : 0;
        for (std::size_t block = first; block < blocks_.size(); ++block) {
            Bits possible = blocks_[block].free_bases;
            for (const unsigned char byte : bytes) {
                const Bits fitting = permuted(blocks_[block].free_slots, byte);
                for (unsigned word = 0; word < 4; ++word) possible[word] &= fitting[word];
            }
            for (unsigned word = 0; word < 4; ++word) {
                if (possible[word] == 0) continue;
                return occupy(block, word * 64 + static_cast<unsigned>(std::countr_zero(possible[word])), bytes);
            }
        }
        blocks_.push_back({});
        blocks_.back().free_slots.fill(~std::uint64_t{0});
        blocks_.back().free_bases.fill(~std::uint64_t{0});
        if (blocks_.size() == 1) blocks_[0].free_slots[0] &= ~std::uint64_t{1};  // slot 0 is the root
        return take(bytes, parent_slot);
    }

    std::size_t slot_count() const { return blocks_.size() * 256; }

private:
    struct Block {
        Bits free_slots;
        Bits free_bases;
    };

    std::size_t occupy(std::size_t block, unsigned base, std::span<const unsigned char> bytes) {
        blocks_[block].free_bases[base >> 6] &= ~(std::uint64_t{1} << (base & 63));
        for (const unsigned char byte : bytes) {
            const unsigned slot = base ^ byte;
            blocks_[block].free_slots[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
        }
        return block * 256 + base;
    }

    std::vector<Block> blocks_;
};

}  // namespace

TokenTrie::TokenTrie(std::span<const Merge> merges) : shorter_(byte_count + merges.size(), none) {
    // 1. Grow the trie. A token's string is that of its left part, whose node is there, and the right one's.
    const std::size_t tokens = byte_count + merges.size();
    GrowingTrie trie(tokens);
    std::vector<std::uint32_t> node_of(tokens), ends(tokens + 1, 0);
    std::vector<unsigned char> bytes;
    bytes.reserve(tokens * 8);
    for (std::size_t rank = 0; rank < tokens; ++rank) {
        if (rank < byte_count) {
            bytes.push_back(static_cast<unsigned char>(rank));
            node_of[rank] = trie.child(0, static_cast<unsigned char>(rank));
        } else {
            const std::uint32_t left = raw(merges[rank - byte_count].left);
            const std::uint32_t right = raw(merges[rank - byte_count].right);
            std::uint32_t node = node_of[left];
            for (std::size_t i = ends[left]; i < ends[left + 1]; ++i) bytes.push_back(bytes[i]);
            for (std::size_t i = ends[right]; i < ends[right + 1]; ++i) {
                node = trie.child(node, bytes[i]);
                bytes.push_back(bytes[i]);
            }
            node_of[rank] = node;
        }
        ends[rank + 1] = static_cast<std::uint32_t>(bytes.size());
    }

    // 2. The longest token of each node; parents are made before their children.
    const std::size_t nodes = trie.edges.size();
    std::vector<std::uint32_t> longest(nodes, none);
    for (std::size_t rank = 0; rank < tokens; ++rank) longest[node_of[rank]] = static_cast<std::uint32_t>(rank);
    for (std::size_t node = 1; node < nodes; ++node) {
        const std::uint32_t above = longest[trie.edges[node].parent];
        if (longest[node] == none) {
            longest[node] = above;
        } else {
            shorter_[longest[node]] = above;
        }
    }

    // 3. Children of each node together.
    std::vector<std::uint32_t> first_child(nodes + 1, 0), children(nodes);
    for (std::size_t node = 1; node < nodes; ++node) ++first_child[trie.edges[node].parent + 1];
    for (std::size_t node = 0; node < nodes; ++node) first_child[node + 1] += first_child[node];
    std::vector<std::uint32_t> fill(first_child.begin(), first_child.end() - 1);
    for (std::uint32_t node = 1; node < nodes; ++node) children[fill[trie.edges[node].parent]++] = node;

    // 4. Lay the nodes out. A leaf gets base 0 of the last, empty block: none of its steps succeeds.
    SlotFinder finder;
    std::vector<std::uint32_t> slot(nodes, root);
    std::vector<std::uint32_t> bases(nodes, 0);
    std::vector<unsigned char> labels;
    // Depth first, so that the nodes of one token come to stand close together.
    std::vector<std::uint32_t> pending{0};
    while (!pending.empty()) {
        const std::uint32_t node = pending.back();
        pending.pop_back();
        labels.clear();
        for (std::size_t i = first_child[node]; i < first_child[node + 1]; ++i) {
            labels.push_back(trie.edges[children[i]].byte);
        }
        if (labels.empty()) continue;
        bases[node] = static_cast<std::uint32_t>(finder.take(labels, slot[node]));
        for (std::size_t i = first_child[node]; i < first_child[node + 1]; ++i) {
            slot[children[i]] = bases[node] ^ trie.edges[children[i]].byte;
            pending.push_back(children[i]);
        }
    }
    const std::size_t empty_block = finder.slot_count();
    if (empty_block + 256 > std::size_t{1} << base_bits || tokens >= none) {
        throw std::length_error("the vocabulary is too large: its trie has more than 2^24 nodes");
    }
    nodes_.assign(empty_block + 256, make_node(empty_block, no_label, none, 0));
    for (std::size_t node = 1; node < nodes; ++node) {
        const bool is_leaf = first_child[node] == first_child[node + 1];
        const std::uint32_t rank = longest[node];
        nodes_[slot[node]] = make_node(is_leaf ? empty_block : bases[node], trie.edges[node].byte, rank,
                                       ends[rank + 1] - ends[rank]);
    }
    starts_.resize(byte_count * byte_count);
    for (std::uint32_t i = 0; i < starts_.size(); ++i) {
        const std::uint32_t first = i >> 8, second = i & 0xFF;
        const std::uint64_t node = nodes_[base_of(nodes_[slot[node_of[first]]]) ^ second];
        starts_[i] = label_of(node) == second ? node : make_node(empty_block, no_label, first, 1);
    }
}

}  // namespace prunedbpe
