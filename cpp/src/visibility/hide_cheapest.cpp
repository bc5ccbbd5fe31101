#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "prunedbpe/visibility.hpp"

namespace prunedbpe {
namespace {

class Hiding {
public:
    Hiding(std::span<const Merge> merges, std::span<const std::int64_t> exposure, const SourceValue& value,
           std::span<const double> price)
        : merges_(merges),
          value_(value),
          price_(price),
          flow_(exposure.begin(), exposure.end()),
          hidden_(byte_count + merges.size(), false) {
        for (std::size_t i = 0; i < merges.size(); ++i) {
            const auto rank = static_cast<std::uint32_t>(byte_count + i);
            queue_.push_back({cost(rank), rank});
        }
        std::make_heap(queue_.begin(), queue_.end(), dearer);
    }

    std::uint32_t hide_next() {
        for (;;) {
            std::pop_heap(queue_.begin(), queue_.end(), dearer);
            Candidate& front = queue_.back();
            const double now = cost(front.rank);
            if (now <= front.cost) {
                const std::uint32_t rank = front.rank;
                queue_.pop_back();
                hidden_[rank] = true;
                hand_down(rank, rank);
                return rank;
            }
            front.cost = now;
            std::push_heap(queue_.begin(), queue_.end(), dearer);
        }
    }

private:
    struct Candidate {
        double cost;
        std::uint32_t rank;
    };

    static bool dearer(const Candidate& a, const Candidate& b) {
        return a.cost != b.cost ? a.cost > b.cost : a.rank < b.rank;
    }

    const Merge& parts(std::uint32_t rank) const { return merges_[rank - byte_count]; }

    /// Visible tokens that stand for the rank.
    std::uint32_t width(std::uint32_t rank) const {
        return hidden_[rank] ? width(raw(parts(rank).left)) + width(raw(parts(rank).right)) : 1;
    }

    std::span<double> flow(std::uint32_t rank) {
        return {flow_.data() + rank * value_.weights.size(), value_.weights.size()};
    }

    double cost(std::uint32_t rank) {
        const std::uint32_t more = width(raw(parts(rank).left)) + width(raw(parts(rank).right)) - 1;
        return price_[rank] * value_(std::span<const double>(flow(rank))) * std::pow(more, value_.exponent);
    }

    /// Adds the flow of `hidden` to the parts of a hidden rank, recursively.
    void hand_down(std::uint32_t rank, std::uint32_t hidden) {
        for (const Rank part : {parts(rank).left, parts(rank).right}) {
            const std::span<double> from = flow(hidden), to = flow(raw(part));
            for (std::size_t s = 0; s < to.size(); ++s) to[s] += from[s];
            if (hidden_[raw(part)]) hand_down(raw(part), hidden);
        }
    }

    std::span<const Merge> merges_;
    SourceValue value_;
    std::span<const double> price_;
    std::vector<double> flow_;       // by rank, then by source: exposure plus the flow of hidden parents
    std::vector<bool> hidden_;       // by rank
    std::vector<Candidate> queue_;   // a heap, cheapest first; costs may be out of date, never too high
};

}  // namespace

std::vector<std::uint32_t> hide_cheapest(std::span<const Merge> merges, std::span<const std::int64_t> exposure,
                                         const SourceValue& value, std::span<const double> price, std::size_t count) {
    if (price.size() != byte_count + merges.size() || exposure.size() != price.size() * value.weights.size()) {
        throw std::invalid_argument("exposure and price must have a value for each byte and each merge");
    }
    if (count > merges.size()) throw std::invalid_argument("more tokens to hide than were learned");
    Hiding hiding(merges, exposure, value, price);
    std::vector<std::uint32_t> order(count);
    for (std::uint32_t& rank : order) rank = hiding.hide_next();
    return order;
}

}  // namespace prunedbpe
