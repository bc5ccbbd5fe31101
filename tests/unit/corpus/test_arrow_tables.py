"""Arrow data as a corpus: the counts of the same texts as Python strings, for every type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import prunedbpe
from prunedbpe.corpus import Corpus, Shard, open_corpus
from prunedbpe.errors import CorpusError, SettingsError

TEXTS = ["hello there", "", None, "中文 text", "x" * 30, "hello there"] * 7
DOCUMENTS = [text for text in TEXTS if text]
STRINGS = pa.array(TEXTS)
NULLS = pa.array([None, None], pa.string())
AFTER_ANOTHER = pa.array(["not this", None, *TEXTS, "nor this"])


def read(corpus: Corpus) -> list[str]:
    return [document.decode() for batch in corpus.batches() for document in batch.documents()]


class Exported:
    """Data of another library: it knows nothing but the protocol."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


class ExportedArray:
    def __init__(self, data):
        self._data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self._data.__arrow_c_array__(requested_schema)


INPUTS = {
    "string": STRINGS,
    "large_string": STRINGS.cast(pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "dictionary": STRINGS.dictionary_encode(),
    "dictionaries": pa.chunked_array([NULLS.dictionary_encode(), STRINGS.dictionary_encode()]),
    "slice": AFTER_ANOTHER.slice(2, len(TEXTS)),
    "slice of large_string": AFTER_ANOTHER.cast(pa.large_string()).slice(2, len(TEXTS)),
    "slice of string_view": AFTER_ANOTHER.cast(pa.string_view()).slice(2, len(TEXTS)),
    "slice of dictionary": AFTER_ANOTHER.dictionary_encode().slice(2, len(TEXTS)),
    "chunked": pa.chunked_array([STRINGS[:5], STRINGS[5:5], STRINGS[5:]]),
    "table": pa.table({"id": np.arange(len(TEXTS)), "text": STRINGS}),
    "slice of table": pa.table({"text": AFTER_ANOTHER}).slice(2, len(TEXTS)),
    "record batch": pa.record_batch({"text": STRINGS}),
    "exported rows": Exported(pa.table({"text": STRINGS})),
    "exported column": Exported(pa.chunked_array([STRINGS])),
    "exported array": ExportedArray(STRINGS),
    "exported record batch": ExportedArray(pa.record_batch({"text": STRINGS})),
}  # fmt: skip


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("batch_bytes", [1, 40, 1 << 20])
def test_same_counts_as_of_strings(kind, batch_bytes):
    corpus = Corpus.from_arrow(INPUTS[kind], batch_bytes=batch_bytes)
    assert read(corpus) == DOCUMENTS == read(corpus)
    assert corpus.report.bytes == sum(len(text.encode()) for text in DOCUMENTS)
    assert corpus.sources == ["<arrow>"] and corpus.size is None
    expected = prunedbpe.count(DOCUMENTS)
    assert prunedbpe.count(INPUTS[kind]) == prunedbpe.count(corpus) == expected


def test_a_reader_is_read_once():
    table = pa.table({"text": STRINGS})
    assert prunedbpe.count(table.to_reader(max_chunksize=4)) == prunedbpe.count(DOCUMENTS)
    corpus = open_corpus(table.to_reader())
    assert read(corpus) == DOCUMENTS
    with pytest.raises(CorpusError, match="has been read before and cannot be read again"):
        read(corpus)


@pytest.mark.parametrize("name", ["string", "string_view", "dictionary"])
def test_batches_are_bounded_in_bytes(name):
    """A dictionary may stand for far more text than it holds."""
    column = pa.array(["y" * 10_000] * 1000)
    column = column.dictionary_encode() if name == "dictionary" else column.cast(name)
    batches = list(Corpus.from_arrow(column, batch_bytes=50_000).batches())
    assert sum(map(len, batches)) == 1000
    assert max(len(batch.data) for batch in batches) <= 50_000


def test_text_is_not_copied():
    batches = Corpus.from_arrow(pa.table({"text": STRINGS}), batch_bytes=40).batches()
    buffer = STRINGS.buffers()[2]
    for batch in batches:
        assert 0 <= batch.data.ctypes.data - buffer.address < buffer.size


def test_columns():
    table = pa.table({"body": ["a b", "c", "d"], "lang": ["en", None, "en"], "number": [1, 2, 3]})
    counted = prunedbpe.count_by_source(
        Corpus.from_arrow(table, text_field="body", source_field="lang", batch_bytes=3)
    )
    assert counted.names == ("en", "<none>")
    assert dict(counted.table(0).items()) == {b"a": 1, b" b": 1, b"d": 1}
    with pytest.raises(CorpusError, match="no column 'text'; the columns are: 'body', 'lang'"):
        prunedbpe.count(table)
    with pytest.raises(CorpusError, match="column 'number' holds int64, not text"):
        read(open_corpus(table, text_field="number"))
    with pytest.raises(CorpusError, match="column 'number' holds int64, not text"):
        prunedbpe.count_by_source(
            Corpus.from_arrow(table, text_field="body", source_field="number")
        )
    for empty in (table.slice(0, 0), table.slice(0, 0).to_reader(), table.schema.empty_table()):
        with pytest.raises(CorpusError, match="no column 'text'"):
            prunedbpe.count(empty)
    for wrong in (pa.array([1, 2]), pa.array([b"a"]), pa.array([["a"]])):
        with pytest.raises(CorpusError, match="not text"):
            prunedbpe.count(wrong)


def test_text_that_is_not_utf8():
    rows = [b"good", None, b"\xff", b"fine"]
    column = pa.array(rows, pa.binary()).view(pa.string())
    corpus = Corpus.from_arrow(column)
    assert read(corpus) == ["good", "fine"]
    assert corpus.report.skipped == ("<arrow>, row 2: not UTF-8",)
    with pytest.raises(CorpusError, match="row 2: not UTF-8"):
        read(Corpus.from_arrow(column, strict=True))


def test_offsets_outside_the_text():
    offsets = pa.py_buffer(np.array([0, 400, 2, 8], np.int32))
    column = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"abcdefgh"))
    with pytest.raises(CorpusError, match="offsets"):
        prunedbpe.count(column)


def test_limits_and_options():
    with pytest.raises(CorpusError, match="<arrow>, row 1: the document is longer than 5 B"):
        read(open_corpus(pa.array(["short", "longer"]), max_document_bytes=5))
    with pytest.raises(SettingsError, match="Arrow data cannot be divided"):
        open_corpus(STRINGS, shard=Shard(0, 2))
    assert read(Corpus.from_arrow(pa.array([], pa.string()))) == []


def test_a_stream_that_fails():
    def batches():
        yield pa.record_batch({"text": ["a"]})
        raise OSError("the query was cancelled")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches())
    with pytest.raises(CorpusError, match="the query was cancelled"):
        prunedbpe.count(reader)
