#include "prunedbpe/lower_bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>

#include "visibility/candidate_edges.hpp"
#include "visibility/unlisted_substrings.hpp"

namespace prunedbpe {
namespace {

/// Costs of paths fit into 32 bits below this.
constexpr std::int64_t longest_chunk = std::int64_t{1} << 20;

/// Substrings to look at in one search; each takes 24 bytes.
constexpr std::size_t most_substrings = std::size_t{1} << 22;

constexpr std::uint32_t most_per_edge = std::numeric_limits<std::uint16_t>::max();

/// How one step of the search is taken; see `ascend`.
struct Step {
    float length;        ///< in units of a multiplier
    float flow_width;    ///< edges at most this much dearer than the cheapest path carry some of its flow
    double choice_width;  ///< candidates within this share of the price are chosen in part

    // The numbers were tuned on an eighth of the chunks of 57 MB of text at 3,000 tokens. The ends matter more than the way between them: large
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

std::vector<std::uint32_t> lengths_between(std::span<const std::int64_t> offsets) {
    std::vector<std::uint32_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
    return lengths;
}

/// The `count` largest numbers, each raised to `least`; the smallest of them is the last.
std::vector<std::int64_t> largest(std::vector<std::int64_t> numbers, std::size_t count, std::int64_t least) {
    for (std::int64_t& number : numbers) number = std::max(number, least);
    if (count > 0 && count < numbers.size()) {
        std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count) - 1, numbers.end(), std::greater<>());
    }
    const bool is_sorted_at_end = count < numbers.size();
    numbers.resize(count, least);
    if (!is_sorted_at_end && count > 0) std::iter_swap(numbers.end() - 1, std::min_element(numbers.begin(), numbers.end()));
    return numbers;
}

std::int64_t sum_of(const std::vector<std::int64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

}  // namespace

struct LowerBound::Parts {
    Parts(const ChunkCountsView& given, std::span<const std::uint8_t> given_strings, std::span<const std::int64_t> given_offsets,
          std::size_t required_tokens, unsigned threads)
        : team(threads),
          bytes(given.bytes.begin(), given.bytes.end()),
          offsets(given.offsets.begin(), given.offsets.end()),
          counts(given.counts.begin(), given.counts.end()),
          strings(given_strings.begin(), given_strings.end()),
          string_offsets(given_offsets.begin(), given_offsets.end()),
          edges(match()),
          required(required_tokens),
          workers(team.size()) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (offsets[i + 1] - offsets[i] >= longest_chunk) throw std::length_error("a chunk of 2^20 bytes or more");
        }
        know_tokens();
        multipliers.resize(edges.edge_count());
        std::fill(multipliers.begin(), multipliers.end(), std::uint16_t{0});
    }

    ChunkCountsView view() const { return {bytes, offsets, counts, {}}; }

    CandidateEdges match() {
        return CandidateEdges(view(), DoubleArray(strings, string_offsets), lengths_between(string_offsets), team);
    }

    /// Brings everything that is kept by token up to date with `strings` and `edges`.
    void know_tokens() {
        for (const std::uint32_t length : lengths_between(std::span(string_offsets).subspan(tokens.size()))) {
            tokens.push_back({length, static_cast<std::uint32_t>(std::min<std::int64_t>((length - 1) * unit, most_per_edge)), 0});
        }
        sums.resize(tokens.size());
        // No sum exceeds what it would be if every edge had the largest multiplier and every byte were a token.
        double most = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const CandidateEdges::Chunk chunk = edges.chunk(i);
            most += static_cast<double>(counts[i]) * (static_cast<double>(chunk.edges_at.size()) * unit +
                                                      static_cast<double>(chunk.tokens.size()) * most_per_edge);
        }
        if (most > 9e18) throw std::length_error("the counts are too large for a bound in 64-bit integers");
    }

    void add_up_sums() {
        std::fill(sums.begin(), sums.end(), 0);
        for (std::size_t i = 0; i < edges.chunk_count(); ++i) {
            const std::uint16_t* multiplier = multipliers.data() + edges.first_edge(i);
            for (const std::uint32_t token : edges.chunk(i).tokens) sums[token] += counts[i] * *multiplier++;
        }
    }

    /// Scales the multipliers of the tokens from `first` on so that no S exceeds `most`.
    void lower_sums(std::size_t first, std::int64_t most) {
        std::uint16_t* multiplier = multipliers.data();
        for (std::size_t i = 0; i < edges.chunk_count(); ++i) {
            for (const std::uint32_t token : edges.chunk(i).tokens) {
                if (token >= first && sums[token] > most) {
                    *multiplier = static_cast<std::uint16_t>(static_cast<double>(*multiplier) * static_cast<double>(most) /
                                                             static_cast<double>(sums[token]));
                }
                ++multiplier;
            }
        }
        add_up_sums();
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

    std::vector<std::int64_t> sums_of_candidates() const { return {sums.begin() + byte_count, sums.end()}; }

    /// The N-th largest S.
    std::int64_t price() const { return required == 0 ? 0 : largest(sums_of_candidates(), required, 0).back(); }

    /// By position of all chunks: the cheapest path to it.
    HugeVector<std::uint32_t> path_costs() {
        HugeVector<std::uint32_t> costs(bytes.size() + counts.size());
        pass([&](std::size_t chunk, Worker& worker) {
            const std::size_t first = edges.first_byte(chunk) + chunk, size = edges.chunk(chunk).edges_at.size();
            for (std::size_t at = 0; at <= size; ++at) costs[first + at] = static_cast<std::uint32_t>(worker.cheapest[at]);
        });
        return costs;
    }

    /// Every substring with an S of `least` or more that is not a candidate. Raises `least` until they are few enough.
    Substrings find_unlisted(std::int64_t& least) {
        const HugeVector<std::uint32_t> costs = path_costs();
        std::optional<Substrings> found;
        while (!(found = find_substrings(view(), costs, unit, least, most_substrings, team))) least *= 2;
        std::unordered_set<std::string_view> listed;
        const auto string = [](const auto& all, const auto& ends, std::size_t i) {
            return std::string_view(reinterpret_cast<const char*>(all.data()) + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i]));
        };
        for (std::size_t i = byte_count; i < tokens.size(); ++i) listed.insert(string(strings, string_offsets, i));
        Substrings unlisted;
        unlisted.offsets.push_back(0);
        for (std::size_t i = 0; i < found->worths.size(); ++i) {
            const std::string_view one = string(found->bytes, found->offsets, i);
            if (listed.contains(one)) continue;
            unlisted.bytes.insert(unlisted.bytes.end(), one.begin(), one.end());
            unlisted.offsets.push_back(static_cast<std::int64_t>(unlisted.bytes.size()));
            unlisted.worths.push_back(found->worths[i]);
        }
        return unlisted;
    }

    /// Chooses `required` tokens with the largest S; those near the price in part, in proportion to S - price.
    void choose(double price, double width) {
        if (required == 0 || required >= sums.size() - byte_count) {  // there is no price
            for (Token& token : tokens) token.chosen = required == 0 ? 0.0f : 1.0f;
            return;
        }
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
    HugeVector<std::uint8_t> bytes;      ///< of all chunks
    HugeVector<std::int64_t> offsets;    ///< by chunk
    HugeVector<std::int64_t> counts;     ///< by chunk
    std::vector<std::uint8_t> strings;   ///< of all tokens, the bytes first
    std::vector<std::int64_t> string_offsets;
    CandidateEdges edges;
    std::size_t required;
    std::vector<Worker> workers;
    std::vector<Token> tokens;              ///< the bytes first
    HugeVector<std::uint16_t> multipliers;  ///< by edge
    std::vector<std::int64_t> sums;         ///< by token: S of `multipliers`
    std::int64_t best = 0;
};

LowerBound::LowerBound(const ChunkCountsView& counts, std::span<const std::uint8_t> strings,
                       std::span<const std::int64_t> string_offsets, std::size_t required, unsigned threads)
    : parts_(std::make_unique<Parts>(counts, strings, string_offsets, required, threads)) {}

LowerBound::~LowerBound() = default;

void LowerBound::start_at(double price) {
    Parts& parts = *parts_;
    std::vector<std::int64_t> frequencies(parts.tokens.size(), 0);
    for (std::size_t i = 0; i < parts.edges.chunk_count(); ++i) {
        for (const std::uint32_t token : parts.edges.chunk(i).tokens) frequencies[token] += parts.counts[i];
    }
    std::uint16_t* multiplier = parts.multipliers.data();
    for (std::size_t i = 0; i < parts.edges.chunk_count(); ++i) {
        for (const std::uint32_t token : parts.edges.chunk(i).tokens) {
            const double even = price * static_cast<double>(unit) / static_cast<double>(frequencies[token]);
            *multiplier++ = static_cast<std::uint16_t>(std::clamp(even, 0.0, static_cast<double>(parts.tokens[token].most)));
        }
    }
    parts.add_up_sums();
}

void LowerBound::ascend(double heat) {
    if (!(heat >= 0 && heat <= 1)) throw std::invalid_argument("heat " + std::to_string(heat) + " is not between 0 and 1");
    Parts& parts = *parts_;
    const Step step(heat);
    const std::vector<std::int64_t> chosen = largest(parts.sums_of_candidates(), parts.required, 0);
    parts.choose(chosen.empty() ? 0.0 : static_cast<double>(chosen.back()), step.choice_width);
    const std::int64_t paths = parts.pass([&](std::size_t chunk, Worker& worker) { parts.move(chunk, step, worker); });
    parts.best = std::max(parts.best, paths - sum_of(chosen));
    parts.collect_sums();
}

std::int64_t LowerBound::best() const { return parts_->best; }

std::int64_t LowerBound::evaluate() const {
    const std::int64_t paths = parts_->pass([](std::size_t, Worker&) {});
    return paths - sum_of(largest(parts_->sums_of_candidates(), parts_->required, 0));
}

std::int64_t LowerBound::evaluate_any() const {
    std::int64_t least = parts_->price() + 1;
    const Substrings unlisted = parts_->find_unlisted(least);
    std::vector<std::int64_t> sums = parts_->sums_of_candidates();
    sums.insert(sums.end(), unlisted.worths.begin(), unlisted.worths.end());
    // Whatever was not found has an S below `least`.
    return parts_->pass([](std::size_t, Worker&) {}) - sum_of(largest(std::move(sums), parts_->required, least - 1));
}

Substrings LowerBound::unlisted(std::size_t most) const {
    std::int64_t least = parts_->price() + 1;
    Substrings all = parts_->find_unlisted(least);
    if (all.worths.size() <= most) return all;
    std::vector<std::size_t> order(all.worths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all.worths[a] > all.worths[b]; });
    order.resize(most);
    std::sort(order.begin(), order.end());
    Substrings kept;
    kept.offsets.push_back(0);
    for (const std::size_t i : order) {
        kept.bytes.insert(kept.bytes.end(), all.bytes.begin() + all.offsets[i], all.bytes.begin() + all.offsets[i + 1]);
        kept.offsets.push_back(static_cast<std::int64_t>(kept.bytes.size()));
        kept.worths.push_back(all.worths[i]);
    }
    return kept;
}

void LowerBound::add(std::span<const std::uint8_t> strings, std::span<const std::int64_t> string_offsets) {
    Parts& parts = *parts_;
    const HugeVector<std::uint32_t> costs = parts.path_costs();
    const std::int64_t price = parts.price();
    const std::size_t known = parts.tokens.size();
    const auto shift = static_cast<std::int64_t>(parts.strings.size());
    parts.strings.insert(parts.strings.end(), strings.begin(), strings.end());
    for (const std::int64_t offset : string_offsets.subspan(1)) parts.string_offsets.push_back(offset + shift);
    parts.edges = parts.match();
    parts.know_tokens();
    // Known edges stay in their order, so their multipliers are taken one after another.
    const HugeVector<std::uint16_t> before = std::move(parts.multipliers);
    const std::uint16_t* next_known = before.data();
    parts.multipliers = HugeVector<std::uint16_t>(parts.edges.edge_count());
    std::uint16_t* multiplier = parts.multipliers.data();
    for (std::size_t i = 0; i < parts.edges.chunk_count(); ++i) {
        const CandidateEdges::Chunk chunk = parts.edges.chunk(i);
        const std::uint32_t* token = chunk.tokens.data();
        const std::uint32_t* cost = costs.data() + parts.edges.first_byte(i) + i;
        for (const std::uint16_t matches : chunk.edges_at) {
            for (const std::uint32_t* const last = token + matches; token != last; ++token) {
                const Token& it = parts.tokens[*token];
                const std::int64_t needed = std::int64_t{cost[it.length]} - *cost - unit;
                *multiplier++ = *token < known ? *next_known++
                                               : static_cast<std::uint16_t>(std::clamp<std::int64_t>(needed, 0, it.most));
            }
            ++cost;
        }
    }
    parts.add_up_sums();
    parts.lower_sums(known, price);
    parts.best = 0;  // it was no bound for the new candidates
}

std::span<const std::uint16_t> LowerBound::multipliers() const { return parts_->multipliers; }

void LowerBound::set_multipliers(std::span<const std::uint16_t> multipliers) {
    Parts& parts = *parts_;
    if (multipliers.size() != parts.multipliers.size()) {
        throw std::invalid_argument(std::to_string(multipliers.size()) + " multipliers for " +
                                    std::to_string(parts.multipliers.size()) + " edges");
    }
    std::copy(multipliers.begin(), multipliers.end(), parts.multipliers.begin());
    parts.add_up_sums();
}

double LowerBound::price() const { return static_cast<double>(parts_->price()) / static_cast<double>(unit); }

std::size_t LowerBound::candidate_count() const { return parts_->tokens.size() - byte_count; }

std::size_t LowerBound::memory() const {
    const Parts& parts = *parts_;
    return parts.edges.memory() + parts.multipliers.size() * sizeof(std::uint16_t) + parts.bytes.size() + parts.strings.size() +
           (parts.offsets.size() + parts.counts.size() + parts.sums.size() * (1 + parts.workers.size())) * sizeof(std::int64_t) +
           parts.tokens.size() * sizeof(Token);
}

}  // namespace prunedbpe
