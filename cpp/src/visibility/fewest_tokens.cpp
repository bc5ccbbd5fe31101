#include "prunedbpe/fewest_tokens.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

#include "visibility/candidate_edges.hpp"
#include "visibility/shortest_paths.hpp"

namespace prunedbpe {
namespace {

/// The state of a visible token.
constexpr std::uint8_t shown = 1;

/// Chunks that `settle` goes through before it looks at the clock.
constexpr std::size_t chunks_at_once = 1 << 17;

std::vector<std::uint32_t> lengths_of(std::span<const std::int64_t> offsets) {
    std::vector<std::uint32_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
    return lengths;
}

/// What a token that begins at some byte of a chunk is worth to the chunk; loss 0 if there is none.
struct KnownLoss {
    std::uint32_t token;
    std::uint32_t loss;
};

/// By token: the chunks in which it matches; one of them twice, if it matches there twice.
class ChunksByToken {
public:
    explicit ChunksByToken(const CandidateEdges& edges) : offsets_(edges.token_count() + 1, 0) {
        if (edges.chunk_count() > std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("more than 2^32 - 1 unique chunks; choose visible tokens on a sample of the corpus");
        }
        for (std::size_t i = 0; i < edges.chunk_count(); ++i) {
            for (const std::uint32_t token : edges.chunk(i).tokens) ++offsets_[token + 1];
        }
        for (std::size_t token = 1; token < offsets_.size(); ++token) offsets_[token] += offsets_[token - 1];
        chunks_.resize(offsets_.back());
        std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
        for (std::size_t i = 0; i < edges.chunk_count(); ++i) {
            for (const std::uint32_t token : edges.chunk(i).tokens) chunks_[next[token]++] = static_cast<std::uint32_t>(i);
        }
    }

    std::span<const std::uint32_t> operator[](std::uint32_t token) const {
        return {chunks_.data() + offsets_[token], offsets_[token + 1] - offsets_[token]};
    }
    std::size_t memory() const { return offsets_.size() * sizeof(std::size_t) + chunks_.size() * sizeof(std::uint32_t); }

private:
    std::vector<std::size_t> offsets_;
    HugeVector<std::uint32_t> chunks_;
};

}  // namespace

struct FewestTokens::Parts {
    Parts(const ChunkCountsView& counts, const SourcesView& given, std::span<const std::uint8_t> strings,
          std::span<const std::int64_t> string_offsets, unsigned threads)
        : team(threads),
          edges(counts, DoubleArray(strings, string_offsets), lengths_of(string_offsets), team),
          source_offsets(given.offsets.begin(), given.offsets.end()),
          source_indices(given.sources.begin(), given.sources.end()),
          source_counts(given.counts.begin(), given.counts.end()),
          chunks(edges),
          states(edges.token_count(), 0),
          losses(edges.token_count() * given.source_count, 0),
          is_stale(edges.token_count(), 1),
          values(edges.token_count(), 0),
          lengths(given.source_count, 0),
          is_dirty(edges.chunk_count(), false) {
        known_losses.resize(counts.bytes.size());
        std::fill(known_losses.begin(), known_losses.end(), KnownLoss{});
        known_fewest.resize(edges.chunk_count());
        for (std::size_t i = 0; i < edges.chunk_count(); ++i) {
            known_fewest[i] = static_cast<std::uint32_t>(edges.chunk(i).edges_at.size());
            add_to_row(lengths.data(), 0, i, known_fewest[i]);
        }
    }

    SourcesView sources() const { return {source_offsets, source_indices, source_counts, lengths.size()}; }

    /// Adds to the losses of a token for every source of the chunk.
    void add_loss(std::uint32_t token, std::size_t chunk, std::int64_t amount) {
        add_to_row(losses.data(), token, chunk, amount);
        std::atomic_ref(is_stale[token]).store(1, std::memory_order_relaxed);
    }

    /// Adds amount * count to a row of `table` for every source of the chunk. Several threads may add to one number; sums
    /// of integers do not depend on their order.
    void add_to_row(std::int64_t* table, std::size_t row, std::size_t chunk, std::int64_t amount) const {
        sources().for_each(chunk, [&](std::uint32_t source, std::int64_t count) {
            std::atomic_ref(table[row * lengths.size() + source]).fetch_add(amount * count, std::memory_order_relaxed);
        });
    }

    /// Measures a chunk again, and corrects the sums by the difference to what they hold of it.
    void settle_chunk(std::size_t chunk, ShortestPaths& paths) {
        paths.find(chunk, states.data(), shown);
        const std::span<KnownLoss> known = {known_losses.data() + edges.first_byte(chunk), edges.chunk(chunk).edges_at.size()};
        std::size_t at = 0;
        const auto forget_up_to = [&](std::size_t end) {
            for (; at < end; ++at) {
                if (known[at].loss != 0) add_loss(known[at].token, chunk, -std::int64_t{known[at].loss});
                known[at].loss = 0;
            }
        };
        paths.for_each_loss([&](std::uint32_t begin, std::uint32_t token, std::uint32_t loss) {
            forget_up_to(begin);
            KnownLoss& before = known[at++];
            if (before.loss != 0 && before.token == token) {
                if (loss != before.loss) add_loss(token, chunk, std::int64_t{loss} - before.loss);
            } else {
                if (before.loss != 0) add_loss(before.token, chunk, -std::int64_t{before.loss});
                add_loss(token, chunk, loss);
            }
            before = {token, loss};
        });
        forget_up_to(known.size());
        std::uint32_t& fewest = known_fewest[chunk];
        if (paths.fewest() != fewest) add_to_row(lengths.data(), 0, chunk, std::int64_t{paths.fewest()} - fewest);
        fewest = paths.fewest();
    }

    WorkerTeam team;
    CandidateEdges edges;
    HugeVector<std::int64_t> source_offsets;  // a copy of the SourcesView
    HugeVector<std::uint32_t> source_indices;
    HugeVector<std::int64_t> source_counts;
    ChunksByToken chunks;
    std::vector<std::uint8_t> states;        ///< by rank; those of the bytes mean nothing
    std::vector<std::int64_t> losses;        ///< by rank, then by source
    std::vector<std::uint8_t> is_stale;      ///< by rank: whether its value is that of former losses
    std::vector<double> values;              ///< by rank: what its losses are worth
    std::vector<double> value_weights;       ///< the weights and the exponent behind `values`
    double value_exponent = 0;
    std::vector<std::int64_t> lengths;       ///< by source
    HugeVector<KnownLoss> known_losses;      ///< by byte of all chunks: what `losses` holds of it
    HugeVector<std::uint32_t> known_fewest;  ///< by chunk: what `lengths` holds of it
    std::vector<std::uint32_t> dirty;        ///< chunks that the last flip concerns
    std::vector<bool> is_dirty;              ///< by chunk; all false between two flips
    std::size_t settled = 0;                 ///< how many of the dirty ones are done
};

FewestTokens::FewestTokens(const ChunkCountsView& counts, const SourcesView& sources, std::span<const std::uint8_t> strings,
                           std::span<const std::int64_t> string_offsets, unsigned threads) {
    sources.check(counts.size());
    parts_ = std::make_unique<Parts>(counts, sources, strings, string_offsets, threads);
}

FewestTokens::~FewestTokens() = default;

void FewestTokens::flip(std::span<const std::uint32_t> ranks) {
    Parts& parts = *parts_;
    if (parts.settled < parts.dirty.size()) throw std::invalid_argument("the last flip is not settled yet");
    std::vector<bool> is_given(parts.states.size(), false);
    for (const std::uint32_t rank : ranks) {
        if (rank < byte_count || rank >= parts.states.size()) {
            throw std::invalid_argument("rank " + std::to_string(rank) + " is not a candidate");
        }
        if (is_given[rank]) throw std::invalid_argument("rank " + std::to_string(rank) + " is given twice");
        is_given[rank] = true;
    }
    parts.dirty.clear();
    parts.settled = 0;
    for (const std::uint32_t rank : ranks) {
        parts.states[rank] ^= shown;
        for (const std::uint32_t chunk : parts.chunks[rank]) {
            if (!parts.is_dirty[chunk]) parts.dirty.push_back(chunk);
            parts.is_dirty[chunk] = true;
        }
    }
    for (const std::uint32_t chunk : parts.dirty) parts.is_dirty[chunk] = false;
}

bool FewestTokens::settle(double seconds) {
    using Clock = std::chrono::steady_clock;
    Parts& parts = *parts_;
    const auto stop = Clock::now() + std::chrono::duration<double>(seconds);
    std::vector<ShortestPaths> paths(parts.team.size(), ShortestPaths(parts.edges));
    while (parts.settled < parts.dirty.size()) {
        const std::size_t end = std::min(parts.settled + chunks_at_once, parts.dirty.size());
        share_out(parts.team, parts.settled, end, [&](unsigned member, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) parts.settle_chunk(parts.dirty[i], paths[member]);
        });
        parts.settled = end;
        if (Clock::now() >= stop) break;
    }
    return parts.settled == parts.dirty.size();
}

std::span<const std::int64_t> FewestTokens::losses() const { return parts_->losses; }

std::span<const double> FewestTokens::loss_values(const SourceValue& value) {
    Parts& parts = *parts_;
    const std::size_t source_count = parts.lengths.size();
    if (value.weights.size() != source_count) throw std::invalid_argument("every source needs a weight");
    if (!std::ranges::equal(value.weights, parts.value_weights) || value.exponent != parts.value_exponent) {
        parts.value_weights.assign(value.weights.begin(), value.weights.end());
        parts.value_exponent = value.exponent;
        std::fill(parts.is_stale.begin(), parts.is_stale.end(), std::uint8_t{1});
    }
    for (std::size_t rank = 0; rank < parts.values.size(); ++rank) {
        if (!parts.is_stale[rank]) continue;
        parts.values[rank] = value(losses().subspan(rank * source_count, source_count));
        parts.is_stale[rank] = 0;
    }
    return parts.values;
}

std::vector<std::int64_t> FewestTokens::gains() const {
    Parts& parts = *parts_;
    std::vector<std::int64_t> gains(parts.losses.size(), 0);
    std::vector<ShortestPaths> paths(parts.team.size(), ShortestPaths(parts.edges));
    share_out(parts.team, 0, parts.edges.chunk_count(), [&](unsigned member, std::size_t first, std::size_t last) {
        for (std::size_t chunk = first; chunk < last; ++chunk) {
            paths[member].find(chunk, parts.states.data(), shown, true);
            paths[member].for_each_gain(
                [&](std::uint32_t token, std::uint32_t gain) { parts.add_to_row(gains.data(), token, chunk, gain); });
        }
    });
    return gains;
}

std::span<const std::int64_t> FewestTokens::lengths() const { return parts_->lengths; }

std::size_t FewestTokens::memory() const {
    const Parts& parts = *parts_;
    return parts.edges.memory() + parts.chunks.memory() + parts.states.size() +
           (parts.source_offsets.size() + parts.source_counts.size() + parts.losses.size()) * sizeof(std::int64_t) +
           parts.known_losses.size() * sizeof(KnownLoss) +
           (parts.source_indices.size() + parts.known_fewest.size()) * sizeof(std::uint32_t);
}

}  // namespace prunedbpe
