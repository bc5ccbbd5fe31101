#include "prunedbpe/lower_bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "visibility/candidate_edges.hpp"

namespace prunedbpe {
namespace {

constexpr std::uint32_t most_per_edge = std::numeric_limits<std::uint16_t>::max();

/// How one step of the search is taken; see `ascend`.
struct Step {
    float length;        ///< in units of a multiplier
    float flow_width;    ///< edges at most this much dearer than the cheapest path carry some of its flow
    double choice_width;  ///< candidates within this share of the price are chosen in part

    // The numbers were tuned on 57 MB of text at 8,000 tokens. The ends matter more than the way between them: large
    // steps at first, and hardly any smoothing at last, because a smoothed direction stops short of the best bound.
    explicit Step(double heat) {
        const double cooling = heat * heat * heat;
        length = static_cast<float>(LowerBound::unit * (0.50 * cooling + 0.010));
        flow_width = static_cast<float>(LowerBound::unit * (0.40 * cooling + 0.020));
        choice_width = 0.30 * cooling + 0.015;
    }
};

struct Token {
    std::uint32_t length;
    std::uint32_t most;  ///< a multiplier of length - 1 makes an edge as dear as its bytes: more is never needed
    float chosen;        ///< 0 to 1: how much of the token belongs to the N with the largest S
};

/// Working memory of one thread.
struct Worker {
    std::vector<std::int64_t> sums;        ///< by token: S after the step
    std::int64_t paths = 0;                ///< cost of the cheapest paths before it
    std::vector<std::int64_t> cheapest;    ///< by position: cheapest path to it
    std::vector<float> flow;               ///< by position: share of the paths that pass
    std::vector<float> total_weight;       ///< by position: weight of the edges that end there
    std::vector<float> byte_weight;        ///< by position: weight of the single byte that begins there
    std::vector<float> weight;             ///< by edge of the chunk
};

}  // namespace

struct LowerBound::Parts {
    Parts(const ChunkCountsView& given, std::span<const std::uint8_t> strings, std::span<const std::int64_t> string_offsets,
          const std::vector<std::uint32_t>& lengths, std::size_t required_tokens, std::int64_t value_of_unlisted,
          unsigned threads)
        : team(threads),
          edges(given, DoubleArray(strings, string_offsets), lengths, team),
          counts(given.counts.begin(), given.counts.end()),
          required(required_tokens),
          unlisted(value_of_unlisted * unit),
          workers(team.size()) {
        for (const std::uint32_t length : lengths) {
            tokens.push_back({length, static_cast<std::uint32_t>(std::min<std::int64_t>((length - 1) * unit, most_per_edge)), 0});
        }
        multipliers.resize(edges.edge_count());
        std::fill(multipliers.begin(), multipliers.end(), std::uint16_t{0});
        sums.resize(tokens.size());
        check_range(given);
    }

    void check_range(const ChunkCountsView& given) const {
        // No sum exceeds what it would be if every edge had the largest multiplier and every byte were a token.
        double largest = static_cast<double>(required) * static_cast<double>(unlisted);
        for (std::size_t i = 0; i < given.size(); ++i) {
            const CandidateEdges::Chunk chunk = edges.chunk(i);
            largest += static_cast<double>(given.counts[i]) * (static_cast<double>(chunk.edges_at.size()) * unit +
                                                               static_cast<double>(chunk.tokens.size()) * most_per_edge);
        }
        if (largest > 9e18) throw std::length_error("the counts are too large for a bound in 64-bit integers");
    }

    /// Costs of the cheapest paths from the start of a chunk, into `worker.cheapest`.
    void find_paths(std::size_t chunk, Worker& worker) const {
        const CandidateEdges::Chunk found = edges.chunk(chunk);
        const std::size_t size = found.edges_at.size();
        std::vector<std::int64_t>& cheapest = worker.cheapest;
        if (cheapest.size() <= size) cheapest.resize(size + 1);
        for (std::size_t at = 0; at <= size; ++at) cheapest[at] = static_cast<std::int64_t>(at) * unit;
        const std::uint16_t* multiplier = multipliers.data() + edges.first_edge(chunk);
        const std::uint32_t* token = found.tokens.data();
        for (std::size_t at = 0; at < size; ++at) {
            const std::int64_t next = cheapest[at] + unit;
            cheapest[at + 1] = std::min(cheapest[at + 1], next);
            for (const std::uint32_t* const last = token + found.edges_at[at]; token != last; ++token, ++multiplier) {
                std::int64_t& there = cheapest[at + tokens[*token].length];
                there = std::min(there, next + *multiplier);
            }
        }
        worker.paths += counts[chunk] * cheapest[size];
    }

    /// Sends one unit of flow through a chunk, mostly along its cheapest paths, and moves every multiplier by
    /// flow - chosen: the edge gets dearer if the paths want it more than the choice grants. With all the flow on one
    /// cheapest path and N tokens chosen this is a subgradient of L. Paths tie all the time, so spreading the flow over
    /// those that are nearly cheapest takes far fewer steps.
    void move(std::size_t chunk, const Step& step, Worker& worker) {
        const CandidateEdges::Chunk found = edges.chunk(chunk);
        const std::size_t size = found.edges_at.size(), edge_count = found.tokens.size();
        const std::vector<std::int64_t>& cheapest = worker.cheapest;
        for (auto* by_position : {&worker.flow, &worker.total_weight, &worker.byte_weight}) {
            if (by_position->size() <= size) by_position->resize(size + 1);
            std::fill_n(by_position->begin(), size + 1, 0.0f);
        }
        if (worker.weight.size() < edge_count) worker.weight.resize(edge_count);
        std::uint16_t* const multiplier = multipliers.data() + edges.first_edge(chunk);

        const float scale = 1.0f / step.flow_width;
        const auto weight_of = [&](std::int64_t dearer) {
            const float rest = std::max(0.0f, 1.0f - static_cast<float>(dearer) * scale);
            return rest * rest;
        };
        std::size_t edge = 0;
        for (std::size_t at = 0; at < size; ++at) {
            const std::int64_t next = cheapest[at] + unit;
            worker.byte_weight[at] = weight_of(next - cheapest[at + 1]);
            worker.total_weight[at + 1] += worker.byte_weight[at];
            for (const std::size_t last = edge + found.edges_at[at]; edge < last; ++edge) {
                const std::size_t end = at + tokens[found.tokens[edge]].length;
                worker.weight[edge] = weight_of(next + multiplier[edge] - cheapest[end]);
                worker.total_weight[end] += worker.weight[edge];
            }
        }
        // Some cheapest path ends at every position, so no total is 0.
        const std::int64_t count = counts[chunk];
        worker.flow[size] = 1;
        for (std::size_t at = size; at-- > 0;) {
            float flow = worker.flow[at + 1] * worker.byte_weight[at] / worker.total_weight[at + 1];
            for (const std::size_t first = edge - found.edges_at[at]; edge > first;) {
                --edge;
                const Token& token = tokens[found.tokens[edge]];
                const std::size_t end = at + token.length;
                const float used = worker.flow[end] * worker.weight[edge] / worker.total_weight[end];
                flow += used;
                const float moved = static_cast<float>(multiplier[edge]) + step.length * (used - token.chosen);
                const auto now = static_cast<std::uint32_t>(std::clamp(moved + 0.5f, 0.0f, static_cast<float>(token.most)));
                multiplier[edge] = static_cast<std::uint16_t>(now);
                worker.sums[found.tokens[edge]] += count * now;
            }
            worker.flow[at] = flow;
        }
    }

    /// The N largest of max(S, unlisted); the least of them is the last.
    std::vector<std::int64_t> largest_sums() const {
        std::vector<std::int64_t> largest(sums.begin() + byte_count, sums.end());
        for (std::int64_t& sum : largest) sum = std::max(sum, unlisted);
        if (largest.size() > required) {
            const auto by_size = std::greater<>();
            if (required > 0) {
                std::nth_element(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(required) - 1, largest.end(), by_size);
            }
            largest.resize(required);
        } else {
            largest.resize(required, unlisted);
        }
        return largest;
    }

    /// Chooses `required` tokens with the largest S; those near the price in part, in proportion to S - price.
    void choose(double width) {
        const double band = std::max(1.0, price * width);
        const auto share = [&](std::int64_t sum, double centre) {
            return std::clamp(0.5 + (static_cast<double>(sum) - centre) / (2 * band), 0.0, 1.0);
        };
        // The centre for which the shares add up to `required`: they fall as it rises.
        double low = price - band, high = price + band;
        for (int i = 0; i < 30; ++i) {
            const double centre = (low + high) / 2;
            double total = 0;
            for (std::size_t token = byte_count; token < sums.size(); ++token) total += share(sums[token], centre);
            (total > static_cast<double>(required) ? low : high) = centre;
        }
        for (std::size_t token = byte_count; token < sums.size(); ++token) {
            tokens[token].chosen = static_cast<float>(share(sums[token], high));
        }
    }

    void collect_sums() {
        std::fill(sums.begin(), sums.end(), 0);
        for (const Worker& worker : workers) {
            for (std::size_t token = 0; token < sums.size(); ++token) sums[token] += worker.sums[token];
        }
    }

    /// Goes through all chunks; `visit(chunk, worker)` follows the search for the chunk's paths. Returns the paths' cost.
    template <class Visit>
    std::int64_t pass(Visit&& visit) {
        for (Worker& worker : workers) {
            worker.paths = 0;
            worker.sums.assign(tokens.size(), 0);
        }
        share_out(team, 0, edges.chunk_count(), [&](unsigned member, std::size_t first, std::size_t last) {
            for (std::size_t chunk = first; chunk < last; ++chunk) {
                find_paths(chunk, workers[member]);
                visit(chunk, workers[member]);
            }
        });
        std::int64_t paths = 0;
        for (const Worker& worker : workers) paths += worker.paths;
        return paths;
    }

    WorkerTeam team;
    CandidateEdges edges;
    HugeVector<std::int64_t> counts;  ///< by chunk
    std::size_t required;
    std::int64_t unlisted;  ///< in 1/unit
    std::vector<Worker> workers;
    std::vector<Token> tokens;               ///< the bytes first
    HugeVector<std::uint16_t> multipliers;   ///< by edge
    std::vector<std::int64_t> sums;          ///< by token: S of `multipliers`
    double price = 0;                        ///< the N-th largest S when the last step began
    std::int64_t best = 0;
};

namespace {

std::vector<std::uint32_t> lengths_between(std::span<const std::int64_t> offsets) {
    std::vector<std::uint32_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
    return lengths;
}

}  // namespace

LowerBound::LowerBound(const ChunkCountsView& counts, std::span<const std::uint8_t> strings,
                       std::span<const std::int64_t> string_offsets, std::size_t required, std::int64_t unlisted,
                       unsigned threads)
    : parts_(std::make_unique<Parts>(counts, strings, string_offsets, lengths_between(string_offsets), required, unlisted,
                                     threads)) {}

LowerBound::~LowerBound() = default;

void LowerBound::ascend(double heat) {
    if (!(heat >= 0 && heat <= 1)) throw std::invalid_argument("heat " + std::to_string(heat) + " is not between 0 and 1");
    Parts& parts = *parts_;
    const Step step(heat);
    const std::vector<std::int64_t> largest = parts.largest_sums();
    parts.price = largest.empty() ? 0 : static_cast<double>(largest.back());
    parts.choose(step.choice_width);
    const std::int64_t paths = parts.pass([&](std::size_t chunk, Worker& worker) { parts.move(chunk, step, worker); });
    parts.best = std::max(parts.best, paths - std::accumulate(largest.begin(), largest.end(), std::int64_t{0}));
    parts.collect_sums();
}

std::int64_t LowerBound::best() const { return parts_->best; }

std::int64_t LowerBound::evaluate() const {
    const std::vector<std::int64_t> largest = parts_->largest_sums();
    return parts_->pass([](std::size_t, Worker&) {}) - std::accumulate(largest.begin(), largest.end(), std::int64_t{0});
}

std::span<const std::uint16_t> LowerBound::multipliers() const { return parts_->multipliers; }

void LowerBound::set_multipliers(std::span<const std::uint16_t> multipliers) {
    Parts& parts = *parts_;
    if (multipliers.size() != parts.multipliers.size()) {
        throw std::invalid_argument(std::to_string(multipliers.size()) + " multipliers for " +
                                    std::to_string(parts.multipliers.size()) + " edges");
    }
    std::copy(multipliers.begin(), multipliers.end(), parts.multipliers.begin());
    std::fill(parts.sums.begin(), parts.sums.end(), 0);
    for (std::size_t i = 0; i < parts.edges.chunk_count(); ++i) {
        const std::span<const std::uint32_t> tokens = parts.edges.chunk(i).tokens;
        const std::uint16_t* multiplier = parts.multipliers.data() + parts.edges.first_edge(i);
        for (const std::uint32_t token : tokens) parts.sums[token] += parts.counts[i] * *multiplier++;
    }
}

double LowerBound::price() const { return parts_->price / static_cast<double>(unit); }

std::size_t LowerBound::memory() const {
    const Parts& parts = *parts_;
    return parts.edges.memory() + parts.multipliers.size() * sizeof(std::uint16_t) +
           (parts.counts.size() + parts.sums.size() * (1 + parts.workers.size())) * sizeof(std::int64_t) +
           parts.tokens.size() * sizeof(Token);
}

}  // namespace prunedbpe
