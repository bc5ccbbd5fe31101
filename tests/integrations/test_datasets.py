"""Datasets of Hugging Face as a corpus: their rows, as they select and order them."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe.corpus import Corpus
from prunedbpe.errors import CorpusError

datasets = pytest.importorskip("datasets", reason="datasets is not installed")

TEXTS = [f"text {number} {'long ' * (number % 5)}" for number in range(300)]


@pytest.fixture(scope="module")
def dataset():
    rows = {"text": TEXTS, "lang": ["en", "de", None] * 100, "number": list(range(300))}
    return datasets.Dataset.from_dict(rows)


def read(corpus: Corpus) -> list[str]:
    return [document.decode() for batch in corpus.batches() for document in batch.documents()]


@pytest.mark.parametrize("batch_bytes", [1, 500, 1 << 20])
def test_rows(dataset, batch_bytes):
    assert prunedbpe.count(dataset) == prunedbpe.count(TEXTS)
    corpus = Corpus.from_arrow(dataset, batch_bytes=batch_bytes)
    assert read(corpus) == TEXTS == read(corpus)
    assert max(len(batch.data) for batch in corpus.batches()) <= max(batch_bytes, 40)


def test_selected_rows(dataset):
    chosen = dataset.select([7, 3, 250, 3])
    assert chosen._indices is not None
    assert read(Corpus.from_arrow(chosen)) == [TEXTS[7], TEXTS[3], TEXTS[250], TEXTS[3]]
    shuffled = dataset.shuffle(seed=1).filter(lambda row: row["number"] % 2 == 0)
    assert read(Corpus.from_arrow(shuffled, batch_bytes=100)) == list(shuffled["text"])
    assert read(Corpus.from_arrow(dataset.with_format("numpy"))) == TEXTS


def test_streams(dataset):
    stream = dataset.to_iterable_dataset(num_shards=3)
    assert prunedbpe.count(stream) == prunedbpe.count(TEXTS)


def test_columns(dataset):
    corpus = Corpus.from_arrow(dataset, source_field="lang")
    assert prunedbpe.count_by_source(corpus).names == ("en", "de", "<none>")
    with pytest.raises(CorpusError, match="no column 'body'"):
        read(Corpus.from_arrow(dataset, text_field="body"))
    with pytest.raises(CorpusError, match="column 'number' holds int64, not text"):
        read(Corpus.from_arrow(dataset, text_field="number"))
    with pytest.raises(CorpusError, match="'train'"):
        prunedbpe.count(datasets.DatasetDict({"train": dataset}))
