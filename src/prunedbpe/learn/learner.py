"""From chunk counts to merges: drives the native loop in steps, and replays merges elsewhere.

Python comes back from the native code every fraction of a second. That gives progress, checkpoints
and Ctrl-C without a single callback, and lets reallocation look at exposure between two batches.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from prunedbpe import _core
from prunedbpe.count import ChunkCounts
from prunedbpe.errors import SettingsError
from prunedbpe.learn.merges import Applied, MergeTable
from prunedbpe.progress import SILENT, Progress
from prunedbpe.threads import thread_count
from prunedbpe.types import UInt32Array

PARALLEL_FROM = 1 << 7
"""A merge with fewer occurrences is not worth sharing, even with threads that are awake."""

_STEP_SECONDS = 0.1


class Learner:
    """Learns merges on one corpus, step by step; one owner.

    Args:
        counts: The corpus.
        merges: Merges to go on from; they must have been learned on these very counts.
        threads: One per core by default. The result does not depend on it.
        progress: Who watches.
        parallel_from: Occurrences from which on a merge is shared between threads; 0 shares all.
        after_step: Called after every step, for instance to write a checkpoint.

    >>> learner = Learner(ChunkCounts.from_mapping({b"hat": 3, b"that": 2}))
    >>> learner.reach(2)
    2
    >>> learner.merges.token_bytes[256:], learner.merges.frequencies.tolist()
    ([b'ha', b'hat'], [5, 5])
    """

    def __init__(
        self,
        counts: ChunkCounts,
        merges: MergeTable | None = None,
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
        parallel_from: int = PARALLEL_FROM,
        after_step: Callable[[Learner], None] | None = None,
    ) -> None:
        if merges is not None and merges.counts_digest != counts.digest:
            raise SettingsError(
                "the merges were learned on other chunk counts than the ones given",
                hint="to see what they do on another corpus, use replay",
            )
        pairs = np.zeros((0, 2), np.uint32) if merges is None else merges.pairs
        self._native = _core_learner(counts, pairs, thread_count(threads), parallel_from)
        if merges is None:
            none = np.zeros(0, np.int64)
            merges = MergeTable(
                pairs=pairs,
                frequencies=none,
                applied=Applied(counts.byte_counts, none),
                pretokenizer=counts.pretokenizer,
                corpus=counts.corpus,
                counts_digest=counts.digest,
            )
        self._given = merges
        self._progress = progress
        self._after_step = after_step
        self._learned = 0
        self._exhausted = merges.exhausted

    def __len__(self) -> int:
        """Merges known so far."""
        return len(self._given) + self._learned

    @property
    def exhausted(self) -> bool:
        """Whether no pair is left that occurs twice."""
        return self._exhausted

    @property
    def memory(self) -> int:
        """Bytes held by the native structures."""
        return int(self._native.memory)

    @property
    def merges(self) -> MergeTable:
        """All merges known so far."""
        pairs, frequencies, applied = self._native.learned(0)
        given = self._given
        if len(frequencies):
            given = MergeTable(
                pairs=np.concatenate([given.pairs, pairs.reshape(-1, 2)]),
                frequencies=np.concatenate([given.frequencies, frequencies]),
                applied=Applied(
                    given.applied.byte_counts,
                    np.concatenate([given.applied.replacements, applied]),
                ),
                pretokenizer=given.pretokenizer,
                corpus=given.corpus,
                counts_digest=given.counts_digest,
            )
        # Also when nothing was learned: that there is nothing left is worth remembering.
        return replace(given, exhausted=self._exhausted)

    def reach(self, merge_count: int) -> int:
        """Learn until ``merge_count`` merges are known, or no pair is left that occurs twice.

        Returns:
            How many merges are known now.
        """
        if len(self) >= merge_count or self._exhausted:
            return len(self)
        with self._progress.task("Learning", total=merge_count - len(self), unit="merges") as task:
            step = 16
            while len(self) < merge_count and not self._exhausted:
                wanted = min(step, merge_count - len(self))
                started = time.perf_counter()
                learned = self._native.advance(wanted)
                self._learned += learned
                self._exhausted = learned < wanted
                # Early merges replace millions of pairs, late ones a handful.
                step = step * 2 if time.perf_counter() - started < _STEP_SECONDS / 2 else step
                task.advance(learned)
                if self._after_step is not None:
                    self._after_step(self)
        return len(self)


def _core_learner(
    counts: ChunkCounts, pairs: UInt32Array, threads: int, parallel_from: int
) -> _core.Learner:
    """Lay out the corpus; meanwhile, if there is more than one thread, work out its identity."""

    def identify() -> None:
        _ = counts.digest, counts.byte_counts  # kept by the table, for whoever asks next

    other = threading.Thread(target=identify)
    if threads != 1:
        other.start()
    try:
        return _core.Learner(
            counts.data, counts.offsets, counts.counts, pairs, threads, parallel_from
        )
    finally:
        if threads != 1:
            other.join()


def learn(
    counts: ChunkCounts,
    merge_count: int,
    *,
    merges: MergeTable | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> MergeTable:
    """Learn merges on a corpus: exact BPE, the same for any number of threads.

    Args:
        counts: The corpus, as counted by :func:`prunedbpe.count`.
        merge_count: How many merges in all; fewer come back if no pair is left that occurs twice.
        merges: Merges already learned on these counts, to go on from.
        threads: One per core by default.
        progress: Who watches.

    >>> table = learn(ChunkCounts.from_mapping({b"aaa": 5, b"ab": 5}), 1)
    >>> table.pairs.tolist(), table.frequencies.tolist(), table.applied.replacements.tolist()
    ([[97, 97]], [10], [5])
    """
    if merge_count < 0:
        raise SettingsError(f"merge_count is {merge_count}", hint="give 0 or more")
    learner = Learner(counts, merges, threads=threads, progress=progress)
    learner.reach(merge_count)
    return learner.merges.head(merge_count)


def replay(merges: MergeTable, counts: ChunkCounts, *, threads: int | None = None) -> Applied:
    """Apply merges to any corpus and note how often each is applied.

    Args:
        merges: The merges, in order.
        counts: The corpus; cut by the pretokenizer of the merges, or lengths mean nothing.
        threads: One per core by default.

    >>> merges = MergeTable.from_pairs([(97, 97), (256, 97)])
    >>> replay(merges, ChunkCounts.from_mapping({b"aaa": 2, b"aa": 1})).replacements.tolist()
    [3, 2]
    """
    if merges.pretokenizer != counts.pretokenizer:
        raise SettingsError(
            f"the merges were learned on chunks of {merges.pretokenizer.describe()}, "
            f"the counts are of chunks of {counts.pretokenizer.describe()}",
            hint="count the corpus with the pretokenizer of the merges",
        )
    replacements = _core.replay(
        merges.pairs, counts.data, counts.offsets, counts.counts, thread_count(threads)
    )
    return Applied(counts.byte_counts, replacements)
