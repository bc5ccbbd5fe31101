"""Sources by file: which source each document of a batch belongs to, whatever the layout of files.

No part of a corpus may pay for another, so neither very many files nor one large file may hide
parts of the corpus from a comparison:

1. Up to :data:`MOST_SOURCES` files are a source each. More files are grouped by folder, at the
   deepest level that has at most that many folders; if there is no such level, they are taken as
   one text.
2. A source that holds more than an eighth of the corpus is divided into parts of consecutive
   documents. A part has between a 32nd and a 16th of the bytes of the corpus, but at least 64 KiB.

Both depend only on the files and their documents, not on batches or threads, and work while text
of unknown length is streamed: parts start small and are joined in pairs as the corpus grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import get_args

import numpy as np

from prunedbpe._support.remote_files import is_url
from prunedbpe.corpus import DocumentBatch
from prunedbpe.corpus.files import STDIN
from prunedbpe.counts.bounded import BoundedCount
from prunedbpe.counts.sources import WHOLE_CORPUS, SourceKind
from prunedbpe.errors import SettingsError
from prunedbpe.types import Settings, UInt32Array

MOST_SOURCES = 64
"""A corpus of more files is grouped into at most this many sources."""

_LARGE_SHARE = 8
"""A source is divided if it holds more than this part of the corpus."""

_MOST_PARTS = 32
_SMALLEST_PART = 1 << 17
"""Bytes of a part at first. The last part may be half as long."""


class FileSources:
    """Assigns documents to sources by the file they stand in.

    Args:
        sizes: The files of the corpus in order, with their bytes on disk if known.
        kind: What counts as one source.

    Raises:
        SettingsError: The kind is unknown.
    """

    def __init__(self, sizes: Mapping[str, int | None], kind: SourceKind) -> None:
        self._group_of, self._notes = _group_files(sizes, kind)
        # More folders than may be sources are divided like one text.
        are_joined = kind == "folders" and set(self._group_of.values()) == {WHOLE_CORPUS}
        self._is_divided = kind == "files" or are_joined
        self._group_bytes: dict[str, int] = {}
        self._part_bytes = _SMALLEST_PART
        # By group and number in the group, in order of first appearance: the number of the source.
        self._parts: dict[tuple[str, int], int] = {}

    def assign(self, batch: DocumentBatch, counter: BoundedCount) -> UInt32Array:
        """Return the source of each document; sources counted so far may be joined before."""
        group = self._group_of.get(batch.source, batch.source)
        lengths = batch.spans[:, 1] - batch.spans[:, 0]
        ends = np.cumsum(lengths) + self._group_bytes.get(group, 0)
        self._group_bytes[group] = int(ends[-1])
        while sum(self._group_bytes.values()) > _MOST_PARTS * self._part_bytes:
            self._part_bytes *= 2
            self._join(counter, {part: (part[0], part[1] // 2) for part in self._parts})
        if not self._is_divided:
            return np.full(len(batch), self._number(group, 0), np.uint32)
        # A document belongs to the part in which it begins.
        parts, indices = np.unique((ends - lengths) // self._part_bytes, return_inverse=True)
        numbers = [self._number(group, part) for part in parts.tolist()]
        return np.array(numbers, np.uint32)[indices]

    def state(self) -> Settings:
        """What it has seen so far, as a JSON object."""
        return {
            "group_bytes": self._group_bytes,
            "part_bytes": self._part_bytes,
            "parts": [list(part) for part in self._parts],
        }

    def restore(self, state: Settings) -> None:
        """Continue from a state."""
        self._group_bytes = dict(state["group_bytes"])
        self._part_bytes = state["part_bytes"]
        self._parts = {(group, part): number for number, (group, part) in enumerate(state["parts"])}

    def finish(self, counter: BoundedCount) -> tuple[list[str], str]:
        """Join what need not stay divided; returns the names of the sources, and a note."""
        total = sum(self._group_bytes.values())
        large = {name for name, size in self._group_bytes.items() if size * _LARGE_SHARE > total}
        last: dict[str, tuple[str, int]] = {}
        target = {}
        for group, part in self._parts:
            rest = self._group_bytes[group] - part * self._part_bytes
            # A short rest belongs to the part before it.
            is_new = group not in last or (group in large and rest * 2 >= self._part_bytes)
            if is_new:
                last[group] = (group, part)
            target[group, part] = last[group]
        self._join(counter, target)

        parts_of: dict[str, list[int]] = {}
        for group, part in self._parts:
            parts_of.setdefault(group, []).append(part)
        names = []
        for group, part in self._parts:
            parts = parts_of[group]
            place = f" [{parts.index(part) + 1}/{len(parts)}]" if len(parts) > 1 else ""
            names.append(f"{group}{place}")
        divided = [f"{name} divided into {len(p)} parts" for name, p in parts_of.items() if p[1:]]
        return names, "; ".join(self._notes + divided)

    def _number(self, group: str, part: int) -> int:
        return self._parts.setdefault((group, part), len(self._parts))

    def _join(
        self, counter: BoundedCount, target: Mapping[tuple[str, int], tuple[str, int]]
    ) -> None:
        old, self._parts = self._parts, {}
        groups = [self._number(*target[part]) for part in old]
        if len(self._parts) < len(old):
            counter.regroup(groups)


def _group_files(
    sizes: Mapping[str, int | None], kind: SourceKind
) -> tuple[dict[str, str], list[str]]:
    """Return the source of each file, and how files were grouped, in words."""
    if kind not in get_args(SourceKind):
        raise SettingsError(
            f"sources={kind!r} is unknown", hint=f"give one of {get_args(SourceKind)}"
        )
    if kind == "corpus":
        return dict.fromkeys(sizes, WHOLE_CORPUS), []
    if kind == "files" and len(sizes) <= MOST_SOURCES:
        return {path: "<stdin>" if path == STDIN else path for path in sizes}, []
    folders = {path: PurePath(path).parent for path in sizes}
    if kind == "folders" and len(set(folders.values())) <= MOST_SOURCES:
        return {path: _folder_name(path, folder) for path, folder in folders.items()}, []
    deepest = max(len(folder.parts) for folder in folders.values())
    for depth in range(deepest, 0, -1):
        cut = {path: PurePath(*folder.parts[:depth]) for path, folder in folders.items()}
        found = len(set(cut.values()))
        if 2 <= found <= MOST_SOURCES:
            note = f"{len(sizes):,} files grouped by folder into {found} sources"
            return {path: _folder_name(path, folder) for path, folder in cut.items()}, [note]
    return dict.fromkeys(sizes, WHOLE_CORPUS), [f"{len(sizes):,} files taken as one text"]


def _folder_name(path: str, folder: PurePath) -> str:
    """The name of a folder; a path object drops one of the slashes of a URL."""
    name = folder.as_posix()
    return name.replace(":/", "://", 1) if is_url(path) else name
