"""Standard streams that may be closed or full: errors name the stream, lost messages stop no work.

Python has no object for a closed stream, and a file opened later would take its descriptor.
:func:`guard_streams` puts the null device there and an object that fails when it is used. Writing
messages to standard error never fails: a run must not stop because nobody reads its progress.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.temporary_files import naming_target

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

OUTPUT_NAME = "standard output"
_NAMES = (Path("standard input"), Path(OUTPUT_NAME), Path("standard error"))


class _Stream(io.FileIO):
    """One of the three streams, unbuffered."""

    def __init__(self, descriptor: int, *, is_closed: bool) -> None:
        self._is_closed = is_closed
        if is_closed and not _is_open(descriptor):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        super().__init__(descriptor, "w" if descriptor else "r", closefd=False)

    def _check(self) -> None:
        if self._is_closed:
            raise OSError(errno.EBADF, "the stream is closed")

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        with naming_target(_NAMES[self.fileno()]):
            self._check()
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with naming_target(_NAMES[self.fileno()]):
            self._check()
            return super().readall()

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            with naming_target(_NAMES[self.fileno()]):
                self._check()
                return super().write(data)
        except OSError:
            if self.fileno() == 2:
                return memoryview(data).nbytes
            raise


def guard_streams() -> None:
    """Replace ``sys.stdin``, ``sys.stdout`` and ``sys.stderr``."""
    if sys.platform == "win32":  # its console is not a file
        return
    streams = (sys.stdin, sys.stdout, sys.stderr)
    encoding = next((stream.encoding for stream in streams if stream is not None), "utf-8")
    stdin, stdout, stderr = (
        _Stream(descriptor, is_closed=stream is None) for descriptor, stream in enumerate(streams)
    )
    sys.stdin = io.TextIOWrapper(io.BufferedReader(stdin), encoding)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(stdout), encoding, line_buffering=stdout.isatty()
    )
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(stderr), encoding, line_buffering=True)


def discard_output() -> None:
    """Let Python flush standard output at exit, although it cannot be written."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stream):
        raw._is_closed = False


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
