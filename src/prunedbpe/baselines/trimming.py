"""Trimming: learn more merges than there are slots, then hide the rarest tokens.

No threshold and no reallocation: repeatedly hide the token that is rarest in the corpus as encoded
so far. Plain Python: :func:`prunedbpe.reference.baselines.trim`.
"""

from __future__ import annotations

import heapq

import numpy as np

from prunedbpe.baselines.selection import Selection, need_merges
from prunedbpe.merges.merge_table import MergeTable
from prunedbpe.types import BYTE_COUNT
from prunedbpe.visibility.exposure import exposure


def trim(merges: MergeTable, required: int, extra: int) -> Selection:
    """Hide ``extra`` of the first ``required + extra`` tokens.

    Args:
        merges: At least ``required + extra`` merges, applied to the training corpus.
        required: Number of learned tokens that stay visible.
        extra: Number of tokens to hide.

    Raises:
        InsufficientCandidatesError: There are fewer merges.

    >>> from prunedbpe import ChunkCounts, learn
    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> np.flatnonzero(trim(learn(counts, 4), required=3, extra=1).hidden).tolist()  # "th"
    [257]
    """
    need_merges(merges, required + extra)
    flows = exposure(merges.pairs, merges.applied, required + extra).tolist()
    # A lazy heap: hiding a token raises the counts of its parts, so a stale entry is too low. It
    # reaches the top and is corrected there. The newest of tied tokens goes first.
    queue = [(flows[rank], -rank) for rank in range(BYTE_COUNT, len(flows))]
    heapq.heapify(queue)
    hidden = np.zeros(len(flows), bool)
    for _ in range(extra):
        while flows[-queue[0][1]] != queue[0][0]:
            rank = -queue[0][1]
            heapq.heapreplace(queue, (flows[rank], -rank))
        count, negative_rank = heapq.heappop(queue)
        hidden[-negative_rank] = True
        # A hidden part passes its occurrences on to its own parts.
        todo = merges.pairs[-negative_rank - BYTE_COUNT].tolist()
        while todo:
            part = todo.pop()
            flows[part] += count
            if hidden[part]:
                todo.extend(merges.pairs[part - BYTE_COUNT].tolist())
    return Selection(hidden)
