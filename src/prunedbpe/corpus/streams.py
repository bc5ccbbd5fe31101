"""Streams: a file of the corpus -> its unpacked bytes, and how far reading has come on the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import IO, Any, Protocol

from prunedbpe._core import make_room
from prunedbpe.corpus.inputs import CorpusFile
from prunedbpe.errors import CorpusError

_PIECE = 1 << 20
"""Bytes asked for at a time: small files must not cost a large buffer each."""


class ByteReader(Protocol):
    """Whatever gives the next bytes."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


class UnpackedStream:
    """The unpacked bytes of a file, from ``begin`` on; close it, or use it as a context manager.

    Raises:
        CorpusError: The file cannot be opened, read or unpacked.
    """

    def __init__(self, file: CorpusFile, begin: int = 0) -> None:
        self._file = file
        try:
            self._raw: IO[bytes] = file.path.open("rb", buffering=0)
        except OSError as error:
            raise _cannot_read(file, error) from error
        self._stream: ByteReader = self._raw
        self._errors: tuple[type[Exception], ...] = (OSError,)
        if begin:
            self._raw.seek(begin)
        if file.compression and file.size:  # an empty file is empty text, whatever its name says
            opener, damage = _UNPACKERS[file.compression]()
            self._errors = (OSError, *damage)
            try:
                self._stream = opener(self._raw)
            except self._errors as error:
                self._raw.close()
                raise self._damaged(error) from error

    def __enter__(self) -> UnpackedStream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    @property
    def disk_position(self) -> int:
        """Bytes of the file read from the disk so far; what a progress bar counts."""
        return self._raw.tell()

    def read(self, size: int, /) -> bytes:
        """The next ``size`` bytes; fewer only at the end of the file."""
        pieces = []
        while size > 0:
            try:
                piece = self._stream.read(min(size, _PIECE))
            except self._errors as error:
                raise self._damaged(error) from error
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_all(self, limit: int, threads: int = 1) -> memoryview | None:
        """All bytes of the file, or ``None`` if they are more than ``limit``."""
        if self._stream is not self._raw:
            data = self.read(limit + 1)
            return None if len(data) > limit else memoryview(data)
        # In huge pages: a string of this size costs more in making its pages than in reading. One
        # byte of room tells the end of the file.
        room = make_room(min(os.fstat(self._raw.fileno()).st_size, limit) + 1)
        end = len(self.read_into(room, 0, threads))
        if end < len(room):
            return room[:end]
        if end > limit:
            return None
        rest = self.read(limit + 1 - end)  # of a file that grows
        return None if end + len(rest) > limit else memoryview(b"".join([room, rest]))

    def read_into(self, room: memoryview, position: int, threads: int = 1) -> memoryview:
        """Bytes of a file that is not compressed, from ``position`` on, read by many threads.

        Returns:
            ``room`` as far as it was filled: all of it, but for the end of the file.
        """
        try:
            end = self._read_in_parts(room, position, threads)
            self._raw.seek(position + end)
            while end < len(room) and (count := self._raw.readinto(room[end:])):  # type: ignore[attr-defined]
                end += count
        except OSError as error:
            raise self._damaged(error) from error
        return room[:end]

    def _read_in_parts(self, room: memoryview, position: int, threads: int) -> int:
        """Fill the beginning of ``room`` by many threads at a time; how much of it is filled.

        What copying costs is making the pages of the memory. The rest is left to the caller, who
        also finds that the file has become shorter.
        """
        threads = min(threads, len(room) // _PIECE)
        if threads < 2 or not hasattr(os, "preadv"):
            return 0
        part = (len(room) - 1) // threads
        filled = [0] * threads
        errors: list[OSError] = []

        def fill(place: int) -> None:
            begin, end = place * part, (place + 1) * part
            try:
                while begin < end and (
                    count := os.preadv(self._raw.fileno(), [room[begin:end]], position + begin)
                ):
                    begin += count
            except OSError as error:
                errors.append(error)
            filled[place] = begin - place * part

        workers = [threading.Thread(target=fill, args=(place,)) for place in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if errors:
            raise errors[0]
        whole = next((i for i, count in enumerate(filled) if count < part), threads)
        return whole * part + (filled[whole] if whole < threads else 0)

    def _damaged(self, error: Exception) -> CorpusError:
        # Only the system's own errors have a number; the unpackers' say what is wrong with data.
        if isinstance(error, OSError) and error.errno is not None:
            return _cannot_read(self._file, error)
        return CorpusError(
            f"{self._file.source}: damaged, not {self._file.compression} data: {error}",
            hint="fetch or compress the file again, or take it out of the corpus",
        )


def _cannot_read(file: CorpusFile, error: OSError) -> CorpusError:
    return CorpusError(
        f"{file.source}: cannot be read: {error.strerror or error}",
        hint="check that the file still exists and its permissions",
    )


# Each gives a way to unpack an open file, and what it raises on damaged data. Modules are imported
# here, where they are needed, for a quick start of the program.
_Unpacker = tuple[Callable[[IO[bytes]], ByteReader], tuple[type[Exception], ...]]


@cache  # a module that is not there would be looked for again at every file
def _unpack_gzip() -> _Unpacker:
    import gzip
    import zlib

    damage: tuple[Any, ...] = (EOFError, zlib.error)
    try:  # the extra gzip: the same in a third of the time
        from isal import igzip, isal_zlib
    except ImportError:
        return lambda raw: gzip.GzipFile(fileobj=raw, mode="rb"), damage
    return lambda raw: igzip.IGzipFile(fileobj=raw, mode="rb"), (*damage, isal_zlib.error)


def _unpack_bzip2() -> _Unpacker:
    import bz2

    return lambda raw: bz2.BZ2File(raw), (EOFError, ValueError)


def _unpack_xz() -> _Unpacker:
    import lzma

    return lambda raw: lzma.LZMAFile(raw), (EOFError, lzma.LZMAError)


def _unpack_zstd() -> _Unpacker:
    import pyarrow as pa

    def opener(raw: Any) -> ByteReader:
        stream: ByteReader = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        return stream

    return opener, (EOFError, pa.ArrowException)


_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "gzip": _unpack_gzip,
    "bzip2": _unpack_bzip2,
    "xz": _unpack_xz,
    "zstd": _unpack_zstd,
}
