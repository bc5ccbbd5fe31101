"""Scaffold-BPE: visibility decided during training, by the queue of the next merges.

Lian et al. 2024, arXiv 2404.17808. Scaffolds stay in the corpus while it is merged, so the merges
are those of Standard BPE, and every decision follows from the frequencies and applied counts of the
merge table: the corpus is not needed. Plain Python:
:func:`prunedbpe.reference.baselines.scaffold`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection

import numpy as np

from prunedbpe.baselines.selection import Selection, need_merges
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.merges.merge_table import MergeTable
from prunedbpe.types import BYTE_COUNT

_LEAST = 2
"""As for pairs: what occurs once is no reason to change anything."""


class _Scaffolds:
    """Hidden tokens by their count in the corpus, which only falls; entries are put right late."""

    def __init__(self, counts: list[int]) -> None:
        self._counts = counts
        self._queue: list[tuple[int, int]] = []
        self.ranks: set[int] = set()

    def add(self, rank: int) -> None:
        self.ranks.add(rank)
        heapq.heappush(self._queue, (-self._counts[rank], rank))

    def best(self) -> tuple[int, int]:
        """Count and rank of the most frequent one, the oldest of equals; count 0 if none."""
        while self._queue:
            count, rank = self._queue[0]
            if -count == self._counts[rank]:
                return -count, rank
            heapq.heapreplace(self._queue, (-self._counts[rank], rank))
        return 0, 0

    def take_best(self) -> int:
        rank = heapq.heappop(self._queue)[1]
        self.ranks.remove(rank)
        return rank


def scaffold_sizes(merges: MergeTable, sizes: Collection[int]) -> dict[int, Selection]:
    """Scaffold-BPE of several sizes in one pass.

    Args:
        merges: Candidates: one more than are used, to know what would come next.
        sizes: How many learned tokens are to be visible.

    Raises:
        InsufficientCandidatesError: The merges end before the largest size is reached.
    """
    wanted = sorted(set(sizes))
    counts = [*merges.applied.byte_counts.tolist(), *[0] * len(merges)]
    frequencies = [*merges.frequencies.tolist(), 0]
    applied = merges.applied.replacements.tolist()
    pairs = merges.pairs.tolist()
    scaffolds = _Scaffolds(counts)
    found: dict[int, Selection] = {}
    done = 0
    while len(found) < len(wanted):
        visible = done - len(scaffolds.ranks)
        if visible == wanted[len(found)]:
            hidden = np.zeros(BYTE_COUNT + done, bool)
            hidden[sorted(scaffolds.ranks)] = True
            found[visible] = Selection(hidden)
            continue
        best_count, _ = scaffolds.best()
        if best_count >= _LEAST and best_count > frequencies[done]:
            scaffolds.take_best()
            continue
        if done == len(merges):
            raise InsufficientCandidatesError(
                f"{len(merges)} merges leave {visible} visible tokens, "
                f"{wanted[len(found)]} are needed",
                hint="learn more merges, or choose a smaller vocabulary",
            )
        made = applied[done]
        counts[BYTE_COUNT + done] = made
        for part in pairs[done]:
            counts[part] -= made
        done += 1
        if done == len(merges) and not merges.exhausted:
            need_merges(merges, done + 1)  # the next pair's frequency decides
        for part in dict.fromkeys(pairs[done - 1]):
            if part < BYTE_COUNT or part in scaffolds.ranks:
                continue
            if counts[part] < max(frequencies[done], scaffolds.best()[0]):
                scaffolds.add(part)
    return found


def scaffold(merges: MergeTable, required: int) -> Selection:
    """Scaffold-BPE with ``required`` visible learned tokens.

    >>> from prunedbpe import ChunkCounts, learn
    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> selection = scaffold(learn(counts, 10), 3)
    >>> selection.merge_count, np.flatnonzero(selection.hidden).tolist()  # "th" is a scaffold
    (4, [257])
    """
    return scaffold_sizes(merges, [required])[required]
