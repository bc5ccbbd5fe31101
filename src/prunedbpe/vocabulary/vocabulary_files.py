r"""``vocab.txt`` and ``inter_vocab.txt``, byte-compatible with the paper's released code.

UTF-8, lines end in ``\n``, four columns separated by tabs, sorted by token id::

    token_id    (left_id, right_id)    repr(token)    merge_rank

The children are token ids. Bytes and special tokens have the children ``(-1, -1)`` and the rank -1;
the rank of a learned token is its training rank. The third column is Python's ``repr`` of the text,
or of the bytes if they are not UTF-8 or hold a character below U+0020. ``vocab.txt`` lists the
tokens that a model sees, ``inter_vocab.txt`` the internal tokens.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prunedbpe import _core
from prunedbpe._support.atomic_files import write_together
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import read_text
from prunedbpe._support.json_values import shown
from prunedbpe.errors import FormatError, PrunedBPEError
from prunedbpe.types import BYTE_COUNT
from prunedbpe.vocabulary.vocabulary import UnreachableTokenError, Vocabulary

VISIBLE_FILE = "vocab.txt"
INTERNAL_FILE = "inter_vocab.txt"

# At most ten digits: longer numbers are not ids, and int() refuses thousands of digits.
_LINE = r"(\d{1,10})\t\((-?\d{1,10}), (-?\d{1,10})\)\t([^\t]*)\t(-?\d{1,10})"

_ESCAPE = r"\\(?:[\\'\"nrt]|x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8})"
_REPR = re.compile(rf"b?(?:'(?:[^'\\]|{_ESCAPE})*'|\"(?:[^\"\\]|{_ESCAPE})*\")")


def write_paper_files(folder: Path, vocabulary: Vocabulary) -> None:
    """Write both files into ``folder``."""
    write_together(folder, paper_files(vocabulary))


def paper_files(vocabulary: Vocabulary) -> dict[str, bytes]:
    """Return the contents of both files by file name."""
    visible, internal = _core.write_vocabulary(
        vocabulary.pairs,
        vocabulary.visible,
        [text.encode() for text in vocabulary.special_tokens],
    )
    return {VISIBLE_FILE: visible.tobytes(), INTERNAL_FILE: internal.tobytes()}


def token_repr(string: bytes) -> str:
    r"""Return the third column.

    >>> token_repr(b" the"), token_repr(b"\xe4\xb8"), token_repr(b"a\n")
    ("' the'", "b'\\xe4\\xb8'", "b'a\\n'")
    """
    try:
        text = string.decode()
    except UnicodeDecodeError:
        return repr(string)
    return repr(string) if min(string, default=ord(" ")) < ord(" ") else repr(text)


class _Row(NamedTuple):
    """One line of a file, and its place for error messages."""

    place: str
    token_id: int
    left: int
    right: int
    string: bytes
    rank: int


def read_paper_files(folder: Path) -> Vocabulary:
    """Read a vocabulary from the two files and check every line.

    Raises:
        FormatError: A file is missing or a line is wrong; the message names the file and the line.
    """
    finish_interrupted_commit(folder)
    return _read_quickly(folder) or _read_with_care(folder)


def _read_quickly(folder: Path) -> Vocabulary | None:
    """Read files exactly as this library writes them; return ``None`` for anything else.

    This fast path accepts nothing that :func:`_read_with_care` would refuse, and leaves it to that
    function to name the fault.
    """
    try:
        files = [(folder / name).read_bytes() for name in (VISIBLE_FILE, INTERNAL_FILE)]
    except OSError:
        return None
    found = _core.read_vocabulary(*files)
    if found is None:
        return None
    pairs, visible, special = found
    try:
        return Vocabulary(pairs, visible, tuple(string.decode() for string in special))
    except (UnicodeDecodeError, PrunedBPEError):
        return None


def _read_with_care(folder: Path) -> Vocabulary:
    """Read any files of the format line by line, and name the first fault."""
    visible = _read_rows(folder / VISIBLE_FILE, first_id=0)
    internal = _read_rows(folder / INTERNAL_FILE, first_id=len(visible))
    rows = visible + internal
    for byte, row in enumerate(rows[:BYTE_COUNT]):
        if row.string != bytes([byte]) or row.rank != -1:
            raise FormatError(f"{row.place}: token ids 0-255 must be the single bytes in order")
    if len(visible) < BYTE_COUNT:
        raise FormatError(f"{folder / VISIBLE_FILE}: the 256 bytes are missing")

    # The order of ids: bytes, visible learned tokens, special tokens, internal tokens.
    for row in internal:
        if row.rank < 0:
            raise FormatError(f"{row.place}: an internal token without rank and children")
    learned = [row for row in rows[BYTE_COUNT:] if row.rank >= 0]
    special = [row for row in rows[BYTE_COUNT:] if row.rank < 0]
    for row, token_id in zip(
        special, range(len(visible) - len(special), len(visible)), strict=True
    ):
        if row.token_id != token_id:
            raise FormatError(
                f"{row.place}: a token without rank among learned ones: "
                "special tokens must be the last of vocab.txt"
            )
    ranks_by_id = _check_ranks(learned)
    strings = {row.token_id: row.string for row in rows}
    # Merges in rank order, children as ranks. Ranks become dense: a file may have gaps.
    pairs = []
    for row in sorted(learned, key=lambda row: row.rank):
        rank = ranks_by_id[row.token_id]
        for child in (row.left, row.right):
            if child not in ranks_by_id:
                raise FormatError(
                    f"{row.place}: child {child} is neither a byte nor a learned token"
                )
            if ranks_by_id[child] >= rank:
                raise FormatError(f"{row.place}: child {child} was not made before its parent")
        if strings[row.left] + strings[row.right] != row.string:
            raise FormatError(
                f"{row.place}: {token_repr(row.string)} is not "
                f"{token_repr(strings[row.left])} + {token_repr(strings[row.right])}"
            )
        pairs.append((ranks_by_id[row.left], ranks_by_id[row.right]))
    is_visible = np.ones(BYTE_COUNT + len(learned), bool)
    is_visible[[ranks_by_id[row.token_id] for row in internal]] = False
    _check_id_order(learned, len(visible))
    try:
        return Vocabulary(
            np.array(pairs, np.uint32).reshape(-1, 2),
            is_visible,
            tuple(_special_text(row) for row in special),
        )
    except UnreachableTokenError as error:
        by_rank = {ranks_by_id[row.token_id]: row for row in learned}
        raise FormatError(f"{by_rank[error.rank].place}: {error.message}") from error
    except PrunedBPEError as error:
        raise FormatError(f"{folder / VISIBLE_FILE}: {error.message}") from error


def _read_rows(path: Path, first_id: int) -> list[_Row]:
    text = read_text(path)
    rows: list[_Row] = []
    # Not splitlines(): a repr may hold U+2028 and other line separators unescaped.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        place = f"{path}, line {number}"
        match = re.fullmatch(_LINE, line, re.ASCII)
        if match is None:
            raise FormatError(
                f"{place}: not of the form 'id<tab>(left, right)<tab>repr<tab>rank': {shown(line)}"
            )
        token_id, left, right, rank = (int(match[i]) for i in (1, 2, 3, 5))
        if token_id != first_id + len(rows):
            raise FormatError(f"{place}: token id {token_id}, expected {first_id + len(rows)}")
        if rank < 0 and (left, right, rank) != (-1, -1, -1):
            raise FormatError(
                f"{place}: a token without children has rank -1 and children (-1, -1)"
            )
        rows.append(_Row(place, token_id, left, right, _parse_repr(match[4], place), rank))
    return rows


def _parse_repr(text: str, place: str) -> bytes:
    """Read the third column; a literal with escapes that ``repr`` never writes is refused."""
    string = None
    if _REPR.fullmatch(text):
        try:
            value = ast.literal_eval(text)  # literals only: nothing is executed
            string = value.encode() if isinstance(value, str) else value
        except (ValueError, SyntaxError):  # a character above U+10FFFF or a lone surrogate
            pass
    if not string:
        raise FormatError(f"{place}: {shown(text)} is not the repr of a token")
    return string


def _check_ranks(learned: list[_Row]) -> dict[int, int]:
    """Return the dense rank of every byte and learned token id."""
    by_rank: dict[int, _Row] = {}
    for row in learned:
        if row.rank < BYTE_COUNT:
            raise FormatError(f"{row.place}: rank {row.rank} belongs to a byte")
        if row.rank in by_rank:
            raise FormatError(
                f"{row.place}: rank {row.rank} is already used in {by_rank[row.rank].place}"
            )
        by_rank[row.rank] = row
    ranks = {byte: byte for byte in range(BYTE_COUNT)}
    for dense, rank in enumerate(sorted(by_rank), BYTE_COUNT):
        ranks[by_rank[rank].token_id] = dense
    return ranks


def _check_id_order(learned: list[_Row], vocab_size: int) -> None:
    """Check that ids rise with ranks, among visible and among internal tokens."""
    for before, row in pairwise(learned):
        same_file = (before.token_id < vocab_size) == (row.token_id < vocab_size)
        if same_file and before.rank > row.rank:
            raise FormatError(f"{row.place}: rank {row.rank} follows the higher rank {before.rank}")


def _special_text(row: _Row) -> str:
    try:
        return row.string.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{row.place}: a special token must be text") from None
