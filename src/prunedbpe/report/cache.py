"""Cache of a study: merges by the digest of their corpus, numbers by name.

A killed run loses at most its current step. Keys hold the digest of the chunk counts, not a file
name or date, so a changed text never hits the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe._support.input_files import read_json
from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import FormatError
from prunedbpe.merges import MergeTable

_RESULTS = "results.json"

_VERSION = 1
"""Incremented whenever a number of the same name would change."""


class StudyCache:
    """A folder of merges and numbers.

    Args:
        folder: Created on the first write; ``None`` caches in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._numbers: dict[str, list[int]] = {}
        if folder is not None and (folder / _RESULTS).is_file():
            found = read_json(folder / _RESULTS)
            if isinstance(found, dict) and found.get("version") == _VERSION:
                self._numbers = found["numbers"]

    def merges(self, counts: ChunkCounts) -> MergeTable | None:
        """Return the cached merges of these counts."""
        path = self._merges_path(counts)
        if path is None or not path.is_file():
            return None
        try:
            found = MergeTable.load(path)
        except FormatError:
            return None  # another version wrote it: learn again and overwrite
        return found if found.counts_digest == counts.digest else None

    def keep_merges(self, counts: ChunkCounts, merges: MergeTable) -> None:
        """Cache merges for another run."""
        path = self._merges_path(counts)
        if path is not None:
            merges.save(path)

    def numbers(self, name: str, compute: Callable[[], list[int]]) -> list[int]:
        """Return the numbers cached under ``name``; compute them if they are missing."""
        if name not in self._numbers:
            self._numbers[name] = compute()
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
                kept = {"version": _VERSION, "numbers": self._numbers}
                write_json(self._folder / _RESULTS, kept)
        return self._numbers[name]

    def _merges_path(self, counts: ChunkCounts) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"merges-{counts.digest}.parquet"
