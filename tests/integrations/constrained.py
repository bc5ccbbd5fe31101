"""Random generation under the mask of a grammar, as a model would generate."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import numpy as np

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-zé中 ]{1,12}$"},
        "count": {"type": "integer", "minimum": 0, "maximum": 999},
        "tags": {"type": "array", "items": {"enum": ["cat", "中文"]}, "maxItems": 3},
    },
    "required": ["name", "count", "tags"],
    "additionalProperties": False,
}


def allowed_ids(mask: np.ndarray) -> set[int]:
    """Return the ids whose bit is set in one row of a bitmask."""
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())


def generate(
    mask: Callable[[], np.ndarray],
    accept: Callable[[int], bool],
    stop: int,
    seed: int,
    forbidden: set[int],
) -> list[int]:
    """Choose an allowed id at random until the grammar allows the stop id; return the ids before.

    Args:
        mask: Returns the bitmask of the ids allowed next.
        accept: Tells the grammar which id was chosen.
        stop: The end of the output.
        seed: Seed of the choice.
        forbidden: Ids that the mask must never allow.
    """
    generator = random.Random(seed)
    ids: list[int] = []
    while len(ids) < 200:
        allowed = allowed_ids(mask())
        assert allowed
        assert not allowed & (forbidden - {stop})
        if stop in allowed:
            assert accept(stop)
            return ids
        ids.append(generator.choice(sorted(allowed)))
        assert accept(ids[-1])
    raise AssertionError("the grammar did not end")


def check_answer(text: str) -> None:
    """Check that a text is JSON of the schema."""
    answer = json.loads(text)
    assert list(answer) == ["name", "count", "tags"]
    assert 1 <= len(answer["name"]) <= 12
    assert 0 <= answer["count"] <= 999
    assert set(answer["tags"]) <= {"cat", "中文"}
