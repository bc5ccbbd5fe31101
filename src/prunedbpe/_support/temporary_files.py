"""Temporary files next to their targets: locked by a live writer, removed when it is dead.

``x`` is written as ``.x.0.tmp``, or under the next free number if other writers have it open. A
writer locks its file. The system releases the lock when the process ends, however it ends, so a
file that can be locked has no writer and the next writer of ``x`` removes it. A process id in the
name would not do: ids are reused, and mean nothing on another host or in another container.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

try:
    import fcntl
except ImportError:  # Windows has no such locks, but refuses to remove a file that is open
    fcntl = None  # type: ignore[assignment]

JOURNAL = ".prunedbpe.commit"
"""List of the temporary files that :mod:`~prunedbpe._support.commit` is about to rename."""

_LEFTOVERS = range(8)
"""Numbers to look at for files of dead writers: no target has more writers at once."""


class TemporaryFile(io.FileIO):
    """The unbuffered temporary file of a target. An error on writing names the target."""

    def __init__(self, path: Path, target: Path) -> None:
        super().__init__(path, "x")
        self.path = path
        self.target = target

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes, perhaps not all of them; return how many."""
        with naming_target(self.target):
            return super().write(data)


@contextmanager
def naming_target(target: Path) -> Iterator[None]:
    """Make a system error name the target: a full disk has no name, a temporary file a strange one.

    >>> with naming_target(Path("ids.npy")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'ids.npy'
    """
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def open_temporary(target: Path) -> TemporaryFile:
    """Create and lock a temporary file for a target, and remove those of dead writers."""
    with naming_target(target):
        remove_leftovers(target)
        for number in itertools.count():
            path = _temporary_path(target, number)
            try:
                file = TemporaryFile(path, target)
            except FileExistsError:
                continue  # another writer is at work
            lock(file.fileno(), wait=True)
            if is_at(file.fileno(), path):
                return file
            file.close()  # removed as a leftover before it was locked
    raise AssertionError  # the loop has no end


def remove_leftovers(target: Path) -> None:
    """Remove temporary files of this target whose writers are dead."""
    for number in _LEFTOVERS:
        path = _temporary_path(target, number)
        if not path.exists():
            continue
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue  # it was renamed since, or belongs to another user
        try:
            is_dead = fcntl is None or (lock(descriptor, wait=False) and is_at(descriptor, path))
            # A file of a dead writer that committed is not a leftover: it is the new file.
            if is_dead and not target.with_name(JOURNAL).exists():
                with suppress(OSError):
                    path.unlink()
        finally:
            os.close(descriptor)


def lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file until it is closed or the process ends.

    Returns:
        Whether it is locked: not if another one has the lock, or if the file system has no locks.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Whether ``path`` is still the name of an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _temporary_path(target: Path, number: int) -> Path:
    return target.with_name(f".{target.name}.{number}.tmp")
