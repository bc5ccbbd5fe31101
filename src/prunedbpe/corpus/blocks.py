"""Blocks: a text file, or a part of one -> its unpacked bytes, cut where lines end.

One pass, in pieces of bounded size. No line is ever cut: a line longer than a block makes the block
longer, up to the longest document allowed. So a small compressed file cannot fill the memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO

import numpy as np

from prunedbpe._core import make_room
from prunedbpe.corpus.documents import ReadOptions
from prunedbpe.corpus.files import CorpusFile, FilePart, Layout
from prunedbpe.errors import CorpusError
from prunedbpe.types import ByteArray

HEAD_BYTES = 4096
"""The beginning of a file, read first because it shows UTF-16."""

_PIECE = 1 << 18
"""Bytes per read. Unpackers return new memory for each read; a small piece stays in the cache."""

_SEARCH_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole lines of a file, or a whole file.

    Attributes:
        data: The bytes.
        offset: Where they begin in the unpacked file.
        disk_position: Bytes of the file read from disk, up to the end of this block.
    """

    data: ByteArray
    offset: int
    disk_position: int


class TextStream:
    """The unpacked bytes of a file or of standard input; a context manager.

    Attributes:
        head: The first :data:`HEAD_BYTES` bytes. They stay part of the stream.

    Raises:
        CorpusError: The file cannot be opened, read or unpacked.
    """

    def __init__(self, file: CorpusFile) -> None:
        self._file = file
        self._errors: tuple[type[Exception], ...] = (OSError,)
        try:
            self._raw: BinaryIO = sys.stdin.buffer if file.is_stdin else _open(file)
            self._stream: Any = self._raw
            if file.compression and file.size:  # an empty file is empty text, whatever its suffix
                opener, damage = _UNPACKERS[file.compression]()
                self._errors = (OSError, *damage)
                self._stream = opener(self._raw)
            head = bytearray(HEAD_BYTES)
            self.head = bytes(head[: self._fill(memoryview(head))])
        except self._errors as error:
            self.close()
            raise self._damaged(error) from error
        self._ahead = memoryview(self.head)  # read, and not yet returned
        self._position = 0

    def __enter__(self) -> TextStream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self._file.is_stdin and hasattr(self, "_raw"):
            self._raw.close()

    @property
    def disk_position(self) -> int:
        """Bytes of the file read from disk so far."""
        return self._position if self._file.compression is None else self._raw.tell()

    def seek(self, position: int) -> None:
        """Continue at a position of a file that is not compressed."""
        self._raw.seek(position)
        self._ahead = memoryview(b"")
        self._position = position

    def read_into(self, room: ByteArray) -> int:
        """Fill ``room`` with the next bytes; returns how many. Fewer than fit mean the end."""
        taken = min(len(self._ahead), len(room))
        room[:taken] = np.frombuffer(self._ahead[:taken], np.uint8)
        self._ahead = self._ahead[taken:]
        try:
            end = taken + self._fill(room.data[taken:])
        except self._errors as error:
            raise self._damaged(error) from error
        self._position += end
        return end

    def _fill(self, room: memoryview) -> int:
        end = 0
        while end < len(room) and (count := self._stream.readinto(room[end : end + _PIECE])):
            end += count
        return end

    def _damaged(self, error: Exception) -> CorpusError:
        # Only errors of the operating system have a number; the others come from unpacking.
        if isinstance(error, OSError) and error.errno is not None:
            return CorpusError(
                f"{self._file.source}: cannot be read: {error.strerror or error}",
                hint="check that the file still exists and its permissions",
            )
        return CorpusError(
            f"{self._file.source}: damaged, not {self._file.compression} data: {error}",
            hint="fetch or compress the file again, or take it out of the corpus",
        )


def text_blocks(stream: TextStream, part: FilePart, options: ReadOptions) -> Iterator[Block]:
    """Read the lines that begin in a part of a file, or the whole file if its layout says so.

    Raises:
        CorpusError: A line or a whole file is too long.
    """
    file, block_bytes = part.file, options.batch_bytes
    is_whole = file.layout is Layout.WHOLE
    begin, end = _find_lines(stream, part)
    # Do not take a large block for a small file. One byte more than the file has shows its end.
    size = block_bytes
    if file.compression:
        size = min(8 * (file.size or 0) + 1, block_bytes)
    elif file.size is not None:
        rest = file.size - begin + 1
        size = min(rest, options.max_document_bytes + 1) if is_whole else min(rest, block_bytes)
    held: ByteArray = np.empty(0, np.uint8)  # read, and not yet yielded
    while begin < end:
        room = make_room(min(max(size, 2 * len(held)), end - begin))
        room[: len(held)] = held
        filled = len(held) + stream.read_into(room[len(held) :])
        is_last = filled < len(room) or begin + filled == end
        # A whole file is never cut: its block grows up to the end of the file.
        length = filled if is_last else 0 if is_whole else _last_line_end(room)
        if not length or is_whole:
            options.check_length(filled, f"{file.source}, byte {begin}")
        if length:
            yield Block(room[:length], begin, stream.disk_position)
        if is_last:
            return
        held = room[length:]
        begin += length
        size = block_bytes


def count_lines_before(file: CorpusFile, offset: int) -> int:
    """Count line ends in the first ``offset`` unpacked bytes; for error messages only."""
    lines = 0
    room = np.empty(_PIECE, np.uint8)
    with TextStream(file) as stream:
        while offset > 0 and (length := stream.read_into(room[: min(offset, _PIECE)])):
            lines += room[:length].tobytes().count(b"\n")
            offset -= length
    return lines


def _find_lines(stream: TextStream, part: FilePart) -> tuple[int, int]:
    """Return where the lines of a part begin and end, with the stream at their beginning."""
    size = part.file.size or 0
    if part.is_start and part.end >= size:
        return 0, sys.maxsize
    begin = _line_start(stream, part.begin)
    end = _line_start(stream, part.end) if part.end < size else sys.maxsize
    stream.seek(begin)
    return begin, end


def _last_line_end(data: ByteArray) -> int:
    """Return the end of the last complete line, or 0."""
    end = len(data)
    while end > 0:
        first = max(0, end - _SEARCH_BLOCK)
        found = data[first:end].tobytes().rfind(b"\n")
        if found >= 0:
            return first + found + 1
        end = first
    return 0


def _line_start(stream: TextStream, target: int) -> int:
    """Return the first line start at or after ``target``, or the end of the file."""
    if target == 0:
        return 0
    position = target - 1
    stream.seek(position)
    room = np.empty(_SEARCH_BLOCK, np.uint8)
    while length := stream.read_into(room):
        found = room[:length].tobytes().find(b"\n")
        if found >= 0:
            return position + found + 1
        position += length
    return position


def _open(file: CorpusFile) -> BinaryIO:
    return file.open()


# Each returns a function that unpacks an open file, and the errors it raises on damaged data.
# They import what they need when they run, so that importing the package stays quick.
_Unpacker = tuple[Callable[[BinaryIO], Any], tuple[type[Exception], ...]]


@cache  # a failed import is slow, and would be tried again for every file
def _unpack_gzip() -> _Unpacker:
    import gzip
    import zlib

    damage: tuple[Any, ...] = (EOFError, zlib.error)
    try:  # the extra "gzip" takes a third of the time
        from isal import igzip, isal_zlib
    except ImportError:
        return lambda raw: gzip.GzipFile(fileobj=raw, mode="rb"), damage
    return lambda raw: igzip.IGzipFile(fileobj=raw, mode="rb"), (*damage, isal_zlib.error)


def _unpack_bzip2() -> _Unpacker:
    import bz2

    return bz2.BZ2File, (EOFError, ValueError)


def _unpack_xz() -> _Unpacker:
    import lzma

    return lzma.LZMAFile, (EOFError, lzma.LZMAError)


def _unpack_zstd() -> _Unpacker:
    import pyarrow as pa

    def opener(raw: Any) -> Any:
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")

    return opener, (EOFError, pa.ArrowException)


_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "gzip": _unpack_gzip,
    "bzip2": _unpack_bzip2,
    "xz": _unpack_xz,
    "zstd": _unpack_zstd,
}
