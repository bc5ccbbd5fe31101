"""Files that appear whole or not at all.

A file takes its name only when all of it is on the disk. A process that dies at any moment leaves
the old file or the new one. Files that are written together change together: at any moment
:func:`~prunedbpe._support.commit.finish_interrupted_commit` gives all of the old or all of the new.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any, BinaryIO

from prunedbpe._support.commit import commit, finish_interrupted_commit, sync_folder
from prunedbpe._support.remote_files import create_url, is_url
from prunedbpe._support.temporary_files import TemporaryFile, naming_target, open_temporary

_BUFFER_BYTES = 1 << 18


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, or a URL, for writing that takes its name only once it is complete and synced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "a.bin")) as file:
    ...         _ = file.write(b"abc")
    ...     [(found.name, found.read_bytes()) for found in Path(folder).iterdir()]
    [('a.bin', b'abc')]
    """
    if is_url(os.fspath(path)):
        with create_url(os.fspath(path)) as file:
            yield file
        return
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
