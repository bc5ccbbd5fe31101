"""Counting: native with any number of threads gives the table the definition gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import NATIVE_THREADS
from strategies import documents, texts

import prunedbpe
from prunedbpe import Corpus
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, Pretokenizer
from prunedbpe.reference import count_chunks


def first_positions(texts_: list[str], split) -> list[int]:
    """Byte offset of the first occurrence of every chunk, all documents laid end to end."""
    seen: dict[str, int] = {}
    at = 0
    for text in texts_:
        for chunk in split(text):
            seen.setdefault(chunk, at)
            at += len(chunk.encode())
    return list(seen.values())


@pytest.mark.parametrize("threads", NATIVE_THREADS)
@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
@given(documents=documents(), batch_bytes=st.sampled_from([1, 7, 1 << 20]))
def test_table_is_the_defined_one(name, threads, documents, batch_bytes):
    cut = Pretokenizer(name)
    corpus = Corpus.from_texts(documents, batch_bytes=batch_bytes)
    table = prunedbpe.count(corpus, pretokenizer=cut, threads=threads)
    assert list(table.items()) == list(count_chunks(documents, cut.split).items())
    assert table.first_positions.tolist() == first_positions(documents, cut.split)
    assert table.total_bytes == table.corpus.bytes == sum(len(d.encode()) for d in documents)
    assert table.corpus.documents == sum(bool(d) for d in documents)


@given(texts=st.lists(texts(), max_size=4), batch_bytes=st.sampled_from([1, 1 << 20]))
def test_regular_expression(texts, batch_bytes):
    pytest.importorskip("regex")
    cut = Pretokenizer("regex", r"\w+|\s")
    corpus = Corpus.from_texts(texts, batch_bytes=batch_bytes)
    table = prunedbpe.count(corpus, pretokenizer=cut, threads=2)
    assert list(table.items()) == list(count_chunks(texts, cut.split).items())
    assert table.first_positions.tolist() == first_positions(texts, cut.split)


@pytest.mark.parametrize("threads", NATIVE_THREADS)
def test_many_documents_over_many_batches(threads):
    texts_ = [f"document {i % 97} holds {'x' * (i % 13)} and {i * i % 1009}" for i in range(3000)]
    cut = Pretokenizer("paper")
    table = prunedbpe.count(Corpus.from_texts(texts_, batch_bytes=999), threads=threads)
    assert dict(table.items()) == count_chunks(texts_, cut.split)
    assert table.first_positions.tolist() == first_positions(texts_, cut.split)
