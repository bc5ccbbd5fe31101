#include "merges/flat_corpus.hpp"

#include <algorithm>
#include <stdexcept>

#include "merges/merge_chunk.hpp"
#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {

template <class Position>
FlatCorpus<Position>::FlatCorpus(const ChunkCountsView& counts, std::span<const Merge> merges, WorkerTeam& team) {
    // 1. The lengths of all ranks.
    lengths_.assign(byte_count, 1);
    lengths_.reserve(byte_count + merges.size());
    for (const Merge& merge : merges) add_rank({raw(merge.left), raw(merge.right)});

    // 2. Where each chunk lies.
    HugeVector<Position> origin;  // index in `counts` of each chunk
    origin.reserve(counts.size());
    chunks_.reserve(counts.size());
    Position end = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t length = counts.chunk(i).size();
        if (length < 2) continue;
        end += static_cast<Position>(1 + length);
        const std::int64_t count = counts.counts[i];
        if (count >= wide) wide_counts_.push_back({chunks_.size(), count});
        chunks_.push_back({end, count >= wide ? wide : static_cast<std::uint32_t>(count)});
        origin.push_back(static_cast<Position>(i));
    }
    slot_count_ = std::size_t{end} + 1;
    slots_ = make_huge_array<std::uint32_t>(slot_count_);
    slots_[0] = boundary;
    block_first_chunk_.resize((slot_count_ >> block_bits) + 1);
    for (std::size_t block = 0, chunk = 0; block < block_first_chunk_.size(); ++block) {
        while (chunk < chunks_.size() && chunks_[chunk].end <= block << block_bits) ++chunk;
        block_first_chunk_[block] = static_cast<Position>(chunk);
    }

    // 3. The tokens of each chunk, as the merges leave them.
    const MergeLookup lookup(merges);
    team.run([&](unsigned worker) {
        MergeScratch scratch;
        const Part part = part_of(chunks_.size(), worker, team.size());
        for (std::size_t chunk = part.begin; chunk < part.end; ++chunk) {
            if (chunk % poll_rows == 0) poll_interrupt();
            const std::string_view bytes = counts.chunk(origin[chunk]);
            const std::uint32_t count = chunks_[chunk].count;
            const std::uint32_t weight = count >> (32 - rank_bits) == 0 ? count << rank_bits : 0;
            Position at = chunk_begin(chunk);
            slots_[chunk_end(chunk)] = boundary;
            if (merges.empty()) {
                for (const char byte : bytes) slots_[at++] = static_cast<unsigned char>(byte) | weight;
                continue;
            }
            merge_chunk(lookup, bytes, scratch);
            for (const std::uint32_t rank : scratch.ranks) {
                const Position last = at + lengths_[rank] - 1;
                std::fill(&slots_[at], &slots_[last], interior);
                slots_[at] = rank | weight;
                slots_[last] = rank | weight;
                at = last + 1;
            }
        }
    });
}

template <class Position>
void FlatCorpus<Position>::add_rank(Pair pair) {
    if (lengths_.size() >= interior) throw std::length_error("more than four million merges; the learner's limit");
    lengths_.push_back(lengths_[pair.left] + lengths_[pair.right]);
}

template <class Position>
std::int64_t FlatCorpus<Position>::wide_count(std::size_t chunk) const {
    const auto found = std::lower_bound(wide_counts_.begin(), wide_counts_.end(), chunk,
                                        [](const WideCount& a, std::size_t b) { return a.chunk < b; });
    return found->count;
}

template <class Position>
std::size_t FlatCorpus<Position>::first_chunk_from(std::size_t at) const {
    const auto found = std::upper_bound(chunks_.begin(), chunks_.end(), at,
                                        [](std::size_t a, const Chunk& b) { return a < b.end; });
    return static_cast<std::size_t>(found - chunks_.begin());
}

template <class Position>
std::size_t FlatCorpus<Position>::memory() const {
    return slot_count_ * sizeof(std::uint32_t) + chunks_.capacity() * sizeof(Chunk) +
           (block_first_chunk_.capacity() + lengths_.capacity()) * sizeof(Position);
}

template class FlatCorpus<std::uint32_t>;
template class FlatCorpus<std::uint64_t>;

}  // namespace prunedbpe
