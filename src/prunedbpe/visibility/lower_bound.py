"""A certified lower bound: no choice of visible tokens cuts a corpus into fewer.

In: chunk counts, the candidates and how many of them may be visible. Out: a number of tokens that
no choice can undercut, whatever its segmentation. Compare it with the length that a real
vocabulary reaches, and you know how much a better one could save at most.

Native code (:class:`prunedbpe._core.LowerBound`) searches for good multipliers of a Lagrangian
relaxation and evaluates them in integers, so the bound is exact. Plain Python:
:mod:`prunedbpe.reference.lower_bound`. ``docs/concepts/lower-bound.md`` has the proof.

Cost: a pass takes about as long as finding the shortest segmentation of every unique chunk twice;
memory is 6 bytes per match of a candidate in a unique chunk, and about 20 per unique byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prunedbpe import _core
from prunedbpe._support.progress import ProgressLike, Task, as_progress
from prunedbpe._support.threads import thread_count
from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import SettingsError
from prunedbpe.merges import MergeTable
from prunedbpe.types import BYTE_COUNT, BoolArray, ByteArray, Int64Array

PASSES = 100
"""Passes over the corpus for :func:`lower_bound`. Three times as many raise the bound by 0.04 %."""

FIRST_PASSES, ROUND_PASSES, LAST_PASSES = 40, 15, 60
"""Passes of :func:`lower_bound_of_any_vocabulary` before, between and after adding candidates."""

ROUNDS = 2
"""How often candidates are added. A third round would find hardly any."""

ADDED_AT_ONCE = 4
"""Most candidates to add in a round, as a multiple of the visible tokens."""

REHEATED = 0.8
"""Heat of the search after candidates were added; see ``ascend``."""

LONGEST = 1024
"""Chunks of more bytes count as one token each. The search for substrings would take time
quadratic in their length, and text hardly has such chunks."""


@dataclass(frozen=True)
class LowerBound:
    """What no choice of visible tokens can undercut.

    Attributes:
        tokens: Tokens of the corpus, at least.
        kind: ``candidates``: of any choice from the given candidates; ``any``: of any vocabulary.
        candidates: Candidates at the end of the search.
        passes: Passes over the corpus that the search took.
    """

    tokens: int
    kind: Literal["candidates", "any"]
    candidates: int
    passes: int

    def gap(self, length: int) -> float:
        """By which share of the best possible length a real length exceeds it, at most.

        >>> round(LowerBound(1000, "any", candidates=5, passes=1).gap(1012), 6)
        0.012
        """
        return length / self.tokens - 1 if self.tokens else 0.0


def lower_bound(
    counts: ChunkCounts,
    candidates: MergeTable | Sequence[bytes],
    required: int,
    *,
    passes: int = PASSES,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> LowerBound:
    """Bound the tokens of the best choice from some candidates.

    Args:
        counts: The corpus.
        candidates: The learned tokens to choose from: merges, or strings of two bytes or more.
        required: Number of visible learned tokens.
        passes: More give a better bound; the result depends on it.
        threads: One per core by default. The result does not depend on it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> lower_bound(counts, [b"at", b"th", b"the", b"cat"], 2).tokens  # the, at: 11 tokens
    11
    """
    progress = as_progress(progress)
    _check(required, passes)
    native, skipped = _start(counts, candidates, required, threads)
    with progress.task("Bounding", total=passes, unit="passes") as task:
        _ascend(native, passes, 1.0, 0.0, task)
    tokens = _whole_tokens(native.best, counts, skipped)
    return LowerBound(tokens, "candidates", native.candidate_count, passes)


def lower_bound_of_any_vocabulary(
    counts: ChunkCounts,
    candidates: MergeTable | Sequence[bytes],
    required: int,
    *,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> LowerBound:
    """Bound the tokens of every vocabulary of 256 bytes and ``required`` other strings.

    Args:
        counts: The corpus.
        candidates: Where the search starts. The bound holds for all other strings as well, but is
            better if good tokens are among these.
        required: Number of visible learned tokens.
        threads: One per core by default. The result does not depend on it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> lower_bound_of_any_vocabulary(counts, [b"at", b"the"], 2).tokens
    11
    """
    progress = as_progress(progress)
    _check(required, passes=1)
    native, skipped = _start(counts, candidates, required, threads)
    passes = FIRST_PASSES + ROUNDS * ROUND_PASSES + LAST_PASSES
    with progress.task("Bounding", total=passes, unit="passes") as task:
        _ascend(native, FIRST_PASSES, 1.0, 0.0, task)
        for _ in range(ROUNDS):
            native.add(*native.unlisted(ADDED_AT_ONCE * required))
            _ascend(native, ROUND_PASSES, REHEATED, 0.3 * REHEATED, task)
        _ascend(native, LAST_PASSES, REHEATED, 0.0, task)
        tokens = _whole_tokens(native.evaluate_any(), counts, skipped)
    return LowerBound(tokens, "any", native.candidate_count, passes)


def _check(required: int, passes: int) -> None:
    if required < 0:
        raise SettingsError(f"required={required} is negative", hint="0 leaves the bytes alone")
    if passes < 1:
        raise SettingsError(f"passes={passes} gives no bound", hint="use 1 or more")


def _start(
    counts: ChunkCounts,
    candidates: MergeTable | Sequence[bytes],
    required: int,
    threads: int | None,
) -> tuple[_core.LowerBound, int]:
    """The search at its start, and how many tokens the chunks left out of it have at least."""
    sizes = np.diff(counts.offsets)
    is_short = sizes <= LONGEST
    skipped = int(counts.counts[~is_short].sum())
    if skipped:
        data, offsets, chunk_counts = _keep(counts, is_short)
    else:
        data, offsets, chunk_counts, _ = counts.columns
    native = _core.LowerBound(
        data, offsets, chunk_counts, *_strings(candidates), required, thread_count(threads)
    )
    if required:
        # A twentieth of all bytes for all visible tokens together: near the price in real text.
        native.start_at(float((sizes * counts.counts)[is_short].sum()) / (20 * required))
    return native, skipped


def _keep(counts: ChunkCounts, kept: BoolArray) -> tuple[ByteArray, Int64Array, Int64Array]:
    sizes = np.diff(counts.offsets)
    data = counts.data[np.repeat(kept, sizes)]
    offsets = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return data, offsets, counts.counts[kept]


def _strings(candidates: MergeTable | Sequence[bytes]) -> tuple[ByteArray, Int64Array]:
    """The 256 bytes and every candidate once: one flat array and offsets."""
    given = candidates.token_bytes if isinstance(candidates, MergeTable) else candidates
    longer = dict.fromkeys(bytes(string) for string in given if len(string) > 1)
    strings = [*(bytes([byte]) for byte in range(BYTE_COUNT)), *longer]
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    return np.frombuffer(b"".join(strings), np.uint8), offsets


def _ascend(native: _core.LowerBound, passes: int, first: float, last: float, task: Task) -> None:
    """Cool the search down from one heat to another; back in Python after each pass, for Ctrl-C."""
    for done in range(passes):
        native.ascend(first + (last - first) * done / passes)
        task.advance(1)


def _whole_tokens(bound: int, counts: ChunkCounts, skipped: int) -> int:
    """Round up, for the number of tokens is whole; every chunk has at least one."""
    tokens = skipped - (-bound // _core.LowerBound.unit)
    return max(tokens, int(counts.counts.sum()))
