"""Parquet: the text column of a file -> batches of documents, without a copy where possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._core import find_invalid_utf8
from prunedbpe.corpus.arrow import text_of
from prunedbpe.corpus.batches import DocumentBatch
from prunedbpe.corpus.inputs import CorpusFile
from prunedbpe.errors import CorpusError
from prunedbpe.types import ByteArray, Int64Array

_MOST_ROWS = 1 << 16


def read_parquet(
    file: CorpusFile, text_field: str, batch_bytes: int
) -> Iterator[tuple[DocumentBatch, int]]:
    """Read the column ``text_field``; null rows are left out.

    Parquet promises that its strings are UTF-8, so one that is not means a damaged file.

    Raises:
        CorpusError: The file is damaged, or has no such column, or the column does not hold text.
    """
    size = file.size or 0
    rows_read = 0
    try:
        with pq.ParquetFile(file.path) as parquet:
            _check_column(file, parquet.schema_arrow, text_field)
            row_count = parquet.metadata.num_rows
            row_batches = parquet.iter_batches(
                batch_size=_rows_at_a_time(parquet.metadata, text_field, batch_bytes),
                columns=[text_field],
            )
            for rows in row_batches:
                data, spans = text_of(rows.column(0))
                _check_text(file, data, spans, rows_read)
                reached = size * rows_read // row_count
                rows_read += rows.num_rows
                for first, last in _runs(spans, batch_bytes):
                    begin, end = int(spans[first, 0]), int(spans[last - 1, 1])
                    if last == len(spans):
                        reached = size * rows_read // row_count
                    yield (
                        DocumentBatch(
                            data[begin:end].data, (spans[first:last] - begin).data, file.source
                        ),
                        reached,
                    )
    except (OSError, pa.ArrowException) as error:
        raise CorpusError(
            f"{file.source}: cannot be read as Parquet: {error}",
            hint="check the file, or fetch it again",
        ) from error


def _check_column(file: CorpusFile, schema: Any, text_field: str) -> None:
    if text_field not in schema.names:
        raise CorpusError(
            f"{file.source}: no column {text_field!r}; the columns are: "
            + (", ".join(map(repr, schema.names)) or "none"),
            hint="choose the column that holds the text by text_field (--text-field)",
        )
    column_type = schema.field(text_field).type
    if pa.types.is_dictionary(column_type):
        column_type = column_type.value_type
    # Newer Arrow has string views too; they are cast like dictionaries.
    if not (
        pa.types.is_string(column_type)
        or pa.types.is_large_string(column_type)
        or str(column_type) == "string_view"
    ):
        raise CorpusError(
            f"{file.source}: column {text_field!r} holds {column_type}, not text",
            hint="choose the column that holds the text by text_field (--text-field)",
        )


def _rows_at_a_time(metadata: Any, text_field: str, batch_bytes: int) -> int:
    """Rows that come to about ``batch_bytes`` where rows are longest, so that memory is bounded."""
    rows = _MOST_ROWS
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        for number in range(group.num_columns):
            column = group.column(number)
            if column.path_in_schema == text_field and column.total_uncompressed_size > 0:
                fitting = batch_bytes * group.num_rows // column.total_uncompressed_size
                rows = min(rows, fitting)
    return max(rows, 1)


def _check_text(file: CorpusFile, data: ByteArray, spans: Int64Array, first_row: int) -> None:
    if len(spans) == 0:
        return
    # All rows at once: valid together, and none begins inside a character.
    together = data[spans[0, 0] : spans[-1, 1]]
    if find_invalid_utf8(together) < 0 and not np.any((data[spans[:, 0]] & 0xC0) == 0x80):
        return
    # One by one: what lies under a null is not text and may be anything.
    for begin, end in spans.tolist():
        if find_invalid_utf8(data[begin:end]) >= 0:
            raise CorpusError(
                f"{file.source}: a text in or after row {first_row} is not UTF-8",
                hint="the file is damaged, or holds bytes in a text column: write it anew",
            )


def _runs(spans: Int64Array, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of at most ``batch_bytes`` together; a longer row is a run of its own."""
    first = 0
    while first < len(spans):
        fitting = np.searchsorted(spans[:, 1], spans[first, 0] + batch_bytes, side="right")
        last = max(int(fitting), first + 1)
        yield first, last
        first = last
