"""The paper's rule: exposure and a threshold decide which tokens are visible.

In: merges that can be extended, a budget of visible tokens and a threshold. Out: where training
stops, and which tokens are hidden. Learning continues in batches until the budget is full; the
batches are part of the result, because exposure is measured only at their ends (sections 3.2 and
3.3 of the paper).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from prunedbpe._support.arguments import to_whole_number
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.merges import Candidates, MergeTable
from prunedbpe.types import BYTE_COUNT, BoolArray, ByteArray, Int64Array, Visibility
from prunedbpe.visibility.exposure import exposure

ALLOWED = "a share such as 40% or 0.4, a count such as 750, 0 for Standard BPE, or auto"
"""What a threshold may be."""

SMALLEST_BATCH = 25
"""Merges learned before exposure is measured again, at least."""


@dataclass(frozen=True)
class Threshold:
    """How much exposure a visible token needs: a ratio of the boundary frequency, or a count.

    The ratio is kept exact (0.30 of 40 is 12, which binary floats miss).

    Attributes:
        text: As a user writes it: ``40%``, ``750`` or ``0``.
        ratio: Share of the boundary token's frequency, or ``None``.
        count: The exposure itself, or ``None``.
    """

    text: str
    ratio: Fraction | None = None
    count: int | None = None

    @classmethod
    def parse(cls, value: str | int | float | Threshold) -> Threshold:
        """Read a threshold: ``"40%"`` or ``0.4`` is a ratio, ``750`` a count, ``0`` Standard BPE.

        Text means what the number means: ``"0.4"`` is a ratio too.

        >>> [Threshold.parse(text).text for text in ("40%", "40 %", "0.4", 0.4, "750")]
        ['40%', '40%', '40%', '40%', '750']
        >>> Threshold.parse("40%").min_exposure(boundary_frequency=41)
        17
        >>> Threshold.parse(0.3).min_exposure(boundary_frequency=40)
        12
        >>> Threshold.parse(750).min_exposure(boundary_frequency=40)
        750
        """
        if isinstance(value, Threshold):
            return value
        text = str(value).strip()
        try:
            if text.endswith("%"):
                number = text[:-1].strip()
                parsed = cls(f"{number}%", ratio=Fraction(number) / 100)
            elif isinstance(value, float) or "." in text:
                percent = f"{Decimal(text) * 100:f}"
                percent = percent.rstrip("0").rstrip(".") if "." in percent else percent
                parsed = cls(f"{percent}%", ratio=Fraction(text))
            else:
                parsed = cls(text, count=int(text))
        except (ValueError, ArithmeticError):
            raise SettingsError(
                f"threshold {value!r} is neither a ratio nor a count", hint=f"use {ALLOWED}"
            ) from None
        if (parsed.ratio or 0) < 0 or (parsed.count or 0) < 0:
            raise SettingsError(f"threshold {value!r} is negative", hint=f"use {ALLOWED}")
        return parsed

    def min_exposure(self, boundary_frequency: int) -> int:
        """The count it comes to, given the frequency of the last token of Standard BPE."""
        if self.ratio is not None:
            return math.ceil(self.ratio * boundary_frequency)
        assert self.count is not None
        return self.count


def required_tokens(vocab_size: int, special_tokens: tuple[str, ...]) -> int:
    """How many learned tokens are to be visible.

    >>> required_tokens(1000, ("<_EOS_>",))
    743
    """
    required = to_whole_number("vocab_size", vocab_size) - BYTE_COUNT - len(special_tokens)
    if required < 0:
        least = BYTE_COUNT + len(special_tokens)
        raise SettingsError(
            f"vocab_size={vocab_size} has no room for {BYTE_COUNT} bytes "
            f"and {len(special_tokens)} special tokens",
            hint=f"use {least} or more",
        )
    return required


def check_cap(required: int, max_train_vocab: int | None) -> None:
    """Refuse an upper bound that leaves no room for the visible tokens."""
    if max_train_vocab is None:
        return
    if to_whole_number("max_train_vocab", max_train_vocab) < BYTE_COUNT + required:
        raise SettingsError(
            f"max_train_vocab={max_train_vocab} is below the {BYTE_COUNT + required} bytes and "
            "learned tokens that must be visible",
            hint=f"raise max_train_vocab to {BYTE_COUNT + required} or more",
        )


class Reallocation(NamedTuple):
    """Where the paper's procedure stops.

    Attributes:
        merges: All merges learned up to there.
        min_exposure: The exposure the threshold comes to.
        exposures: By rank, bytes first, after all of the merges.
    """

    merges: MergeTable
    min_exposure: int
    exposures: Int64Array

    def hidden(self, required: int) -> BoolArray:
        """By rank, bytes first, which of the retained tokens are hidden.

        Args:
            required: How many learned tokens are visible.
        """
        decided = decide_visibility(self.exposures[BYTE_COUNT:], required, self.min_exposure)
        retained = int((decided != Visibility.DISCARDED).sum())
        hidden = np.zeros(BYTE_COUNT + retained, bool)
        hidden[BYTE_COUNT:] = decided[:retained] == Visibility.INTERNAL
        return hidden


def reallocation_batch(missing: int) -> int:
    """Merges to learn before exposure is measured again: a tenth more than are missing.

    >>> reallocation_batch(3), reallocation_batch(40), reallocation_batch(50)
    (25, 44, 56)
    """
    # In binary floats, as in the released implementation: 1.1 * 50 is 55.00000000000001, so 56.
    return max(SMALLEST_BATCH, math.ceil(1.1 * missing))


def reallocate(
    candidates: Candidates, required: int, threshold: Threshold, max_train_vocab: int | None = None
) -> Reallocation:
    """Find the merges the paper's procedure stops at.

    Args:
        candidates: A finished merge table, or a learner.
        required: How many learned tokens must be visible.
        threshold: The exposure they need.
        max_train_vocab: Upper bound of bytes and learned tokens.

    Raises:
        InsufficientCandidatesError: The cap is reached, or no pair occurs twice, and visible
            tokens are still missing.
    """
    check_cap(required, max_train_vocab)
    limit = None if max_train_vocab is None else max_train_vocab - BYTE_COUNT
    known = candidates.reach(required)
    if len(known) < required:
        raise too_few_merges(known, required)
    boundary_frequency = int(known.frequencies[required - 1]) if required else 0
    min_exposure = threshold.min_exposure(boundary_frequency)
    merge_count = required
    exposures = None
    while True:
        merges = known.head(merge_count)
        exposures = exposure(merges.pairs, merges.applied, after_fewer=exposures)
        eligible = int((exposures[BYTE_COUNT:] >= min_exposure).sum())
        if eligible >= required:
            return Reallocation(merges, min_exposure, exposures)
        wanted = merge_count + reallocation_batch(required - eligible)
        if limit is not None:
            wanted = min(wanted, limit)
        known = candidates.reach(wanted)
        if min(wanted, len(known)) <= merge_count:
            at_limit = merge_count == limit
            raise _too_few_exposed(merges, eligible, required, min_exposure, at_limit=at_limit)
        merge_count = min(wanted, len(known))


def decide_visibility(exposures: Int64Array, required: int, min_exposure: int) -> ByteArray:
    """Scan learned tokens in merge order until ``required`` are visible.

    Args:
        exposures: Exposure of every learned token, in merge order, without the bytes.
        required: How many are to be visible; at least that many have the exposure.
        min_exposure: The exposure a visible token needs.

    Returns:
        A :class:`~prunedbpe.types.Visibility` for every learned token.

    >>> decide_visibility(np.array([9, 1, 5, 7]), required=2, min_exposure=5).tolist()
    [0, 1, 0, 2]
    """
    eligible = exposures >= min_exposure
    visibility = np.where(eligible, Visibility.VISIBLE, Visibility.INTERNAL).astype(np.uint8)
    retained = int(np.searchsorted(np.cumsum(eligible), required)) + 1 if required else 0
    visibility[retained:] = Visibility.DISCARDED
    return visibility


def too_few_merges(merges: MergeTable, required: int) -> InsufficientCandidatesError:
    """The error for a merge list that is shorter than the visible vocabulary."""
    if merges.exhausted:
        return InsufficientCandidatesError(
            f"the corpus supports at most {len(merges):,} learned tokens; this vocabulary needs "
            f"{required:,}: after {len(merges):,} merges no pair occurs twice",
            hint="lower the vocabulary size, or use a larger corpus",
        )
    return InsufficientCandidatesError(
        f"{len(merges):,} merges were learned; this vocabulary needs {required:,} learned tokens",
        hint="learn more merges, or lower the vocabulary size",
    )


def _too_few_exposed(
    merges: MergeTable, eligible: int, required: int, min_exposure: int, *, at_limit: bool
) -> InsufficientCandidatesError:
    if at_limit:
        reason = f"max_train_vocab={BYTE_COUNT + len(merges)} allows no further merge"
        hint = "raise max_train_vocab, or lower the threshold or the vocabulary size"
    elif merges.exhausted:
        reason = f"after {len(merges):,} merges no pair occurs twice"
        hint = "lower the threshold or the vocabulary size, or use a larger corpus"
    else:
        reason = f"only {len(merges):,} merges were learned"
        hint = "learn more merges, or lower the threshold or the vocabulary size"
    return InsufficientCandidatesError(
        f"{eligible:,} learned tokens have an exposure of at least {min_exposure:,}; this "
        f"vocabulary needs {required:,}, and {reason}",
        hint=hint,
    )
