"""Counting: a corpus -> its unique chunks with their counts and first positions."""

from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.counting import CountedFile, count, count_to_file
from prunedbpe.counts.counting_by_source import count_by_source
from prunedbpe.counts.estimating import Estimate, estimate
from prunedbpe.counts.reducing import reduce_counts
from prunedbpe.counts.sources import SourceCounts

__all__ = [
    "ChunkCounts",
    "CountedFile",
    "Estimate",
    "SourceCounts",
    "count",
    "count_by_source",
    "count_to_file",
    "estimate",
    "reduce_counts",
]
