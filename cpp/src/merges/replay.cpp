#include <numeric>

#include "merges/merge_chunk.hpp"
#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/merges.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

std::vector<std::int64_t> replay(std::span<const Merge> merges, const ChunkCountsView& counts, unsigned threads) {
    const MergeLookup lookup(merges);
    WorkerTeam team(threads);
    std::vector<std::vector<std::int64_t>> applied(team.size(), std::vector<std::int64_t>(merges.size()));
    team.run([&](unsigned worker) {
        MergeScratch scratch;
        const Part part = part_of(counts.size(), worker, team.size());
        for (std::size_t i = part.begin; i < part.end; ++i) {
            if (i % poll_rows == 0) poll_interrupt();
            merge_chunk_recording(lookup, counts.chunk(i), counts.counts[i], applied[worker], scratch);
        }
    });
    std::vector<std::int64_t> total(merges.size());
    for (const auto& part : applied) {
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
    }
    return total;
}

}  // namespace prunedbpe
