"""Counting by source: together the sources are the corpus."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_helpers import assert_same, cells, write
from strategies import chunk_counts, documents

from prunedbpe import ChunkCounts, Corpus, SourceCounts, count, count_by_source, reduce_counts
from prunedbpe.errors import FormatError, SettingsError


@given(st.lists(documents(4), max_size=5), st.sampled_from(["files", "folders", "corpus"]))
def test_the_sources_add_up_to_the_corpus(tmp_path_factory, files, kind):
    folder = tmp_path_factory.mktemp("corpus")
    write(folder, {f"{i % 2}/{i}.txt": "\n".join(texts) for i, texts in enumerate(files)})
    if not files:
        write(folder, {"empty.txt": ""})
    by_source = count_by_source(folder, sources=kind, threads=1)
    whole = count(folder)
    assert by_source.total == whole
    assert by_source.total.digest == whole.digest
    assert by_source.total.corpus == whole.corpus
    assert by_source.kind == kind and len(by_source) <= len(files)
    assert_same(count_by_source(folder, sources=kind, threads=3), by_source)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), chunk_counts()), min_size=1),
        min_size=1,
        max_size=3,
    )
)
def test_corpora_join_as_their_tables_do(parts):
    def join(tables):
        return SourceCounts.from_tables(
            [name for name, _ in tables], [ChunkCounts.from_mapping(part) for _, part in tables]
        )

    assert_same(
        SourceCounts.of_parts([join(part) for part in parts]),
        join([table for part in parts for table in part]),
    )


@given(st.lists(st.tuples(st.sampled_from("abc"), chunk_counts()), min_size=1, max_size=6))
def test_tables_join_to_a_table_and_a_matrix(parts):
    names = [name for name, _ in parts]
    tables = [ChunkCounts.from_mapping(part) for _, part in parts]
    joined = SourceCounts.from_tables(names, tables)
    assert joined.total == reduce_counts(tables)
    assert joined.names == tuple(dict.fromkeys(names))
    expected: dict[bytes, Counter[str]] = {}
    for name, part in parts:
        for chunk, number in part.items():
            expected.setdefault(chunk, Counter())[name] += number
    assert cells(joined) == expected
    for i, name in enumerate(joined.names):
        table = joined.table(i)
        rows = {chunk: found[name] for chunk, found in expected.items() if name in found}
        assert dict(table.items()) == rows
        assert joined.source_bytes[i] == table.total_bytes == table.corpus.bytes
        positions = dict(zip(expected, joined.total.first_positions.tolist(), strict=True))
        assert table.first_positions.tolist() == [positions[chunk] for chunk in rows]


def test_tables_that_do_not_join():
    table = ChunkCounts.from_mapping({b"a": 1})
    with pytest.raises(SettingsError, match="0 names for 0 tables"):
        SourceCounts.from_tables([], [])
    with pytest.raises(SettingsError, match="2,000 sources"):
        SourceCounts.from_tables(list(map(str, range(2000))), [table] * 2000)


def test_a_whole_corpus_is_one_source():
    table = count(iter(["a b a"]))
    single = SourceCounts.single(table)
    assert (len(single), single.total, single.table(0)) == (1, table, table)


def test_skipped_documents_are_reported_for_the_whole(tmp_path):
    folder = write(tmp_path / "texts", {f"{i}.txt": f"a text {i}\n" for i in range(3)})
    for name in ("0.txt", "2.txt"):
        with (folder / name).open("ab") as file:
            file.write(b"\xff\n")
    by_source = count_by_source(folder)
    assert by_source.total == count(folder)
    assert by_source.total.corpus == count(folder).corpus
    assert by_source.total.corpus.skipped_documents == 2


def test_texts_are_one_source():
    by_source = count_by_source(Corpus.from_texts(["a b", "c"]))
    assert len(by_source) == 1 and by_source.total == count(Corpus.from_texts(["a b", "c"]))
    assert len(count_by_source(Corpus.from_texts([])).total) == 0


@pytest.mark.parametrize("count_of_files", [0, 1, 3])
def test_saved_and_loaded(tmp_path, count_of_files):
    texts = {f"{i}.txt": f"a text {i}" for i in range(count_of_files)} | {"no.txt": ""}
    counted = count_by_source(write(tmp_path / "texts", texts))
    counted.save(tmp_path / "kept.parquet")
    assert_same(SourceCounts.load(tmp_path / "kept.parquet"), counted)


DAMAGE = {
    "named twice": {"names": ("x", "x")},
    "have no name": {"names": ("x",)},
    "do not rise": {"sources": np.array([1, 0, 1], np.uint32)},
    "less than once": {"counts": np.array([2, 3, 0])},
    "add up": {"counts": np.array([2, 2, 1])},
    "in no source": {"offsets": np.array([0, 3, 3])},
    "offsets go from 1 to 3": {"offsets": np.array([1, 2, 3])},
    "one more is needed": {"offsets": np.array([0, 3])},
}


@pytest.mark.parametrize("message", DAMAGE)
def test_a_matrix_that_makes_no_sense_is_refused(message):
    total = ChunkCounts.from_mapping({b"ab": 5, b"c": 1})
    fields = {
        "names": ("x", "y"),
        "offsets": np.array([0, 2, 3]),
        "sources": np.array([0, 1, 1], np.uint32),
        "counts": np.array([2, 3, 1]),
    }
    SourceCounts(total, **fields)
    with pytest.raises(FormatError, match=message):
        SourceCounts(total, **fields | DAMAGE[message])


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "sources.parquet"
    tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 2}, {b"c": 1, b"ab": 3})]
    SourceCounts.from_tables("xy", tables).save(path)
    whole = pq.read_table(path)
    damaged = {
        "add up": whole.set_column(1, "count", [[5, 2]]),
        "not as many": whole.set_column(3, "sources", [[[0, 1], [0, 1]]]),
        "holds nulls": whole.set_column(3, "sources", [[[0, None], [1]]]),
        "is missing": whole.drop_columns(["source_counts"]),
        "make no sense": whole.replace_schema_metadata(
            {b"prunedbpe": whole.schema.metadata[b"prunedbpe"].replace(b'"names"', b'"nams"')}
        ),
    }
    for message, table in damaged.items():
        pq.write_table(table, path)
        with pytest.raises(FormatError, match=rf"sources\.parquet.*{message}"):
            SourceCounts.load(path)
    ChunkCounts.from_mapping({b"a": 1}).save(path)
    with pytest.raises(FormatError, match="not 'prunedbpe source counts'"):
        SourceCounts.load(path)
