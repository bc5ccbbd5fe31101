"""JSON from outside: what is not read, and how errors name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from prunedbpe._support.input_files import read_json
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[" * 100_000, "nested deeper than 100 levels"),
        ("[" * 100_000 + "]" * 100_000, "nested deeper than 100 levels"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested deeper than 100 levels"),
        ("9" * 10_000, "a number has more than 100 digits"),
        ("[1e999]", "'1e999' is not a finite number"),
        ("[NaN]", "'NaN' is not a finite number"),
        ("[-Infinity]", "'-Infinity' is not a finite number"),
        ('{"a": 1, "b": 2, "a": 1}', "an object has the key 'a' twice"),
        ("\ufeff{}", "line 1: not JSON: Unexpected UTF-8 BOM"),
        ('\n{"a" 1}', "line 2: not JSON"),
    ],
    ids=lambda value: value[:12],
)
def test_what_is_not_read(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    with pytest.raises(FormatError) as refused:
        read_json(path)
    assert str(path) in str(refused.value)
    assert named in str(refused.value)


def test_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[" * 99 + "]" * 99, "utf-8")
    read_json(path)
    path.write_text(r'{"a": [1, -2.5, true, null, "\ud800"]}', "utf-8")  # a file name may hold it
    assert read_json(path) == {"a": [1, -2.5, True, None, "\ud800"]}


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        read_json(tmp_path)
    (tmp_path / "x.json").write_bytes(b'"\xff"')
    with pytest.raises(FormatError, match=r"x\.json: not UTF-8 at byte 1"):
        read_json(tmp_path / "x.json")


def test_errors_name_the_path() -> None:
    value = JsonValue({"a": [{"b": 5, "c": "\ud800", "d": True, "e": 1.0}]})
    entry = next(value["a"].items())
    for check, named in (
        (entry["b"].text, r"a\[0\]\.b is 5, not a text"),
        (entry["b"].flag, r"a\[0\]\.b is 5, not true or false"),
        (entry["c"].text, r"a\[0\]\.c is '\\ud800', not valid Unicode"),
        (entry["d"].integer, r"a\[0\]\.d is True, not a whole number"),
        (entry["e"].integer, r"a\[0\]\.e is 1\.0, not a whole number"),
        (entry["f"].integer, r"a\[0\]\.f is missing or null, not a whole number"),
        (value["a"].object, "a is .*, not an object"),
        (lambda: list(entry["b"].items()), r"a\[0\]\.b is 5, not a list"),
        (JsonValue([]).object, r"the top level is \[\], not an object"),
    ):
        with pytest.raises(FormatError, match=named):
            check()
    assert list(entry["f"].items()) == []
    assert entry["f"].flag(default=True)


def test_shown_is_short() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, "x" * 10**6, b"x" * 10**6, list(range(10**5)), 10**4000):
        assert len(shown(value)) < 100
