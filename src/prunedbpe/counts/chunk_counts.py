"""The table of chunk counts: all that learning needs to know about a corpus.

Rows are unique chunks in order of first appearance, each with its 64-bit count and the position of
its first occurrence: its byte offset in the corpus, all documents laid end to end (after
normalization, if the pretokenizer asks for it). Flat arrays in memory, Parquet on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import to_path
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.input_files import naming
from prunedbpe._support.notebook_view import view, view_table
from prunedbpe._support.result_tables import ArrowExport
from prunedbpe.corpus import CorpusReport, Shard
from prunedbpe.counts.coverage import Coverage
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import BoolArray, ByteArray, Int64Array, Settings

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "prunedbpe chunk counts"
FORMAT_VERSION = 3

MAKE_COUNTS = "make them with count(corpus), or ChunkCounts.load(path)"
"""What to do if something else than counts is given."""


@dataclass(frozen=True, eq=False)
class ChunkCounts(ArrowExport):
    """Unique chunks of a corpus, in order of first appearance.

    Attributes:
        data: All chunks, one after the other.
        offsets: Chunk ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
        counts: How often each chunk occurs.
        first_positions: Where each chunk occurs first, in bytes from the start of the corpus.
        pretokenizer: The one that cut the corpus.
        corpus: What was read and what was skipped.
        coverage: Which shards of the corpus were counted; ``None`` for all of it.
        min_chunk_count: Chunks that occur fewer times were dropped; 1 is the exact table.
    """

    data: ByteArray
    offsets: Int64Array
    counts: Int64Array
    first_positions: Int64Array
    pretokenizer: Pretokenizer = field(default_factory=lambda: Pretokenizer("paper"))
    corpus: CorpusReport = field(default_factory=CorpusReport)
    coverage: Coverage | None = None
    min_chunk_count: int = 1

    ARROW_COLUMNS: ClassVar = {
        "chunk": "large_binary",
        "count": "int64",
        "first_position": "int64",
    }
    """The columns of the Parquet file and their types."""

    def __post_init__(self) -> None:
        if self.coverage is not None and self.coverage.is_whole:
            object.__setattr__(self, "coverage", None)  # how a whole was divided is no part of it
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
        if self.min_chunk_count > 1 and len(counts) and counts.min() < self.min_chunk_count:
            raise FormatError(
                f"a chunk occurs {counts.min()} times, "
                f"but those below {self.min_chunk_count} were dropped"
            )
        if wrong := _core.find_wrong_row(offsets, counts, first_positions):
            row, fault = wrong
            raise FormatError(f"row {row}: {fault}", hint="count the corpus again")

    @property
    def shard(self) -> Shard | None:
        """The shard that was counted, if it is one of several."""
        return None if self.coverage is None else self.coverage.shard

    @property
    def columns(self) -> tuple[ByteArray, Int64Array, Int64Array, Int64Array]:
        """Data, offsets, counts and first positions, in the order native code takes them."""
        return self.data, self.offsets, self.counts, self.first_positions

    def __repr__(self) -> str:
        shard = "" if self.shard is None else f", shard={self.shard!r}"
        return (
            f"ChunkCounts(chunks={len(self)}, bytes={self.total_bytes}, "
            f"pretokenizer={self.pretokenizer.name!r}{shard})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "unique chunks": len(self),
            "chunks": int(self.counts.sum()),
            "bytes": self.total_bytes,
            "documents": self.corpus.documents,
            "files": self.corpus.files,
            "skipped documents": self.corpus.skipped_documents,
            "pretokenizer": self.pretokenizer.name,
            "least count": self.min_chunk_count,
        }
        frequent = np.argsort(-self.counts, kind="stable")[:10].tolist()
        bounds = self.offsets
        rows = [
            [self.data[bounds[i] : bounds[i + 1]].tobytes(), int(self.counts[i])] for i in frequent
        ]
        return view(
            "Chunk counts", facts, view_table("Most frequent chunks", ["chunk", "count"], rows)
        )

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

    @classmethod
    def empty(cls, **about: Any) -> ChunkCounts:
        """Return a table without chunks; ``about`` are the fields beside the columns."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64), none, none, **about)

    @classmethod
    def from_blocks(cls, blocks: Iterable[Any], **about: Any) -> ChunkCounts:
        """Make a table of Arrow record batches that follow one another.

        Args:
            blocks: The batches.
            **about: The fields beside the columns.
        """
        batches = list(blocks)
        if not batches:
            return cls.empty(**about)
        import pyarrow as pa

        from prunedbpe.counts.partial_tables import from_batch

        (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
        columns, _ = from_batch(joined)
        return cls(*columns, **about)

    def select(self, chosen: BoolArray) -> ChunkCounts:
        """Return the table of the chosen chunks; its corpus report stays that of all.

        >>> table = ChunkCounts.from_mapping({b"ab": 2, b"c": 1, b"de": 3})
        >>> dict(table.select(np.array([True, False, True])).items())
        {b'ab': 2, b'de': 3}
        """
        lengths = np.diff(self.offsets)
        offsets = np.zeros(int(chosen.sum()) + 1, np.int64)
        np.cumsum(lengths[chosen], out=offsets[1:])
        return replace(
            self,
            data=self.data[np.repeat(chosen, lengths)],
            offsets=offsets,
            counts=self.counts[chosen],
            first_positions=self.first_positions[chosen],
        )

    def at_least(self, min_chunk_count: int) -> ChunkCounts:
        """Drop the chunks that occur fewer times: an approximation that makes the table smaller.

        Args:
            min_chunk_count: The least count to keep; 1 keeps everything.

        Raises:
            SettingsError: It is below 1, or the table is a shard, whose chunks may occur elsewhere.

        >>> dict(ChunkCounts.from_mapping({b"ab": 2, b"c": 1, b"de": 3}).at_least(2).items())
        {b'ab': 2, b'de': 3}
        """
        check_min_chunk_count(min_chunk_count, self.coverage)
        if min_chunk_count <= self.min_chunk_count:
            return self
        return replace(self.select(self.counts >= min_chunk_count), min_chunk_count=min_chunk_count)

    def why_empty(self) -> str:
        """Explain why the table holds no chunk.

        >>> ChunkCounts.from_mapping({b"ab": 2}).at_least(3).why_empty()
        'no chunk occurs 3 times'
        """
        if self.corpus.documents:
            return f"no chunk occurs {self.min_chunk_count:,} times"
        return self.corpus.why_empty()

    @cached_property
    def total_bytes(self) -> int:
        """Bytes of all occurrences: the length of the segmentation before any merge."""
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

        write_table(to_path(path), self.arrow_columns(), self.settings(), self.digest)

    @classmethod
    def load(
        cls, path: str | Path, *, pretokenizer: str | Pretokenizer | None = None
    ) -> ChunkCounts:
        """Read a table that :meth:`save` wrote, or a Parquet file of another program.

        Args:
            path: The file. Of another program it has the columns of :meth:`from_arrow`, and nothing
                but their values can be checked.
            pretokenizer: As for :meth:`from_arrow`.

        Raises:
            FormatError: The file is not such a table, or is damaged.
            SettingsError: Another pretokenizer cut the chunks.
        """
        from prunedbpe._support.parquet import check_table, is_foreign, read_rows, read_table

        path = to_path(path)
        if is_foreign(path):
            table = read_rows(path)
            with naming(path):
                return cls.from_arrow(table, pretokenizer=pretokenizer)
        table, settings = read_table(path, cls.ARROW_COLUMNS, FORMAT, FORMAT_VERSION)
        with naming(path):
            counts = cls.from_arrow_columns(table, settings)
        check_table(path, settings, counts.digest)
        return counts._cut_by(pretokenizer)

    def settings(self) -> Settings:
        """Return what the table says about itself, as a JSON object."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "pretokenizer": self.pretokenizer.describe(),
            "corpus": self.corpus.as_settings(),
            "coverage": None if self.coverage is None else self.coverage.as_settings(),
            "min_chunk_count": self.min_chunk_count,
        }

    def to_arrow(self) -> pa.Table:
        """Return the columns :attr:`ARROW_COLUMNS` with the settings as metadata of the schema.

        >>> ChunkCounts.from_mapping({b"ab": 3, b"c": 1}).to_arrow().to_pydict()
        {'chunk': [b'ab', b'c'], 'count': [3, 1], 'first_position': [0, 2]}
        """
        from prunedbpe._support.parquet import sealed_table

        return sealed_table(self.arrow_columns(), self.settings(), self.digest)

    @classmethod
    def from_arrow(
        cls, table: Any, *, pretokenizer: str | Pretokenizer | None = None
    ) -> ChunkCounts:
        """Make a table of what :meth:`to_arrow` returned, or of columns that were made elsewhere.

        Without the settings of :meth:`to_arrow`, the report of the corpus knows only its bytes.

        Args:
            table: An Arrow table, or what exports one: unique chunks as bytes or text (``chunk``),
                their occurrences (``count``), and where they occur first (``first_position``), in
                bytes from the start of the corpus. Rows may have any order.
            pretokenizer: The one that cut the chunks. By default the one that the settings name,
                else the paper's.

        Raises:
            FormatError: A column is missing or its values make no sense.
            SettingsError: The settings name another pretokenizer.
        """
        from prunedbpe.counts.foreign_counts import read_foreign

        columns, settings = read_foreign(table, cls.ARROW_COLUMNS, FORMAT, FORMAT_VERSION)
        if settings is not None:
            return cls.from_arrow_columns(columns, settings)._cut_by(pretokenizer)
        chosen = find_pretokenizer(pretokenizer or "paper").describe()
        counts = cls.from_arrow_columns(
            columns, {"pretokenizer": chosen, "corpus": {}, "coverage": None}
        )
        return replace(counts, corpus=CorpusReport(bytes=counts.total_bytes))

    def _cut_by(self, pretokenizer: str | Pretokenizer | None) -> ChunkCounts:
        """Return the table, or raise an error if another pretokenizer is asked for."""
        if pretokenizer is not None and find_pretokenizer(pretokenizer) != self.pretokenizer:
            raise SettingsError(
                f"the chunks were cut by {self.pretokenizer.name!r}, not {pretokenizer!r}",
                hint="leave out the pretokenizer: the table names it",
            )
        return self

    def arrow_columns(self) -> dict[str, Any]:
        """Return the columns :attr:`ARROW_COLUMNS`, without copying."""
        import pyarrow as pa  # slow to import, and only files need it

        chunks = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(),
            len(self),
            [None, pa.py_buffer(self.offsets.data), pa.py_buffer(self.data.data)],
        )
        return {"chunk": chunks, "count": self.counts, "first_position": self.first_positions}

    @classmethod
    def from_arrow_columns(cls, table: Any, settings: Settings) -> ChunkCounts:
        """Make a table of what :meth:`arrow_columns` and :meth:`settings` returned."""
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
            coverage=Coverage.from_settings(settings["coverage"]),
            min_chunk_count=settings.get("min_chunk_count", 1),  # tables of before have none
        )


def check_min_chunk_count(min_chunk_count: int, part: Shard | Coverage | None) -> None:
    """Refuse a least count below 1, and any but 1 for a shard.

    Raises:
        SettingsError: The message names the reason.
    """
    if min_chunk_count < 1:
        raise SettingsError(f"min_chunk_count is {min_chunk_count}", hint="use 1 or more")
    if min_chunk_count > 1 and part is not None:
        raise SettingsError(
            f"min_chunk_count is {min_chunk_count}, but a chunk that is rare in one shard may be "
            "frequent in another",
            hint="count the shards in full and drop rare chunks when reducing them",
        )
