// The tables of all workers -> one table in order of first appearance.
#pragma once

#include <vector>

#include "counts/chunk_table.hpp"
#include "prunedbpe/counts.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// Parallel twice: by hash, to bring equal chunks together, then by position, to write them in order.
/// Uses the tables up.
ChunkCounts reduce_tables(std::vector<ChunkTable>& tables, WorkerTeam& team);

}  // namespace prunedbpe
