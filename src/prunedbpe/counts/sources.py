"""Counts by source: where in the corpus chunks occur, not only how often.

A source is the unit over which a gain must not be a loss: a file, a folder, a part of a large file,
or a name that the documents themselves give. One table holds the chunks of the whole corpus; a
sparse matrix divides each count by source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import to_path
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.input_files import naming
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.reducing import add_tables, check_total, reduce_counts
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import Int64Array, UInt32Array

SourceKind = Literal["files", "folders", "corpus"]
"""What counts as one source: each file, each folder, or the corpus as a whole."""

WHOLE_CORPUS = "<corpus>"
"""The name of the source that holds everything."""

FORMAT = "prunedbpe source counts"
FORMAT_VERSION = 3


@dataclass(frozen=True, eq=False)
class SourceCounts:
    """The chunk counts of a corpus, and their division by source.

    Attributes:
        total: The table of the whole corpus, the same as that of :func:`prunedbpe.count`.
        names: The sources, each once, in order of first appearance.
        offsets: Chunk ``i`` occurs in the sources ``sources[offsets[i]:offsets[i + 1]]``.
        sources: Indices into ``names``, ascending within a chunk.
        counts: How often the chunk occurs in that source; together ``total.counts[i]``.
        kind: ``files``, ``folders``, ``corpus``, or ``field:lang`` for the field ``lang``.
        note: How files were grouped or divided, if they were.
    """

    total: ChunkCounts
    names: tuple[str, ...]
    offsets: Int64Array
    sources: UInt32Array
    counts: Int64Array
    kind: str = "files"
    note: str = ""

    def __post_init__(self) -> None:
        # Native code trusts these numbers, as it does those of the table.
        if len(set(self.names)) < len(self.names):
            raise FormatError("a source is named twice")
        if len(self.offsets) != len(self.total) + 1 or len(self.sources) != len(self.counts):
            raise FormatError(
                f"{len(self.total)} chunks with {len(self.offsets)} offsets (one more is needed); "
                f"{len(self.sources)} sources with {len(self.counts)} counts"
            )
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.counts):
            raise FormatError(
                f"offsets go from {self.offsets[0]} to {self.offsets[-1]}, "
                f"but there are {len(self.counts)} counts"
            )
        if len(self.total):
            self._check_cells()

    def _check_cells(self) -> None:
        if np.any(np.diff(self.offsets) < 1):
            raise FormatError("a chunk occurs in no source")
        rising = self.sources[1:] > self.sources[:-1]
        rising[self.offsets[1:-1] - 1] = True  # the next chunk starts over
        if not rising.all() or self.sources.max() >= len(self.names):
            raise FormatError("the sources of a chunk do not rise, or have no name")
        if self.counts.min() < 1:
            raise FormatError("a chunk occurs less than once in a source")
        if not np.array_equal(np.add.reduceat(self.counts, self.offsets[:-1]), self.total.counts):
            raise FormatError("the counts by source do not add up to the counts of the corpus")

    def __repr__(self) -> str:
        return f"SourceCounts(sources={len(self)}, chunks={len(self.total)}, kind={self.kind!r})"

    def __len__(self) -> int:
        """Return the number of sources."""
        return len(self.names)

    @classmethod
    def from_tables(
        cls, names: Sequence[str], tables: Sequence[ChunkCounts], kind: str = "files"
    ) -> SourceCounts:
        """Join tables that follow one another in the corpus.

        Args:
            names: The source of each table; a name may come again.
            tables: At least one, all cut by the same pretokenizer.
            kind: What counted as one source.

        Raises:
            SettingsError: There is no table, there are too many sources, or the pretokenizers
                differ.

        >>> tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 2}, {b"c": 1, b"ab": 3})]
        >>> joined = SourceCounts.from_tables(["x", "y"], tables)
        >>> dict(joined.total.items())
        {b'ab': 5, b'c': 1}
        >>> joined.offsets.tolist(), joined.sources.tolist(), joined.counts.tolist()
        ([0, 2, 3], [0, 1, 1], [2, 3, 1])
        """
        if not tables or len(names) != len(tables):
            raise SettingsError(
                f"{len(names)} names for {len(tables)} tables", hint="name every table"
            )
        indices = {name: i for i, name in enumerate(dict.fromkeys(names))}
        if len(indices) > _core.ChunkCounter.MAX_SOURCES:
            raise SettingsError(
                f"{len(indices):,} sources", hint=f"give {_core.ChunkCounter.MAX_SOURCES:,} or less"
            )
        counter = add_tables(tables, [indices[name] for name in names])
        columns, offsets, sources, counts = counter.finish_by_source()
        total = ChunkCounts(
            *columns,
            tables[0].pretokenizer,
            sum((table.corpus for table in tables), CorpusReport()),
        )
        return cls(total, tuple(indices), offsets, sources, counts, kind)

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[Any],
        names: Sequence[str],
        *,
        kind: str,
        note: str,
        **about: Any,
    ) -> SourceCounts:
        """Make counts of Arrow record batches that follow one another.

        Args:
            blocks: The batches.
            names: The sources.
            kind: What counted as one source.
            note: How files were grouped or divided.
            **about: Fields of :class:`ChunkCounts`: pretokenizer, corpus and coverage.
        """
        import pyarrow as pa

        from prunedbpe.counts.partial_tables import from_batch

        batches = list(blocks)
        if not batches:
            single = cls.single(ChunkCounts.empty(**about))
            return replace(single, names=tuple(names), kind=kind, note=note)
        (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
        columns, cells = from_batch(joined)
        assert cells is not None
        return cls(ChunkCounts(*columns, **about), tuple(names), *cells, kind, note)

    @classmethod
    def of_parts(cls, parts: Sequence[SourceCounts]) -> SourceCounts:
        """Join corpora that follow one another; a source may have documents in several.

        The total is that of :func:`prunedbpe.reduce_counts` over the totals.

        >>> tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 2}, {b"c": 1, b"ab": 3})]
        >>> joined = SourceCounts.of_parts([SourceCounts.single(table) for table in tables])
        >>> dict(joined.total.items()), joined.names, joined.counts.tolist()
        ({b'ab': 5, b'c': 1}, ('<corpus>',), [5, 1])
        """
        indices = {
            name: i for i, name in enumerate(dict.fromkeys(n for p in parts for n in p.names))
        }
        check_total([part.total for part in parts])
        counter = _core.ChunkCounter(1, by_source=True)
        shift = 0
        for part in parts:
            for i, name in enumerate(part.names):
                # The tables of one corpus share its positions: a chunk is first where it is there.
                counter.add_counts(*part.table(i).columns, shift, indices[name])
            shift += part.total.total_bytes
        _, offsets, sources, counts = counter.finish_by_source()
        total = reduce_counts([part.total for part in parts])
        return cls(total, tuple(indices), offsets, sources, counts, parts[0].kind)

    @classmethod
    def single(cls, counts: ChunkCounts) -> SourceCounts:
        """Make one source of a whole corpus.

        >>> SourceCounts.single(ChunkCounts.from_mapping({b"ab": 2})).names
        ('<corpus>',)
        """
        return cls(
            counts,
            (WHOLE_CORPUS,),
            np.arange(len(counts) + 1, dtype=np.int64),
            np.zeros(len(counts), np.uint32),
            counts.counts,
            "corpus",
        )

    def at_least(self, min_chunk_count: int) -> SourceCounts:
        """Drop the chunks that occur fewer times in all sources together.

        Raises:
            SettingsError: As for :meth:`ChunkCounts.at_least`.

        >>> tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 2}, {b"c": 1, b"ab": 3})]
        >>> kept = SourceCounts.from_tables(["x", "y"], tables).at_least(2)
        >>> dict(kept.total.items()), kept.sources.tolist(), kept.counts.tolist()
        ({b'ab': 5}, [0, 1], [2, 3])
        """
        total = self.total.at_least(min_chunk_count)
        if total is self.total:
            return self
        chosen = self.total.counts >= min_chunk_count
        cells = np.diff(self.offsets)
        offsets = np.zeros(len(total) + 1, np.int64)
        np.cumsum(cells[chosen], out=offsets[1:])
        kept = np.repeat(chosen, cells)
        return replace(
            self,
            total=total,
            offsets=offsets,
            sources=self.sources[kept],
            counts=self.counts[kept],
        )

    @cached_property
    def source_bytes(self) -> Int64Array:
        """Bytes of each source.

        >>> tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 2}, {b"c": 1, b"ab": 3})]
        >>> SourceCounts.from_tables(["x", "y"], tables).source_bytes.tolist()
        [4, 7]
        """
        lengths = np.repeat(np.diff(self.total.offsets), np.diff(self.offsets))
        sums = np.zeros(len(self), np.int64)
        np.add.at(sums, self.sources, lengths * self.counts)  # not bincount, which sums floats
        return sums

    def table(self, index: int) -> ChunkCounts:
        """Return the chunks of one source, with their counts there.

        They keep the order and the first positions that they have in the whole corpus.
        """
        cells = np.flatnonzero(self.sources == index)
        rows = np.searchsorted(self.offsets, cells, side="right") - 1
        lengths = np.diff(self.total.offsets)[rows]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(self.total.offsets[rows] - offsets[:-1], lengths)
        counts = self.counts[cells]
        return ChunkCounts(
            data=self.total.data[places + np.arange(len(places))],
            offsets=offsets,
            counts=counts,
            first_positions=self.total.first_positions[rows],
            pretokenizer=self.total.pretokenizer,
            corpus=CorpusReport(bytes=int(lengths @ counts)),
        )

    @cached_property
    def _digest(self) -> str:
        return digest_arrays(*self.total.columns, self.offsets, self.sources, self.counts)

    def save(self, path: str | Path) -> None:
        """Write one Parquet file: the table, with lists of sources and their counts."""
        import pyarrow as pa  # slow to import, and only files need it

        from prunedbpe._support.parquet import write_table

        lists: Any = pa.LargeListArray  # the stubs know no arrays of NumPy
        columns = {
            **self.total.arrow_columns(),
            "sources": lists.from_arrays(self.offsets, self.sources),
            "source_counts": lists.from_arrays(self.offsets, self.counts),
        }
        settings = {
            **self.total.settings(),
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "names": list(self.names),
            "kind": self.kind,
            "note": self.note,
        }
        write_table(to_path(path), columns, settings, self._digest)

    @classmethod
    def load(cls, path: str | Path) -> SourceCounts:
        """Read what :meth:`save` wrote.

        Raises:
            FormatError: The file is not such a table, or is damaged.
        """
        import pyarrow as pa

        from prunedbpe._support.parquet import check_table, read_table

        path = to_path(path)
        columns: dict[str, Any] = {
            **ChunkCounts.ARROW_COLUMNS,
            "sources": pa.large_list(pa.uint32()),
            "source_counts": pa.large_list(pa.int64()),
        }
        table, settings = read_table(path, columns, FORMAT, FORMAT_VERSION)
        sources: Any = table["sources"].combine_chunks()
        counts: Any = table["source_counts"].combine_chunks()
        with naming(path):
            if not sources.offsets.equals(counts.offsets):
                raise FormatError("the sources of a chunk are not as many as their counts")
            names = settings["names"]
            if not all(isinstance(text, str) for text in (*names, settings["kind"])):
                raise FormatError(f"sources {names!r} of kind {settings['kind']!r}")
            counted = cls(
                ChunkCounts.from_arrow_columns(table, settings),
                tuple(names),
                sources.offsets.to_numpy(),
                sources.values.to_numpy(),
                counts.values.to_numpy(),
                settings["kind"],
                str(settings["note"]),
            )
        check_table(path, settings, counted._digest)
        return counted


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of sources without the folders that all of them share.

    >>> short_names(["/data/web/a.txt", "/data/books/b.txt"])
    ('web/a.txt', 'books/b.txt')
    >>> short_names(["/data/web/a.txt"])
    ('a.txt',)
    """
    shared = 0
    for folders in zip(*(name.split("/")[:-1] for name in names), strict=False):
        if len(set(folders)) > 1:
            break
        shared += 1
    return tuple("/".join(name.split("/")[shared:]) for name in names)
