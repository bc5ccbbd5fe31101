"""JSON files with a checksum, for states that a later run trusts.

A changed number in such a file would be valid JSON, and the run that continues from it would be
silently wrong.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe._support.digests import digest_json
from prunedbpe._support.input_files import read_json
from prunedbpe.errors import FormatError
from prunedbpe.types import Settings


def write_sealed(path: str | Path, value: Settings) -> None:
    """Write an object, and a checksum of it, atomically."""
    write_json(path, {**value, "checksum": digest_json(value)})


def read_sealed(path: str | Path, hint: str) -> Settings:
    """Read what :func:`write_sealed` wrote.

    Args:
        path: The file.
        hint: The remedy if the file is damaged.

    Raises:
        FormatError: The file is damaged; the message names it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sealed(Path(folder, "a.json"), {"done": 3})
    ...     read_sealed(Path(folder, "a.json"), "remove it")
    {'done': 3}
    """
    found = read_json(path)
    if isinstance(found, dict):
        checksum = found.pop("checksum", None)
        if checksum == digest_json(found):
            return found
    raise FormatError(f"{path}: its checksum does not match its contents", hint=hint)
