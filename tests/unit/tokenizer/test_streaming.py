"""The streaming decoder by example."""

from __future__ import annotations

import pytest
from implementations import native_tokenizer

from prunedbpe.errors import PrunedBPEError


@pytest.fixture
def decoder():
    return native_tokenizer([(0xE4, 0xB8), (256, 0xAD)], set()).streaming_decoder()


def test_a_character_comes_when_it_is_whole(decoder):
    assert [decoder.push(i) for i in (256, 0xAD, 97, 257)] == ["", "中", "a", "中"]
    assert decoder.finish() == ""


def test_an_unfinished_character(decoder):
    assert decoder.push(256) == ""
    assert decoder.finish() == "\ufffd"
    assert [decoder.push(97), decoder.finish()] == ["a", ""]


def test_bytes_that_cannot_become_a_character(decoder):
    assert [decoder.push(i) for i in (0xE4, 97)] == ["", "\ufffda"]
    assert decoder.push(0xFF) == "\ufffd"


@pytest.mark.parametrize("token_id", [-1, 258, 10**20])
def test_ids_outside_the_vocabulary(decoder, token_id):
    with pytest.raises(PrunedBPEError, match=f"token id {token_id} is not in the vocabulary"):
        decoder.push(token_id)
