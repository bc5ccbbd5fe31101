#include "merges/flat_corpus.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "merges/merge_chunk.hpp"
#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

constexpr std::uint64_t position_limit = 0xFFFFFFFE;

}  // namespace

FlatCorpus::FlatCorpus(const ChunkCountsView& counts, std::span<const Merge> merges, WorkerTeam& team) {
    // 1. The lengths of all ranks.
    lengths_.assign(byte_count, 1);
    lengths_.reserve(byte_count + merges.size());
    for (const Merge& merge : merges) add_rank({raw(merge.left), raw(merge.right)});

    // 2. Where each chunk lies.
    HugeVector<std::uint32_t> origin;  // index in `counts` of each chunk
    origin.reserve(counts.size());
    chunks_.reserve(counts.size());
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t length = counts.chunk(i).size();
        if (length < 2) continue;
        end += 1 + length;
        const std::int64_t count = counts.counts[i];
        if (count >= wide) wide_counts_.push_back({chunks_.size(), count});
        chunks_.push_back({static_cast<Position>(end), count >= wide ? wide : static_cast<std::uint32_t>(count)});
        origin.push_back(static_cast<std::uint32_t>(i));
    }
    if (end >= position_limit) {
        throw std::length_error("the unique chunks hold " + std::to_string(end) +
                                " bytes; the learner's limit is 4294967293. Learn on a sample of the corpus, "
                                "or choose a pretokenizer that cuts it into shorter chunks");
    }
    slot_count_ = static_cast<std::size_t>(end) + 1;
    slots_ = make_huge_array<std::uint32_t>(slot_count_);
    slots_[0] = boundary;
    block_first_chunk_.resize((slot_count_ >> block_bits) + 1);
    for (std::size_t block = 0, chunk = 0; block < block_first_chunk_.size(); ++block) {
        while (chunk < chunks_.size() && chunks_[chunk].end <= block << block_bits) ++chunk;
        block_first_chunk_[block] = static_cast<std::uint32_t>(chunk);
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

void FlatCorpus::add_rank(Pair pair) {
    if (lengths_.size() >= interior) throw std::length_error("more than four million merges; the learner's limit");
    lengths_.push_back(lengths_[pair.left] + lengths_[pair.right]);
}

std::int64_t FlatCorpus::wide_count(std::size_t chunk) const {
    const auto found = std::lower_bound(wide_counts_.begin(), wide_counts_.end(), chunk,
                                        [](const WideCount& a, std::size_t b) { return a.chunk < b; });
    return found->count;
}

std::size_t FlatCorpus::first_chunk_from(std::size_t at) const {
    const auto found = std::upper_bound(chunks_.begin(), chunks_.end(), at,
                                        [](std::size_t a, const Chunk& b) { return a < b.end; });
    return static_cast<std::size_t>(found - chunks_.begin());
}

std::size_t FlatCorpus::memory() const {
    return slot_count_ * sizeof(std::uint32_t) + chunks_.capacity() * sizeof(Chunk) +
           block_first_chunk_.capacity() * sizeof(std::uint32_t) + lengths_.capacity() * sizeof(std::uint32_t);
}

}  // namespace prunedbpe
