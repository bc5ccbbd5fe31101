"""From chunk counts to merges: drives the native loop in steps, and replays merges elsewhere.

Python comes back from the native code every fraction of a second. That gives progress, checkpoints
and Ctrl-C without a single callback, and lets reallocation look at exposure between two batches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from prunedbpe import _core
from prunedbpe.arrays import np
from prunedbpe.count import ChunkCounts
from prunedbpe.errors import SettingsError
from prunedbpe.learn.merges import Applied, MergeTable
from prunedbpe.progress import SILENT, Progress
from prunedbpe.threads import do_meanwhile, thread_count

_STEP_SECONDS = 0.1


class Learner:
    """Learns merges on one corpus, step by step; one owner.

    Args:
        counts: The corpus.
        merges: Merges to go on from; they must have been learned on these very counts.
        threads: One per core by default; little text is learned by one. The result does not
            depend on it.
        progress: Who watches.
        split_from: Occurrences from which on a merge is split between threads; smaller merges are
            done several at a time. A number also makes little text use all threads, for tests.
        after_step: Called after every step, for instance to write a checkpoint.
        stop_at: Merge counts at which a step ends.

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
        split_from: int | None = None,
        after_step: Callable[[Learner], None] | None = None,
        stop_at: Collection[int] = (),
    ) -> None:
        if merges is not None and merges.counts_digest != counts.digest:
            raise SettingsError(
                "the merges were learned on other chunk counts than the ones given",
                hint="to see what they do on another corpus, use replay",
            )
        # Native code makes its own of the counts, which may be large: only this is kept of them.
        self._identity = do_meanwhile(
            lambda: (counts.digest, counts.byte_counts_column), thread_count(threads)
        )
        self._native = _core_learner(counts, merges, thread_count(threads), split_from)
        self._given = merges
        self._about: dict[str, Any] = {
            "pretokenizer": counts.pretokenizer if merges is None else merges.pretokenizer,
            "corpus": counts.corpus if merges is None else merges.corpus,
        }
        self._progress = progress
        self._after_step = after_step
        self._stop_at = stop_at
        self._learned = 0

    def __len__(self) -> int:
        """Merges known so far."""
        return (0 if self._given is None else len(self._given)) + self._learned

    @property
    def exhausted(self) -> bool:
        """Whether no pair is left that occurs twice."""
        given = self._given is not None and self._given.exhausted
        return given or self._native.exhausted

    @property
    def memory(self) -> int:
        """Bytes held by the native structures."""
        return int(self._native.memory)

    @property
    def merges(self) -> MergeTable:
        """All merges known so far."""
        pairs, frequencies, replacements = self._native.learned()
        if self._given is not None:
            pairs = np.concatenate([self._given.pairs, pairs])
            frequencies = np.concatenate([self._given.frequencies, frequencies])
            replacements = np.concatenate([self._given.applied.replacements, replacements])
        digest, byte_counts = self._identity()
        return MergeTable(
            pairs=pairs,
            frequencies=frequencies,
            applied=Applied(byte_counts, replacements),
            counts_digest=digest,
            exhausted=self.exhausted,
            **self._about,
        )

    def reach(self, merge_count: int) -> int:
        """Learn until ``merge_count`` merges are known, or no pair is left that occurs twice.

        Returns:
            How many merges are known now.
        """
        if len(self) >= merge_count or self.exhausted:
            return len(self)
        with self._progress.task("Learning", total=merge_count - len(self), unit="merges") as task:
            while len(self) < merge_count and not self.exhausted:
                stop = min([merge_count, *(size for size in self._stop_at if size > len(self))])
                learned = self._native.advance(stop - len(self), _STEP_SECONDS)
                self._learned += learned
                task.advance(learned)
                if self._after_step is not None:
                    self._after_step(self)
        return len(self)


def _core_learner(
    counts: ChunkCounts, merges: MergeTable | None, threads: int, split_from: int | None
) -> _core.Learner:
    data, offsets, occurrences, _ = counts.columns
    return _core.Learner(
        data,
        offsets,
        occurrences,
        None if merges is None else merges.column("pairs"),
        threads,
        split_from,
    )


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
    replacements = _core.replay(merges.column("pairs"), *counts.columns[:3], thread_count(threads))
    return Applied(counts.byte_counts_column, replacements)
