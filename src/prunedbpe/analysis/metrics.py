"""Metrics of a vocabulary on a corpus, from the occurrences of each visible token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prunedbpe.types import FloatArray, Int64Array

RENYI_ALPHA = 2.5
"""The order that correlated best with translation quality in Zouhar et al. 2023."""

SEEN_UNDER = (1, 10, 100, 1000)


def gini(counts: Int64Array) -> float:
    """Return the Gini coefficient: 0 if all tokens are used equally, near 1 if one dominates.

    >>> gini(np.array([5, 5, 5])), gini(np.array([0, 0, 0, 8]))
    (0.0, 0.75)
    """
    total = int(counts.sum())
    if total == 0:
        return 0.0
    ordered = np.sort(counts).astype(np.float64)
    n = len(ordered)
    places = np.arange(1, n + 1)
    return float(2 * (places @ ordered) / (n * total) - (n + 1) / n)


def renyi_efficiency(counts: Int64Array, alpha: float = RENYI_ALPHA) -> float:
    """Return the Rényi entropy of the tokens' shares over the logarithm of the vocabulary size.

    H = log(sum of p ** alpha) / (1 - alpha), over the shares p of all visible tokens; the result is
    1 if all are used equally. Zouhar et al. 2023, "Tokenization and the Noiseless Channel".

    >>> renyi_efficiency(np.array([3, 3, 3, 3]))
    1.0
    >>> renyi_efficiency(np.array([9, 0, 0, 0]))
    0.0
    """
    total = int(counts.sum())
    if total == 0 or len(counts) < 2:
        return 0.0
    shares = counts[counts > 0] / total
    if alpha == 1:
        entropy = float(-(shares * np.log(shares)).sum())
    else:
        entropy = float(np.log((shares**alpha).sum()) / (1 - alpha))
    return abs(entropy) / float(np.log(len(counts)))


@dataclass(frozen=True)
class ExposureSpread:
    """How the visible learned tokens are used.

    Attributes:
        learned: Number of visible learned tokens.
        seen_under: Limit -> tokens that occur less often; for 1, 10, 100 and 1,000.
        gini: Gini coefficient of their occurrences.
    """

    learned: int
    seen_under: dict[int, int]
    gini: float

    @classmethod
    def of(cls, counts: Int64Array) -> ExposureSpread:
        """Summarize the occurrences of every visible learned token.

        >>> ExposureSpread.of(np.array([0, 5, 50])).seen_under
        {1: 1, 10: 2, 100: 3, 1000: 3}
        """
        under = {limit: int((counts < limit).sum()) for limit in SEEN_UNDER}
        return cls(len(counts), under, gini(counts))


def bootstrap_reductions(
    lengths: Sequence[Int64Array], *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> list[tuple[float, float]]:
    """Bootstrap the reduction of each tokenizer against the first, over documents.

    Documents are drawn with replacement, the same ones for all tokenizers. The interval holds the
    middle ``level`` of the reductions.

    Args:
        lengths: Tokens of every document, for each tokenizer.
        samples: Number of samples.
        seed: The same seed gives the same intervals.
        level: Share of the samples inside the interval.

    >>> same = np.array([10, 20, 30])
    >>> bootstrap_reductions([same, same // 2], samples=10)[1]
    (0.5, 0.5)
    """
    table = np.stack([one.astype(np.float64) for one in lengths], axis=1)
    documents = len(table)
    if documents == 0 or samples < 1:
        return [(0.0, 0.0)] * len(lengths)
    generator = np.random.default_rng(seed)
    found: FloatArray = np.empty((samples, len(lengths)))
    for place in range(samples):
        drawn = np.bincount(generator.integers(documents, size=documents), minlength=documents)
        totals = drawn @ table
        found[place] = 1 - totals / totals[0] if totals[0] else 0.0
    edges = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [(float(low), float(high)) for low, high in edges.T]
