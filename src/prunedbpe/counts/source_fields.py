"""Sources by field: the documents name their sources, in a field of JSON lines or Parquet.

Files without fields are named by their path. If there are more than :data:`MOST_SOURCES` names, the
largest stay and the others are one source.
"""

from __future__ import annotations

import numpy as np

from prunedbpe.corpus import DocumentBatch
from prunedbpe.corpus.documents import NO_SOURCE
from prunedbpe.counts.bounded import BoundedCount
from prunedbpe.counts.source_layout import MOST_SOURCES
from prunedbpe.errors import CorpusError
from prunedbpe.types import Settings, UInt32Array

OTHER_SOURCES = "<other>"
"""The source of all names that are not among the largest."""

_MOST_COUNTED = 256
"""Names counted apart until all sizes are known; a later name belongs to the others at once."""


class FieldSources:
    """Assigns documents to the sources they name.

    Args:
        field: The source field.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._numbers: dict[str, int] = {}
        self._bytes: list[int] = []
        self._is_full = False
        self._places: dict[bool, str] = {}  # whether documents have fields -> the first such file
        self._is_known = False

    def assign(self, batch: DocumentBatch, counter: BoundedCount) -> UInt32Array:
        """Return the source of each document."""
        self._places.setdefault(batch.sources is not None, batch.source)
        lengths = batch.spans[:, 1] - batch.spans[:, 0]
        if batch.sources is None:
            return np.full(len(batch), self._number(batch.source, int(lengths.sum())), np.uint32)
        column = batch.sources
        sizes = np.bincount(column.indices, lengths, minlength=len(column.names))
        numbers = np.zeros(len(column.names), np.uint32)
        used, first = np.unique(column.indices, return_index=True)
        for index in used[np.argsort(first)].tolist():
            self._is_known |= column.names[index] != NO_SOURCE
            numbers[index] = self._number(column.names[index], int(sizes[index]))
        return numbers[column.indices]

    def state(self) -> Settings:
        """What it has seen so far, as a JSON object."""
        return {
            "names": list(self._numbers),
            "bytes": self._bytes,
            "is_full": self._is_full,
            "places": [[has_field, place] for has_field, place in self._places.items()],
            "is_known": self._is_known,
        }

    def restore(self, state: Settings) -> None:
        """Continue from a state."""
        self._numbers = {name: number for number, name in enumerate(state["names"])}
        self._bytes = list(state["bytes"])
        self._is_full = state["is_full"]
        self._places = dict(state["places"])
        self._is_known = state["is_known"]

    def finish(self, counter: BoundedCount) -> tuple[list[str], str]:
        """Join the small sources; returns the names of all, and a note.

        Raises:
            CorpusError: No document has the field.
        """
        if self._places and not self._is_known:
            raise self._unknown_field()
        names = list(self._numbers)
        if len(names) <= MOST_SOURCES:
            return names, ""
        apart = [name for name in names if name != OTHER_SOURCES]
        apart.sort(key=lambda name: -self._bytes[self._numbers[name]])  # stable: ties by appearance
        largest = set(apart[: MOST_SOURCES - 1])
        kept: dict[str, int] = {}
        counter.regroup(
            [
                kept.setdefault(name if name in largest else OTHER_SOURCES, len(kept))
                for name in names
            ]
        )
        found = f"more than {_MOST_COUNTED}" if self._is_full else f"{len(names)}"
        return list(kept), (
            f"field {self._field!r} names {found} sources: "
            f"the {len(largest)} largest, and {OTHER_SOURCES}"
        )

    def _number(self, name: str, size: int) -> int:
        if name not in self._numbers and len(self._numbers) >= _MOST_COUNTED:
            self._is_full = True
            name = OTHER_SOURCES
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._bytes):
            self._bytes.append(0)
        self._bytes[number] += size
        return number

    def _unknown_field(self) -> CorpusError:
        hint = "name a field of the documents with source_field (--source-field)"
        if place := self._places.get(True):
            return CorpusError(f"{place}: no document has the field {self._field!r}", hint=hint)
        return CorpusError(
            f"{self._places[False]}: a file without fields, "
            f"and no other file has the field {self._field!r}",
            hint="leave out source_field (--source-field), or give .jsonl or .parquet files",
        )
