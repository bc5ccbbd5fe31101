"""The native functions over raw text: UTF-8 validation and line splitting."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe._core import find_invalid_utf8, split_lines


def as_array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=np.uint8)


def first_fault(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def plain_split_lines(data: bytes) -> list[bytes]:
    *terminated, last = data.split(b"\n")
    lines = [line.removesuffix(b"\r") for line in terminated] + [last]
    return [line for line in lines if line]


# Bytes at the borders of every range of the UTF-8 table, so that random strings hit the rare rules.
BORDERS = bytes.fromhex("00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f4 f5 ff")


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("unit", ["a", "é", "中", "\U0001f600"])
def test_many_threads_find_the_same_fault(threads, unit):
    data = bytearray(unit.encode() * (3_000_000 // len(unit.encode())))
    assert find_invalid_utf8(as_array(bytes(data)), threads) == -1
    # Before, at and after the borders of the parts.
    for part in range(threads + 1):
        border = len(data) * part // threads
        for place in range(max(0, border - 3), min(len(data), border + 2)):
            for bad in (b"\x80", b"\xf0\x9f", b"\x80\x80\x80\x80\x80"):
                broken = data.copy()
                broken[place : place + len(bad)] = bad
                found = find_invalid_utf8(as_array(broken), threads)
                assert found == find_invalid_utf8(as_array(broken))
                assert found == first_fault(broken)


@given(
    st.one_of(
        st.binary(max_size=40),
        st.lists(st.sampled_from(BORDERS), max_size=12).map(bytes),
        st.tuples(
            st.text(), st.lists(st.sampled_from(BORDERS), max_size=4).map(bytes), st.text()
        ).map(lambda parts: parts[0].encode() + parts[1] + parts[2].encode()),
        st.text().map(str.encode),
    )
)
def test_find_invalid_utf8_agrees_with_python(data: bytes) -> None:
    assert find_invalid_utf8(as_array(data)) == first_fault(data)


@pytest.mark.parametrize("before", [0, 60, 61, 62, 63])  # blocks have 64 bytes
def test_every_sequence_of_border_bytes(before: int) -> None:
    for sequence in product(BORDERS, BORDERS, BORDERS):
        data = b"a" * before + bytes([*sequence, 0x80, 0x41]) + b"a" * before
        assert find_invalid_utf8(as_array(data)) == first_fault(data), data.hex()


@pytest.mark.parametrize("unit", ["é", "中", "हि", "힣", "😀", "\U0010ffff", "aé中😀"])
def test_changes_of_single_bytes_in_long_text(unit: str) -> None:
    valid = (unit * 50).encode()
    assert find_invalid_utf8(as_array(valid)) == -1
    for position in range(200):
        for byte in BORDERS:
            data = valid[:position] + bytes([byte]) + valid[position + 1 : 200]
            assert find_invalid_utf8(as_array(data)) == first_fault(data), data.hex()


@pytest.mark.parametrize("position", range(150))
def test_fault_is_found_at_every_place(position: int) -> None:
    data = b"a" * position + b"\xff" + b"b" * 80
    assert find_invalid_utf8(as_array(data)) == position
    assert find_invalid_utf8(as_array(data)[1:]) == position - 1


def test_character_cut_off_by_the_end() -> None:
    assert find_invalid_utf8(as_array("a中".encode()[:-1])) == 1


@given(st.text(alphabet="a中 \r\n\u2028\x0b", max_size=60))
def test_split_lines_agrees_with_plain_python(text: str) -> None:
    data = text.encode()
    spans = split_lines(as_array(data))
    assert np.asarray(spans).dtype == np.int64
    assert spans.shape == (len(spans), 2)
    assert [data[begin:end] for begin, end in spans.tolist()] == plain_split_lines(data)


def test_split_lines_worked_example() -> None:
    assert split_lines(as_array(b"one\n\ntwo\r\n\r\na\rb")).tolist() == [[0, 3], [5, 8], [12, 15]]


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_split_lines_by_threads(threads: int) -> None:
    # Lines of all lengths, empty ones, one longer than a thread's part, ends of both kinds at cuts.
    rows = [b"a" * (i % 97) + (b"\r\n" if i % 3 else b"\n") for i in range(50_000)]
    long = b"b" * (3 << 20)
    lines = b"".join(rows)
    for data in (lines, long + lines, lines + long, long, b"\n" * (3 << 20)):
        assert len(data) >= 2 << 20
        array = as_array(data)
        assert split_lines(array, threads).tolist() == split_lines(array).tolist()
