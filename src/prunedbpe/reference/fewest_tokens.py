"""Choosing the visible tokens that cut text into the fewest tokens, in plain Python.

In: how often each chunk occurs in each source, and candidate tokens in merge order. Out: the
candidates to show. Every number is computed from its definition: the loss of a visible token is how
many more tokens the corpus needs without it, the gain of a hidden one how many fewer with it.

Three sources' worth of arithmetic fit on a page. "abc" occurs twice in the first source, "ab" once
in the second:

>>> counts = {b"abc": [2, 0], b"ab": [0, 1]}
>>> lengths(counts, {b"ab", b"abc"})  # abc abc | ab
[2, 1]
>>> losses(counts, {b"ab", b"abc"})  # without ab: a b; without abc: ab c, ab c
{b'ab': [0, 1], b'abc': [2, 0]}
>>> gains(counts, {b"ab"}, [b"abc"])
{b'abc': [2, 0]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

Counts = Mapping[bytes, Sequence[int]]
"""How often each chunk occurs, by source."""


def fewest(chunk: bytes, visible: Set[bytes]) -> int:
    """The fewest visible tokens of a chunk; single bytes are always visible.

    >>> fewest(b"abcd", {b"bc", b"ab", b"cd"})
    2
    """
    best = [0] * (len(chunk) + 1)
    for end in range(1, len(chunk) + 1):
        best[end] = 1 + min(
            best[begin] for begin in range(end) if end - begin == 1 or chunk[begin:end] in visible
        )
    return best[-1]


def lengths(counts: Counts, visible: Set[bytes]) -> list[int]:
    """The fewest tokens of every source."""
    return _sum(counts, {chunk: fewest(chunk, visible) for chunk in counts})


def losses(counts: Counts, visible: Set[bytes]) -> dict[bytes, list[int]]:
    """How many more tokens every source needs without each of the visible tokens."""
    return {
        token: _sum(
            counts,
            {chunk: fewest(chunk, visible - {token}) - fewest(chunk, visible) for chunk in counts},
        )
        for token in sorted(visible)
    }


def gains(counts: Counts, visible: Set[bytes], hidden: Iterable[bytes]) -> dict[bytes, list[int]]:
    """How many fewer tokens every source needs with each of some hidden tokens."""
    return {
        token: _sum(
            counts,
            {chunk: fewest(chunk, visible) - fewest(chunk, visible | {token}) for chunk in counts},
        )
        for token in hidden
    }


def value(savings: Sequence[int], weights: Sequence[float], exponent: float) -> float:
    """What savings in each source are worth together.

    >>> value([16, 9], [1.0, 2.0], 0.5)
    10.0
    """
    worth = (weight * saving**exponent for saving, weight in zip(savings, weights, strict=True))
    return sum(worth, 0.0)


def eliminate(
    counts: Counts,
    candidates: Sequence[bytes],
    visible: Set[bytes],
    required: int,
    weights: Sequence[float],
    exponent: float,
    prices: Mapping[bytes, float],
    at_once: float = 0.02,
    least: float = 0.001,
) -> set[bytes]:
    """Hide the visible tokens of least value until the required number is left.

    Args:
        counts: The corpus.
        candidates: All tokens, in merge order; of equal values, the newest is hidden first.
        visible: The tokens that are visible at first.
        required: How many are to be left.
        weights: What each source weighs.
        exponent: See :func:`value`.
        prices: What a unit of each token's value counts.
        at_once: Share of the tokens still to be hidden that are hidden before losses are measured
            again.
        least: The same as a share of the required tokens; one token at the least.

    >>> counts = {b"abc": [2], b"ab": [1]}
    >>> prices = {b"ab": 1.0, b"bc": 1.0, b"abc": 1.0}
    >>> eliminate(counts, list(prices), set(prices), 1, [1.0], 1.0, prices)
    {b'abc'}
    """
    left = set(visible)
    age = {token: place for place, token in enumerate(candidates)}
    while surplus := len(left) - required:
        count = min(surplus, max(1, int(required * least), int(surplus * at_once)))
        worth = {
            token: prices[token] * value(savings, weights, exponent)
            for token, savings in losses(counts, left).items()
        }
        left -= set(sorted(left, key=lambda token: (worth[token], -age[token]))[:count])
    return left


def _sum(counts: Counts, per_chunk: Mapping[bytes, int]) -> list[int]:
    """Add up a number of every chunk, as often as it occurs in each source."""
    sources = len(next(iter(counts.values()), ()))
    return [
        sum(counts[chunk][source] * number for chunk, number in per_chunk.items())
        for source in range(sources)
    ]
