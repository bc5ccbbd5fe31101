"""A folder that appears whole or not at all.

It is written as ``.NAME.0.tmp`` next to its target. The writer holds a lock on it; the system
releases the lock when the process ends, and the next writer removes the folder.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prunedbpe._support.commit import sync_folder
from prunedbpe._support.temporary_files import is_at, lock, naming_target
from prunedbpe.errors import SettingsError

_LEFTOVERS = range(8)


@contextmanager
def atomic_folder(target: Path, is_old: Callable[[Path], bool]) -> Iterator[Path]:
    """Give a new folder its name once the block has filled it.

    Args:
        target: The name. A folder that has it now is replaced if it is empty or ``is_old``. Linux
            does that in one step; elsewhere a process that dies in that moment leaves the old one
            as ``.NAME.old``.
        is_old: Whether a folder may be removed.

    Raises:
        SettingsError: The target exists, and is not such a folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with atomic_folder(Path(parent, "a"), lambda _: False) as folder:
    ...         _ = Path(folder, "x").write_bytes(b"1")
    ...     sorted(path.name for path in Path(parent).rglob("*"))
    ['a', 'x']
    """
    check_replaceable(target, is_old)
    with naming_target(target):
        folder, descriptor = _create(target)
    try:
        yield folder
        sync_folder(folder)
        check_replaceable(target, is_old)
        with naming_target(target):
            _replace(folder, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(descriptor)


def check_replaceable(target: Path, is_old: Callable[[Path], bool]) -> None:
    """Refuse to write over anything but an empty folder and one that may be removed."""
    if not os.path.lexists(target):
        return
    if not target.is_dir() or (any(target.iterdir()) and not is_old(target)):
        raise SettingsError(
            f"{target}: exists, and was not written by this command",
            hint="choose another name, or remove it",
        )


def _replace(folder: Path, target: Path) -> None:
    if target.exists() and not _exchange(folder, target):
        old = target.with_name(f".{target.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
        folder.rename(target)
        folder = old
    elif not target.exists():
        folder.rename(target)
    sync_folder(target.parent)
    shutil.rmtree(folder, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Let two folders exchange their names in one step, which only Linux can."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    at_working_folder, exchange = -100, 2
    return renameat2 is not None and not renameat2(
        *(at_working_folder, os.fsencode(first)),
        *(at_working_folder, os.fsencode(second)),
        exchange,
    )


def _create(target: Path) -> tuple[Path, int]:
    """Create and lock the temporary folder, and remove those of dead writers."""
    for number in _LEFTOVERS:
        path = _temporary_path(target, number)
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            if lock(descriptor, wait=False) and is_at(descriptor, path):
                shutil.rmtree(path, ignore_errors=True)
            os.close(descriptor)
    for number in itertools.count():
        path = _temporary_path(target, number)
        try:
            path.mkdir()
        except FileExistsError:
            continue  # another writer is at work
        descriptor = os.open(path, os.O_RDONLY)
        lock(descriptor, wait=True)
        if is_at(descriptor, path):
            return path, descriptor
        os.close(descriptor)  # removed as a leftover before it was locked
    raise AssertionError  # the loop has no end


def _temporary_path(target: Path, number: int) -> Path:
    return target.with_name(f".{target.name}.{number}.tmp")
