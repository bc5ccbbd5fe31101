"""Late merges: placed after their parts, they give the same tokens, or they are refused."""

from __future__ import annotations

import random

import pytest

from prunedbpe.errors import NotExactError
from prunedbpe.exchange.late_merges import placed_merges
from prunedbpe.exchange.recovered_merges import _by_heap, _by_search, merges_of_ranks


def merged(text: bytes, priority):
    """Merge the neighbours of lowest priority, leftmost first, until none is left."""
    parts = [text[i : i + 1] for i in range(len(text))]
    while True:
        found = [
            (weight, place)
            for place in range(len(parts) - 1)
            if (weight := priority(parts[place], parts[place + 1])) is not None
        ]
        if not found:
            return parts
        place = min(found)[1]
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


def test_accepted_vocabularies_encode_random_texts_alike():
    rng = random.Random(0)
    late = refused = 0
    for _ in range(3000):
        letters = rng.choice((b"ab", b"abc", b"abcd"))
        drawn = [
            bytes(rng.choices(letters, k=rng.choice((2, 2, 3, 4, 6))))
            for _ in range(rng.randint(3, 14))
        ]
        ranks = {token: rank for rank, token in enumerate(dict.fromkeys(drawn))}

        def of_rank(left, right, ranks=ranks):
            return ranks.get(left + right)

        def of_pair(pair, default, ranks=ranks):
            return ranks.get(pair[0] + pair[1], default)

        long = [token for token in ranks if len(token) > 1]
        made = {token: last for token in long if (last := _by_search(token, of_pair))}
        assert all(_by_heap(token, of_pair) == made.get(token) for token in long)
        try:
            placed = placed_merges(made)
        except NotExactError:
            refused += 1
            continue
        late += placed != sorted(made, key=ranks.__getitem__)
        places = {made[token][1:]: place for place, token in enumerate(placed)}
        for _ in range(10):
            text = bytes(rng.choices(letters, k=rng.randint(2, 14)))
            expected = merged(text, of_rank)
            assert merged(text, lambda left, right, p=places: p.get((left, right))) == expected
    assert late > 300
    assert refused > 100


@pytest.mark.parametrize(
    "tokens",
    [
        (b"aba", b"ab"),  # `abab`: the first `ab` takes the `a` of the second
        (b"xabab", b"abab", b"xab", b"ab"),  # joins two of them
    ],
)
def test_competing_occurrences_are_refused(tokens):
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token: 256 + place for place, token in enumerate(tokens)}
    with pytest.raises(NotExactError, match="has priority over its part"):
        merges_of_ranks(ranks)
