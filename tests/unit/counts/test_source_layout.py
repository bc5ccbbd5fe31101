"""Sources by file: files, folders, or parts of large files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_helpers import assert_same, cells, write

from prunedbpe import Corpus, count, count_by_source
from prunedbpe.errors import SettingsError

KB = 1 << 10


def lines(size, word="word", line=100):
    """Lines of about this many bytes in all, with words that no other call has."""
    texts = [f"{word}{i} " * (line // (len(word) + 5)) for i in range(size // line)]
    return "\n".join(texts)


def names_in(folder, sources):
    return [name.removeprefix(f"{folder.as_posix()}/") for name in sources.names]


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


def test_very_many_files_are_grouped(tmp_path):
    flat = write(tmp_path / "flat", {f"{i:03}.txt": lines(20 * KB, f"w{i}") for i in range(150)})
    divided = count_by_source(flat)
    parts = len(divided)
    assert 16 <= parts <= 32 and divided.total == count(flat)
    assert divided.names == tuple(f"<corpus> [{i}/{parts}]" for i in range(1, parts + 1))
    assert divided.note == (f"150 files taken as one text; <corpus> divided into {parts} parts")
    nested = write(tmp_path / "nested", {f"{i % 7}/{i:03}.txt": f"word{i}" for i in range(150)})
    by_folder = count_by_source(nested)
    assert by_folder.total == count(nested)
    assert names_in(nested, by_folder) == list("0123456")
    assert by_folder.note == "150 files grouped by folder into 7 sources"


def test_very_many_folders_are_grouped_by_the_folders_above(tmp_path):
    files = {f"{i % 3}/{i:03}/a.txt": f"word{i}" for i in range(150)}
    folder = write(tmp_path / "tree", files)
    for kind in ("files", "folders"):
        by_folder = count_by_source(folder, sources=kind)
        assert names_in(folder, by_folder) == list("012")
        assert by_folder.total == count(folder)
    deep = write(tmp_path / "deep", {f"{i:03}/a.txt": lines(20 * KB, f"w{i}") for i in range(150)})
    for kind in ("files", "folders"):
        divided = count_by_source(deep, sources=kind)
        assert 16 <= len(divided) <= 32 and divided.total == count(deep)


def test_one_large_file_is_divided(tmp_path):
    write(tmp_path, {"big.txt": lines(3000 * KB)})
    sources = count_by_source(tmp_path)
    parts = len(sources)
    assert names_in(tmp_path, sources) == [f"big.txt [{i}/{parts}]" for i in range(1, parts + 1)]
    assert sources.note == f"{tmp_path.as_posix()}/big.txt divided into {parts} parts"
    assert 16 <= parts <= 32
    size = sources.source_bytes
    assert size.min() >= 64 * KB and size.max() * 16 <= size.sum() * 1.5
    assert sources.total == count(tmp_path)
    assert len(sources.counts) < len(sources.total) * 1.2  # parts hold neighbouring documents
    for kind in ("folders", "corpus"):
        assert len(count_by_source(tmp_path, sources=kind)) == 1


def test_a_file_that_holds_most_of_the_text_is_divided_and_the_others_are_not(tmp_path):
    small = {f"{i:02}.txt": lines(30 * KB, f"small{i}") for i in range(20)}
    write(tmp_path, {"big.txt": lines(2000 * KB), **small})
    names = names_in(tmp_path, count_by_source(tmp_path))
    assert names[:20] == sorted(small)
    assert [name.split(" ")[0] for name in names[20:]] == ["big.txt"] * len(names[20:])
    assert 8 <= len(names[20:]) <= 32


def test_small_and_equal_files_stay_whole(tmp_path):
    equal = write(tmp_path / "equal", {f"{i}.txt": lines(300 * KB, f"w{i}") for i in range(9)})
    small = write(tmp_path / "small", {"a.txt": lines(60 * KB), "b.txt": lines(100 * KB)})
    assert names_in(equal, count_by_source(equal)) == [f"{i}.txt" for i in range(9)]
    assert names_in(small, count_by_source(small)) == ["a.txt", "b.txt"]


def test_parts_do_not_depend_on_batches_threads_or_compression(tmp_path):
    text = lines(1500 * KB, line=1000)
    paths = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "a.txt.gz"]
    paths[0].write_text(text)
    paths[1].write_text(lines(700 * KB, "other"))
    paths[2].write_bytes(gzip.compress(text.encode()))
    expected = count_by_source(paths[:2])
    for batch_bytes in (1, 10 * KB, 200 * KB):
        for threads in (1, 3):
            corpus = Corpus(paths[:2], batch_bytes=batch_bytes)
            assert_same(count_by_source(corpus, threads=threads), expected)
    packed = count_by_source([paths[2], paths[1]])
    assert [name.replace(".gz", "") for name in packed.names] == list(expected.names)
    np.testing.assert_array_equal(packed.counts, expected.counts)
    texts = (line for line in text.split("\n"))
    streamed = count_by_source(texts)  # of unknown length
    assert 10 <= len(streamed) <= 32 and streamed.names[0].startswith("<python> [1/")


def test_a_document_longer_than_a_part_is_not_cut(tmp_path):
    write(tmp_path, {"a.txt": "\n".join([lines(900 * KB).replace("\n", " "), lines(90 * KB, "v")])})
    sources = count_by_source(tmp_path)
    assert names_in(tmp_path, sources) == ["a.txt [1/2]", "a.txt [2/2]"]
    assert sources.total == count(tmp_path)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=40), st.integers(1, 5))
def test_every_document_belongs_to_the_part_in_which_it_begins(kilobytes, files):
    texts = [f"{i} " + "x" * (KB * size) for i, size in enumerate(kilobytes)]
    corpus = Corpus.from_texts(texts, batch_bytes=files * 100 * KB)
    sources = count_by_source(corpus, pretokenizer="none")
    assert sources.source_bytes.sum() == sum(map(len, texts))
    # Each document is one chunk of one source, and sources are runs of documents.
    assert sources.offsets.tolist() == list(range(len(texts) + 1))
    assert sources.sources.tolist() == sorted(sources.sources.tolist())


def test_standard_input_has_a_name(monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert count_by_source("-").names == ("<stdin>",)
