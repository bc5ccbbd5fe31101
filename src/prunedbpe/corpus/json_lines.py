"""JSON lines: a block of them -> the documents in one field of each line.

Arrow parses a block several times faster than the standard library, and on all cores, but does not
report which line is wrong. Python therefore parses again whatever Arrow refuses: the result is the
same documents, or the error.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from prunedbpe._core import split_lines
from prunedbpe.corpus.blocks import count_lines_before
from prunedbpe.corpus.documents import (
    DocumentBatch,
    ReadOptions,
    SourceColumn,
    refuse_missing,
    replace_surrogates,
)
from prunedbpe.corpus.files import CorpusFile
from prunedbpe.errors import CorpusError
from prunedbpe.types import ByteArray

_WORTH_IMPORTING = 4 << 20
"""Bytes of a block that justify importing Arrow. The import takes as long as Python needs for some
16 MB, but a file with one such block mostly has more."""

_ARROW_BLOCK = 4 << 20
"""Bytes that Arrow gives to a thread. Python reads longer lines."""


def read_json_lines(
    data: ByteArray, offset: int, file: CorpusFile, options: ReadOptions, threads: int = 1
) -> tuple[DocumentBatch, int]:
    """Make the text field of each line a document; blank lines hold none.

    Args:
        data: Whole lines, valid UTF-8.
        offset: Where they begin in the unpacked file; for messages.
        file: The file; for messages.
        options: How to read.
        threads: How many threads Arrow may use.

    Returns:
        The documents, and in how many of them lone surrogates were replaced.

    Raises:
        CorpusError: A line is not JSON, its text field is missing, or a field is not a string.
    """
    if len(data) >= _WORTH_IMPORTING or "pyarrow.json" in sys.modules:
        batch = _read_by_arrow(data, file, options, threads)
        if batch is not None:
            return batch, 0
    return _read_by_python(data, offset, file, options)


def _read_by_arrow(
    data: ByteArray, file: CorpusFile, options: ReadOptions, threads: int
) -> DocumentBatch | None:
    """Return all documents of a block, or nothing if any line is unusual."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    from prunedbpe.corpus.parquet_files import sources_of, text_of

    # Arrow accepts several objects on a line, and objects over several lines. But where each line
    # begins with { and ends with }, no object continues on the next line, because "}{" occurs
    # inside no object. So if there are as many objects as lines, each line is one object.
    lines = split_lines(data, threads)
    if len(lines) == 0:
        return None
    if np.any(data[lines[:, 0]] != ord("{")) or np.any(data[lines[:, 1] - 1] != ord("}")):
        return None
    fields = [field for field in (options.text_field, options.source_field) if field is not None]
    stream: Any = pa.BufferReader(pa.py_buffer(data.data))  # the stubs know only files
    try:
        rows = arrow_json.read_json(
            stream,
            read_options=arrow_json.ReadOptions(use_threads=threads > 1, block_size=_ARROW_BLOCK),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema([(field, pa.string()) for field in fields]),
                unexpected_field_behavior="ignore",
            ),
        )
    except pa.ArrowException:
        return None
    column = rows.column(options.text_field)
    if column.null_count > 0 or len(column) != len(lines):
        return None
    text, spans, numbers = text_of(pa.concat_arrays(column.chunks), keep_empty=options.keeps_empty)
    if options.source_field is None:
        return DocumentBatch(text, spans, file.source)
    sources = sources_of(pa.concat_arrays(rows.column(options.source_field).chunks))
    return DocumentBatch(text, spans, file.source, sources[numbers])


def _read_by_python(
    data: ByteArray, offset: int, file: CorpusFile, options: ReadOptions
) -> tuple[DocumentBatch, int]:
    field = options.text_field
    documents: list[bytes] = []
    sources: list[str | None] = []  # of the documents that stay
    replaced = 0

    def place(index: int) -> str:
        return f"{file.source}, line {count_lines_before(file, offset) + index + 1}"

    # JSON lines end only at "\n"; str.splitlines would also cut at U+2028 inside a string.
    for index, line in enumerate(data.tobytes().decode().split("\n")):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{place(index)}: not JSON: {error}",
                hint="every line must be one JSON object; for plain lines name the file .txt",
            ) from error
        value = record.get(field) if isinstance(record, dict) else None
        if value is None and options.missing is not None and field in record:
            if options.missing == "error":
                refuse_missing(place(index))
            value = ""
        if not isinstance(value, str):
            _refuse_record(record, field, place(index))
        try:
            documents.append(value.encode())
        except UnicodeEncodeError as error:
            documents.append(replace_surrogates(error, place(index), options))
            replaced += 1
        if options.source_field is not None and (value or options.keeps_empty):
            name = record.get(options.source_field)
            if not isinstance(name, str | None):
                _refuse_source(name, options.source_field, place(index))
            sources.append(name and name.encode(errors="replace").decode())
    batch = DocumentBatch.from_documents(documents, file.source, keep_empty=options.keeps_empty)
    if options.source_field is not None:
        batch = replace(batch, sources=SourceColumn.from_values(sources))
    return batch, replaced


def _refuse_source(value: object, field: str, place: str) -> NoReturn:
    raise CorpusError(
        f"{place}: field {field!r} is {type(value).__name__}, not a string",
        hint="name the field that holds the source with source_field (--source-field)",
    )


def _refuse_record(record: object, field: str, place: str) -> NoReturn:
    if not isinstance(record, dict):
        raise CorpusError(
            f"{place}: not a JSON object but {type(record).__name__}",
            hint=f'every line must look like {{"{field}": "..."}}',
        )
    if field not in record:
        fields = ", ".join(map(repr, record)) or "none"
        raise CorpusError(
            f"{place}: no field {field!r}; the fields are: {fields}",
            hint="name the field that holds the text with text_field (--text-field)",
        )
    raise CorpusError(
        f"{place}: field {field!r} is {type(record[field]).__name__}, not a string",
        hint="name the field that holds the text with text_field (--text-field)",
    )
