"""The vocabulary: its properties, and the input that it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from implementations import native_vocabulary

from prunedbpe import Vocabulary
from prunedbpe.errors import FormatError, SettingsError

AB, ABC, CD = (97, 98), (256, 99), (99, 100)


def test_properties():
    vocabulary = native_vocabulary([AB, ABC, CD], {256}, ("<eos>", "<pad>"))
    assert (vocabulary.visible_count, vocabulary.internal_count) == (258, 1)
    assert len(vocabulary) == vocabulary.vocab_size == 260
    assert vocabulary.strings[256:] == [b"ab", b"abc", b"cd"]
    assert vocabulary.token_ids[256:].tolist() == [260, 256, 257]
    assert vocabulary.special_ids == {"<eos>": 258, "<pad>": 259}
    assert vocabulary.ranks_by_id[256:].tolist() == [257, 258, -1, -1, 256]
    assert vocabulary.bytes_by_id[256:] == [b"abc", b"cd", b"<eos>", b"<pad>", b"ab"]
    assert vocabulary.expansion(256) == [97, 98]
    assert vocabulary.expansion(257) == [256]
    assert vocabulary.ranks_by_string[b"abc"] == 257
    assert vocabulary.parents(256) == [257]
    assert vocabulary.parents(99) == [257, 258]


def test_internal_tokens_without_a_visible_parent():
    assert native_vocabulary([AB, ABC, CD], {256}).unsupported_internal() == []
    assert native_vocabulary([AB, ABC, CD], {256, 258}).unsupported_internal() == [258]
    assert native_vocabulary([AB, ABC, CD], {256, 257}).unsupported_internal() == [256, 257]


def test_it_cannot_be_changed():
    vocabulary = native_vocabulary([AB], set())
    with pytest.raises(ValueError, match="read-only"):
        vocabulary.pairs[0] = 1
    with pytest.raises(AttributeError):
        vocabulary.special_tokens = ()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(97, 256)], "rank 256 is made of"),
        ([(257, 97), (97, 98)], "rank 256 is made of"),
        ([(97, 2**32 - 1)], "both must be lower ranks"),
        ([AB, AB], "all spell b'ab'"),
        ([AB, (98, 99), (97, 257), (256, 99)], "all spell b'abc'"),
        # "bc" comes first, so "abc" becomes a, bc and (ab, c) never occurs.
        ([(98, 99), AB, (257, 99)], "b'abc' encodes to other tokens"),
    ],
)
def test_merges_that_learning_never_gives(pairs, message):
    with pytest.raises(FormatError, match=message):
        native_vocabulary(pairs, set())


def test_invalid_visibility():
    pairs = np.array([AB], np.uint32)
    with pytest.raises(FormatError, match="visibility is given for 256"):
        Vocabulary(pairs, np.ones(256, bool))
    visible = np.ones(257, bool)
    visible[97] = False
    with pytest.raises(FormatError, match="a byte is hidden"):
        Vocabulary(pairs, visible)


@pytest.mark.parametrize(
    ("special_tokens", "message"),
    [
        (("a", "b", "a"), "'a' is given twice"),
        (("",), "is empty"),
        (("\ud800",), "lone surrogate"),
        ((b"a",), "is not text"),
    ],
)
def test_invalid_special_tokens(special_tokens, message):
    with pytest.raises(SettingsError, match=message):
        native_vocabulary([AB], set(), special_tokens)


def test_special_tokens_may_spell_what_others_spell():
    vocabulary = native_vocabulary([AB], set(), ("ab", "a"))
    assert vocabulary.special_ids == {"ab": 257, "a": 258}
    assert vocabulary.bytes_by_id[256:] == [b"ab", b"ab", b"a"]
