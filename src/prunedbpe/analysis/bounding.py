"""How far a vocabulary is from the best one: both lower bounds, and what they mean for a length.

In: chunk counts, candidates, a number of visible learned tokens. Out: :class:`Bounds`, whose
``compare`` says what they mean for a real length. The bounds are those of
:mod:`prunedbpe.visibility.lower_bound`; together they take minutes for a large corpus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges import MergeTable
from prunedbpe.visibility.lower_bound import (
    LowerBound,
    lower_bound,
    lower_bound_of_any_vocabulary,
)


@dataclass(frozen=True)
class Bounds:
    """What no vocabulary with a number of visible learned tokens can undercut.

    Attributes:
        required: The number of visible learned tokens.
        given: Number of candidates.
        of_candidates: For every choice from the candidates.
        of_any: For every vocabulary.
    """

    required: int
    given: int
    of_candidates: LowerBound
    of_any: LowerBound

    def compare(self, length: int) -> str:
        """Compare a length with the bounds; shares are rounded up, so they hold.

        >>> low, any_low = LowerBound(990, "candidates", 9, 1), LowerBound(980, "any", 9, 1)
        >>> Bounds(4, 9, low, any_low).compare(1000)  # doctest: +NORMALIZE_WHITESPACE
        'within 1.02% of the best choice of 4 from these 9 candidates,
         within 2.05% of any vocabulary with 4 learned tokens'
        """
        choice, anything = (_rounded_up(b.gap(length)) for b in (self.of_candidates, self.of_any))
        return (
            f"within {choice:.2%} of the best choice of {self.required:,} from these "
            f"{self.given:,} candidates, within {anything:.2%} of any vocabulary with "
            f"{self.required:,} learned tokens"
        )


def bound_lengths(
    counts: ChunkCounts,
    candidates: MergeTable | Sequence[bytes],
    required: int,
    *,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Bounds:
    """Bound the length of a corpus from below in both ways.

    Args:
        counts: The corpus.
        candidates: The learned tokens to choose from: merges, or strings of two bytes or more.
        required: Number of visible learned tokens.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> bounds = bound_lengths(counts, [b"ha", b"at", b"cat"], 2)
    >>> bounds.of_candidates.tokens, bounds.of_any.tokens
    (13, 11)
    """
    progress = as_progress(progress)
    of_candidates = lower_bound(counts, candidates, required, threads=threads, progress=progress)
    of_any = lower_bound_of_any_vocabulary(
        counts, candidates, required, threads=threads, progress=progress
    )
    given = of_candidates.candidates
    if of_any.tokens > of_candidates.tokens:  # it holds for the candidates as well
        of_candidates = replace(of_candidates, tokens=of_any.tokens)
    return Bounds(required, given, of_candidates, of_any)


def _rounded_up(share: float) -> float:
    return math.ceil(share * 10_000) / 10_000
