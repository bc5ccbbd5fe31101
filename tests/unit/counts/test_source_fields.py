"""Sources by field: documents that name their sources."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_helpers import assert_same, cells, write

from prunedbpe import Corpus, SourceCounts, count, count_by_source
from prunedbpe.corpus import json_lines
from prunedbpe.errors import CorpusError, SettingsError

ROWS = [("a b", "en"), ("", "fr"), ("b", None), ("c b", "en"), ("c", "de"), ("b b", "de")]
EXPECTED = {
    b"a": {"en": 1},
    b" b": {"en": 2, "de": 1},
    b"b": {"<none>": 1, "de": 1},
    b"c": {"en": 1, "de": 1},
}


def as_lines(rows):
    # A missing field and a null one are the same.
    records = [
        {"text": text} if i % 2 and source is None else {"text": text, "lang": source}
        for i, (text, source) in enumerate(rows)
    ]
    return "\n".join(map(json.dumps, records)).encode()


def write_rows(path, rows):
    if path.suffix == ".parquet":
        text, lang = zip(*rows, strict=True)
        table = pa.table({"lang": pa.array(lang, pa.string()), "text": pa.array(text)})
        pq.write_table(table, path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(as_lines(rows)))
    else:
        path.write_bytes(as_lines(rows))
    return path


@pytest.fixture(params=["arrow", "python"])
def json_reader(request, monkeypatch):
    """Read JSON lines both ways."""
    if request.param == "arrow":
        monkeypatch.setattr(json_lines, "_WORTH_IMPORTING", 0)
    else:
        monkeypatch.setattr(json_lines, "_read_by_arrow", lambda *args: None)


@pytest.mark.usefixtures("json_reader")
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_a_column_names_the_sources(tmp_path, name):
    path = write_rows(tmp_path / name, ROWS)
    sources = count_by_source(Corpus(path, source_field="lang"))
    assert sources.names == ("en", "<none>", "de")
    assert (sources.kind, sources.note) == ("field:lang", "")
    assert cells(sources) == EXPECTED
    assert sources.total == count(path) and sources.total.corpus == count(path).corpus
    assert count(Corpus(path, source_field="lang")) == count(path)


@pytest.mark.usefixtures("json_reader")
@given(
    st.lists(
        st.tuples(st.text("ab ", max_size=6), st.sampled_from(["x", "y", "z", "", None])),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([".jsonl", ".parquet"]),
    st.sampled_from([1, 30, 1 << 20]),
)
def test_any_interleaving_gives_the_table_of_the_corpus(tmp_path_factory, rows, suffix, batch):
    rows = [*rows, ("a", "x")]
    path = write_rows(tmp_path_factory.mktemp("rows") / f"a{suffix}", rows)
    sources = count_by_source(Corpus(path, source_field="lang", batch_bytes=batch), threads=3)
    assert sources.total == count(path)
    assert sources.names == tuple(
        dict.fromkeys(source or "<none>" for text, source in rows if text)
    )
    for i, name in enumerate(sources.names):
        texts = [text for text, source in rows if (source or "<none>") == name]
        assert dict(sources.table(i).items()) == dict(count(iter(texts)).items())
    assert_same(count_by_source(Corpus(path, source_field="lang"), threads=1), sources)


def test_dictionaries_and_invalid_rows(tmp_path):
    path = tmp_path / "a.parquet"
    text = pa.array([b"ok", b"\xff", b"fine"]).view(pa.string())
    lang = pa.array(["en", "fr", "de"]).dictionary_encode()
    pq.write_table(pa.table({"text": text, "lang": lang}), path)
    sources = count_by_source(Corpus(path, source_field="lang"))
    assert cells(sources) == {b"ok": {"en": 1}, b"fine": {"de": 1}}


def test_normalization_keeps_the_sources(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", [("e\u0301", "x"), ("\u00e9", "y")])
    from prunedbpe import Pretokenizer

    nfc = Pretokenizer("paper", normalization="NFC")
    sources = count_by_source(Corpus(path, source_field="lang"), pretokenizer=nfc)
    assert cells(sources) == {"\u00e9".encode(): {"x": 1, "y": 1}}


def test_a_regular_expression_can_cut_sources_too(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", ROWS)
    sources = count_by_source(Corpus(path, source_field="lang"), pretokenizer=r" ?\w+")
    assert cells(sources) == EXPECTED


def test_files_without_fields_are_named_by_their_path(tmp_path):
    write(tmp_path, {"a.txt": "a a"})
    write_rows(tmp_path / "b.jsonl", ROWS)
    pq.write_table(pa.table({"text": ["z"]}), tmp_path / "c.parquet")
    sources = count_by_source(Corpus(tmp_path, source_field="lang"))
    assert sources.names == ((tmp_path / "a.txt").as_posix(), "en", "<none>", "de")
    assert cells(sources)[b"z"] == {"<none>": 1}


def test_an_explicit_kind_overrides_the_field(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", ROWS)
    sources = count_by_source(Corpus(path, source_field="lang"), sources="corpus")
    assert (sources.names, sources.kind) == (("<corpus>",), "corpus")


@pytest.mark.parametrize(("names", "said"), [(100, "names 100 sources"), (400, "more than 256")])
def test_very_many_names(tmp_path, names, said):
    rows = [("x" * (1 + i), f"n{i}") for i in range(names)]
    path = write_rows(tmp_path / "a.jsonl", rows)
    sources = count_by_source(Corpus(path, source_field="lang"))
    counted = min(names, 256)
    largest = [f"n{i}" for i in range(counted - 63, counted)]
    assert set(sources.names) == {*largest, "<other>"} and len(sources) == 64
    assert said in sources.note and "the 63 largest, and <other>" in sources.note
    assert sources.total == count(path)
    sources.save(tmp_path / "kept.parquet")
    assert_same(SourceCounts.load(tmp_path / "kept.parquet"), sources)


@pytest.mark.usefixtures("json_reader")
@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_field_that_no_document_has_is_an_error(tmp_path, name):
    path = write_rows(tmp_path / name, ROWS)
    with pytest.raises(CorpusError, match=rf"{name}: no document has the field 'langue'"):
        count_by_source(Corpus(path, source_field="langue"))
    write(tmp_path / "texts", {"a.txt": "a"})
    with pytest.raises(CorpusError, match=r"a\.txt: a file without fields.*'lang'"):
        count_by_source(Corpus(tmp_path / "texts", source_field="lang"))


@pytest.mark.usefixtures("json_reader")
def test_a_field_that_holds_no_strings_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "lang": "en"}\n{"text": "a", "lang": 3}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl, line 2: field 'lang' is int"):
        count_by_source(Corpus(tmp_path / "a.jsonl", source_field="lang"))
    pq.write_table(pa.table({"text": ["a"], "lang": [3]}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=r"column 'lang' holds int64.*\n.*--source-field"):
        count_by_source(Corpus(tmp_path / "a.parquet", source_field="lang"))


def test_text_and_source_are_different_fields(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(SettingsError, match="'text' cannot be both text and source"):
        Corpus(path, source_field="text")
