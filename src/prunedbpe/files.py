"""Files of ours: written whole or not at all, read with errors that name them.

A file appears under its name only when all of it is on the disk, so whoever finds it may trust it:
an interrupted run leaves the old file, or none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from prunedbpe.arrays import np
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import Column

if TYPE_CHECKING:
    import hashlib

_DIGEST_LENGTH = 32
"""Digits: 128 bits are enough that two files of one user never meet by accident, and short enough
to read. Of SHA-256, for which processors have instructions: it takes a third of BLAKE2b's time."""

_KINDS = {
    "?": "b",
    **dict.fromkeys("bhilq", "i"),
    **dict.fromkeys("BHILQ", "u"),
    **dict.fromkeys("fd", "f"),
}
"""What NumPy calls the types that memoryviews know."""

_BLOCK = 1 << 20


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only once it is complete and synced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "a.bin")) as file:
    ...         _ = file.write(b"abc")
    ...     [(found.name, found.read_bytes()) for found in Path(folder).iterdir()]
    [('a.bin', b'abc')]
    """
    with atomic_writes(path) as files:
        yield files[0]


@contextmanager
def atomic_writes(*paths: str | os.PathLike[str]) -> Iterator[Sequence[BinaryIO]]:
    """Open files for writing that take their names only once all are complete and synced.

    They are written beside their goals under hidden temporary names. When the block ends, they are
    synced and renamed: whoever finds the last one finds all, also after a power cut, and none of
    those that stood there before. When the block fails, they are removed, and whatever stood under
    the names stays.
    """
    goals = [Path(path) for path in paths]
    temporaries = [goal.with_name(f".{goal.name}.{os.urandom(4).hex()}.tmp") for goal in goals]
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(temporary.open("xb")) for temporary in temporaries]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        *others, (last, last_goal) = zip(temporaries, goals, strict=True)
        if others and last_goal.exists():  # an old one must not stand beside new others
            last_goal.unlink()
            _sync_folder(last_goal.parent)
        for temporary, goal in others:
            temporary.replace(goal)
        for folder in {goal.parent for _, goal in others}:
            _sync_folder(folder)
        last.replace(last_goal)
    except BaseException:
        for temporary in temporaries:
            with suppress(FileNotFoundError):
                temporary.unlink()
        raise
    _sync_folder(last_goal.parent)


def write_together(folder: Path, contents: Mapping[str, Column]) -> None:
    """Write files into a folder, which is made if it is missing; whoever finds the last finds all.

    Args:
        folder: Where to.
        contents: The bytes of every file by its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_writes(*(folder / name for name in contents)) as files:
        for file, content in zip(files, contents.values(), strict=True):
            file.write(content)


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` survive a power cut, where the system lets folders be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    r"""Write ``value`` as indented JSON, atomically.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(Path(folder, "s.json"), {"text": "中文"})
    ...     Path(folder, "s.json").read_text(encoding="utf-8")
    '{\n  "text": "中文"\n}\n'
    """
    data = json_bytes(value)
    with atomic_write(path) as file:
        file.write(data)


def json_bytes(value: Any) -> bytes:
    """``value`` as :func:`write_json` writes it."""
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode()
    except UnicodeEncodeError:
        # A file name that is not UTF-8 reaches Python with lone surrogates: JSON must escape them.
        data = json.dumps(value, allow_nan=False, indent=2).encode()
    return data + b"\n"


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file.

    Raises:
        FormatError: The file is missing, or is not JSON; the message names the file and the line.
    """
    try:
        return json.loads(Path(path).read_bytes().decode())
    except FileNotFoundError as error:
        raise FormatError(
            f"{path}: no such file", hint="check the folder, or make the file anew"
        ) from error
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path}, line {error.lineno}: not JSON: {error.msg}",
            hint="the file is damaged: make it anew, or restore it from a copy",
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path}: not UTF-8 at byte {error.start}",
            hint="the file is damaged: make it anew, or restore it from a copy",
        ) from error


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell whatever is wrong with the contents of a file as a :class:`FormatError` that names it.

    >>> with naming("run.json"):
    ...     _ = {}["corpus"]
    Traceback (most recent call last):
    prunedbpe.errors.FormatError: run.json: its contents make no sense: KeyError('corpus')
    hint: the file is damaged: make it anew, or restore it from a copy
    """
    try:
        yield
    except (FormatError, SettingsError) as error:
        raise FormatError(f"{path}: {error.message}", hint=error.hint) from error
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{path}: its contents make no sense: {error!r}",
            hint="the file is damaged: make it anew, or restore it from a copy",
        ) from error


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the bytes of a file, cut short; reads the file once, in small blocks."""
    digest = _sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _sha256() -> hashlib._Hash:
    import hashlib  # OpenSSL takes 3 ms: not every process needs it, and none at once

    return hashlib.sha256()


def digest_arrays(*arrays: Column) -> str:
    """SHA-256 of the types, shapes and values of ``arrays``, cut short; the same on every machine.

    >>> import numpy as np
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], ">i8"))
    True
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], np.int32))
    False
    """
    digest = _sha256()
    for array in arrays:
        view = memoryview(array)
        order = "|" if view.itemsize == 1 else "<"
        digest.update(f"{order}{_KINDS[view.format[-1]]}{view.itemsize}{view.shape}".encode())
        if not view.nbytes:
            continue
        if view.c_contiguous and len(view.format) == 1 and sys.byteorder == "little":
            digest.update(view.cast("B"))
        else:
            values = np.asarray(array)
            digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()[:_DIGEST_LENGTH]
