"""Parquet: the text column of a file -> batches of documents, in Arrow's own memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from prunedbpe._core import find_invalid_utf8
from prunedbpe.corpus.documents import (
    NO_SOURCE,
    DocumentBatch,
    ReadOptions,
    SourceColumn,
    check_lengths,
    refuse_missing,
)
from prunedbpe.corpus.files import FilePart
from prunedbpe.errors import CorpusError
from prunedbpe.types import BoolArray, ByteArray, Int64Array

_MOST_ROWS = 1 << 16


def read_parquet(
    part: FilePart, options: ReadOptions
) -> Iterator[tuple[DocumentBatch, int, list[str]]]:
    """Read the text column of the row groups that begin in a part of a file.

    Yields:
        Batches, the bytes of the file read so far (estimated), and the places of rows that are not
        UTF-8. Rows count from 0.

    Raises:
        CorpusError: The file is damaged, has no such column, or the column does not hold text.
    """
    file = part.file
    size = file.size or 0
    try:
        # Arrow reads a path faster than a file object of Python.
        opened = file.open() if isinstance(file.path, str) else nullcontext(file.path)
        with opened as stream, pq.ParquetFile(stream) as parquet:
            fields = find_columns(file.source, parquet.schema_arrow, options)
            groups, first_row = _groups_of(part, parquet.metadata)
            row_count = parquet.metadata.num_rows
            row_batches = parquet.iter_batches(
                batch_size=_rows_at_a_time(parquet.metadata, groups, options),
                row_groups=groups,
                columns=fields,
            )
            for columns in row_batches:
                position = size * (first_row + columns.num_rows) // row_count
                place = partial(row_place, file.source, first_row)
                for batch, places in documents_of(columns, file.source, options, place):
                    yield batch, position, places
                first_row += columns.num_rows
    except (OSError, pa.ArrowException, ValueError, ArithmeticError) as error:
        # The last two: names that are not UTF-8, and absurd numbers, in a damaged footer.
        raise CorpusError(
            f"{file.source}: cannot be read as Parquet: {error}",
            hint="check the file, or fetch it again",
        ) from error


def _groups_of(part: FilePart, metadata: Any) -> tuple[list[int], int]:
    """Return the row groups that begin in a part of a file, and the number of their first row."""
    groups: list[int] = []
    first_row = row = 0
    for index in range(metadata.num_row_groups):
        rows = metadata.row_group(index).num_rows
        if rows > 0 and part.begin <= (part.file.size or 0) * row // metadata.num_rows < part.end:
            first_row = first_row if groups else row
            groups.append(index)
        row += rows
    return groups, first_row


def documents_of(
    columns: Any, source: str, options: ReadOptions, place: Callable[[int], str]
) -> Iterator[tuple[DocumentBatch, list[str]]]:
    """Make the text of Arrow rows documents, without a copy; null rows hold none by default.

    Args:
        columns: A record batch with the columns of :func:`find_columns`.
        source: The file; for messages and batches.
        options: How to read.
        place: Describes the place of a row of ``columns``; for messages.

    Yields:
        Batches of bounded size, and the places of rows that are not UTF-8.

    Raises:
        CorpusError: A document is too long, a null is an error, or the text column contradicts
            itself.
    """
    for begin, end in _row_runs(columns.column(options.text_field), options.batch_bytes):
        some = columns.slice(begin, end - begin)
        column = some.column(options.text_field)
        if options.missing == "error" and column.null_count:
            refuse_missing(place(begin + int(pc.index(column.is_null(), True).as_py())))
        data, spans, rows = text_of(column, keep_empty=options.keeps_empty)
        numbers = (rows + begin).tolist()
        _check_spans(spans, data, source)
        check_lengths(spans, options, partial(_place_at, place, numbers))
        valid = _are_utf8(data, spans)
        places = [_place_at(place, numbers, i) for i in np.flatnonzero(~valid).tolist()]
        if places:
            yield DocumentBatch.from_documents([], source), places
        spans = spans[valid]
        sources = _read_sources(some, options)
        if sources is not None:
            sources = sources[rows[valid]]
        for first, last in _runs(spans, options.batch_bytes):
            start = int(spans[first, 0])
            named = None if sources is None else sources[first:last]
            text = data[start : int(spans[last - 1, 1])]
            yield DocumentBatch(text, spans[first:last] - start, source, named), []


def _place_at(place: Callable[[int], str], rows: Sequence[int], index: int) -> str:
    return place(rows[index])


def row_place(source: str, first_row: int, row: int) -> str:
    """Name a row, counting from the first row of a file."""
    return f"{source}, row {first_row + row}"


def _check_spans(spans: Int64Array, data: ByteArray, source: str) -> None:
    """Refuse text outside the buffer: Arrow checks no offsets of memory that others filled."""
    bounds = spans.reshape(-1)
    if len(bounds) and (
        bounds[0] < 0 or bounds[-1] > len(data) or np.any(bounds[1:] < bounds[:-1])
    ):
        raise CorpusError(
            f"{source}: the offsets of the text column make no sense",
            hint="check the column with its method validate(full=True)",
        )


def text_of(column: Any, *, keep_empty: bool = False) -> tuple[ByteArray, Int64Array, Int64Array]:
    """Return the bytes of an Arrow column, and spans and numbers of the rows that hold text.

    With ``keep_empty``, of all rows; those without text have empty spans.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary.take(column.indices)  # a cast would copy all of the dictionary
    if pa.types.is_string(column.type):
        offset_type: type[np.signedinteger[Any]] = np.int32
    else:
        offset_type = np.int64
        if not pa.types.is_large_string(column.type):
            column = column.cast(pa.large_string())
    _, offset_buffer, text_buffer = column.buffers()
    if len(column) == 0 or text_buffer is None:
        rows = np.arange(len(column) if keep_empty else 0)
        return np.empty(0, np.uint8), np.zeros((len(rows), 2), np.int64), rows
    offsets = np.frombuffer(offset_buffer, offset_type)[column.offset :][: len(column) + 1]
    spans = np.stack([offsets[:-1], offsets[1:]], axis=1).astype(np.int64)
    if column.null_count:
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        spans[is_null, 1] = spans[is_null, 0]
    keep = np.full(len(spans), keep_empty) | (spans[:, 1] > spans[:, 0])
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


def find_columns(source: str, schema: Any, options: ReadOptions) -> list[str]:
    """Return the columns to read: that of the text and, where there is one, that of the source.

    Raises:
        CorpusError: The text column is missing, or one of them does not hold text.
    """
    fields = {"text_field": options.text_field}
    # Files without the column hold documents without a source.
    if options.source_field in schema.names:
        fields["source_field"] = str(options.source_field)
    for option, field in fields.items():
        _check_column(source, schema, field, option)
    return list(fields.values())


def _check_column(source: str, schema: Any, field: str, option: str) -> None:
    purpose = option.removesuffix("_field")
    remedy = f"name the column that holds the {purpose} with {option} (--{purpose}-field)"
    if field not in schema.names:
        raise CorpusError(
            f"{source}: no column {field!r}; the columns are: "
            + (", ".join(map(repr, schema.names)) or "none"),
            hint=remedy,
        )
    column_type = schema.field(field).type
    if pa.types.is_dictionary(column_type):
        column_type = column_type.value_type
    if not (
        pa.types.is_null(column_type)  # no row has text
        or pa.types.is_string(column_type)
        or pa.types.is_large_string(column_type)
        or _is_view(column_type)
    ):
        raise CorpusError(f"{source}: column {field!r} holds {column_type}, not text", hint=remedy)


def _is_view(column_type: Any) -> bool:
    return str(column_type) == "string_view"  # only newer Arrow has a function to ask


def _rows_at_a_time(metadata: Any, groups: Sequence[int], options: ReadOptions) -> int:
    """Return how many rows have at most about ``batch_bytes`` where rows are longest."""
    rows = _MOST_ROWS
    for index in groups:
        group = metadata.row_group(index)
        # The size of all columns: Arrow aborts if the metadata of a single one is damaged.
        if group.total_byte_size > 0:
            rows = min(rows, options.batch_bytes * group.num_rows // group.total_byte_size)
    return max(rows, 1)


def _row_runs(column: Any, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows that are small enough to look at together.

    Text that lies in one buffer is not copied, so a number of rows is limit enough. Dictionaries
    and views are copied, and may name the same long text in every row.
    """
    if not (pa.types.is_dictionary(column.type) or _is_view(column.type)):
        for first in range(0, len(column), _MOST_ROWS):
            yield first, min(first + _MOST_ROWS, len(column))
        return
    lengths = _row_lengths(column)
    ends = np.cumsum(lengths)
    yield from _runs(np.stack([ends - lengths, ends], axis=1), batch_bytes)


def _row_lengths(column: Any) -> Int64Array:
    """Return the bytes of each row of text; those of a null may be any number."""
    if pa.types.is_dictionary(column.type):
        if len(column.dictionary) == 0:  # all rows are null
            return np.zeros(len(column), np.int64)
        indices = column.indices.fill_null(0).to_numpy()
        return np.asarray(_row_lengths(column.dictionary)[indices])
    if _is_view(column.type):
        # A view has 16 bytes; the first four are the length of the text.
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
        return views[column.offset :][: len(column), 0].astype(np.int64)
    lengths: Any = pc.binary_length(column)
    return np.asarray(lengths.fill_null(0).to_numpy(zero_copy_only=False), np.int64)


def _are_utf8(data: ByteArray, spans: Int64Array) -> BoolArray:
    """Return for each row whether it is UTF-8."""
    valid = np.ones(len(spans), np.bool_)
    # Fast path: the rows are valid together, and none begins inside a character. An empty row may
    # begin at the end of the data.
    if len(spans) == 0 or (
        find_invalid_utf8(data[spans[0, 0] : spans[-1, 1]]) < 0
        and not np.any((data[spans[spans[:, 1] > spans[:, 0], 0]] & 0xC0) == 0x80)
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
