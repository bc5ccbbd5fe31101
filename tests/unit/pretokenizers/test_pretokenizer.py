"""Pretokenizers: worked examples, losslessness, look-up, settings, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe import _core
from prunedbpe.errors import FormatError, MissingExtraError, PrunedBPEError, SettingsError
from prunedbpe.pretokenizers import (
    BUILTIN_PRETOKENIZERS,
    UNICODE_VERSION,
    Pretokenizer,
    find_pretokenizer,
    pretokenize,
)
from prunedbpe.reference import pretokenize as oracle

# Chunks are separated by a bar.
SHARED_EXAMPLES = [
    # LATIN spans and what stays inside them
    "Node.js",
    "don't",
    "don’t",
    "GPT-4",
    "user_id",
    "C'était",
    "a1b2",
    "naïve",
    "don|''|t",
    "end|.",
    "well|-",
    "a|--|b",
    "e|\u0301",
    # DIGIT spans
    "3.14",
    "10-20",
    "123|abc",
    "192.168.0.1",
    "3|.",
    "1|.a",
    "1|-|a",
    "٣٤",
    # WORD spans
    "中文|abc",
    "1949|年|6|月",
    "русский",
    "अनुच्छेद",
    "中文|.|中文",
    # extensions
    ".js",
    " .js",
    "(|.js",
    "...|js",
    ".js|.map",
    ".|5",
    # runs of one character
    "......",
    "====",
    "=|-|=",
    "。。|，",
    "👩|\u200d|👩|\ufe0f",
    "\ue000\ue000",
    # closing tags
    "</|div|>",
    "<|div|>",
    "<<|/",
    " |</|a|>",
    # SPACE
    "a| b",
    "a|  |b",
    "a|\t|b",
    "a|\n|b",
    "a| \n|b",
    "a| |!",
    "a| |",
    " 中文",
    " 42",
    "a|\u3000|b",
    "a|\xa0|b",
    "a|\x1c|b",
    "a|\x85|b",
]

PAPER_EXAMPLES = [
    "C++",
    "C#",
    " C++",
    "C++|11",
    "C#|,",
    "用|C++|写",
    "C|+++",
    "C|++|#",
    "C|##",
    "C|#|+",
    "C|+",
    "c|++",
    "CC|++",
    "C1|#",
    "É|#",
    "_|#",
    ".C|++",
]


def cut(example: str) -> list[str]:
    return [chunk for chunk in example.split("|") if chunk]


@pytest.mark.parametrize("split", [pretokenize, oracle.split], ids=["native", "plain"])
@pytest.mark.parametrize("name", ["paper", "reference"])
@pytest.mark.parametrize("example", SHARED_EXAMPLES)
def test_worked_example(split, name: str, example: str) -> None:
    assert split("".join(cut(example)), name) == cut(example)


@pytest.mark.parametrize("split", [pretokenize, oracle.split], ids=["native", "plain"])
@pytest.mark.parametrize("example", PAPER_EXAMPLES)
def test_language_names(split, example: str) -> None:
    assert split("".join(cut(example)), "paper") == cut(example)


@pytest.mark.parametrize("split", [pretokenize, oracle.split], ids=["native", "plain"])
def test_reference_has_no_rule_for_language_names(split) -> None:
    assert split("C++ C#", "reference") == ["C", "++", " C", "#"]


def test_character_younger_than_unicode_14() -> None:
    seal_letters = "\U0003d000\U0003d001"
    assert pretokenize(seal_letters, "paper") == [seal_letters]
    assert pretokenize(seal_letters, "reference") == list(seal_letters)


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("gpt2", "it|'s| 1234|!?|  | x"),
        ("gpt2", "IT|'|S|\n|\n|x"),
        ("cl100k", "it|'s|IT|'S| |123|4|!\n\n|  | x|\n \n| | +"),
        ("cl100k", "end| \n  "),
        ("llama3", "it|'s|IT|'S| |123|4|!\n\n|  | x|\n \n| | +"),
        ("llama3", "end| \n|  "),
        ("qwen2", "it|'ſ|1|2|٣| |4|a| | |½|\r\n"),
        ("qwen2", "end| \n|  "),
        ("o200k", "it's|Node|Js|IT'S| |123|4|!//\n|  | x"),
        ("o200k", "end| \n|  "),
        ("none", "all of it\n\n 1"),
    ],
)
def test_published_pretokenizers(name: str, example: str) -> None:
    assert pretokenize("".join(cut(example)), name) == cut(example)


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
@given(text=st.text())
def test_chunks_joined_are_the_text(name: str, text: str) -> None:
    chunks = pretokenize(text, name)
    assert "".join(chunks) == text
    assert "" not in chunks


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
@given(data=st.binary())
def test_bytes_that_are_not_utf8_are_cut_without_loss(name: str, data: bytes) -> None:
    ends = Pretokenizer(name).chunk_ends(data).tolist()
    assert ends == sorted(set(ends))
    assert [0, *ends][-1] == len(data)
    assert 0 not in ends


PATHOLOGICAL = {
    "spaces": " " * 1_000_000,
    "spaces before a letter": " " * 1_000_000 + "a",
    "one letter": "a" * 1_000_000,
    "one capital": "A" * 1_000_000,
    "line breaks and spaces": "\n " * 500_000,
    "line breaks and spaces before a letter": "\n " * 500_000 + "a",
    "tabs and letters": "\t a" * 300_000,
    "apostrophes": "'" * 1_000_000,
    "apostrophes and letters": "'s" * 500_000,
    "connectors": "a." * 500_000,
    "digits": "1" * 1_000_000,
    "marks": "\u0301" * 500_000,
    "a mark before capitals": "\u0301" + "A" * 1_000_000,
    "capitals and uncased letters": ("A" * 50 + "ʰ") * 20_000 + "A" * 1_000_000,
    "slashes and breaks": "/\n" * 500_000,
    "ideographs": "中" * 300_000,
    "pluses": "C" + "+" * 1_000_000,
}


@pytest.mark.parametrize("text", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_pathological_text_is_cut_in_linear_time(name: str, text: str) -> None:
    data = text.encode()
    assert Pretokenizer(name).chunk_ends(data)[-1] == len(data)


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_empty_text_has_no_chunks(name: str) -> None:
    assert pretokenize("", name) == []
    assert len(Pretokenizer(name).chunk_ends(b"")) == 0


def test_chunk_ends_takes_bytes_and_arrays() -> None:
    data = "né 中文!".encode()
    for text in (data, np.frombuffer(data, np.uint8)):
        ends = Pretokenizer("paper").chunk_ends(text)
        assert ends.dtype == np.int64
        assert ends.tolist() == [3, 10, 11]


def test_native_module_refuses_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="no pretokenizer named 'pape'"):
        _core.chunk_ends(np.zeros(1, np.uint8), "pape")


class TestRegularExpression:
    @pytest.mark.parametrize(
        ("pattern", "example"),
        [
            (r"\p{L}+", "ab| |中文|!!|x"),
            (r"\d", "ab|1|2|c"),
            (r"x*", "ab|xx|c"),
            (r"(?=b)|c", "ab|c|d"),
            (r"(?:zzz)", "no match"),
        ],
    )
    def test_gaps_are_chunks_and_empty_matches_are_not(self, pattern: str, example: str) -> None:
        pretokenizer = find_pretokenizer(pattern)
        assert not pretokenizer.is_native
        assert pretokenizer.split("".join(cut(example))) == cut(example)
        sizes = [len(chunk.encode()) for chunk in cut(example)]
        data = "".join(cut(example)).encode()
        assert pretokenizer.chunk_ends(data).tolist() == np.cumsum(sizes).tolist()

    @given(st.text(), st.sampled_from([r"\w+", r"\s*", r".", r"a|(?<=b)", r"[^\x00-\x7f]+"]))
    def test_lossless_and_the_same_in_bytes(self, text: str, pattern: str) -> None:
        pretokenizer = Pretokenizer("regex", pattern)
        chunks = pretokenizer.split(text)
        assert "".join(chunks) == text
        assert "" not in chunks
        ends = pretokenizer.chunk_ends(text.encode()).tolist()
        assert ends == np.cumsum([len(chunk.encode()) for chunk in chunks]).tolist()

    def test_bad_pattern(self) -> None:
        with pytest.raises(SettingsError, match=r"'\(a'.*position 2"):
            find_pretokenizer("(a")

    def test_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "regex", None)
        with pytest.raises(MissingExtraError, match=r"prunedbpe\[regex\]"):
            find_pretokenizer("(?:a pattern no other test compiles)")

    def test_text_that_is_not_utf8(self) -> None:
        with pytest.raises(PrunedBPEError, match="0xff at position 2"):
            find_pretokenizer(r"\w+").chunk_ends(b"ab\xff")


class TestLookUp:
    @pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
    def test_names(self, name: str) -> None:
        pretokenizer = find_pretokenizer(name)
        assert pretokenizer == Pretokenizer(name)
        assert pretokenizer.is_native
        assert find_pretokenizer(pretokenizer) is pretokenizer

    @pytest.mark.parametrize("name", ["pape", "gpt-2", "regex", "", "Paper"])
    def test_unknown_name(self, name: str) -> None:
        with pytest.raises(SettingsError, match="cl100k, llama3, qwen2, o200k, none"):
            find_pretokenizer(name)

    def test_close_name_is_suggested(self) -> None:
        with pytest.raises(SettingsError, match="did you mean 'paper'"):
            find_pretokenizer("pape")

    def test_neither_name_nor_pattern(self) -> None:
        with pytest.raises(SettingsError, match="not 7"):
            find_pretokenizer(7)  # type: ignore[arg-type]

    def test_pattern_belongs_to_regex_alone(self) -> None:
        with pytest.raises(SettingsError, match="takes no pattern"):
            Pretokenizer("paper", r"\w+")
        with pytest.raises(SettingsError, match="needs a pattern"):
            Pretokenizer("regex")

    @pytest.mark.parametrize(
        ("pattern", "named"),
        [
            ("(", "missing \\) at position 1"),
            ("(" * 5000 + ")" * 5000, "too deeply nested"),
            ("a{1000000000}", "repeat counts multiply to more than 10000"),
            ("((a{99}){99}){99}", "repeat counts multiply to more than 10000"),
            ("a{%s}" % ("9" * 5000), "repeat counts multiply to more than 10000"),
            ("a(?R)?b", "calls itself"),
            ("(?<x>a)(?&x)", "calls itself"),
            ("(?r)a", "searches backwards"),
            ("(?:a|aa)+$", "takes over 0.5 s for the text 'aaa"),
        ],
    )
    def test_patterns_that_take_all_memory_or_time(self, pattern: str, named: str) -> None:
        with pytest.raises(SettingsError, match=named) as refused:
            Pretokenizer("regex", pattern)
        assert len(str(refused.value)) < 500


class TestSettings:
    @pytest.mark.parametrize("spec", [*BUILTIN_PRETOKENIZERS, r"\w+|\W"])
    def test_round_trip(self, spec: str) -> None:
        pretokenizer = find_pretokenizer(spec)
        assert Pretokenizer.from_settings(pretokenizer.describe()) == pretokenizer

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"name": "pape"},
            {"name": 7},
            {"name": "regex"},
            {"name": "regex", "pattern": "("},
            {"name": "regex", "pattern": 7},
            {"name": "paper", "pattern": r"\w"},
            {"name": "paper", "unicode_version": 18},
            {"name": "paper", "unicode_version": "latest"},
            {"name": "paper", "normalization": ["NFC"]},
        ],
    )
    def test_damaged(self, settings: dict) -> None:
        with pytest.raises(FormatError, match="pretokenizer"):
            Pretokenizer.from_settings(settings)

    def test_other_unicode_version_warns(self) -> None:
        with pytest.warns(UserWarning, match=f"Unicode 99.0.0 .* Unicode {UNICODE_VERSION}"):
            found = Pretokenizer.from_settings({"name": "paper", "unicode_version": "99.0.0"})
        assert found.unicode_version == UNICODE_VERSION

    def test_reference_is_the_same_under_any_unicode_version(self) -> None:
        settings = {"name": "reference", "unicode_version": "99.0.0"}
        assert Pretokenizer.from_settings(settings).name == "reference"


@pytest.mark.parametrize("spec", ["paper", r"\w+"])
def test_lone_surrogate_is_named_with_its_position(spec: str) -> None:
    with pytest.raises(PrunedBPEError, match=r"U\+D83D, at position 2"):
        pretokenize("ab\ud83d", spec)
