"""What tokens are worth when no source of the corpus may pay for another.

A token saves some number of tokens in each source of the corpus. Adding these numbers up lets a
large source outvote a small one, and overstates what one source happens to repeat. So a saving is
worth the sum of ``weight * saving ** exponent`` over the sources, with an exponent below 1. And
whatever the weights choose is checked: a source that got longer than under Standard BPE gains
weight, and the choice is made again (:func:`harm_nobody`).

``docs/concepts/visibility.md`` has the study behind the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from prunedbpe.types import BYTE_COUNT, BoolArray, FloatArray, Int64Array, Segmentation, Settings

MOST_ROUNDS = 24
"""Attempts of the guard before it gives up."""


@dataclass(frozen=True)
class ValueRule:
    """How much a saving is worth.

    Attributes:
        exponent: 1 trusts the corpus; lower values prefer tokens that many sources share.
        newcomer_discount: How much less a token beyond those of Standard BPE is worth, 0 to 1.
    """

    exponent: float
    newcomer_discount: float

    def prices(self, merge_count: int, required: int) -> FloatArray:
        """What one unit of value counts, by rank, if Standard BPE has ``required`` tokens.

        >>> ValueRule(1.0, 0.25).prices(3, 2)[256:].tolist()
        [1.0, 1.0, 0.75]
        """
        prices = np.ones(BYTE_COUNT + merge_count)
        prices[BYTE_COUNT + required :] -= self.newcomer_discount
        return prices

    def values(self, savings: Int64Array, weights: FloatArray) -> FloatArray:
        """What savings are worth.

        Args:
            savings: By rank, and by source.
            weights: By source.

        >>> ValueRule(0.5, 0.0).values(np.array([[16, 0], [4, 4]]), np.ones(2)).tolist()
        [4.0, 4.0]
        """
        # Most savings are 0, and powers are slow.
        ranks, sources = np.nonzero(savings)
        worth = weights[sources] * savings[ranks, sources].astype(np.float64) ** self.exponent
        return np.bincount(ranks, worth, minlength=len(savings)).astype(np.float64)


CAUTIOUS: dict[Segmentation, ValueRule] = {
    "rank": ValueRule(0.83, 0.15),
    "shortest": ValueRule(0.8, 0.2),
}
"""The default: text that is to be encoded is not the corpus."""

TRUSTING = ValueRule(1.0, 0.0)
"""Every saving counts the same: text that is to be encoded is just like the corpus."""


class Choice(Protocol):
    """A choice of visible tokens."""

    @property
    def lengths(self) -> Int64Array:
        """Tokens of every source."""


AnyChoice = TypeVar("AnyChoice", bound=Choice)


def harm_nobody(
    choose: Callable[[FloatArray], AnyChoice], standard: Int64Array, weights: FloatArray
) -> tuple[AnyChoice, FloatArray]:
    """Choose until no source is longer than under Standard BPE, raising the weights of those.

    Args:
        choose: The choice for given weights of the sources.
        standard: Tokens of every source under Standard BPE of the same size, by rank.
        weights: What the sources weigh at first; one that weighs nothing is not protected.

    Returns:
        The choice, and the weights that led to it. After 24 attempts, the last choice is returned
        even if it harms a source.
    """
    for rounds_left in reversed(range(MOST_ROUNDS)):
        choice = choose(weights)
        harmed = is_harmed(choice.lengths, standard, weights)
        if not rounds_left or not harmed.any():
            break
        percent = 100 * (choice.lengths / np.maximum(standard, 1) - 1)
        # At least 5 %, or a small loss would take many rounds to disappear.
        weights = np.where(harmed, weights * (1 + 0.5 * np.clip(percent, 0.1, 2)), weights)
    return choice, weights


def is_harmed(lengths: Int64Array, standard: Int64Array, weights: FloatArray) -> BoolArray:
    """By source: whether it is longer than under Standard BPE although it has weight."""
    return (lengths > standard) & (weights > 0)


GAIN_FIELDS = ("gains", "harmed", "protected")
"""What :func:`describe_gains` reports."""


def describe_gains(
    names: Sequence[str], lengths: Int64Array, standard: Int64Array, protected: BoolArray
) -> Settings:
    """The gain of every source, the smallest first, as JSON.

    Args:
        names: Names of the sources.
        lengths: Tokens of every source.
        standard: The same under Standard BPE.
        protected: Which sources the guard had to protect.

    >>> found = describe_gains("ab", np.array([90, 101]), np.array([100, 100]), np.array([0, 1]))
    >>> [(row["source"], row["gain"]) for row in found["gains"]]
    [('b', -0.01), ('a', 0.1)]
    >>> found["harmed"], found["protected"]
    (['b'], ['b'])
    """
    rows = [
        {
            "source": name,
            "tokens": tokens,
            "standard_tokens": before,
            "gain": round(1 - tokens / before, 6) if before else 0.0,
        }
        for name, tokens, before in zip(names, lengths.tolist(), standard.tolist(), strict=True)
    ]
    rows.sort(key=lambda row: row["gain"])
    return {
        "gains": rows,
        "harmed": [row["source"] for row in rows if row["tokens"] > row["standard_tokens"]],
        "protected": [name for name, raised in zip(names, protected, strict=True) if raised],
    }
