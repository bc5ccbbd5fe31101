#include "baselines/picky_corpus.hpp"

#include <algorithm>
#include <stdexcept>

namespace prunedbpe::picky {

PickyCorpus::PickyCorpus(const ChunkCountsView& counts) : lengths_(byte_count, 1) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        end += 1 + counts.chunk(i).size();
        if (end >= interior) throw std::length_error("the unique chunks hold more than 2147483645 bytes");
        ends_.push_back(static_cast<Position>(end));
        weights_.push_back(counts.counts[i]);
    }
    slots_.assign(static_cast<std::size_t>(end) + 1, boundary);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::string_view chunk = counts.chunk(i);
        std::transform(chunk.begin(), chunk.end(), slots_.begin() + chunk_begin(i),
                       [](char byte) { return static_cast<unsigned char>(byte); });
    }
    block_first_chunk_.resize((slots_.size() >> block_bits) + 1);
    for (std::size_t block = 0, chunk = 0; block < block_first_chunk_.size(); ++block) {
        while (chunk < ends_.size() && ends_[chunk] <= block << block_bits) ++chunk;
        block_first_chunk_[block] = static_cast<std::uint32_t>(chunk);
    }
}

void PickyCorpus::write(Position at, std::uint32_t token) {
    const std::uint32_t bytes = length(token);
    slots_[at] = token;
    if (bytes == 1) return;
    std::fill(slots_.begin() + at + 1, slots_.begin() + at + bytes - 1, interior);
    slots_[at + bytes - 1] = token | last_flag;
}

}  // namespace prunedbpe::picky
