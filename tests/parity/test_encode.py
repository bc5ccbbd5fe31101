"""Encoding: native against the definition, for any merges, any hidden tokens, any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from implementations import NATIVE_THREADS, native_tokenizer, plain_vocabulary
from strategies import byte_chunk_counts, chunk_counts, documents, hidden_ranks, texts

from prunedbpe import Tokenizer, reference
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, Pretokenizer

SCAN_LIMIT = 64  # bytes; longer chunks are merged with a heap


TINY = chunk_counts(b"ab")


@st.composite
def merges_and_hidden(draw, counts=TINY):
    merges = reference.learn(draw(counts), draw(st.integers(0, 30))).merges
    return merges, draw(hidden_ranks(len(merges)))


def expected(tokenizer: Tokenizer, text: str) -> list[int]:
    split = tokenizer.pretokenizer.split
    return reference.encode(text, plain_vocabulary(tokenizer.vocabulary), split)


@given(merges_and_hidden(), st.text("ab", max_size=40))
def test_any_text_over_a_tiny_alphabet(case, text):
    tokenizer = native_tokenizer(*case)
    assert tokenizer.encode(text) == expected(tokenizer, text)


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
@given(corpus=documents(), text=texts(), data=st.data())
def test_any_text(name, corpus, text, data):
    split = Pretokenizer(name).split
    merges = reference.learn(reference.count_chunks([*corpus, text], split), 25).merges
    tokenizer = native_tokenizer(merges, data.draw(hidden_ranks(len(merges))), name)
    assert tokenizer.encode(text) == expected(tokenizer, text)
    assert tokenizer.encode_to_numpy(text).tolist() == expected(tokenizer, text)
    assert tokenizer.count_tokens(text) == len(expected(tokenizer, text))


@given(merges_and_hidden(byte_chunk_counts()), st.data())
def test_merges_over_all_bytes(case, data):
    tokenizer = native_tokenizer(*case)
    text = data.draw(st.text(st.characters(max_codepoint=255), max_size=30))
    assert tokenizer.encode(text) == expected(tokenizer, text)


@pytest.mark.parametrize("length", [*range(SCAN_LIMIT - 4, SCAN_LIMIT + 7), 128])
@given(case=merges_and_hidden(chunk_counts(b"ab", max_size=40)), data=st.data())
def test_around_the_change_from_scan_to_heap(length, case, data):
    assert_encodes_periods(length, case, data)


@settings(max_examples=settings.default.max_examples // 5)  # the definition is quadratic
@given(case=merges_and_hidden(chunk_counts(b"ab", max_size=40)), data=st.data())
def test_long_chunks(case, data):
    assert_encodes_periods(1000, case, data)


def assert_encodes_periods(length, case, data):
    period = data.draw(st.text("ab", min_size=1, max_size=5))
    start = data.draw(st.text("ab", max_size=8))
    text = (start + period * length)[:length]
    tokenizer = native_tokenizer(*case)
    assert tokenizer.encode(text) == expected(tokenizer, text)


@pytest.mark.parametrize("threads", NATIVE_THREADS)
@given(
    case=merges_and_hidden(),
    batch=st.lists(st.text("ab c", max_size=12), max_size=80),
    dropout=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 2**64 + 5),
)
def test_batch_equals_single(threads, case, batch, dropout, seed):
    for tokenizer in (native_tokenizer(*case, "paper"), native_tokenizer(*case, r"[ab]+|.")):
        single = [
            tokenizer.encode(text, dropout=dropout, seed=seed + i) for i, text in enumerate(batch)
        ]
        options = {"dropout": dropout, "seed": seed, "threads": threads}
        assert tokenizer.encode_batch(batch, **options) == single
        ids, offsets = tokenizer.encode_batch_to_numpy(batch, **options)
        assert ids.tolist() == [i for ids_ in single for i in ids_]
        assert offsets.tolist() == [sum(map(len, single[:i])) for i in range(len(batch) + 1)]
