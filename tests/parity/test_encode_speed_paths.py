"""Every quick way of encoding gives what merging by rank gives.

The encoder looks chunks up in a cache, merges short new ones in vector registers, and splits the
rest from left to right with backtracking; texts reach it as Latin-1, UCS-2 or UCS-4. The oracle is
the reference.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD_TEXTS, chunk_counts, chunks, texts

import prunedbpe
from prunedbpe.errors import PrunedBPEError
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS
from prunedbpe.reference.encode import encode_chunk
from prunedbpe.reference.learn import learn


def make_tokenizer(counts, merge_count=60, hidden=(), pretokenizer="none"):
    pairs = np.array(learn(counts, merge_count).merges, np.uint32).reshape(-1, 2)
    visible = np.ones(256 + len(pairs), bool)
    visible[[rank for rank in hidden if rank < len(visible)]] = False
    return prunedbpe.Tokenizer(prunedbpe.Vocabulary(pairs, visible, ()), pretokenizer)


def encode_plainly(tokenizer, chunk):
    vocabulary = tokenizer.vocabulary
    merges = [tuple(pair) for pair in vocabulary.pairs.tolist()]
    return [
        token_id for rank in encode_chunk(chunk, merges) for token_id in vocabulary.expansion(rank)
    ]


@given(chunk_counts(b"ab", 6, 30), chunks(b"ab", 80), st.sets(st.integers(256, 300)))
def test_backtracking_is_merging_by_rank(counts, chunk, hidden):
    """Two letters and long chunks: overlaps, equal ranks side by side, many dead ends."""
    tokenizer = make_tokenizer(counts, hidden=hidden)
    assert tokenizer.encode(chunk.decode()) == encode_plainly(tokenizer, chunk)


@given(chunk_counts(b"abc", 8, 16), st.text("abc", min_size=65, max_size=200))
def test_long_chunks_are_merged_by_rank(counts, text):
    """More than 64 bytes: dead ends no longer fit into one word."""
    tokenizer = make_tokenizer(counts)
    assert tokenizer.encode(text) == encode_plainly(tokenizer, text.encode())


@given(
    st.dictionaries(st.integers(2, 16), st.integers(1, 50), min_size=1, max_size=8),
    st.lists(st.integers(1, 90), min_size=1, max_size=6),
)
def test_long_runs_of_one_letter_are_merged_by_rank(runs, lengths):
    """Tokens of many lengths, most of which nothing may follow: a way back at every token."""
    tokenizer = make_tokenizer({b"a" * length: count for length, count in runs.items()})
    text = "b".join("a" * length for length in [70, *lengths])
    assert tokenizer.encode(text) == encode_plainly(tokenizer, text.encode())


@given(st.lists(texts(), min_size=1, max_size=6), texts())
def test_any_text_twice(documents, text):
    """The second time from the cache, and alike in whatever way the text is stored."""
    tokenizer = make_tokenizer(dict.fromkeys((d.encode() for d in documents if d), 2))
    expected = encode_plainly(tokenizer, text.encode())
    assert tokenizer.encode(text) == expected
    assert tokenizer.encode(text) == expected
    assert tokenizer.encode_to_numpy(text).tolist() == expected
    assert tokenizer.encode_batch([text, "", text]) == [expected, [], expected]
    assert tokenizer.decode_bytes(expected) == text.encode()
    assert tokenizer.decode(np.array(expected, np.int64)) == text


@pytest.mark.parametrize(
    "letters", [1, 7, 8, 9, 10, 11, 12, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65]
)
@pytest.mark.parametrize("behind", ["", " ", "é", "\0"])
def test_lengths_around_every_bound(letters, behind):
    """Keys of 11 and 31 bytes, steps of 16, words of 64: one less, the same, one more."""
    word = ("abcdefgh" * 9)[:letters]
    tokenizer = make_tokenizer({word.encode(): 3, b"efghab": 2}, 80)
    for text in (word, word[:-1] or "b", word + behind, behind + word, word * 2):
        assert tokenizer.encode(text) == encode_plainly(tokenizer, text.encode())


def test_zero_bytes_are_no_padding():
    tokenizer = make_tokenizer({b"a\0": 5, b"a": 1, b"\0\0": 3})
    for text in ("a", "a\0", "a\0\0", "\0", "\0\0", "\0a"):
        assert tokenizer.encode(text) == encode_plainly(tokenizer, text.encode())


def test_many_chunks_share_the_cache():
    """More chunks than the cache has places, from several threads: the places are fought over."""
    source = random.Random(1)
    words = ["".join(source.choices("abcd", k=source.randrange(12, 30))) for _ in range(40_000)]
    tokenizer = make_tokenizer({b"abcd": 9, b"ab": 5, b"cda": 4, b"dd": 3}, pretokenizer="gpt2")
    expected = {word: encode_plainly(tokenizer, word.encode()) for word in words[::100]}

    def check(part):
        tokenizer.encode_batch(words[part::4], threads=2)
        return all(tokenizer.encode(word) == ids for word, ids in expected.items())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(4)))


@pytest.mark.parametrize("text", ["a" * 100_000, "ab" * 50_000, " " * 100_000, "👩‍👩‍👧" * 4_000])
def test_long_runs_come_back(text):
    tokenizer = make_tokenizer({b"aaaaaaaa": 3, b"abab": 2, b"    ": 9, "👩‍👩‍👧".encode(): 4})
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    # The middle of a long run is as in a shorter one: only the last tokens feel the end.
    assert ids[:50] == encode_plainly(tokenizer, text.encode()[:2_000])[:50]


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_texts_that_have_broken_tokenizers(name):
    counts = {text.encode(): 2 for text in AWKWARD_TEXTS if 0 < len(text) < 60}
    tokenizer = make_tokenizer(counts, 200, hidden=range(256, 456, 3), pretokenizer=name)
    for text in AWKWARD_TEXTS:
        expected = [
            token_id
            for chunk in prunedbpe.pretokenize(text, name)
            for token_id in encode_plainly(tokenizer, chunk.encode())
        ]
        assert tokenizer.encode(text) == expected
        assert tokenizer.decode(expected) == text


@pytest.mark.parametrize("last", [0xFF, 0xFFFF, 0x10FFFF])
def test_every_width_of_a_string_is_read(last):
    """Characters of one to four bytes in runs of any length; without merges an id is a byte."""
    tokenizer = make_tokenizer({})
    source = random.Random(last)
    bounds = [(0, 0x80), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)]
    for _ in range(300):
        text = chr(last)
        for _ in range(source.randrange(12)):
            low, high = source.choice(bounds)
            if low <= last:
                run = range(source.randrange(40))
                text += "".join(chr(source.randrange(low, min(high, last + 1))) for _ in run)
        assert tokenizer.encode(text) == list(text.encode())


@pytest.mark.parametrize("place", range(0, 40, 3))
@pytest.mark.parametrize("surrogate", ["\ud800", "\udbff", "\udc00", "\udfff"])
def test_surrogates_are_found_among_many_characters(place, surrogate):
    tokenizer = make_tokenizer({})
    text = "xé中\ud7ff\ue000" * 8
    with pytest.raises(PrunedBPEError, match=f"{ord(surrogate):X}"):
        tokenizer.encode(text[:place] + surrogate + text[place:])


def test_surrogates_are_named_wherever_they_stand():
    tokenizer = make_tokenizer({b"ab": 2})
    for call in (tokenizer.encode, tokenizer.encode_to_numpy, tokenizer.count_tokens):
        with pytest.raises(PrunedBPEError, match="D800"):
            call("ab\ud800")
    with pytest.raises(PrunedBPEError, match="D800"):
        tokenizer.encode_batch(["ab", "ab\ud800"])


@pytest.mark.parametrize("ids", [[97, -1], [97, 1 << 40], [97, 70_000], np.array([97, 70_000])])
def test_decoding_names_an_id_that_does_not_exist(ids):
    tokenizer = make_tokenizer({b"ab": 2})
    with pytest.raises(PrunedBPEError, match=f"token id {ids[1]} at place 1"):
        tokenizer.decode(ids)
    with pytest.raises(PrunedBPEError, match=f"token id {ids[1]} at place 1"):
        tokenizer.decode_bytes(ids)


def test_decoding_takes_any_sequence_of_integers():
    tokenizer = make_tokenizer({b"ab" * 20: 2})
    ids = tokenizer.encode("ab" * 3_000 + "b")
    for sequence in (ids, tuple(ids), np.array(ids), [np.int32(i) for i in ids], np.array(ids)[:]):
        assert tokenizer.decode(sequence) == "ab" * 3_000 + "b"
    assert tokenizer.decode([]) == tokenizer.decode(np.zeros(0, np.int64)) == ""
    with pytest.raises(PrunedBPEError, match="float64"):
        tokenizer.decode(np.array([1.5]))
    with pytest.raises(PrunedBPEError, match="-1"):
        tokenizer.decode(np.array([-1]))
