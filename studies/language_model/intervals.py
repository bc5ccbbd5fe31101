"""Intervals of paired differences, and what the protocol concludes from them.

In: bits per byte of each seed, nats of each document. Out: 95 % intervals, one of four words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prunedbpe.errors import SettingsError
from prunedbpe.types import FloatArray

MARGIN = 0.002
"""Bits per byte that an arm may be worse and still count as not inferior."""

RESAMPLES = 10_000

# 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
STUDENT = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
)  # fmt: skip


@dataclass(frozen=True)
class Interval:
    """A 95 % interval.

    Attributes:
        low: Its begin.
        high: Its end.
    """

    low: float
    high: float

    def __or__(self, other: Interval) -> Interval:
        """The interval that covers both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def seed_interval(differences: Sequence[float]) -> Interval:
    """The t interval of the mean of paired differences, one for each seed.

    >>> found = seed_interval([1.0, 2.0, 3.0])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.484, 4.484)
    """
    count = len(differences)
    if not 2 <= count <= len(STUDENT) + 1:
        raise SettingsError(f"{count} seeds", hint=f"2 to {len(STUDENT) + 1} make an interval")
    mean = sum(differences) / count
    variance = sum((value - mean) ** 2 for value in differences) / (count - 1)
    reach = STUDENT[count - 2] * math.sqrt(variance / count)
    return Interval(mean - reach, mean + reach)


def document_interval(
    nats: FloatArray, reference: FloatArray, sizes: FloatArray, seed: int = 0
) -> Interval:
    """The bootstrap interval of a difference in bits per byte, over documents.

    Args:
        nats: Of each document, the mean over seeds.
        reference: The same of the arm to compare with.
        sizes: Bytes of each document.
        seed: Of the resampling.
    """
    generator = np.random.default_rng(seed)
    differences = nats - reference
    found = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        drawn = generator.integers(0, len(sizes), len(sizes))
        found[i] = differences[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(found / math.log(2), [0.025, 0.975])
    return Interval(float(low), float(high))


def reading(interval: Interval) -> str:
    """What an interval says, by the decision rule of the protocol.

    >>> [reading(Interval(*ends)) for ends in ((-2, -1), (-1, 0.001), (0.003, 1), (-1, 1))]
    ['better', 'not inferior', 'worse', 'undecided']
    """
    if interval.high < 0:
        return "better"
    if interval.high < MARGIN:
        return "not inferior"
    return "worse" if interval.low > MARGIN else "undecided"
