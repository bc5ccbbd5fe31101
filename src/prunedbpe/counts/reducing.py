"""Reducing: the tables of shards -> exactly the table of the whole corpus, positions included.

Shards are contiguous runs of the corpus, so each table is shifted by the bytes of the shards before
it. Tables that know their shard may come in any order; tables without one follow each other as
given.
"""

from __future__ import annotations

from collections.abc import Sequence

from prunedbpe import _core
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.errors import SettingsError


def reduce_counts(tables: Sequence[ChunkCounts]) -> ChunkCounts:
    """Reduce the tables of corpus parts to the table of the whole.

    Args:
        tables: At least one table, all cut by the same pretokenizer. If they are shards, all
            shards of one plan.

    Raises:
        SettingsError: The tables do not belong together; the message names the difference.

    >>> first = ChunkCounts.from_mapping({b"ab": 2})
    >>> second = ChunkCounts.from_mapping({b"c": 1, b"ab": 1})
    >>> whole = reduce_counts([first, second])
    >>> dict(whole.items()), whole.first_positions.tolist()
    ({b'ab': 3, b'c': 1}, [0, 4])
    """
    if not tables:
        raise SettingsError("no tables to reduce")
    ordered = _in_corpus_order(tables)
    counter = add_tables(ordered, [0] * len(ordered))
    return ChunkCounts(
        *counter.finish(),
        ordered[0].pretokenizer,
        sum((table.corpus for table in ordered), CorpusReport()),
    )


def add_tables(tables: Sequence[ChunkCounts], sources: Sequence[int]) -> _core.ChunkCounter:
    """Return a native counter that has added tables, in corpus order.

    Args:
        tables: Each follows the one before it in the corpus.
        sources: The source of each table.

    Raises:
        SettingsError: The tables were cut by different pretokenizers, or the corpus is too large.
    """
    check_total(tables)
    counter = _core.ChunkCounter(1)
    shift = 0
    for table, source in zip(tables, sources, strict=True):
        if table.pretokenizer != tables[0].pretokenizer:
            raise SettingsError(
                f"tables cut by different pretokenizers: {tables[0].pretokenizer.describe()} "
                f"and {table.pretokenizer.describe()}"
            )
        counter.add_counts(*table.columns, shift, source)
        shift += table.total_bytes
    return counter


def check_total(tables: Sequence[ChunkCounts]) -> None:
    """Refuse tables whose sums would overflow: counts and positions are below 2^63."""
    total = sum(table.total_bytes for table in tables)
    last = max((int(table.first_positions[-1]) for table in tables if len(table)), default=0)
    if total + last >= 1 << 63:
        raise SettingsError(
            f"the tables hold {total:,} bytes of text: sums would reach 2^63",
            hint="reduce fewer tables",
        )


def _in_corpus_order(tables: Sequence[ChunkCounts]) -> list[ChunkCounts]:
    shards = [table.shard for table in tables]
    if all(shard is None for shard in shards):
        return list(tables)
    known = [shard for shard in shards if shard is not None]
    if len(known) < len(tables):
        raise SettingsError("some tables are shards of a corpus and others are not")
    count = known[0].count
    indices = sorted(shard.index for shard in known)
    if any(shard.count != count for shard in known) or indices != list(range(count)):
        named = ", ".join(f"{shard.index}/{shard.count}" for shard in known)
        raise SettingsError(
            f"the shards {named} do not make up one corpus",
            hint=f"give every shard from 0/{count} to {count - 1}/{count} exactly once",
        )
    return sorted(tables, key=lambda table: table.shard.index)  # type: ignore[union-attr]
