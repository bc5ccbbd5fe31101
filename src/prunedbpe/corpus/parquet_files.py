"""Parquet: the text column of a file -> batches of documents, in Arrow's own memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._core import find_invalid_utf8
from prunedbpe.corpus.documents import (
    NO_SOURCE,
    DocumentBatch,
    ReadOptions,
    SourceColumn,
    check_lengths,
)
from prunedbpe.corpus.files import CorpusFile
from prunedbpe.errors import CorpusError
from prunedbpe.types import BoolArray, ByteArray, Int64Array

_MOST_ROWS = 1 << 16


def read_parquet(
    file: CorpusFile, options: ReadOptions
) -> Iterator[tuple[DocumentBatch, int, list[str]]]:
    """Read the text column; null rows hold no document.

    Yields:
        Batches, the bytes of the file read so far (estimated), and the places of rows that are not
        UTF-8. Rows count from 0.

    Raises:
        CorpusError: The file is damaged, has no such column, or the column does not hold text.
    """
    size = file.size or 0
    first_row = 0
    try:
        with pq.ParquetFile(file.path) as parquet:
            fields = {"text_field": options.text_field}
            # Files without the column hold documents without a source.
            if options.source_field in parquet.schema_arrow.names:
                fields["source_field"] = str(options.source_field)
            for option, field in fields.items():
                _check_column(file, parquet.schema_arrow, field, option)
            row_count = parquet.metadata.num_rows
            row_batches = parquet.iter_batches(
                batch_size=_rows_at_a_time(parquet.metadata, options),
                columns=list(fields.values()),
            )
            for columns in row_batches:
                data, spans, rows = text_of(columns.column(options.text_field))
                row_numbers = rows + first_row
                check_lengths(spans, options, partial(_place_of, file, row_numbers))
                valid = _are_utf8(data, spans)
                places = [_place_of(file, row_numbers, i) for i in np.flatnonzero(~valid).tolist()]
                first_row += columns.num_rows
                position = size * first_row // row_count
                if places:
                    yield DocumentBatch.from_documents([], file.source), position, places
                spans = spans[valid]
                sources = _read_sources(columns, options)
                if sources is not None:
                    sources = sources[rows[valid]]
                for first, last in _runs(spans, options.batch_bytes):
                    begin, end = int(spans[first, 0]), int(spans[last - 1, 1])
                    named = None if sources is None else sources[first:last]
                    places_in_run = spans[first:last] - begin
                    batch = DocumentBatch(data[begin:end], places_in_run, file.source, named)
                    yield batch, position, []
    except (OSError, pa.ArrowException, ValueError, ArithmeticError) as error:
        # The last two: names that are not UTF-8, and absurd numbers, in a damaged footer.
        raise CorpusError(
            f"{file.source}: cannot be read as Parquet: {error}",
            hint="check the file, or fetch it again",
        ) from error


def _place_of(file: CorpusFile, row_numbers: Int64Array, index: int) -> str:
    return f"{file.source}, row {row_numbers[index]}"


def text_of(column: Any) -> tuple[ByteArray, Int64Array, Int64Array]:
    """Return the bytes of an Arrow column, and spans and numbers of the rows that hold text."""
    if pa.types.is_string(column.type):
        offset_type: type[np.signedinteger[Any]] = np.int32
    else:
        offset_type = np.int64
        if not pa.types.is_large_string(column.type):
            column = column.cast(pa.large_string())
    _, offset_buffer, text_buffer = column.buffers()
    if len(column) == 0 or text_buffer is None:
        return np.empty(0, np.uint8), np.empty((0, 2), np.int64), np.empty(0, np.int64)
    offsets = np.frombuffer(offset_buffer, offset_type)[column.offset :][: len(column) + 1]
    spans = np.stack([offsets[:-1], offsets[1:]], axis=1).astype(np.int64)
    keep = spans[:, 1] > spans[:, 0]
    if column.null_count:
        keep &= column.is_valid().to_numpy(zero_copy_only=False)
    return np.frombuffer(text_buffer, np.uint8), spans[keep], np.flatnonzero(keep)


def sources_of(column: Any) -> SourceColumn:
    """Encode an Arrow column of strings as source names."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.cast(pa.large_binary()).dictionary_encode(null_encoding="encode")
    # Binary: a column that claims to hold text may hold anything.
    values = [value and value.decode(errors="replace") for value in encoded.dictionary.to_pylist()]
    names = SourceColumn.from_values(values)
    return SourceColumn(names.names, names.indices[encoded.indices.to_numpy()])


def _read_sources(columns: Any, options: ReadOptions) -> SourceColumn | None:
    if options.source_field is None:
        return None
    if options.source_field not in columns.schema.names:
        return SourceColumn((NO_SOURCE,), np.zeros(columns.num_rows, np.uint32))
    return sources_of(columns.column(options.source_field))


def _check_column(file: CorpusFile, schema: Any, field: str, option: str) -> None:
    purpose = option.removesuffix("_field")
    remedy = f"name the column that holds the {purpose} with {option} (--{purpose}-field)"
    if field not in schema.names:
        raise CorpusError(
            f"{file.source}: no column {field!r}; the columns are: "
            + (", ".join(map(repr, schema.names)) or "none"),
            hint=remedy,
        )
    column_type = schema.field(field).type
    if pa.types.is_dictionary(column_type):
        column_type = column_type.value_type
    # Newer Arrow has string views too; they are cast like dictionaries.
    if not (
        pa.types.is_string(column_type)
        or pa.types.is_large_string(column_type)
        or str(column_type) == "string_view"
    ):
        raise CorpusError(
            f"{file.source}: column {field!r} holds {column_type}, not text",
            hint=remedy,
        )


def _rows_at_a_time(metadata: Any, options: ReadOptions) -> int:
    """Return how many rows have at most about ``batch_bytes`` where rows are longest."""
    rows = _MOST_ROWS
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        # The size of all columns: Arrow aborts if the metadata of a single one is damaged.
        if group.total_byte_size > 0:
            rows = min(rows, options.batch_bytes * group.num_rows // group.total_byte_size)
    return max(rows, 1)


def _are_utf8(data: ByteArray, spans: Int64Array) -> BoolArray:
    """Return for each row whether it is UTF-8."""
    valid = np.ones(len(spans), np.bool_)
    # Fast path: the rows are valid together, and none begins inside a character.
    if len(spans) == 0 or (
        find_invalid_utf8(data[spans[0, 0] : spans[-1, 1]]) < 0
        and not np.any((data[spans[:, 0]] & 0xC0) == 0x80)
    ):
        return valid
    # One by one: the bytes of a null row are not text and may be anything.
    for row, (begin, end) in enumerate(spans.tolist()):
        valid[row] = find_invalid_utf8(data[begin:end]) < 0
    return valid


def _runs(spans: Int64Array, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows with at most ``batch_bytes``; a longer row is a run of its own."""
    first = 0
    while first < len(spans):
        fitting = np.searchsorted(spans[:, 1], spans[first, 0] + batch_bytes, side="right")
        last = max(int(fitting), first + 1)
        yield first, last
        first = last
