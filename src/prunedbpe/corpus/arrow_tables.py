"""Arrow data in memory -> batches of documents, in Arrow's own memory, without Python strings.

In: arrays, tables and streams of pyarrow, whatever exports Arrow (polars, pandas, DuckDB), and the
datasets of Hugging Face. One column holds text; an array is such a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from prunedbpe.corpus.documents import DocumentBatch, ReadOptions
from prunedbpe.corpus.parquet_files import documents_of, find_columns, row_place
from prunedbpe.errors import CorpusError

_MOST_ROWS = 1 << 16
_STREAMED_ROWS = 1000
"""Rows at a time of a dataset that is streamed: nobody knows how long they are."""


def read_arrow(
    value: Any, source: str, options: ReadOptions
) -> Iterator[tuple[DocumentBatch, list[str]]]:
    """Read the text column; null rows hold no document.

    Yields:
        Batches, and the places of rows that are not UTF-8. Rows count from 0.

    Raises:
        CorpusError: There is no such column, it does not hold text, or the data cannot be read.
    """
    first_row = 0
    try:
        if _is_dataset(value):
            schema, batches = _open_dataset(value, source, options)
        else:
            schema, batches = _open_stream(value, options)
        if schema is not None:
            find_columns(source, schema, options)
        for batch in batches:
            columns = batch.select(find_columns(source, batch.schema, options))
            place = partial(row_place, source, first_row)
            yield from documents_of(columns, source, options, place)
            first_row += batch.num_rows
    except (OSError, pa.ArrowException) as error:
        raise CorpusError(
            f"{source}: cannot be read: {error}", hint="check where the data comes from"
        ) from error


def _open_stream(value: Any, options: ReadOptions) -> tuple[Any, Iterator[Any]]:
    """Return the schema and the record batches of anything but a dataset."""
    if not isinstance(value, (pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.RecordBatchReader)):
        value = _import(value)
    if isinstance(value, pa.Array):
        value = pa.chunked_array([value])
    if isinstance(value, pa.ChunkedArray):
        value = pa.table({options.text_field: value})
    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, pa.Table):
        return value.schema, iter(value.to_batches())
    return value.schema, iter(value)


def _import(value: Any) -> Any:
    """Take over the Arrow data of another library: a stream of rows, or one column."""
    if isinstance(value, pa.Table):
        return value
    if not hasattr(value, "__arrow_c_stream__"):
        array: Any = pa.array(value)
        return pa.RecordBatch.from_struct_array(array) if pa.types.is_struct(array.type) else array
    readers: Any = pa.RecordBatchReader
    try:
        return readers.from_stream(value)
    except pa.ArrowInvalid:  # not rows but a column, such as a series of polars
        return pa.chunked_array(value)


def _is_dataset(value: Any) -> bool:
    package = type(value).__module__.split(".")[0]
    return package == "datasets" and hasattr(value, "with_format")


def _open_dataset(dataset: Any, source: str, options: ReadOptions) -> tuple[Any, Iterator[Any]]:
    """Return the schema, if known, and the record batches of a Hugging Face dataset.

    It iterates over its rows itself, because it may select and reorder those of its table.
    """
    if isinstance(dataset, dict):
        raise CorpusError(
            f"a corpus cannot be of type {type(dataset).__name__}",
            hint=f"give one of its splits: {', '.join(map(repr, dataset))}",
        )
    table = getattr(dataset, "data", None)
    schema, rows = None, _STREAMED_ROWS
    if table is not None:
        schema = table.schema
        rows = options.batch_bytes * table.num_rows // max(table.nbytes, 1)
        dataset = dataset.select_columns(find_columns(source, schema, options))
    tables = dataset.with_format("arrow").iter(batch_size=max(1, min(rows, _MOST_ROWS)))
    return schema, (batch for table in tables for batch in table.to_batches())
