"""Reducing: the tables of shards -> exactly the table of the whole corpus, positions included.

Tables that know their shards may come in any order, and in any tree of smaller reductions; tables
without shards follow each other as given.
"""

from __future__ import annotations

from collections.abc import Sequence

from prunedbpe import _core
from prunedbpe._support.arguments import check_type, wrong_type
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.chunk_counts import MAKE_COUNTS, ChunkCounts
from prunedbpe.counts.coverage import Coverage, join_coverage, move_positions
from prunedbpe.errors import SettingsError


def reduce_counts(tables: Sequence[ChunkCounts], *, partial: bool = False) -> ChunkCounts:
    """Reduce the tables of corpus parts to the table of the whole.

    Args:
        tables: At least one table, all cut by the same pretokenizer. If they are shards, in any
            order.
        partial: Whether shards may be missing. The result then is a table of those given, and can
            be reduced with the others later.

    Raises:
        SettingsError: The tables do not belong together, a shard is missing or comes twice, or rare
            chunks were dropped from one; the message names it.

    >>> first = ChunkCounts.from_mapping({b"ab": 2})
    >>> second = ChunkCounts.from_mapping({b"c": 1, b"ab": 1})
    >>> whole = reduce_counts([first, second])
    >>> dict(whole.items()), whole.first_positions.tolist()
    ({b'ab': 3, b'c': 1}, [0, 4])
    """
    if not isinstance(tables, Sequence):
        raise wrong_type("tables is a list of chunk counts", tables)
    for table in tables:
        check_type("each table", table, ChunkCounts, MAKE_COUNTS)
    if not tables:
        raise SettingsError("no tables to reduce")
    check_together(tables)
    coverages = _coverages(tables)
    whole = join_coverage(coverages)
    if not partial:
        whole.check_whole()
    counter = _core.ChunkCounter(1)
    for table, coverage in zip(tables, coverages, strict=True):
        moved = move_positions(table.first_positions, coverage.moves(whole))
        counter.add_counts(*table.columns[:3], moved, 0)
    ordered = sorted(range(len(tables)), key=lambda i: coverages[i].indices)
    report = sum((tables[i].corpus for i in ordered), CorpusReport())
    return ChunkCounts(*counter.finish(), tables[0].pretokenizer, report, whole)


def add_tables(tables: Sequence[ChunkCounts], sources: Sequence[int]) -> _core.ChunkCounter:
    """Return a native counter that has added tables, in corpus order.

    Args:
        tables: Each follows the one before it in the corpus.
        sources: The source of each table.

    Raises:
        SettingsError: The tables were cut by different pretokenizers, lack rare chunks, or are too
            large together.
    """
    check_together(tables)
    counter = _core.ChunkCounter(1, by_source=True)
    shift = 0
    for table, source in zip(tables, sources, strict=True):
        counter.add_counts(*table.columns, shift, source)
        shift += table.total_bytes
    return counter


def check_together(tables: Sequence[ChunkCounts]) -> None:
    """Refuse tables cut by different pretokenizers, or whose sums would reach 2^63."""
    for table in tables:
        if table.pretokenizer != tables[0].pretokenizer:
            raise SettingsError(
                f"tables cut by different pretokenizers: {tables[0].pretokenizer.describe()} "
                f"and {table.pretokenizer.describe()}"
            )
    check_total(tables)


def check_total(tables: Sequence[ChunkCounts]) -> None:
    """Refuse tables without their rare chunks, and sums that would overflow.

    A chunk that was dropped from one table may be in another, whose count would then be too low.
    Counts and positions are below 2^63.
    """
    for index, table in enumerate(tables):
        if table.min_chunk_count > 1:
            raise SettingsError(
                f"table {index + 1} of {len(tables)} lacks the chunks that occur fewer than "
                f"{table.min_chunk_count:,} times, so the sums would be too low",
                hint="count every part without min_chunk_count (--min-chunk-count), and give it "
                "when reducing",
            )
    total = sum(table.total_bytes for table in tables)
    last = max((int(table.first_positions[-1]) for table in tables if len(table)), default=0)
    if total + last >= 1 << 63:
        raise SettingsError(
            f"the tables hold {total:,} bytes of text: sums would reach 2^63",
            hint="reduce fewer tables",
        )


def _coverages(tables: Sequence[ChunkCounts]) -> list[Coverage]:
    """Return what each table covers; tables without shards are shards in the order given."""
    known = [table.coverage for table in tables if table.coverage is not None]
    if len(known) == len(tables):
        return known
    if known:
        raise SettingsError(
            "some tables are shards of a corpus and others are not",
            hint="give only the shards of one corpus, or only whole tables",
        )
    count = len(tables)
    return [Coverage(count, (i,), (table.total_bytes,)) for i, table in enumerate(tables)]
