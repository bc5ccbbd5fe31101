"""Files that appear whole or not at all, and errors that name the file.

A file takes its name only when all of it is on the disk. A process that dies at any moment leaves
the old file or the new one. Files that are written together change together: at any moment
:func:`~prunedbpe._support.commit.finish_interrupted_commit` gives all of the old or all of the new.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any, BinaryIO

from prunedbpe._support.commit import commit, finish_interrupted_commit, sync_folder
from prunedbpe._support.json_values import shown
from prunedbpe._support.temporary_files import TemporaryFile, naming_target, open_temporary
from prunedbpe.errors import FormatError, NotExactError, SettingsError

_BUFFER_BYTES = 1 << 18
_MOST_DIGITS = 100
_MOST_LEVELS = 100
_TOO_DEEP = f"lists and objects are nested deeper than {_MOST_LEVELS} levels"
_DAMAGED = "the file is damaged: create it again, or restore it from a copy"


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
def atomic_writes(
    *paths: str | os.PathLike[str], removing: Sequence[Path] = ()
) -> Iterator[Sequence[BinaryIO]]:
    """Open files of one folder that replace older ones together, once all are complete and synced.

    They are written next to their targets under hidden temporary names. When the block fails, the
    temporary files are removed and the old files stay.

    Args:
        paths: The files to write.
        removing: Files of the same folder that must not outlive the old ones.
    """
    targets = [Path(path) for path in paths]
    folder = targets[0].parent
    assert all(path.parent == folder for path in (*targets, *removing))
    for target in targets:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    finish_interrupted_commit(folder)
    temporaries: list[TemporaryFile] = []
    with ExitStack() as stack:
        try:
            files = []
            for target in targets:
                temporaries.append(stack.enter_context(open_temporary(target)))
                files.append(BufferedWriter(temporaries[-1], _BUFFER_BYTES))
            yield files
            for file, target in zip(files, targets, strict=True):
                file.flush()
                with naming_target(target):
                    os.fsync(file.fileno())
        except BaseException:
            for temporary in temporaries:
                temporary.close()  # and not its buffer, which may not fit on the disk
                temporary.path.unlink(missing_ok=True)
            raise
        if os.name == "nt":  # the files stay open, and so locked, where that does not forbid this
            stack.close()
        _rename(folder, temporaries, removing)
    sync_folder(folder)


def _rename(folder: Path, temporaries: Sequence[TemporaryFile], removing: Sequence[Path]) -> None:
    """Give complete temporary files their names: one by a rename, several by a commit."""
    with naming_target(temporaries[-1].target):
        if len(temporaries) > 1 or removing:
            renames = {temporary.path.name: temporary.target.name for temporary in temporaries}
            commit(folder, renames, [path.name for path in removing])
            return
        temporary = temporaries[0]
        try:
            finish_interrupted_commit(folder)  # or it would overwrite this file later
            temporary.path.replace(temporary.target)
        except BaseException:
            temporary.path.unlink(missing_ok=True)
            raise


def write_together(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a folder, creating it if missing, in place of older ones or not at all.

    Args:
        folder: The target folder.
        contents: The bytes of every file by its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_writes(*(folder / name for name in contents)) as files:
        for file, content in zip(files, contents.values(), strict=True):
            file.write(content)


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
    """Read a JSON file. Objects have no key twice, numbers are finite.

    Raises:
        FormatError: The file cannot be read, or is not JSON; the message names the file and, if
            the syntax is wrong, the line.
    """
    text = read_text(path)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object_without_duplicates,
            parse_int=_whole_number,
            parse_float=_finite_float,
            parse_constant=_finite_float,
        )
        _check_depth(value)
        return value
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path}, line {error.lineno}: not JSON: {error.msg}", hint=_DAMAGED
        ) from error
    except RecursionError as error:
        raise FormatError(f"{path}: {_TOO_DEEP}", hint=_DAMAGED) from error
    except ValueError as error:  # of the functions below
        raise FormatError(f"{path}: {error}", hint=_DAMAGED) from error


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {shown(key)} twice")
    return found


def _check_depth(value: Any) -> None:
    """Refuse values that recursive functions cannot handle, however deep this Python can read."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            child
            for container in level
            if isinstance(container, (dict, list))
            for child in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _whole_number(text: str) -> int:
    if len(text) > _MOST_DIGITS:  # int() would take quadratic time, or raise an error of its own
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits: {shown(text)}")
    return int(text)


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is not a finite number")
    return value


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a file of UTF-8; line ends stay as they are.

    Raises:
        FormatError: It is missing, unreadable or not UTF-8; the message names it.
    """
    try:
        return Path(path).read_bytes().decode()
    except FileNotFoundError as error:
        raise FormatError(
            f"{path}: no such file", hint="check the folder, or create the file again"
        ) from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}", hint=_DAMAGED) from error


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn any error about the contents of a file into one that names it.

    A :class:`NotExactError` stays one. All others become a :class:`FormatError`.

    >>> with naming("run.json"):
    ...     _ = {}["corpus"]
    Traceback (most recent call last):
    prunedbpe.errors.FormatError: run.json: its contents make no sense: KeyError('corpus')
    hint: the file is damaged: create it again, or restore it from a copy
    """
    try:
        yield
    except NotExactError as error:
        raise NotExactError(f"{path}: {error.message}", hint=error.hint) from error
    except (FormatError, SettingsError) as error:
        raise FormatError(f"{path}: {error.message}", hint=error.hint) from error
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{path}: its contents make no sense: {error!r}",
            hint=_DAMAGED,
        ) from error
