// Reducing: the tables of all workers -> one table in order of first appearance.
#pragma once

#include <vector>

#include "counts/chunk_table.hpp"
#include "prunedbpe/counts.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// Parallel by hash, to join equal chunks, then by position, to write them in order. Linear in the entries of all
/// tables, plus sorting for a table that is not in order. Leaves the tables empty.
ChunkCounts reduce_tables(std::vector<ChunkTable>& tables, WorkerTeam& team);

}  // namespace prunedbpe
