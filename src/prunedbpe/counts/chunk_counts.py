"""The table of chunk counts: all that learning needs to know about a corpus.

Rows are unique chunks in order of first appearance, each with its 64-bit count and the position of
its first occurrence: its byte offset in the corpus, all documents laid end to end (after
normalization, if the pretokenizer asks for it). Flat arrays in memory, Parquet on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from prunedbpe import _core
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.input_files import naming
from prunedbpe.corpus import CorpusReport, Shard
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import ByteArray, Int64Array, Settings

FORMAT = "prunedbpe chunk counts"
FORMAT_VERSION = 2


@dataclass(frozen=True, eq=False)
class ChunkCounts:
    """Unique chunks of a corpus, in order of first appearance.

    Attributes:
        data: All chunks, one after the other.
        offsets: Chunk ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
        counts: How often each chunk occurs.
        first_positions: Where each chunk occurs first, in bytes from the start of the corpus.
        pretokenizer: The one that cut the corpus.
        corpus: What was read and what was skipped.
        shard: The part of the corpus that was counted, if not all of it.
    """

    data: ByteArray
    offsets: Int64Array
    counts: Int64Array
    first_positions: Int64Array
    pretokenizer: Pretokenizer = field(default_factory=lambda: Pretokenizer("paper"))
    corpus: CorpusReport = field(default_factory=CorpusReport)
    shard: Shard | None = None

    ARROW_COLUMNS: ClassVar = {
        "chunk": "large_binary",
        "count": "int64",
        "first_position": "int64",
    }
    """The columns of the Parquet file and their types."""

    def __post_init__(self) -> None:
        # Native code trusts these numbers: a wrong one would read memory outside the table.
        data, offsets, counts, first_positions = self.columns
        if len(offsets) != len(counts) + 1 or len(first_positions) != len(counts):
            raise FormatError(
                f"{len(counts)} counts with {len(offsets)} offsets (one more is needed) "
                f"and {len(first_positions)} first positions"
            )
        if offsets[0] != 0 or offsets[-1] != len(data):
            raise FormatError(
                f"offsets go from {offsets[0]} to {offsets[-1]}, "
                f"but the chunks hold {len(data)} bytes"
            )
        if wrong := _core.find_wrong_row(offsets, counts, first_positions):
            row, fault = wrong
            raise FormatError(f"row {row}: {fault}", hint="count the corpus again")

    @property
    def columns(self) -> tuple[ByteArray, Int64Array, Int64Array, Int64Array]:
        """Data, offsets, counts and first positions, in the order native code takes them."""
        return self.data, self.offsets, self.counts, self.first_positions

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        """Whether chunks, counts, positions and pretokenizer are the same."""
        return (
            isinstance(other, ChunkCounts)
            and self.pretokenizer == other.pretokenizer
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.first_positions, other.first_positions)
            and np.array_equal(self.data, other.data)
        )

    __hash__ = None  # type: ignore[assignment]

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield the chunks with their counts, in order.

        >>> list(ChunkCounts.from_mapping({b"ab": 3, b"c": 1}).items())
        [(b'ab', 3), (b'c', 1)]
        """
        data = self.data.tobytes()
        bounds = self.offsets.tolist()
        for i, count in enumerate(self.counts.tolist()):
            yield data[bounds[i] : bounds[i + 1]], count

    @classmethod
    def from_mapping(
        cls, counts: Mapping[bytes, int], pretokenizer: Pretokenizer | None = None
    ) -> ChunkCounts:
        """Make a table by hand: chunks in the order of the mapping, laid end to end.

        Args:
            counts: How often each chunk occurs; chunks are not empty, counts are positive.
            pretokenizer: The one that cut the chunks; the paper's by default.
        """
        for chunk, count in counts.items():
            if not chunk or not 1 <= count < 1 << 63:
                raise SettingsError(
                    f"chunk {chunk!r} with count {count}",
                    hint="no chunk is empty, counts are 1 or more",
                )
        lengths = np.array([len(chunk) for chunk in counts], np.int64)
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        occurrences = np.fromiter(counts.values(), np.int64, len(counts))
        return cls(
            data=np.frombuffer(b"".join(counts), np.uint8),
            offsets=offsets,
            counts=occurrences,
            first_positions=offsets[:-1].copy(),
            pretokenizer=pretokenizer or Pretokenizer("paper"),
            corpus=CorpusReport(documents=1, bytes=int(lengths @ occurrences)),
        )

    @cached_property
    def total_bytes(self) -> int:
        """Bytes of the corpus: the length of its segmentation before any merge."""
        return int(np.diff(self.offsets) @ self.counts)

    @cached_property
    def byte_counts(self) -> Int64Array:
        """How often each of the 256 bytes occurs in the corpus."""
        return _core.count_bytes(*self.columns[:3])

    @cached_property
    def digest(self) -> str:
        """Identity of the counts: equal tables have equal digests."""
        return digest_arrays(*self.columns)

    def save(self, path: str | Path) -> None:
        """Write the table as Parquet: columns ``chunk``, ``count``, ``first_position``."""
        from prunedbpe._support.parquet import write_table

        write_table(Path(path), self.to_arrow(), self.settings(), self.digest)

    @classmethod
    def load(cls, path: str | Path) -> ChunkCounts:
        """Read a table that :meth:`save` wrote.

        Raises:
            FormatError: The file is not such a table, or is damaged.
        """
        from prunedbpe._support.parquet import check_table, read_table

        path = Path(path)
        table, settings = read_table(path, cls.ARROW_COLUMNS, FORMAT, FORMAT_VERSION)
        with naming(path):
            counts = cls.from_arrow(table, settings)
        check_table(path, settings, counts.digest)
        return counts

    def settings(self) -> Settings:
        """Return what the table says about itself, as a JSON object."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "pretokenizer": self.pretokenizer.describe(),
            "corpus": self.corpus.as_settings(),
            "shard": [self.shard.index, self.shard.count] if self.shard else None,
        }

    def to_arrow(self) -> dict[str, Any]:
        """Return the columns :attr:`ARROW_COLUMNS`, without copying."""
        import pyarrow as pa  # slow to import, and only files need it

        chunks = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(),
            len(self),
            [None, pa.py_buffer(self.offsets.data), pa.py_buffer(self.data.data)],
        )
        return {"chunk": chunks, "count": self.counts, "first_position": self.first_positions}

    @classmethod
    def from_arrow(cls, table: Any, settings: Settings) -> ChunkCounts:
        """Make a table of what :meth:`to_arrow` and :meth:`settings` returned."""
        import pyarrow as pa

        chunks = pa.concat_arrays([pa.array([], pa.large_binary()), *table["chunk"].chunks])
        _, offset_buffer, data_buffer = chunks.buffers()
        offsets = np.frombuffer(memoryview(offset_buffer or bytes(8)), np.int64)[: len(chunks) + 1]
        return cls(
            data=np.frombuffer(memoryview(data_buffer or b""), np.uint8)[: offsets[-1]],
            offsets=offsets,
            counts=table["count"].to_numpy(),
            first_positions=table["first_position"].to_numpy(),
            pretokenizer=Pretokenizer.from_settings(settings["pretokenizer"]),
            corpus=CorpusReport.from_settings(settings["corpus"]),
            shard=Shard(*settings["shard"]) if settings.get("shard") else None,
        )
