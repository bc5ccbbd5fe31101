"""JSON lines read by Arrow: the same documents and the same errors as by Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunedbpe.corpus import json_lines
from prunedbpe.corpus.documents import ReadOptions
from prunedbpe.corpus.files import find_files
from prunedbpe.errors import CorpusError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values),
    max_leaves=6,
)
# Any characters, lone surrogates among them, and texts that look like JSON.
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12) | st.text(
    '{}"\\\n: ', max_size=9
)
RECORDS = st.builds(
    lambda text, rest, first: {"text": text, **rest} if first else {**rest, "text": text},
    TEXTS,
    st.dictionaries(st.sampled_from(["id", "meta", "te"]), VALUES, max_size=2),
    st.booleans(),
)
GOOD_LINES = st.builds(
    lambda record, ascii, indent: json.dumps(record, ensure_ascii=ascii, separators=indent).encode(
        errors="backslashreplace"
    ),
    RECORDS,
    st.booleans(),
    st.sampled_from([None, (",", ":"), (" ,\t", "  : ")]),
)
ODD_LINES = st.sampled_from(
    [
        b"",
        b"  \t",
        b' {"text": "a"} ',
        b'{"text": "a"} {"text": "b"}',
        b'{"text": "a", "n":',
        b'{"n": 1}, "text": "a"}',
        b'{"text": "a", "text": "b"}',
        b'{"text": "a", "n": 1, "n": 2}',
        b'{"te\\u0078t": "a"}',
        b'{"text": "a", "n": NaN, "m": -Infinity}',
        b'{"text": "a", "n": 1e999}',
        b'{"text": "\\ud800"}',
        b'{"text": "a\tb"}',
        b'{"text": "a",}',
        b'{"text": null}',
        b'{"text": 1}',
        b'{"body": "a"}',
        b'{"n": {"text": "a"}}',
        b'{"text": "\\u0000"}',
        b"{}",
        b"[1]",
        b"{'text': 'a'}",
        b'{"text": "a"} // end',
        b'\xef\xbb\xbf{"text": "a"}',
    ]
)


def outcome(path: Path, data: bytes, threads: int) -> object:
    """Documents and the number of repaired ones, or the error."""
    (file,) = find_files([path])
    array = np.frombuffer(data, np.uint8)
    try:
        batch, replaced = json_lines.read_json_lines(array, 0, file, ReadOptions(), threads)
    except CorpusError as error:
        return str(error)
    return list(batch.documents()), replaced


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_bytes(b"")
    return path


@settings(deadline=None, max_examples=300)
@given(
    lines=st.lists(GOOD_LINES | GOOD_LINES | ODD_LINES, max_size=5),
    ends=st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    threads=st.sampled_from([1, 2]),
)
def test_arrow_reads_as_python_does(
    path: Path, lines: list[bytes], ends: bytes, threads: int
) -> None:
    data = ends.join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "_WORTH_IMPORTING", 0)
        by_arrow = outcome(path, data, threads)
        patch.setattr(json_lines, "_read_by_arrow", lambda *arguments: None)
        assert outcome(path, data, threads) == by_arrow


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "odd", [b"", b'{"text": "a\\ud800"}', b'{"text": "' + b"x" * 5_000_000 + b'"}']
)
def test_a_large_block(
    path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, odd: bytes
) -> None:
    texts = [f"line {n}\n“中文” \\ " * 20 for n in range(30_000)]
    data = b"".join(json.dumps({"id": n, "text": t}).encode() + b"\n" for n, t in enumerate(texts))
    assert len(data) > json_lines._WORTH_IMPORTING
    taken: list[bool] = []
    by_arrow = json_lines._read_by_arrow

    def watch(*arguments: object) -> object:
        batch = by_arrow(*arguments)  # type: ignore[arg-type]
        taken.append(batch is not None)
        return batch

    monkeypatch.setattr(json_lines, "_read_by_arrow", watch)
    found = outcome(path, data + odd, threads)
    assert taken == [odd == b""]
    assert isinstance(found, tuple)
    assert [document.decode() for document in found[0]][: len(texts)] == texts
