"""Blocks: a text file, or a part of one -> pieces of valid UTF-8 that end where lines end.

Either nothing of a file is handed out before all of it is known to be UTF-8: a file that fits the
memory set aside for it is read whole and checked, a larger one is read twice. Or each block is
checked by itself, for whoever can undo what was done with the ones before. Neither a line nor a
character is ever cut; a line longer than a block makes the block longer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from prunedbpe._core import find_invalid_utf8, make_room
from prunedbpe.corpus.inputs import CorpusFile
from prunedbpe.corpus.shards import FilePart
from prunedbpe.corpus.streams import ByteReader, UnpackedStream
from prunedbpe.errors import CorpusError

WHOLE_READ_LIMIT = 128 << 20
"""Unpacked bytes up to which a file of lines that is to be checked first is read at once; larger
ones take two passes."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_CHECK_BLOCK = 16 << 20
_SEARCH_BLOCK = 1 << 16
_PIECE = 1 << 18
"""Bytes asked of a stream at a time: the memory of one piece serves the next one."""


class NotUtf8Error(Exception):
    """A file is not UTF-8; caught by the corpus."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole lines of a file, or a whole file.

    Attributes:
        data: The bytes.
        offset: Where they begin in the unpacked file.
        disk_position: How far the file has been read on the disk, after this block.
    """

    data: memoryview
    offset: int
    disk_position: int


def whole_file_block(file: CorpusFile, threads: int) -> Block:
    """All of a file, however large, read by that many threads.

    Raises:
        NotUtf8Error: The file is not UTF-8.
    """
    with UnpackedStream(file) as stream:
        data = stream.read_all(sys.maxsize - 1, threads)
    assert data is not None
    _check_utf8(data, threads)
    return make_block(data, 0, file.size or 0)


def line_blocks(
    part: FilePart, block_bytes: int, threads: int, *, check_first: bool = True
) -> Iterator[Block]:
    """The lines that begin in a part of a file, in blocks of about ``block_bytes``.

    That many threads read and check it; a compressed file is unpacked by one.

    Args:
        part: What is read.
        block_bytes: About how much makes a block.
        threads: How many.
        check_first: Whether all of the file is checked before its first block is handed out; for
            a part of a file it always is.

    Raises:
        NotUtf8Error: The file, not only this part of it, is not UTF-8.
    """
    file = part.file
    check_first = check_first or not part.is_whole
    data = None
    if check_first or file.compression is None:
        data = _read_small(file, WHOLE_READ_LIMIT if check_first else block_bytes, threads)
    if data is not None:
        _check_utf8(data, threads)
        begin, end = 0, len(data)
        if file.is_splittable:
            begin = _line_start(data, part.begin)
            end = _line_start(data, part.end) if part.end < (file.size or 0) else len(data)
        yield from _blocks_of_bytes(file, data, begin, end, block_bytes)
        return
    if check_first:
        check_file(file, threads)
    first = _line_start_on_disk(file, part.begin)
    last = _line_start_on_disk(file, part.end) if part.end < (file.size or 0) else sys.maxsize
    with UnpackedStream(file) as stream:
        if file.compression is None:
            pieces = _pieces_on_disk(stream, first, last, block_bytes, threads)
        else:  # which is never read in parts
            pieces = cut_at_lines(stream, block_bytes)
        for piece, offset in pieces:
            fault = find_invalid_utf8(piece, threads)
            if fault >= 0 and not check_first:
                raise NotUtf8Error(offset + fault)
            # The first pass found no fault, so one found now means that the file is another one.
            if fault >= 0:
                raise CorpusError(
                    f"{file.source}: the file changed while it was read",
                    hint="let whatever writes it finish, then start again",
                )
            # On the disk the stream is ahead by an unfinished line; that is near enough for a bar.
            yield make_block(piece, offset, stream.disk_position)


def check_file(file: CorpusFile, threads: int) -> None:
    """Read all of a file and check it.

    Raises:
        NotUtf8Error: The file is not UTF-8.
    """
    offset = _find_invalid_in_file(file, file.path.stat().st_mtime_ns, threads)
    if offset >= 0:
        raise NotUtf8Error(offset)


def _pieces_on_disk(
    stream: UnpackedStream, begin: int, end: int, block_bytes: int, threads: int
) -> Iterator[tuple[memoryview, int]]:
    """As :func:`cut_at_lines`, from ``begin`` to ``end`` of a file that is not compressed."""
    size = block_bytes
    while begin < end:
        wanted = min(size, end - begin)
        data = stream.read_into(make_room(wanted), begin, threads)
        is_last = len(data) < wanted or begin + wanted == end
        cut = len(data) if is_last else _last_line_start(data, 0, len(data))
        if cut:
            yield data[:cut], begin
        elif is_last:
            return
        begin += cut
        size = block_bytes if cut else size * 2  # for a line that is longer than a block


def cut_at_lines(stream: ByteReader, block_bytes: int) -> Iterator[tuple[memoryview, int]]:
    r"""Cut a stream after line ends, into pieces of about ``block_bytes``, each with its offset.

    >>> import io
    >>> pieces = cut_at_lines(io.BytesIO(b"one\ntwo\nthree"), 5)
    >>> [(bytes(piece), offset) for piece, offset in pieces]
    [(b'one\n', 0), (b'two\n', 4), (b'three', 8)]
    """
    # Little text needs no room of its own.
    few = min(block_bytes, _PIECE)
    held = memoryview(stream.read(few))  # what was read and not handed out
    if len(held) < few:
        if held:
            yield held, 0
        return
    offset = 0
    size = block_bytes - few
    while True:
        room = make_room(len(held) + size)
        room[: len(held)] = held
        end = len(held) + _fill(room[len(held) :], stream)
        is_last = end < len(room)
        cut = end if is_last else _last_line_start(room, 0, end)
        if cut:
            yield room[:cut], offset
        if is_last:
            return
        held = room[cut:end]
        offset += cut
        size = block_bytes if cut else len(room)  # for a line that is longer than a block


def _fill(room: memoryview, stream: ByteReader) -> int:
    """Put the next bytes of a stream into ``room``; fewer than fit only at its end.

    Piece by piece: joining many costs more, in making new memory, than unpacking them.
    """
    end = 0
    while end < len(room) and (piece := stream.read(min(len(room) - end, _PIECE))):
        room[end : end + len(piece)] = piece
        end += len(piece)
    return end


def count_lines_before(file: CorpusFile, offset: int) -> int:
    """Line ends in the first ``offset`` unpacked bytes; reads them again, so for messages only."""
    lines = 0
    with UnpackedStream(file) as stream:
        while offset > 0 and (data := stream.read(min(offset, _CHECK_BLOCK))):
            lines += data.count(b"\n")
            offset -= len(data)
    return lines


def _read_small(file: CorpusFile, limit: int, threads: int) -> memoryview | None:
    """The unpacked bytes of a file, or ``None`` if they are more than ``limit``."""
    if file.compression is None and (file.size or 0) > limit:
        return None
    with UnpackedStream(file) as stream:
        return stream.read_all(limit, threads)


def _check_utf8(data: memoryview, threads: int) -> None:
    offset = find_invalid_utf8(data, threads)
    if offset >= 0:
        raise NotUtf8Error(offset)


# Kept, because one process may read many shards of one huge file, each of which needs all of it
# to be valid. The time of the last change is part of the key.
@lru_cache(maxsize=64)
def _find_invalid_in_file(file: CorpusFile, modified: int, threads: int) -> int:
    """Offset of the first fault in the unpacked bytes of a file of any size, or -1."""
    position = 0
    held = b""
    with UnpackedStream(file) as stream:
        if file.compression is None:
            return _find_invalid_on_disk(stream, threads)
        while data := stream.read(_CHECK_BLOCK):
            data = held + data
            fault = find_invalid_utf8(data)
            # A fault in the last three bytes may be a character that the block cuts in two: look
            # again with what follows. A real one is found again then, at the same place.
            if 0 <= fault < len(data) - 3:
                return position + fault
            held = data[fault:] if fault >= 0 else b""
            position += len(data) - len(held)
    return position if held else -1


def _find_invalid_on_disk(stream: UnpackedStream, threads: int) -> int:
    """The same of a file that is not compressed, by many threads."""
    room = make_room(_CHECK_BLOCK)
    position = 0
    while data := stream.read_into(room, position, threads):
        fault = find_invalid_utf8(data, threads)
        if fault >= 0 and (fault < len(data) - 3 or len(data) < len(room)):
            return position + fault
        position += len(data) if fault < 0 else fault
    return -1


def _line_start(data: memoryview, target: int) -> int:
    """The first line start at or after ``target``."""
    if target == 0:
        return 0
    for begin in range(target - 1, len(data), _SEARCH_BLOCK):
        found = data[begin : begin + _SEARCH_BLOCK].tobytes().find(b"\n")
        if found >= 0:
            return begin + found + 1
    return len(data)


def _last_line_start(data: memoryview, begin: int, end: int) -> int:
    """The last line start in ``data[begin + 1 : end + 1]``, or ``begin`` if no line ends there."""
    while end > begin:
        first = max(begin, end - _SEARCH_BLOCK)
        found = data[first:end].tobytes().rfind(b"\n")
        if found >= 0:
            return first + found + 1
        end = first
    return begin


def _line_start_on_disk(file: CorpusFile, target: int) -> int:
    if target == 0:
        return 0
    position = target - 1
    with UnpackedStream(file, position) as stream:
        while data := stream.read(1 << 16):
            found = data.find(b"\n")
            if found >= 0:
                return position + found + 1
            position += len(data)
    return position


def _blocks_of_bytes(
    file: CorpusFile, data: memoryview, begin: int, end: int, block_bytes: int
) -> Iterator[Block]:
    while begin < end:
        cut = end
        if begin + block_bytes < end:
            cut = _last_line_start(data, begin, begin + block_bytes)
            if cut == begin:
                cut = min(_line_start(data, begin + block_bytes + 1), end)
        # Through a compressed file, progress on the disk is taken to be even.
        on_disk = cut if file.compression is None else (file.size or 0) * cut // len(data)
        yield make_block(data[begin:cut], begin, on_disk)
        begin = cut


def make_block(data: memoryview, offset: int, disk_position: int) -> Block:
    """Make a block, without the byte order mark at the start of a file."""
    if offset == 0 and data[:3].tobytes() == _BYTE_ORDER_MARK:
        data = data[3:]
    return Block(data, offset, disk_position)
