"""Counting by source: together the sources are the corpus."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import Corpus, SourceCounts, count, count_by_source
from prunedbpe.counts.sources import MOST_SOURCES
from prunedbpe.errors import FormatError, SettingsError


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


@given(st.lists(documents(4), max_size=5), st.sampled_from(["files", "folders", "corpus"]))
def test_the_sources_add_up_to_the_corpus(tmp_path_factory, files, kind):
    folder = tmp_path_factory.mktemp("corpus")
    write(folder, {f"{i % 2}/{i}.txt": "\n".join(texts) for i, texts in enumerate(files)})
    if not files:
        write(folder, {"empty.txt": ""})
    by_source = count_by_source(folder, sources=kind)
    whole = count(folder)
    assert by_source.total == whole
    assert by_source.total.digest == whole.digest
    assert by_source.total.corpus == whole.corpus
    assert by_source.kind == kind and len(by_source) <= max(len(files), 1)


def test_a_file_is_a_source_a_folder_is_or_the_corpus_is(tmp_path):
    folder = write(tmp_path, {"a/1.txt": "x y", "a/2.txt": "z", "b/3.txt": "x", "b/4.txt": ""})
    found = {kind: count_by_source(folder, sources=kind) for kind in ("files", "folders", "corpus")}
    names = [name.replace("\\", "/").removeprefix(f"{folder}/") for name in found["files"].names]
    assert names == ["a/1.txt", "a/2.txt", "b/3.txt"]  # nothing is said by an empty file
    assert [name[-1] for name in found["folders"].names] == ["a", "b"]
    assert found["corpus"].names == ("<corpus>",)
    assert dict(found["folders"].tables[0].items()) == {b"x": 1, b" y": 1, b"z": 1}
    with pytest.raises(SettingsError, match="sources='lines' is unknown"):
        count_by_source(folder, sources="lines")


def test_a_folder_whose_files_are_not_neighbours_is_still_one_source(tmp_path):
    write(tmp_path, {"a/1.txt": "one two", "b/2.txt": "two", "a/3.txt": "three two"})
    paths = [tmp_path / "a/1.txt", tmp_path / "b/2.txt", tmp_path / "a/3.txt"]
    by_source = count_by_source(paths, sources="folders")
    assert len(by_source) == 2 and len(by_source.tables) == 3
    assert by_source.total == count(paths)


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
    assert [table.corpus.documents for table in by_source.tables] == [1, 1, 1]
    by_source.save(tmp_path / "kept")
    assert SourceCounts.load(tmp_path / "kept").total.corpus == by_source.total.corpus


def test_texts_are_one_source():
    by_source = count_by_source(Corpus.from_texts(["a b", "c"]))
    assert len(by_source) == 1 and by_source.total == count(Corpus.from_texts(["a b", "c"]))
    assert len(count_by_source(Corpus.from_texts([])).total) == 0


def test_saved_and_loaded(tmp_path):
    folder = write(tmp_path / "texts", {f"{i}.txt": f"a text {i}" for i in range(3)})
    counted = count_by_source(folder)
    counted.save(tmp_path / "kept")
    loaded = SourceCounts.load(tmp_path / "kept")
    assert (loaded.names, loaded.kind) == (counted.names, counted.kind)
    assert all(a == b for a, b in zip(loaded.tables, counted.tables, strict=True))
    assert loaded.total == prunedbpe.count(folder)
    assert loaded.total.corpus == counted.total.corpus


@pytest.mark.parametrize(
    "content", [[], {}, {"names": [1], "kind": "files"}, {"names": [], "kind": "lines"}]
)
def test_a_damaged_list_of_names_is_refused(tmp_path, content):
    (tmp_path / "sources.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FormatError, match=r"sources\.json"):
        SourceCounts.load(tmp_path)
