"""How far tokens are spread over the sources of a corpus.

A token that is frequent in only one source says more about that source than about text in
general. Its exposure is worth less for other text; this module computes how much less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prunedbpe.counts import SourceCounts
from prunedbpe.merges import replay
from prunedbpe.merges.merge_table import Applied, MergeTable
from prunedbpe.types import FloatArray, UInt32Array
from prunedbpe.visibility.exposure import exposure


def effective_sources(
    pairs: UInt32Array, sources: Sequence[Applied], merge_count: int
) -> FloatArray:
    """In how many sources each rank is at home: 1 over the sum of squared shares of its exposure.

    Args:
        pairs: Left and right rank of each merge.
        sources: What the merges did to each source.
        merge_count: How many of the merges to apply.

    Returns:
        By rank, from 1 (all in one source) to the number of sources (equally in all).

    >>> pairs = np.array([[97, 98]], np.uint32)
    >>> def source(times):  # a source that repeats "ab"
    ...     counts = np.zeros(256, np.int64)
    ...     counts[[97, 98]] = times
    ...     return Applied(counts, np.array([times]))
    >>> float(effective_sources(pairs, [source(5), source(5)], 1)[256])
    2.0
    >>> float(effective_sources(pairs, [source(9), source(1)], 1)[256].round(2))
    1.22
    """
    total = np.zeros(256 + merge_count)
    squares = np.zeros(256 + merge_count)
    for source in sources:  # one at a time: all exposures at once would be a large matrix
        exposures = exposure(pairs, source, merge_count).astype(np.float64)
        total += exposures
        squares += exposures**2
    # A token that never stands in the corpus is at home nowhere; one is the least.
    return np.divide(total**2, squares, out=np.ones_like(total), where=squares > 0)


def replay_sources(
    merges: MergeTable, sources: SourceCounts, *, threads: int | None = None
) -> list[Applied]:
    """What merges do to each source.

    Args:
        merges: The merges, in order.
        sources: The counted sources.
        threads: One per core by default.
    """
    return [replay(merges, sources.table(i), threads=threads) for i in range(len(sources))]
