"""Weights of sources: parsing them, and finding their sources."""

from __future__ import annotations

import pytest

from prunedbpe.counts.source_weights import match_weights, parse_source_weights
from prunedbpe.errors import FormatError, SettingsError

NAMES = [
    "texts/english/wiki.txt [1/2]",
    "texts/english/wiki.txt [2/2]",
    "texts/english/old/books.jsonl.gz",
    "texts/logs.txt",
    "<none>",
    "en",
]


@pytest.mark.parametrize(
    "content",
    [
        '{"english/*": 2, "a, b": 0.5}',
        "english/*\t2\na, b\t0.5\n",
        "\ufeff# name, weight\n\nenglish/*,2\na, b , 0.5\n",
    ],
)
def test_three_ways_to_write_weights(tmp_path, content):
    path = tmp_path / "weights"
    path.write_text(content, encoding="utf-8")
    assert parse_source_weights(path) == {"english/*": 2.0, "a, b": 0.5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("en\t2\nfr\n", "line 2: not a name and a weight: 'fr'"),
        ("en\ttwo\n", "line 1: not a name and a weight"),
        ("en\t-1\n", "line 1: source 'en' has the weight -1.0"),
        ("en\tnan\n", "line 1: source 'en' has the weight nan"),
        ("en,1\nen,2\n", "line 2: the source 'en' has a weight already"),
        (",1\n", "line 1: a weight has no source"),
        ('{"en": 1,}', "line 1: not JSON"),
        ('{"en": 1, "en": 2}', "'en' has a weight already"),
        ('{"en": "2"}', "source 'en' has the weight '2'"),
        ('{"en": true}', "source 'en' has the weight True"),
        ('{"en": {"a": 1}}', "source 'en' has the weight"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, content, message):
    path = tmp_path / "weights.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=message) as error:
        parse_source_weights(path)
    assert str(path) in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(FormatError, match=r"no\.tsv"):
        parse_source_weights(tmp_path / "no.tsv")
    (tmp_path / "utf16.tsv").write_text("en\t1", encoding="utf-16")
    with pytest.raises(FormatError, match=r"utf16\.tsv"):
        parse_source_weights(tmp_path / "utf16.tsv")


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("texts/english/wiki.txt [1/2]", [0]),
        ("texts/english/wiki.txt", [0, 1]),
        ("wiki.txt", [0, 1]),
        ("wiki", [0, 1]),
        ("books", [2]),
        ("english", [0, 1, 2]),
        ("texts/english", [0, 1, 2]),
        ("english/*", [0, 1, 2]),
        ("*.txt", [0, 1, 3]),
        ("texts", [0, 1, 2, 3]),
        ("<none>", [4]),
        ("e?", [5]),
        ("*", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_how_a_weight_finds_its_sources(pattern, matched):
    weights = match_weights(NAMES, {pattern: 3})
    assert weights.tolist() == [3.0 if i in matched else 1.0 for i in range(len(NAMES))]


def test_the_last_match_decides():
    assert match_weights(NAMES, {"english": 2, "books": 0}).tolist() == [2, 2, 0, 1, 1, 1]
    assert match_weights(NAMES, {"books": 0, "english": 2}).tolist() == [2, 2, 2, 1, 1, 1]


def test_weights_that_make_no_sense():
    with pytest.raises(SettingsError, match=r"'wik', but no source(.|\n)*'texts/logs.txt'"):
        match_weights(NAMES, {"wik": 2})
    with pytest.raises(SettingsError, match="and 30 more"):
        match_weights([f"n{i}" for i in range(50)], {"x": 1})
    with pytest.raises(SettingsError, match="all sources have the weight 0"):
        match_weights(NAMES, {"*": 0})
    with pytest.raises(SettingsError, match="the weight -2"):
        match_weights(NAMES, {"en": -2})
    assert match_weights([], {}).tolist() == []
