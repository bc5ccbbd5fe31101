"""Learning on until the visible budget is full again, or the cap is met.

Written over an ``extend`` function, so that the same rule serves a learner at work and a finished
merge table: ``extend(k)`` makes at least ``k`` merges known, if there are so many, and returns the
table. The batches are part of the result, because exposure is measured only at their ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from prunedbpe.arrays import np
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.learn.merges import MergeTable
from prunedbpe.types import BYTE_COUNT, BoolArray, Int64Array, Visibility
from prunedbpe.visibility.exposure import exposure
from prunedbpe.visibility.prune import Threshold, decide_visibility

SMALLEST_BATCH = 25

Extend = Callable[[int], MergeTable]


class Reallocation(NamedTuple):
    """Where the paper's procedure stops.

    Attributes:
        merges: All that were learned up to there.
        min_exposure: The exposure the threshold comes to.
        exposures: By rank, bytes first, after all of the merges.
    """

    merges: MergeTable
    min_exposure: int
    exposures: Int64Array


def reallocation_batch(missing: int) -> int:
    """Merges to learn before exposure is measured again: a tenth more than are missing.

    >>> reallocation_batch(3), reallocation_batch(40), reallocation_batch(50)
    (25, 44, 56)
    """
    # In binary floats, as in the released implementation: 1.1 * 50 is 55.00000000000001, so 56.
    return max(SMALLEST_BATCH, math.ceil(1.1 * missing))


def check_cap(required: int, max_train_vocab: int | None) -> None:
    """Refuse an upper bound that leaves no room for the tokens the vocabulary shows."""
    if max_train_vocab is not None and max_train_vocab < BYTE_COUNT + required:
        raise SettingsError(
            f"max_train_vocab={max_train_vocab} is below the {BYTE_COUNT + required} bytes and "
            "learned tokens the vocabulary shows",
            hint=f"raise max_train_vocab to {BYTE_COUNT + required} or more",
        )


def reallocate(
    extend: Extend, required: int, threshold: Threshold, max_train_vocab: int | None = None
) -> Reallocation:
    """Find the merges the paper's procedure stops at.

    Args:
        extend: Makes merges known, see above.
        required: How many learned tokens must be visible.
        threshold: The exposure they need.
        max_train_vocab: Upper bound of bytes and learned tokens.

    Raises:
        InsufficientCandidatesError: The cap is met, or no pair occurs twice; tokens are missing.
    """
    check_cap(required, max_train_vocab)
    limit = None if max_train_vocab is None else max_train_vocab - BYTE_COUNT
    known = extend(required)
    if len(known) < required:
        raise _insufficient(len(known), required, "occur at all", known)
    # Threshold 0 asks for no exposure: Standard BPE, whatever the corpus.
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
        known = extend(wanted)
        if min(wanted, len(known)) <= merge_count:
            have = f"have an exposure of at least {min_exposure}"
            raise _insufficient(eligible, required, have, merges, at_limit=merge_count == limit)
        merge_count = min(wanted, len(known))


def hidden_by_threshold(found: Reallocation, required: int) -> BoolArray:
    """By rank, bytes first, which of the tokens the paper's rule retains are hidden.

    Args:
        found: What :func:`reallocate` stopped at.
        required: How many learned tokens are visible.
    """
    decided = decide_visibility(found.exposures[BYTE_COUNT:], required, found.min_exposure)
    retained = int((decided != Visibility.DISCARDED).sum())
    hidden = np.zeros(BYTE_COUNT + retained, bool)
    hidden[BYTE_COUNT:] = decided[:retained] == Visibility.INTERNAL
    return hidden


def _insufficient(
    eligible: int, required: int, what: str, merges: MergeTable, at_limit: bool = False
) -> InsufficientCandidatesError:
    if at_limit:
        reason = f"max_train_vocab={BYTE_COUNT + len(merges)} allows no further merge"
        hint = "raise max_train_vocab, or lower the threshold or the vocabulary size"
    elif merges.exhausted:
        reason = f"after {len(merges)} merges no pair occurs twice"
        hint = "lower the threshold or the vocabulary size, or use a larger corpus"
    else:
        reason = f"only {len(merges)} merges were learned"
        hint = "learn more merges, or lower the threshold or the vocabulary size"
    return InsufficientCandidatesError(
        f"{eligible} learned tokens {what}, {required} are needed, and {reason}", hint=hint
    )
