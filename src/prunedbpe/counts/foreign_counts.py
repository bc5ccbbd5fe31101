"""Chunk counts from elsewhere: an Arrow table in any order -> checked columns, sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prunedbpe._support.parquet import cast_columns, settings_in
from prunedbpe.errors import FormatError
from prunedbpe.types import Settings

_COLUMNS = "the columns are chunk, count and first_position, as `prunedbpe count` writes them"


def read_foreign(
    table: Any, columns: Mapping[str, str], format_name: str, version: int
) -> tuple[pa.Table, Settings | None]:
    """Check a table of chunk counts and sort it by first position.

    Args:
        table: An Arrow table, or anything that exports one.
        columns: Column name -> the name of its Arrow type.
        format_name: The format that the settings must name, if the table has any.
        version: Their version.

    Returns:
        The columns with these types, and the settings in the metadata, if there are any.

    Raises:
        FormatError: A column is missing, or a value makes no sense.
    """
    table = pa.table(table)
    settings = settings_in(table.schema.metadata)
    if settings is not None:
        found = settings.get("format"), settings.get("version")
        if found != (format_name, version):
            raise FormatError(
                f"the table holds {found[0]!r}, version {found[1]}, not {format_name!r}"
            )
    if "first_position" not in table.column_names and "chunk" in table.column_names:
        raise FormatError(
            f"column 'first_position' is missing; the columns are {table.column_names}",
            hint="it is where a chunk occurs first, in bytes from the start of the corpus, and "
            "decides ties between pairs that occur equally often",
        )
    try:
        table = cast_columns(table, columns)
    except FormatError as error:
        raise FormatError(error.message, hint=_COLUMNS) from error
    positions = table["first_position"].to_numpy()
    if np.any(positions[1:] < positions[:-1]):
        table = table.take(pa.array(np.argsort(positions, kind="stable")))
    _check_rows(table)
    return table, settings


def _check_rows(table: pa.Table) -> None:
    """Refuse rows that no corpus has; the message names the chunk, because rows were sorted."""
    chunks: Any = table["chunk"]
    counts, positions = table["count"].to_numpy(), table["first_position"].to_numpy()
    lengths = pc.binary_length(chunks).to_numpy()
    for row in np.flatnonzero(lengths == 0)[:1].tolist():
        raise FormatError(f"the chunk with first_position {positions[row]} is empty")
    for row in np.flatnonzero(counts < 1)[:1].tolist():
        raise FormatError(f"chunk {chunks[row].as_py()!r} has the count {counts[row]}, below 1")
    if len(positions) and positions[0] < 0:
        raise FormatError(f"chunk {chunks[0].as_py()!r} has the first_position {positions[0]}")
    # Twice the same chunk first: such rows often have the same position too.
    if len(chunks.unique()) < len(chunks):
        numbers = chunks.combine_chunks().dictionary_encode().indices.to_numpy()
        _, first_rows, times = np.unique(numbers, return_index=True, return_counts=True)
        row = int(first_rows[times > 1].min())
        raise FormatError(
            f"chunk {chunks[row].as_py()!r} has several rows",
            hint="add up their counts; its first_position is the smallest",
        )
    for row in np.flatnonzero(positions[1:] == positions[:-1])[:1].tolist():
        pair = " and ".join(repr(chunks[i].as_py()) for i in (row, row + 1))
        raise FormatError(
            f"chunks {pair} have the same first_position {positions[row]}",
            hint="it counts bytes from the start of the corpus, all documents laid end to end",
        )
