"""One word for one idea: no name uses a word that has a better one."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PYTHON = sorted((CHECKOUT / "src").rglob("*.py"))
NATIVE = sorted([*(CHECKOUT / "cpp").rglob("*.cpp"), *(CHECKOUT / "cpp").rglob("*.hpp")])

FORBIDDEN = {
    "pretoken": "chunk",
    "pretokens": "chunk",
    "freq": "frequency, or chunk count",
    "freqs": "frequency, or chunk count",
    "cnt": "count",
    "bigram": "pair",
    "bigrams": "pair",
    "world_size": "shard_count",
    "old_id": "rank",
    "new_id": "token id",
    "hits": "applied",
    "refill": "reallocation",
    "fit": "learn, or train",
    "fuse": "merge",
    "sentence": "document",
    "sentences": "document",
}
"""Forbidden synonyms and the right word. Words that programs also use in another sense (id, index,
join, line, partition, word) are not listed."""

FOREIGN = {"SentencePieceTrainer", "SentencePieceProcessor", "max_sentence_length"}
"""Names of another library that our code calls."""

by_path = {"argnames": "path", "ids": lambda path: str(path.relative_to(CHECKOUT))}


def names_in_python(path: Path) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    names = {token.string for token in tokens if token.type == tokenize.NAME}
    return names - FOREIGN


def names_in_cpp(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    text = text.replace("shrink_to_fit", "")  # the standard library's word
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)
    return set(re.findall(r"[A-Za-z_]\w*", text))


def forbidden(names: set[str]) -> dict[str, str]:
    """Return the names that contain a forbidden word between underscores."""
    found = {}
    for name in names:
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_")
        for word, right in FORBIDDEN.items():
            if f"_{word}_" in f"_{plain}_":
                found[name] = right
    return found


@pytest.mark.parametrize(argvalues=PYTHON, **by_path)
def test_names_in_python(path):
    assert forbidden(names_in_python(path)) == {}


@pytest.mark.parametrize(argvalues=NATIVE, **by_path)
def test_names_in_cpp(path):
    assert forbidden(names_in_cpp(path)) == {}
