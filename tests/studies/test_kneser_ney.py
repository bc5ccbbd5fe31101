"""The 5-gram model against a few lines of plain Python, and as a distribution."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from studies.language_model.kneser_ney import KneserNey

VOCAB = 6
SEPARATOR = 5


def slow_probability(text: list[int], order: int, context: list[int], token: int) -> float:
    """The definition, with dictionaries."""
    padded = [SEPARATOR] * (order - 1) + text
    places = {n: range(n - 1, len(padded)) for n in range(1, order + 1)}
    seen = {n: [tuple(padded[i - n + 1 : i + 1]) for i in places[n]] for n in places}
    found = 1 / VOCAB
    for n in range(1, order + 1):
        if n == order:
            counts = Counter(seen[n])
        else:
            counts = Counter(longer[1:] for longer in set(seen[n + 1]))
        once = sum(1 for count in counts.values() if count == 1)
        twice = sum(1 for count in counts.values() if count == 2)
        discount = once / (once + 2 * twice) if once else 0.0
        after = defaultdict(dict)
        for gram, count in counts.items():
            after[gram[:-1]][gram[-1]] = count
        followers = after.get(tuple(context[len(context) - n + 1 :]) if n > 1 else ())
        if followers:
            total = sum(followers.values())
            own = max(followers.get(token, 0) - discount, 0) / total
            found = own + discount * len(followers) / total * found
    return found


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_equals_the_definition(order):
    generator = random.Random(order)
    text = generator.choices(range(5), weights=[5, 3, 2, 1, 1], k=120)
    other = generator.choices(range(5), k=40)
    model = KneserNey(np.array(text), VOCAB, SEPARATOR, order)
    padded = [SEPARATOR] * (order - 1) + other
    expected = [
        slow_probability(text, order, padded[i : i + order - 1], token)
        for i, token in enumerate(other)
    ]
    np.testing.assert_allclose(model.probabilities(np.array(other)), expected, rtol=1e-12)


def test_probabilities_add_up_to_one():
    text = random.Random(1).choices(range(5), k=300)
    model = KneserNey(np.array(text), VOCAB, SEPARATOR)
    for context in (text[40:44], [0, 0, 0, 0], []):
        ends = [model.probabilities(np.array([*context, token]))[-1] for token in range(VOCAB)]
        assert sum(ends) == pytest.approx(1)
