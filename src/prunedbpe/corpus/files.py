"""Files: the paths a user gives -> the files of the corpus, in order, whole or cut into shards.

Inputs keep their order. The files of a folder are sorted by the bytes of their path, so that the
result does not depend on machine or locale. Shards are contiguous runs of the corpus, planned by
bytes on disk. They follow one another in corpus order, so their tables reduce to the table of the
whole, first positions included. A plan depends only on the files and their sizes: each worker makes
it for itself, and all agree.
"""

from __future__ import annotations

import glob
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from prunedbpe._support.arguments import to_path
from prunedbpe._support.remote_files import is_glob, is_url, list_files, name_of, open_url
from prunedbpe.errors import CorpusError, SettingsError

PathInput = str | os.PathLike[str]

STDIN = "-"
"""Standard input, as an input and as a source name."""

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


class Layout(Enum):
    """How a file holds documents."""

    LINES = "lines"
    WHOLE = "whole"
    JSONL = "jsonl"
    PARQUET = "parquet"


_LAYOUTS = {
    ".txt": Layout.LINES,
    ".log": Layout.LINES,
    ".html": Layout.LINES,
    ".htm": Layout.LINES,
    ".jsonl": Layout.JSONL,
    ".ndjson": Layout.JSONL,
    ".parquet": Layout.PARQUET,
}


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus.

    Attributes:
        path: Where it is: a path, or a URL as a string.
        source: The path as the user gave it, the name in messages and batches.
        layout: How it holds documents.
        compression: ``gzip``, ``bzip2``, ``xz``, ``zstd`` or ``None``.
        size: Its bytes on disk; ``None`` for standard input.
    """

    path: Path | str
    source: str
    layout: Layout
    compression: str | None
    size: int | None

    @property
    def is_stdin(self) -> bool:
        """Whether this is standard input, which can be read only once."""
        return self.size is None

    @property
    def is_splittable(self) -> bool:
        """Whether reading can begin at any line or row group, so that shards may share the file."""
        return (
            self.size is not None
            and self.compression is None
            and self.layout in (Layout.LINES, Layout.JSONL, Layout.PARQUET)
        )

    def open(self) -> BinaryIO:
        """Open the file for reading, without a buffer; it can seek.

        Raises:
            OSError: It is missing or cannot be read.
        """
        if isinstance(self.path, str):
            return open_url(self.path)
        return cast("BinaryIO", self.path.open("rb", buffering=0))


def layout_of(path: PathInput) -> tuple[Layout, str | None]:
    """Return the layout and the compression that a file's name implies.

    >>> layout_of("a.jsonl.zst")
    (<Layout.JSONL: 'jsonl'>, 'zstd')
    >>> layout_of("main.py")
    (<Layout.WHOLE: 'whole'>, None)

    Raises:
        CorpusError: Files of this kind cannot be read as text.
    """
    name = Path(path)
    compression = COMPRESSIONS.get(name.suffix.lower())
    inner = Path(name.stem) if compression else name
    layout = _LAYOUTS.get(inner.suffix.lower(), Layout.WHOLE)
    if layout is Layout.PARQUET and compression:
        raise CorpusError(
            f"{path}: a compressed Parquet file cannot be read",
            hint="unpack it; Parquet compresses its own columns",
        )
    if inner.suffix.lower() in (".tar", ".tgz"):
        # Tar headers are valid UTF-8 and would pass for text.
        raise CorpusError(
            f"{path}: an archive is not a text file", hint="unpack it and give the folder"
        )
    return layout, compression


def find_files(
    inputs: Iterable[PathInput], excluding: Iterable[PathInput | None] = ()
) -> list[CorpusFile]:
    """Find the files that files, folders, globs, URLs of these and ``-`` stand for.

    In a folder, every file at any depth counts, except in hidden and in excluded folders, and
    except hidden files. A glob, ``texts/**/*.txt``, stands for the files it matches, without hidden
    and excluded ones. A file that is named itself always counts.

    Raises:
        CorpusError: An input does not exist, holds no file, matches no file, or is of a kind that
            cannot be read.
        MissingExtraError: An input is a URL, and fsspec is not installed.
        SettingsError: The protocol of a URL is unknown.
    """
    excluded = {Path(folder).resolve() for folder in excluding if folder is not None}
    files: list[CorpusFile] = []
    for given in inputs:
        path = to_path(given)
        if not os.fspath(given):  # Path("") would be the current folder
            raise CorpusError("an input is an empty name", hint="give files, folders, or '-'")
        if os.fspath(given) == STDIN:
            if any(file.is_stdin for file in files):
                raise CorpusError("standard input ('-') is given twice", hint="give '-' once")
            files.append(CorpusFile(path, STDIN, Layout.LINES, None, None))
        elif isinstance(given, str) and is_url(given):
            files.extend(_remote_files(given))
        elif path.is_dir():
            found = sorted(
                _files_below(path, excluded), key=lambda file: os.fsencode(file.as_posix())
            )
            if not found:
                raise _no_files(given, excluded)
            files.extend(_describe(path / inside) for inside in found)
        elif path.is_file():
            files.append(_describe(path, os.fspath(given)))
        elif path.exists():
            raise CorpusError(
                f"{given}: neither a file nor a folder", hint="pipe the text in and give '-'"
            )
        elif is_glob(os.fspath(given)):
            files.extend(_matching_files(os.fspath(given), excluded))
        else:
            raise CorpusError(f"{given}: no such file or folder", hint=_missing_hint(given))
    if not files:
        raise CorpusError("the corpus has no inputs", hint="give files, folders, or '-'")
    return files


def _missing_hint(given: PathInput) -> str:
    if not isinstance(given, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", os.fspath(given)):
        return "give a URL as a string: a path object drops one of its slashes"
    return "check the spelling; for texts instead of paths use Corpus.from_texts"


def _matching_files(pattern: str, excluded: set[Path]) -> list[CorpusFile]:
    """Return the files that a glob matches, sorted by the bytes of their path."""
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 - Path.glob finds hidden files too
    found = [
        match
        for match in sorted(matches, key=os.fsencode)
        if Path(match).is_file() and not excluded.intersection(Path(match).resolve().parents)
    ]
    if not found:
        raise CorpusError(
            f"{pattern}: no file matches",
            hint="check the spelling; a glob matches files, ** any depth of folders",
        )
    return [_describe(Path(match), match) for match in found]


def _remote_files(url: str) -> list[CorpusFile]:
    try:
        found = list_files(url)
    except OSError as error:
        raise CorpusError(
            f"{url}: {error.strerror}", hint="check the spelling, and your access to it"
        ) from error
    if not found:
        raise CorpusError(f"{url}: the folder holds no files", hint="hidden files are not read")
    return [CorpusFile(f.url, f.url, *layout_of(name_of(f.url)), f.size) for f in found]


def _no_files(folder: PathInput, excluded: set[Path]) -> CorpusError:
    real = Path(folder).resolve()
    inside = sorted(path for path in excluded if path == real or real in path.parents)
    if inside and any(path.is_dir() for path in inside):
        return CorpusError(
            f"{folder}: all files are in a folder that is excluded: {inside[0]}",
            hint="output folders are not read as corpus; keep texts and outputs apart",
        )
    return CorpusError(f"{folder}: the folder holds no files", hint="hidden files are not read")


def _describe(path: Path, source: str | None = None) -> CorpusFile:
    layout, compression = layout_of(path)
    return CorpusFile(path, source or path.as_posix(), layout, compression, path.stat().st_size)


def _files_below(folder: Path, excluded: set[Path]) -> Iterator[Path]:
    """Yield the paths of all visible files in ``folder``, relative to it, in any order."""
    # Follow links to folders, but not back into a folder that contains the link.
    open_folders: list[tuple[Path, frozenset[Path]]] = [(Path(), frozenset())]
    while open_folders:
        inside, ancestors = open_folders.pop()
        real = (folder / inside).resolve()
        if real in ancestors or real in excluded:
            continue
        try:
            children = list((folder / inside).iterdir())
        except OSError as error:
            raise CorpusError(
                f"{folder / inside}: the folder cannot be read: {error.strerror}",
                hint="check its permissions",
            ) from error
        for child in children:
            if child.name.startswith("."):
                continue
            if child.is_dir():
                open_folders.append((inside / child.name, ancestors | {real}))
            elif child.is_file():
                yield inside / child.name


@dataclass(frozen=True)
class Shard:
    """One of ``count`` disjoint parts of a corpus.

    >>> Shard(0, 4)
    Shard(index=0, count=4)
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise SettingsError(
                f"shard {self.index} of {self.count} does not exist",
                hint="shards are numbered from 0 to one below their count",
            )


@dataclass(frozen=True)
class FilePart:
    """The lines of a file that begin in the bytes ``[begin, end)``; or a whole file.

    A line belongs to the part that holds its first byte, so the parts of a file hold each line
    once. The same goes for the row groups of a Parquet file: one whose first row is row ``r`` of
    ``R`` begins at byte ``size * r // R``.
    """

    file: CorpusFile
    begin: int
    end: int

    @property
    def is_start(self) -> bool:
        """Whether the file begins here: exactly one part of each file does."""
        return self.begin == 0


def plan_parts(files: Sequence[CorpusFile], shard: Shard | None) -> list[FilePart]:
    """Return the parts of ``files`` that make up ``shard``, in order; all files without a shard.

    A file that cannot be cut goes as a whole to the shard that holds its first byte.

    Raises:
        SettingsError: Standard input cannot be divided into shards.
    """
    if shard is None:
        return [FilePart(file, 0, file.size or 0) for file in files]
    sizes = []
    for file in files:
        if file.size is None:
            raise SettingsError(
                "standard input cannot be divided into shards",
                hint="write it to a file first, or count it as a whole",
            )
        sizes.append(file.size)
    total = sum(sizes)
    cuts = [total * index // shard.count for index in range(shard.count)]
    low = cuts[shard.index]
    high = cuts[shard.index + 1] if shard.index + 1 < shard.count else total
    parts = []
    start = 0
    for file, size in zip(files, sizes, strict=True):
        # Cuts may coincide (few bytes, many shards); the last at or before a file owns its start.
        owns_start = bisect_right(cuts, start) - 1 == shard.index
        if file.is_splittable and size > 0:
            begin, end = max(low - start, 0), min(high - start, size)
            if begin < end:
                parts.append(FilePart(file, begin, end))
        elif owns_start:
            parts.append(FilePart(file, 0, size))
        start += size
    return parts
