"""Scaffold-BPE: decides visibility during training, by comparison with the next merge.

Lian et al. 2024, arXiv 2404.17808. Scaffolds stay in the corpus during merging, so the merges are
those of Standard BPE. Every decision follows from the frequencies and applied counts of the merge
table, without the corpus. Plain Python: :func:`prunedbpe.reference.baselines.scaffold`.
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
"""Least count at which a scaffold becomes visible again; the same as for merging a pair."""


class _Scaffolds:
    """Hidden tokens in a lazy heap. Counts only fall, so a stale entry is corrected at the top."""

    def __init__(self, counts: list[int]) -> None:
        self._counts = counts
        self._queue: list[tuple[int, int]] = []
        self.ranks: set[int] = set()

    def add(self, rank: int) -> None:
        self.ranks.add(rank)
        heapq.heappush(self._queue, (-self._counts[rank], rank))

    def best(self) -> tuple[int, int]:
        """Return count and rank of the most frequent scaffold, the oldest if tied; or count 0."""
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
    """Run Scaffold-BPE for several sizes in one pass.

    Args:
        merges: The candidates, one more than needed: the next merge decides too.
        sizes: Numbers of visible learned tokens.

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
                f"{len(merges)} merges give {visible} visible tokens; "
                f"this vocabulary needs {wanted[len(found)]}",
                hint="learn more merges, or choose a smaller vocabulary",
            )
        made = applied[done]
        counts[BYTE_COUNT + done] = made
        for part in pairs[done]:
            counts[part] -= made
        done += 1
        if done == len(merges) and not merges.exhausted:
            need_merges(merges, done + 1)  # the frequency of the next pair decides
        for part in dict.fromkeys(pairs[done - 1]):
            if part < BYTE_COUNT or part in scaffolds.ranks:
                continue
            if counts[part] < max(frequencies[done], scaffolds.best()[0]):
                scaffolds.add(part)
    return found


def scaffold(merges: MergeTable, required: int) -> Selection:
    """Run Scaffold-BPE for ``required`` visible learned tokens.

    >>> from prunedbpe import ChunkCounts, learn
    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> selection = scaffold(learn(counts, 10), 3)
    >>> selection.merge_count, np.flatnonzero(selection.hidden).tolist()  # "th" is a scaffold
    (4, [257])
    """
    return scaffold_sizes(merges, [required])[required]
