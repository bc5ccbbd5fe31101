"""Globs as inputs: what they match, in which order, and what stays a literal name."""

from __future__ import annotations

from pathlib import Path

import pytest

import prunedbpe
from prunedbpe.corpus import Corpus, open_corpus
from prunedbpe.errors import CorpusError

NAMES = ["é.txt", "b/x.txt", "b-x.txt", "B.txt", "a.txt", "b/c.md", "b/.hidden.txt", ".git/c.txt"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(corpus: Corpus) -> list[str]:
    return [document.decode() for batch in corpus.batches() for document in batch.documents()]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["B.txt", "a.txt", "b-x.txt", "é.txt"]),
        ("**/*.txt", ["B.txt", "a.txt", "b-x.txt", "b/x.txt", "é.txt"]),
        ("[ab].txt", ["a.txt"]),
        ("?/x.txt", ["b/x.txt"]),
        ("b*", ["b-x.txt"]),  # not the folder b
        ("**", ["B.txt", "a.txt", "b-x.txt", "b/c.md", "b/x.txt", "é.txt"]),
    ],
)
def test_files_that_match(pattern, expected):
    corpus = Corpus(pattern)
    assert corpus.sources == expected == read(corpus)
    assert read(Corpus([pattern, "a.txt"])) == [*expected, "a.txt"]
    assert prunedbpe.count(pattern) == prunedbpe.count(Corpus(expected))


@pytest.mark.usefixtures("folder")
def test_lists_of_strings():
    expected = ["B.txt", "a.txt", "b-x.txt", "é.txt"]
    assert read(open_corpus(["*.txt"])) == expected
    assert read(open_corpus(["*.txt", "b/*.md"])) == [*expected, "b/c.md"]
    with pytest.raises(CorpusError, match="1 of 2 inputs do not exist"):
        open_corpus(["a.txt", "a text?"])


@pytest.mark.parametrize("pattern", ["*.jsonl", "none/*.txt", "[x"])
def test_no_match(folder, pattern):
    with pytest.raises(CorpusError, match="no file matches") as raised:
        Corpus(folder / pattern)
    assert pattern in raised.value.message
    with pytest.raises(CorpusError, match="no file matches"):
        prunedbpe.count([f"{folder}/{pattern}"])


@pytest.mark.usefixtures("folder")
def test_literal_names():
    for name in ("*.txt", "[a].txt", "b[1]/x.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("literal", encoding="utf-8")
        assert read(Corpus(name)) == ["literal"]
    assert read(Corpus("b[1]")) == ["literal"]


@pytest.mark.usefixtures("folder")
def test_excluded_folders_do_not_match():
    assert read(Corpus("**/*.txt", excluding=["b"])) == ["B.txt", "a.txt", "b-x.txt", "é.txt"]
    with pytest.raises(CorpusError, match="no file matches"):
        Corpus("b/*", excluding=["b"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("texts", [["what?", "is *this*"], ["*", "a text"], ["[1] s3://a b", "c"]])
def test_texts_with_such_characters_are_texts(texts):
    assert read(open_corpus(texts)) == texts
