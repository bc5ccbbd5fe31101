// Joining: the tables of all sources -> the table of the corpus and a sparse matrix of chunks and sources.
#pragma once

#include <vector>

#include "prunedbpe/counts.hpp"

namespace prunedbpe {

/// `parts` are tables by source, with positions in the corpus. They may interleave: a position belongs to one part.
/// Linear in the rows of all parts, plus sorting if a chunk of a later part comes first. Uses one thread.
SourceCounts join_sources(const std::vector<ChunkCounts>& parts);

}  // namespace prunedbpe
