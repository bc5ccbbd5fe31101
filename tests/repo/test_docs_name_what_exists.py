"""Every module, folder and test that the concept pages name exists."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted([CHECKOUT / "docs" / "paper-map.md", *(CHECKOUT / "docs" / "concepts").glob("*.md")])
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def quoted(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))


@every_page
def test_tests(page):
    for name in quoted(page):
        if not name.startswith("tests/"):
            continue
        path, _, test = name.partition("::")
        assert (CHECKOUT / path).exists(), name
        if test:
            tree = ast.parse((CHECKOUT / path).read_text(encoding="utf-8"))
            functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert test in functions, name


@every_page
def test_files(page):
    for name in quoted(page):
        if not re.fullmatch(r"[\w./-]+/[\w./-]*|[\w/]+\.(?:py|cpp|hpp)", name):
            continue
        if name.startswith(".."):  # a page; Sphinx checks those
            continue
        places = (CHECKOUT / name, CHECKOUT / "src" / "prunedbpe" / name, CHECKOUT / "src" / name)
        assert any(place.exists() for place in places), name


@every_page
def test_modules(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\{mod\}`([\w.]+)`", text):
        importlib.import_module(name)
