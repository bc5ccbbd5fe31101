"""Counting: a corpus -> its unique chunks with their counts and first positions."""

from prunedbpe.count.count_corpus import count
from prunedbpe.count.reduce import reduce_counts
from prunedbpe.count.table import ChunkCounts

__all__ = ["ChunkCounts", "count", "reduce_counts"]
