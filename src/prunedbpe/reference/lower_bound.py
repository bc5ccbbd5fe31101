"""A lower bound on the tokens of every choice of visible tokens, in plain Python.

In: chunk counts, candidates, the number of visible ones, and a multiplier for every match of a
candidate. Out: a number of tokens that no choice can undercut, as an exact fraction. This module
only evaluates given multipliers, whose quality decides how good the bound is; the library also
searches for good ones. ``docs/concepts/lower-bound.md`` has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import combinations

Edge = tuple[bytes, int, int]
"""A match of a candidate: the chunk, and where the match begins and ends."""


def matches(counts: Mapping[bytes, int], candidates: Set[bytes]) -> list[Edge]:
    """Every match of a candidate: chunk by chunk, by place, at one place by length.

    >>> matches({b"aaa": 1}, {b"aa"})
    [(b'aaa', 0, 2), (b'aaa', 1, 3)]
    """
    return [
        (chunk, begin, end)
        for chunk in counts
        for begin in range(len(chunk))
        for end in range(begin + 2, len(chunk) + 1)
        if chunk[begin:end] in candidates
    ]


def path_costs(chunk: bytes, multipliers: Mapping[Edge, Fraction]) -> list[Fraction]:
    """Cost of the cheapest path to every position; a byte costs 1, an edge 1 + its multiplier.

    >>> path_costs(b"aaa", {(b"aaa", 1, 3): Fraction(1, 2)})
    [Fraction(0, 1), Fraction(1, 1), Fraction(2, 1), Fraction(5, 2)]
    """
    costs = [Fraction(0)]
    for end in range(1, len(chunk) + 1):
        ways = [costs[end - 1] + 1]
        for begin in range(end - 1):
            if (chunk, begin, end) in multipliers:
                ways.append(costs[begin] + 1 + multipliers[chunk, begin, end])
        costs.append(min(ways))
    return costs


def lagrangian(
    counts: Mapping[bytes, int], multipliers: Mapping[Edge, Fraction], required: int
) -> Fraction:
    """L of the page: no choice of ``required`` candidates gives fewer tokens.

    Args:
        counts: The corpus.
        multipliers: A number of at least 0 for every match of every candidate.
        required: Number of visible learned tokens.

    If all multipliers are 0, every candidate is free to use: "ab ab" and "bc bc", 4 tokens. With
    multipliers of 1 a match costs as much as its bytes, 8 in all, and the one visible token takes
    2 back:

    >>> counts = {b"abab": 1, b"bcbc": 1}
    >>> edges = matches(counts, {b"ab", b"bc"})
    >>> lagrangian(counts, dict.fromkeys(edges, Fraction(0)), required=1)
    Fraction(4, 1)
    >>> lagrangian(counts, dict.fromkeys(edges, Fraction(1)), required=1)
    Fraction(6, 1)
    """
    paths = sum(
        (count * path_costs(chunk, multipliers)[-1] for chunk, count in counts.items()), Fraction(0)
    )
    sums: dict[bytes, Fraction] = {}
    for (chunk, begin, end), multiplier in multipliers.items():
        token = chunk[begin:end]
        sums[token] = sums.get(token, Fraction(0)) + counts[chunk] * multiplier
    return paths - sum(sorted(sums.values(), reverse=True)[:required], Fraction(0))


def with_all_substrings(
    counts: Mapping[bytes, int], multipliers: Mapping[Edge, Fraction]
) -> dict[Edge, Fraction]:
    """Make every substring a candidate, without making any path cheaper.

    A match of a substring without multipliers gets the least one that changes no cheapest path.

    >>> with_all_substrings({b"abc": 1}, {(b"abc", 0, 2): Fraction(0)})[b"abc", 0, 3]
    Fraction(1, 1)
    """
    listed = {chunk[begin:end] for chunk, begin, end in multipliers}
    extended = dict(multipliers)
    for chunk in counts:
        costs = path_costs(chunk, multipliers)
        for begin, end in combinations(range(len(chunk) + 1), 2):
            if end - begin > 1 and chunk[begin:end] not in listed:
                extended[chunk, begin, end] = max(Fraction(0), costs[end] - costs[begin] - 1)
    return extended


def fewest_tokens_of_any_choice(
    counts: Mapping[bytes, int], candidates: Set[bytes], required: int
) -> int:
    """The true optimum, by trying every choice; for a few candidates only.

    >>> fewest_tokens_of_any_choice({b"abab": 1, b"bcbc": 1}, {b"ab", b"bc"}, required=1)
    6
    """
    return min(
        sum(
            count * int(path_costs(chunk, dict.fromkeys(edges, Fraction(0)))[-1])
            for chunk, count in counts.items()
        )
        for edges in _choices(counts, sorted(candidates), required)
    )


def _choices(
    counts: Mapping[bytes, int], candidates: Sequence[bytes], required: int
) -> Iterator[list[Edge]]:
    for visible in combinations(candidates, min(required, len(candidates))):
        yield matches(counts, set(visible))
