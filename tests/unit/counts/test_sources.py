"""Counting by source: together the sources are the corpus."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import chunk_counts, documents

from prunedbpe import ChunkCounts, Corpus, SourceCounts, count, count_by_source, reduce_counts
from prunedbpe.counts.counting_by_source import MOST_SOURCES
from prunedbpe.errors import FormatError, SettingsError


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def cells(sources):
    """The matrix, as chunk -> source -> count."""
    rows = [chunk for chunk, _ in sources.total.items()]
    return {
        chunk: {sources.names[s]: int(n) for s, n in zip(*found, strict=True)}
        for chunk, *found in zip(
            rows,
            np.split(sources.sources, sources.offsets[1:-1]),
            np.split(sources.counts, sources.offsets[1:-1]),
            strict=True,
        )
    }


def assert_same(found, expected):
    assert found.total == expected.total
    assert found.total.corpus == expected.total.corpus
    for name in ("names", "kind", "note"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("offsets", "sources", "counts"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


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


def test_a_file_is_a_source_a_folder_is_or_the_corpus_is(tmp_path):
    folder = write(tmp_path, {"a/1.txt": "x y", "a/2.txt": "z", "b/3.txt": "x", "b/4.txt": ""})
    found = {kind: count_by_source(folder, sources=kind) for kind in ("files", "folders", "corpus")}
    names = [name.replace("\\", "/").removeprefix(f"{folder}/") for name in found["files"].names]
    assert names == ["a/1.txt", "a/2.txt", "b/3.txt"]  # nothing is said by an empty file
    assert [name[-1] for name in found["folders"].names] == ["a", "b"]
    assert found["corpus"].names == ("<corpus>",)
    assert dict(found["folders"].table(0).items()) == {b"x": 1, b" y": 1, b"z": 1}
    with pytest.raises(SettingsError, match="sources='lines' is unknown"):
        count_by_source(folder, sources="lines")


def test_a_folder_whose_files_are_not_neighbours_is_still_one_source(tmp_path):
    write(tmp_path, {"a/1.txt": "one two", "b/2.txt": "two", "a/3.txt": "three two"})
    paths = [tmp_path / "a/1.txt", tmp_path / "b/2.txt", tmp_path / "a/3.txt"]
    by_source = count_by_source(paths, sources="folders")
    assert len(by_source) == 2
    assert by_source.total == count(paths)
    assert list(cells(by_source)[b" two"].values()) == [2]
    assert list(cells(by_source)[b"two"].values()) == [1]


def test_very_many_files_are_put_together(tmp_path):
    flat = write(tmp_path / "flat", {f"{i:03}.txt": f"word{i}" for i in range(150)})
    by_part = count_by_source(flat)
    assert len(by_part) == MOST_SOURCES and by_part.total == count(flat)
    nested = write(tmp_path / "nested", {f"{i % 7}/{i:03}.txt": f"word{i}" for i in range(150)})
    by_folder = count_by_source(nested)
    assert len(by_folder) == 7 and by_folder.total == count(nested)
    deep = write(tmp_path / "deep", {f"{i:03}/a.txt": f"word{i}" for i in range(150)})
    for kind in ("files", "folders"):
        by_part = count_by_source(deep, sources=kind)
        assert len(by_part) == MOST_SOURCES and by_part.total == count(deep)


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
