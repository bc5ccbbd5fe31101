"""One word for one idea: names that the list of words rules out, and prints in the library."""

from __future__ import annotations

import ast
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
"""Words that are another name for an idea that has one, and the one it has. Words with a second,
ordinary meaning in programs (id, index, join, line, partition, word) cannot be looked for."""

by_path = {"argnames": "path", "ids": lambda path: str(path.relative_to(CHECKOUT))}


def names_in_python(path: Path) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def names_in_cpp(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    text = text.replace("shrink_to_fit", "")  # the standard library's word
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)
    return set(re.findall(r"[A-Za-z_]\w*", text))


def ruled_out(names: set[str]) -> dict[str, str]:
    """Names that are, or have as a part between underscores, a word that is ruled out."""
    found = {}
    for name in names:
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_")
        for word, right in FORBIDDEN.items():
            if f"_{word}_" in f"_{plain}_":
                found[name] = right
    return found


@pytest.mark.parametrize(argvalues=PYTHON, **by_path)
def test_names_in_python(path):
    assert ruled_out(names_in_python(path)) == {}


@pytest.mark.parametrize(argvalues=NATIVE, **by_path)
def test_names_in_cpp(path):
    assert ruled_out(names_in_cpp(path)) == {}


@pytest.mark.parametrize(argvalues=PYTHON, **by_path)
def test_no_print_in_the_library(path):
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("print", "breakpoint", "eval", "exec")
    ]
    assert calls == []


@pytest.mark.parametrize(argvalues=PYTHON, **by_path)
def test_nothing_is_unpickled(path):
    assert not {"pickle", "marshal", "shelve"} & names_in_python(path)
