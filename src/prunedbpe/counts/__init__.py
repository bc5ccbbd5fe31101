"""Counting: a corpus -> its unique chunks with their counts and first positions."""

from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.counting import count
from prunedbpe.counts.counting_by_source import count_by_source
from prunedbpe.counts.reducing import reduce_counts
from prunedbpe.counts.sources import SourceCounts

__all__ = ["ChunkCounts", "SourceCounts", "count", "count_by_source", "reduce_counts"]
