"""Replace and remove several files of a folder: all of it happens, or nothing.

In: complete temporary files, their targets, files to remove. Out: the folder with the new set.

A file system renames one file at a time, so the list of changes goes first into a journal,
``.prunedbpe.commit``. The moment the journal is on the disk is the commit:

1. Write the journal and sync it. A process that dies before this leaves the old set.
2. Rename each temporary file to its target, then remove what is to be removed.
3. Remove the journal.

If the process dies after step 1, the next process that reads or writes the folder does the rest
(:func:`finish_interrupted_commit`). That can be repeated: a temporary file that is gone was renamed
before. The journal is locked while it is in use, so two writers take turns. A reader waits for a
commit that has begun, and reads again if one came in between (:func:`read_together`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from prunedbpe._support.temporary_files import JOURNAL, is_at, lock
from prunedbpe.errors import FormatError

Result = TypeVar("Result")

_FORMAT = "prunedbpe commit"
_VERSION = 1


class _Changes(NamedTuple):
    """What a journal holds: file names in its folder."""

    renames: Mapping[str, str]
    removals: Sequence[str]


def commit(folder: Path, renames: Mapping[str, str], removals: Sequence[str] = ()) -> None:
    """Give complete and synced temporary files their names, and remove other files.

    An error before the first file has its new name takes everything back and removes the temporary
    files. After an error later on, the next reader or writer of the folder finishes the commit.

    Args:
        folder: The folder of all the files.
        renames: Name of a temporary file -> name of its target.
        removals: Files to remove; they may be missing.
    """
    changes = _Changes(renames, removals)
    try:
        with _open_journal(folder / JOURNAL, os.O_RDWR | os.O_CREAT) as journal:
            assert journal is not None
            _finish(folder, journal)
            try:
                _write(folder, journal, changes)
                _carry_out(folder, changes)
            except BaseException:
                if _is_untouched(folder, renames):
                    (folder / JOURNAL).unlink()
                raise
            (folder / JOURNAL).unlink()
    except BaseException:
        if _is_untouched(folder, renames) and not (folder / JOURNAL).exists():
            for temporary in renames:
                (folder / temporary).unlink()
        raise


def _is_untouched(folder: Path, renames: Mapping[str, str]) -> bool:
    """Whether no temporary file has been renamed."""
    return all((folder / temporary).exists() for temporary in renames)


def finish_interrupted_commit(folder: Path) -> None:
    """Finish what a process began that died during its commit; nearly always nothing.

    Call it before reading files that belong together, and before writing into the folder. It costs
    one look-up.

    Raises:
        FormatError: There is something to finish, and the folder cannot be written.
    """
    try:
        with _open_journal(folder / JOURNAL, os.O_RDWR) as journal:
            if journal is not None:
                _finish(folder, journal)
                (folder / JOURNAL).unlink()
    except OSError as error:
        with suppress(OSError):
            if _parse((folder / JOURNAL).read_bytes(), folder / JOURNAL) is None:
                return  # there was no commit
        raise FormatError(
            f"{folder / JOURNAL}: a process died while it replaced files here, "
            f"and the rest cannot be done: {error.strerror}",
            hint="open the folder once with permission to write",
        ) from error


def read_together(folder: Path, names: Sequence[str], read: Callable[[], Result]) -> Result:
    """Read files that belong together: all of one set, although others may replace it meanwhile.

    Args:
        folder: The folder of the files.
        names: The files.
        read: Reads them; called again if one of them was replaced before it was done.
    """
    while True:
        finish_interrupted_commit(folder)
        before = _identities(folder, names)
        try:
            result = read()
        except FormatError:
            if _is_still(folder, names, before):
                raise
        else:
            if _is_still(folder, names, before):
                return result


def _identities(folder: Path, names: Sequence[str]) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for name in names:
        try:
            status = (folder / name).stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return found


def _is_still(
    folder: Path, names: Sequence[str], before: list[tuple[int, int, int] | None]
) -> bool:
    """Whether the files are those of before, and were not read in the middle of a commit."""
    # In this order: a commit ends with the removal of its journal.
    return not (folder / JOURNAL).exists() and _identities(folder, names) == before


def sync_folder(folder: Path) -> None:
    """Make changes of names survive a power cut, where the system lets folders be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _open_journal(path: Path, flags: int) -> Iterator[BinaryIO | None]:
    """Open the journal once no other process uses it; ``None`` if there is none."""
    while True:
        if not flags & os.O_CREAT and not path.exists():
            yield None
            return
        try:
            descriptor = os.open(path, flags, 0o666)
        except FileNotFoundError:
            if flags & os.O_CREAT:  # the folder is missing
                raise
            continue
        lock(descriptor, wait=True)
        if is_at(descriptor, path):
            break
        os.close(descriptor)  # the process that used it is done
    with os.fdopen(descriptor, "r+b") as journal:
        yield journal


def _write(folder: Path, journal: BinaryIO, changes: _Changes) -> None:
    content = {"format": _FORMAT, "version": _VERSION, **changes._asdict()}
    journal.seek(0)
    journal.truncate()
    journal.write(json.dumps(content).encode())
    journal.flush()
    os.fsync(journal.fileno())
    sync_folder(folder)


def _finish(folder: Path, journal: BinaryIO) -> None:
    """Carry out what the journal of a dead process holds."""
    changes = _parse(journal.read(), folder / JOURNAL)
    if changes is not None:
        _carry_out(folder, changes)


def _carry_out(folder: Path, changes: _Changes) -> None:
    for temporary, target in changes.renames.items():
        with suppress(FileNotFoundError):  # renamed before the process died
            (folder / temporary).replace(folder / target)
    for name in changes.removals:
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)


def _parse(data: bytes, path: Path) -> _Changes | None:
    """Return the changes; ``None`` if the journal is cut short, so there was no commit."""
    try:
        found = json.loads(data)
    except ValueError:  # no beginning of a JSON object is JSON
        return None
    try:
        if (found["format"], found["version"]) != (_FORMAT, _VERSION):
            raise ValueError("of another format or version")
        changes = _Changes(dict(found["renames"]), list(found["removals"]))
        for name in (*changes.renames, *changes.renames.values(), *changes.removals):
            if Path(name).name != name:
                raise ValueError(f"{name!r} is not the name of a file in this folder")
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path}: not a journal of replaced files: {error}",
            hint="remove it, then write the files of this folder again",
        ) from error
    return changes
