"""No hand-written file is longer than 500 lines."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
MOST_LINES = 500
GENERATED = {
    "cpp/src/pretokenizers/unicode_tables.cpp",
    "docs/results/study/report.md",
    "src/prunedbpe/_core.pyi",
}
GENERATED_FOLDERS = ("docs/_build/", "tests/golden/data/")
FOLDERS = ("src", "cpp", "tests", "docs", "tools", "benchmarks", "examples", "studies")
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".md", ".txt"}


def test_no_file_is_too_long():
    too_long = {}
    for folder in FOLDERS:
        for path in (CHECKOUT / folder).rglob("*"):
            name = path.relative_to(CHECKOUT).as_posix()
            if path.suffix not in SUFFIXES or name in GENERATED:
                continue
            if name.startswith(GENERATED_FOLDERS):
                continue
            lines = path.read_bytes().count(b"\n")
            if lines > MOST_LINES:
                too_long[name] = lines
    assert too_long == {}


def test_generated_files_are_marked():
    tables = (CHECKOUT / "cpp/src/pretokenizers/unicode_tables.cpp").read_text(encoding="utf-8")
    assert "enerated" in tables[:500]
