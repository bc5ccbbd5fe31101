"""Locations: folders and files of workers, as absolute local paths or as URLs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prunedbpe._support import remote_files
from prunedbpe._support.remote_files import is_url


def absolute(location: str | Path) -> str:
    """Return a URL as it is, and a path so that it holds in any working folder.

    >>> absolute("s3://bucket/parts/")
    's3://bucket/parts'
    """
    location = str(location)
    return location.rstrip("/") if is_url(location) else str(Path(location).absolute())


def create_folder(location: str) -> None:
    """Create a folder; object stores have none."""
    if not is_url(location):
        Path(location).mkdir(parents=True, exist_ok=True)


def exists(location: str) -> bool:
    """Whether there is a file or folder."""
    return remote_files.exists(location) if is_url(location) else Path(location).exists()


def remove_folder(location: str) -> None:
    """Remove a folder with all that is in it, as far as possible."""
    if is_url(location):
        with suppress(OSError):
            remote_files.remove_folder(location)
    else:
        shutil.rmtree(location, ignore_errors=True)


@contextmanager
def fetched(locations: list[str]) -> Iterator[list[Path]]:
    """Give local files: those at URLs are copied to a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="prunedbpe-") as folder:
        paths = []
        for number, location in enumerate(locations):
            if is_url(location):
                paths.append(Path(folder, str(number)))
                with remote_files.open_url(location) as source, paths[-1].open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            else:
                paths.append(Path(location))
        yield paths
