#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "prunedbpe/shortest.hpp"

namespace prunedbpe {

/// Lays the trie of the sorted strings out, node by node. Free places form a list; the first of them
/// that takes all children of a node is used. A node with many children that finds no such place
/// soon goes to the end, so building stays linear.
class DoubleArray::Builder {
public:
    Builder(DoubleArray& goal, std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
            std::span<const std::uint32_t> values)
        : goal_(goal), bytes_(bytes), offsets_(offsets), values_(values), order_(values.size()) {
        std::iota(order_.begin(), order_.end(), 0u);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
    }

    void build() {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (text(order_[i]).empty()) throw std::invalid_argument("an empty string is no token");
            if (i > 0 && text(order_[i - 1]) == text(order_[i])) {
                throw std::invalid_argument("two tokens spell the same string");
            }
            goal_.longest_ = std::max(goal_.longest_, text(order_[i]).size());
        }
        reserve(1 << 12);
        take(root, root);  // its own parent: no byte leads to place 0, since every base is at least 1
        std::vector<Node> todo{{root, 0, 0, order_.size()}};
        while (!todo.empty()) {
            const Node node = todo.back();
            todo.pop_back();
            place_children(node, todo);
        }
        // A walk may look up to 255 places behind the last base.
        goal_.units_.resize(goal_.units_.size() + byte_count);
        goal_.units_.shrink_to_fit();
        goal_.values_.resize(goal_.units_.size(), no_value);
    }

private:
    struct Node {
        std::uint32_t state;
        std::size_t depth;
        std::size_t begin, end;  // the strings below it, in order
    };
    struct Child {
        unsigned char byte;
        std::size_t begin, end;
    };
    static constexpr int most_tries = 64;

    std::string_view text(std::uint32_t i) const {
        return {reinterpret_cast<const char*>(bytes_.data()) + offsets_[i],
                static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
    }

    void place_children(const Node& node, std::vector<Node>& todo) {
        std::size_t at = node.begin;
        if (text(order_[at]).size() == node.depth && node.depth > 0) {
            goal_.units_[node.state].base |= string_bit;
            goal_.values_[node.state] = values_[order_[at]];
            ++at;
        }
        children_.clear();
        while (at < node.end) {
            const auto byte = static_cast<unsigned char>(text(order_[at])[node.depth]);
            std::size_t end = at + 1;
            while (end < node.end && static_cast<unsigned char>(text(order_[end])[node.depth]) == byte) ++end;
            children_.push_back({byte, at, end});
            at = end;
        }
        if (children_.empty()) {
            // A leaf keeps base 1: places are looked up there, but none has it as its parent.
            goal_.units_[node.state].base |= 1;
            return;
        }
        const std::uint32_t base = find_base();
        goal_.units_[node.state].base |= base;
        for (const Child& child : children_) take(base + child.byte, node.state);
        for (const Child& child : children_) {
            todo.push_back({base + child.byte, node.depth + 1, child.begin, child.end});
        }
    }

    std::uint32_t find_base() {
        const std::uint32_t first = children_.front().byte;
        int tries = 0;
        for (std::uint32_t free = next_[0]; free != 0 && tries < most_tries; free = next_[free], ++tries) {
            if (free <= first) continue;
            const std::uint32_t base = free - first;
            if (base + children_.back().byte >= goal_.units_.size()) break;
            if (std::all_of(children_.begin(), children_.end(),
                            [&](const Child& child) { return is_free(base + child.byte); })) {
                return base;
            }
        }
        const auto end = static_cast<std::uint32_t>(goal_.units_.size());
        const std::uint32_t base = std::max(end, first + 1) - first;
        reserve(base + children_.back().byte + 1);
        return base;
    }

    bool is_free(std::uint32_t place) const { return goal_.units_[place].parent == nowhere; }

    /// Place 0 heads the list of free places, linked both ways.
    void reserve(std::size_t size) {
        const std::size_t old = goal_.units_.size();
        if (size <= old) return;
        goal_.units_.resize(size);
        goal_.values_.resize(size, no_value);
        next_.resize(size);
        previous_.resize(size);
        for (std::size_t i = std::max<std::size_t>(old, 1); i < size; ++i) {
            const auto place = static_cast<std::uint32_t>(i);
            previous_[place] = previous_[0];
            next_[previous_[0]] = place;
            next_[place] = 0;
            previous_[0] = place;
        }
    }

    void take(std::uint32_t place, std::uint32_t parent) {
        goal_.units_[place].parent = parent;
        if (place == root) return;
        next_[previous_[place]] = next_[place];
        previous_[next_[place]] = previous_[place];
    }

    DoubleArray& goal_;
    std::span<const std::uint8_t> bytes_;
    std::span<const std::int64_t> offsets_;
    std::span<const std::uint32_t> values_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> next_, previous_;
    std::vector<Child> children_;
};

DoubleArray::DoubleArray(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets,
                         std::span<const std::uint32_t> values) {
    if (offsets.size() != values.size() + 1) throw std::invalid_argument("one value is needed for every string");
    Builder(*this, bytes, offsets, values).build();
}

}  // namespace prunedbpe
