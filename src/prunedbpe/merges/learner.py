"""From chunk counts to merges: drives the native loop in steps, and replays merges elsewhere.

Native code returns to Python every fraction of a second. That gives progress, checkpoints and
Ctrl-C without a callback, and lets reallocation measure exposure between two batches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import check_type, to_whole_number
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe._support.threads import in_background, thread_count
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.counts.chunk_counts import MAKE_COUNTS
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.merges.merge_table import MAKE_MERGES, Applied, MergeTable
from prunedbpe.types import BYTE_COUNT

_STEP_SECONDS = 0.1
# Of the native learner: slots whose positions fit 32 bits; unique bytes from which it uses threads.
_NARROW_SLOTS = 2**32 - 2
_SHARED_FROM = 1 << 19
_LEARN = "learn the merges again"


class Checkpointer:
    """Saves a growing merge list at intervals, and when it reaches chosen sizes.

    Args:
        save: Writes a checkpoint.
        every_seconds: The interval.
        at: Merge counts at which to save as well.
    """

    def __init__(
        self,
        save: Callable[[MergeTable], None],
        *,
        every_seconds: float = 30.0,
        at: Collection[int] = (),
    ) -> None:
        self._save = save
        self._every_seconds = every_seconds
        self._sizes = sorted(at)
        self._saved_at = time.monotonic()
        self._saved_count = -1

    def next_stop(self, known: int, merge_count: int) -> int:
        """How far learning may go before the next chosen size is due."""
        return min([merge_count, *(size for size in self._sizes if size > known)])

    def is_due(self, known: int) -> bool:
        """Whether it is time to save ``known`` merges."""
        reached = any(self._saved_count < size <= known for size in self._sizes)
        return reached or time.monotonic() - self._saved_at >= self._every_seconds

    def save(self, merges: MergeTable) -> None:
        """Save now, unless these merges are saved already."""
        if len(merges) == self._saved_count:
            return
        self._save(merges)
        self._saved_at = time.monotonic()
        self._saved_count = len(merges)


class Learner:
    """Grows a merge list on one corpus, as far as asked; one owner.

    The corpus is laid out for learning only when a merge is needed that is not known yet: a run
    that has enough merges never touches its counts again.

    Args:
        counts: The corpus, or a function that loads it.
        merges: Merges to continue from; they must have been learned on these very counts.
        threads: One per core by default. The result does not depend on it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        checkpoints: Saves the merges now and then, and when learning ends or is interrupted.
        split_from: Occurrences from which on a merge is split between threads; a number also
            makes little text use all threads, for tests.

    >>> learner = Learner(ChunkCounts.from_mapping({b"hat": 3, b"that": 2}))
    >>> merges = learner.reach(2)
    >>> merges.token_bytes[256:], merges.frequencies.tolist()
    ([b'ha', b'hat'], [5, 5])
    """

    def __init__(
        self,
        counts: ChunkCounts | Callable[[], ChunkCounts],
        merges: MergeTable | None = None,
        *,
        threads: int | None = None,
        progress: ProgressLike = None,
        checkpoints: Checkpointer | None = None,
        split_from: int | None = None,
    ) -> None:
        if isinstance(counts, ChunkCounts):
            _check_origin(merges, counts, threads)
        self._counts = counts
        self._known = merges
        self._threads = thread_count(threads)
        self._progress = as_progress(progress)
        self._checkpoints = checkpoints
        self._split_from = split_from
        self._work: _Work | None = None

    def __repr__(self) -> str:
        known = len(self._work) if self._work is not None else len(self._known or ())
        return f"Learner(merges={known})"

    def reach(self, merge_count: int) -> MergeTable:
        """Learn until ``merge_count`` merges are known, or no pair is left that occurs twice.

        Returns:
            All merges known now.
        """
        known = self._known
        if known is not None and (len(known) >= merge_count or known.exhausted):
            return known
        if self._work is None:
            counts = self._counts
            if not isinstance(counts, ChunkCounts):
                counts = counts()
                _check_origin(known, counts, self._threads)
            self._work = _Work(counts, known, self._threads, self._split_from)
        work = self._work
        try:
            self._learn(work, merge_count)
        except BaseException:
            self._work = None  # an interrupt may have come in the middle of a merge
            raise
        finally:  # what was learned before an interrupt counts too
            self._known = work.merges()
            if self._checkpoints is not None:
                self._checkpoints.save(self._known)
        return self._known

    @property
    def memory(self) -> int:
        """Bytes held by the native structures; 0 before the corpus is laid out."""
        return 0 if self._work is None else self._work.memory

    def _learn(self, work: _Work, merge_count: int) -> None:
        missing = max(merge_count - len(work), 0)
        with self._progress.task("Learning", total=missing, unit="merges") as task:
            while len(work) < merge_count and not work.exhausted:
                stop = merge_count
                if self._checkpoints is not None:
                    stop = self._checkpoints.next_stop(len(work), merge_count)
                task.advance(work.advance(stop))
                if self._checkpoints is not None and self._checkpoints.is_due(len(work)):
                    self._checkpoints.save(work.merges())


class _Work:
    """The native learner of one corpus, and the merges it started from."""

    def __init__(
        self, counts: ChunkCounts, given: MergeTable | None, threads: int, split_from: int | None
    ) -> None:
        # Hashing a large table takes a while: do it next to the native layout of the corpus.
        self._digest = in_background(lambda: counts.digest, threads)
        self._native = _core.Learner(
            *counts.columns[:3], None if given is None else given.pairs, threads, split_from
        )
        # The counts may be large; keep only what the merge table needs of them.
        self._given = given
        self._byte_counts = counts.byte_counts
        self._pretokenizer, self._corpus = counts.pretokenizer, counts.corpus
        self._min_chunk_count = counts.min_chunk_count
        self._count = 0 if given is None else len(given)

    def __len__(self) -> int:
        return self._count

    @property
    def exhausted(self) -> bool:
        return bool(self._native.exhausted)

    @property
    def memory(self) -> int:
        return int(self._native.memory)

    def advance(self, merge_count: int) -> int:
        """Learn towards ``merge_count`` merges for one step; returns how many were learned."""
        learned = self._native.advance(merge_count - len(self), _STEP_SECONDS)
        self._count += learned
        return learned

    def merges(self) -> MergeTable:
        pairs, frequencies, replacements = self._native.learned()
        if self._given is not None:
            pairs = np.concatenate([self._given.pairs, pairs])
            frequencies = np.concatenate([self._given.frequencies, frequencies])
            replacements = np.concatenate([self._given.applied.replacements, replacements])
        return MergeTable(
            pairs,
            frequencies,
            Applied(self._byte_counts, replacements),
            self._pretokenizer,
            self._corpus,
            self._digest(),
            self.exhausted,
            self._min_chunk_count,
        )


def _check_origin(merges: MergeTable | None, counts: ChunkCounts, threads: int | None) -> None:
    """Refuse merges that were not learned on these counts, or that do not do what they claim."""
    if merges is None:
        return
    if merges.counts_digest != counts.digest:
        raise SettingsError(
            "the merges were learned on other chunk counts than the ones given",
            hint="use replay to see what merges do on another corpus",
        )
    replayed = replay(merges, counts, threads=threads)
    if not np.array_equal(replayed.byte_counts, merges.applied.byte_counts):
        raise FormatError("the bytes of the merge table are not those of the counts", hint=_LEARN)
    differs = replayed.replacements != merges.applied.replacements
    if differs.any():
        i = int(differs.argmax())
        raise FormatError(
            f"merge {i} claims {merges.applied.replacements[i]:,} replacements, but makes "
            f"{replayed.replacements[i]:,} on the counts it was learned on",
            hint=_LEARN,
        )
    # Only occurrences of a pair of equal tokens can overlap, each with at most two others.
    is_double = merges.pairs[:, 0] == merges.pairs[:, 1]
    surplus = merges.frequencies - replayed.replacements
    wrong = (surplus < 0) | (surplus > np.where(is_double, replayed.replacements, 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise FormatError(
            f"merge {i} claims the frequency {merges.frequencies[i]:,}, but its pair has "
            f"{replayed.replacements[i]:,} replacements",
            hint=_LEARN,
        )


def learn(
    counts: ChunkCounts,
    merge_count: int,
    *,
    merges: MergeTable | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> MergeTable:
    """Learn merges on a corpus: exact BPE, the same for any number of threads.

    Args:
        counts: The corpus, as counted by :func:`prunedbpe.count`.
        merge_count: How many merges in all; fewer if no pair is left that occurs twice.
        merges: Merges already learned on these counts, to continue from.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    >>> table = learn(ChunkCounts.from_mapping({b"aaa": 5, b"ab": 5}), 1)
    >>> table.pairs.tolist(), table.frequencies.tolist(), table.applied.replacements.tolist()
    ([[97, 97]], [10], [5])
    """
    progress = as_progress(progress)
    check_type("counts", counts, ChunkCounts, MAKE_COUNTS)
    if to_whole_number("merge_count", merge_count) < 0:
        raise SettingsError(f"merge_count is {merge_count}", hint="use 0 or more")
    return (
        Learner(counts, merges, threads=threads, progress=progress)
        .reach(merge_count)
        .head(merge_count)
    )


def learning_memory(
    chunks: int, unique_bytes: int, merge_count: int, *, threads: int | None = None
) -> int:
    """Predict the most memory that learning takes beside the counts, in bytes; an upper estimate.

    From the layout of the native learner, and what its pair index needed on texts of English,
    Chinese, code and many languages. Measured peaks are at most a quarter lower from ten megabytes
    of unique chunks on; for less the estimate is up to 1.5 times too high, a few megabytes.

    Args:
        chunks: Unique chunks of the corpus.
        unique_bytes: Bytes of the unique chunks.
        merge_count: How many merges will be learned, at most.
        threads: One per core by default. More threads take more memory.

    >>> learning_memory(1_000_000, 20_000_000, 32_000, threads=2)
    261720000
    >>> learning_memory(100_000_000, 8_000_000_000, 32_000, threads=2) // 10**9  # wide positions
    120
    """
    width = 1 if unique_bytes + chunks + 1 <= _NARROW_SLOTS else 2
    workers = thread_count(threads) or os.cpu_count() or 1
    return _learning_memory(chunks, unique_bytes, merge_count, workers, width)


def _learning_memory(
    chunks: int, unique_bytes: int, merge_count: int, workers: int, width: int
) -> int:
    """The estimate for positions of ``width`` times 32 bits."""
    if unique_bytes < _SHARED_FROM:
        workers = 1
    corpus = unique_bytes * 42 // 10 + chunks * 12 * width
    # At first every occurrence of a frequent pair is listed. If those pairs are used up, the lists
    # are gone, and every worker sums frequencies by hash in two bytes for about four slots.
    first_lists = unique_bytes * 43 // 10 * width
    sums = workers * 2 * (1 << ((unique_bytes + chunks) // 4 + 1).bit_length())
    # Pairs of later merges. How many are frequent at a time hardly grows with a large corpus.
    later = width * (unique_bytes + min(unique_bytes * 102 // 10, 46_000_000))
    ranks = min(merge_count, unique_bytes) * (80 + 15 * workers)
    return corpus + max(first_lists, sums) + later + ranks + 6_000_000 + workers * 2_100_000


def replay(merges: MergeTable, counts: ChunkCounts, *, threads: int | None = None) -> Applied:
    """Apply merges to any corpus and count the replacements of each.

    Args:
        merges: The merges, in order.
        counts: The corpus, cut by the pretokenizer of the merges.
        threads: One per core by default.

    Raises:
        SettingsError: The corpus was cut by another pretokenizer.

    >>> merges = MergeTable.from_pairs([(97, 97), (256, 97)])
    >>> replay(merges, ChunkCounts.from_mapping({b"aaa": 2, b"aa": 1})).replacements.tolist()
    [3, 2]
    """
    check_type("merges", merges, MergeTable, MAKE_MERGES)
    check_type("counts", counts, ChunkCounts, MAKE_COUNTS)
    _check_pretokenizer(merges, counts)
    replacements = _core.replay(merges.pairs, *counts.columns[:3], thread_count(threads))
    return Applied(counts.byte_counts, replacements)


def replay_by_source(
    merges: MergeTable, sources: SourceCounts, *, threads: int | None = None
) -> list[Applied]:
    """As :func:`replay`, for every source of a corpus, at the price of one.

    Args:
        merges: The merges, in order.
        sources: The counted sources, cut by the pretokenizer of the merges.
        threads: One per core by default.

    >>> tables = [ChunkCounts.from_mapping(part) for part in ({b"aaa": 2}, {b"aa": 1, b"aaa": 1})]
    >>> merges = MergeTable.from_pairs([(97, 97), (256, 97)])
    >>> found = replay_by_source(merges, SourceCounts.from_tables(["x", "y"], tables))
    >>> [applied.replacements.tolist() for applied in found]
    [[2, 2], [2, 1]]
    """
    _check_pretokenizer(merges, sources.total)
    ranks = np.arange(BYTE_COUNT + len(merges), dtype=np.uint32)
    identity = np.arange(len(ranks) + 1, dtype=np.int64)
    encoder = _core.Encoder(merges.pairs, ranks, identity, "none")
    spans = np.stack([sources.total.offsets[:-1], sources.total.offsets[1:]], axis=1)
    ids, offsets = encoder.encode_documents(sources.total.data, spans, thread_count(threads))
    made = _core.tally_by_source(
        *(ids, offsets, sources.offsets, sources.sources, sources.counts),
        *(len(sources), len(ranks)),
    ).reshape(len(ranks), len(sources))
    # What is left of a token after all merges, and what each later merge took of it, was made.
    for rank, pair in reversed(list(enumerate(merges.pairs.tolist(), BYTE_COUNT))):
        for part in pair:
            made[part] += made[rank]
    return [Applied(column[:BYTE_COUNT], column[BYTE_COUNT:]) for column in made.T.copy()]


def _check_pretokenizer(merges: MergeTable, counts: ChunkCounts) -> None:
    if merges.pretokenizer != counts.pretokenizer:
        raise SettingsError(
            f"the merges belong to chunks of {merges.pretokenizer.describe()}, "
            f"the counts are of chunks of {counts.pretokenizer.describe()}",
            hint="count the corpus with the pretokenizer of the merges",
        )
