"""The version is written once, in pyproject.toml; files for other readers agree with it."""

from __future__ import annotations

import re
from pathlib import Path

import prunedbpe

CHECKOUT = Path(__file__).parents[2]


def find(pattern: str, name: str) -> str:
    found = re.search(pattern, (CHECKOUT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert found, name
    return found[1]


def test_one_version():
    version = find(r'^version = "(.*)"$', "pyproject.toml")
    assert prunedbpe.__version__ == version  # of the installed package
    assert find(r"^version: (.*)$", "CITATION.cff") == version
    assert find(r"^## \[(.*)\]", "CHANGELOG.md") == version


def test_no_module_spells_it():
    version = find(r'^version = "(.*)"$', "pyproject.toml")
    sources = [*(CHECKOUT / "src").rglob("*.py"), CHECKOUT / "docs" / "conf.py"]
    assert [path for path in sources if f'"{version}"' in path.read_text(encoding="utf-8")] == []
