"""Counting: a corpus -> its unique chunks with their counts and first positions."""

from prunedbpe.count.count_corpus import count
from prunedbpe.count.reduce import reduce_counts
from prunedbpe.count.sources import SourceCounts, count_by_source
from prunedbpe.count.table import ChunkCounts

__all__ = ["ChunkCounts", "SourceCounts", "count", "count_by_source", "reduce_counts"]
