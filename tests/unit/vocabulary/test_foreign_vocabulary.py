"""Ids from outside: every vocabulary that keeps them checks them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.vocabulary.foreign_vocabulary import MOST_UNUSED_IDS, ForeignVocabulary

BYTES = tuple(range(256))


def build(**changes: Any) -> ForeignVocabulary:
    """The bytes, ``ab`` as 256, ``xyz`` without merge as 257, and ``<eos>`` as 258."""
    values: dict[str, Any] = {
        "pairs": np.array([[97, 98]], np.uint32),
        "visible": np.ones(257, bool),
        "special_tokens": ("<eos>",),
        "ids_of_ranks": (*BYTES, 256),
        "ids_of_specials": (258,),
        "unmergeable": ((b"xyz", 257),),
    }
    return ForeignVocabulary(**{**values, **changes})


def test_ids_may_have_any_order() -> None:
    vocabulary = build(ids_of_ranks=(*reversed(BYTES), 300), ids_of_specials=(256,))
    assert vocabulary.vocab_size == 301
    assert vocabulary.bytes_by_id[300] == b"ab"
    assert vocabulary.bytes_by_id[256:258] == [b"<eos>", b"xyz"]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ids_of_ranks": (*BYTES, 7)}, r"tokens b'\\x07' and b'ab' both have the id 7"),
        ({"unmergeable": ((b"xyz", 256),)}, "tokens b'ab' and b'xyz' both have the id 256"),
        ({"ids_of_specials": (256,)}, "tokens b'ab' and '<eos>' both have the id 256"),
        ({"ids_of_ranks": (*BYTES, -5)}, "b'ab' has the id -5: ids are whole numbers"),
        ({"ids_of_ranks": (*BYTES, 256.0)}, r"b'ab' has the id 256\.0"),
        ({"ids_of_ranks": (*BYTES, "256")}, "b'ab' has the id '256'"),
        ({"ids_of_specials": (None,)}, "'<eos>' has the id None"),
        ({"ids_of_ranks": (0, True, *BYTES[2:], 256)}, r"b'\\x01' has the id True"),
        ({"ids_of_specials": (10**9,)}, "'<eos>' has the id 1000000000, but .* only 259 tokens"),
        ({"ids_of_ranks": BYTES}, "ids_of_ranks has 256 ids for 257 tokens"),
        ({"ids_of_specials": ()}, "ids_of_specials has 0 ids for 1 tokens"),
        ({"unmergeable": ((b"ab", 257),)}, "two tokens spell b'ab'"),
        ({"unmergeable": ((b"x", 257),)}, "two tokens spell b'x'"),
        ({"unmergeable": ((b"xyz", 257), (b"xyz", 300))}, "two tokens spell b'xyz'"),
        ({"unmergeable": ((b"", 257),)}, "the token of id 257 is empty"),
        ({"visible": np.array([True] * 256 + [False])}, "b'ab' is internal"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(FormatError, match=named):
        build(**changes)


@pytest.mark.parametrize("text", ["", "\ud800"])
def test_special_tokens_are_checked_too(text: str) -> None:
    with pytest.raises(SettingsError, match="special token"):
        build(special_tokens=(text,))


def test_the_limit_of_unused_ids() -> None:
    highest = 258 + MOST_UNUSED_IDS
    assert build(ids_of_specials=(highest,)).vocab_size == highest + 1
    with pytest.raises(FormatError, match="only 259 tokens") as refused:
        build(ids_of_specials=(highest + 1,))
    assert refused.value.hint == "at most 262144 ids below the highest may be unused"
