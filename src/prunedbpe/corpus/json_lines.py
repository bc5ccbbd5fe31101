"""JSON lines: a block of them -> the documents that one field of each line holds.

Arrow reads a block several times as fast as Python's own parser, and on all cores, but it does not
tell which line is wrong. So whatever it does not take is read again by Python: that gives the same
documents, or the error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from prunedbpe._core import split_lines
from prunedbpe.corpus.batches import DocumentBatch, batch_of_documents, encode_text
from prunedbpe.corpus.blocks import Block, count_lines_before
from prunedbpe.corpus.inputs import CorpusFile
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.corpus.report import Tell
from prunedbpe.errors import CorpusError

_WORTH_IMPORTING = 4 << 20
"""Bytes of a block that are worth importing Arrow for. That takes as long as Python takes for some
16 MB, but where there is one such block, there mostly are more."""

_ARROW_BLOCK = 4 << 20
"""Bytes that Arrow gives to a thread. A longer line is left to Python."""


def batch_of_json_lines(
    block: Block, file: CorpusFile, options: ReadOptions, tell: Tell, threads: int = 1
) -> DocumentBatch:
    """Make the text field of every line a document; blank lines are nothing.

    Raises:
        CorpusError: A line is not JSON, or its field is missing or no string.
    """
    if len(block.data) >= _WORTH_IMPORTING or "pyarrow.json" in sys.modules:
        batch = _read_by_arrow(block, file, options.text_field, threads)
        if batch is not None:
            return batch
    return batch_of_documents(list(_read_by_python(block, file, options, tell)), file.source)


def _read_by_arrow(
    block: Block, file: CorpusFile, field: str, threads: int
) -> DocumentBatch | None:
    """All documents of a block, or nothing if there is anything unusual about one of them."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    from prunedbpe.corpus.arrow import text_of

    # Arrow reads objects, however many to a line, or lines to an object. But where all lines begin
    # with { and end with }, no object goes on in the next one, because "}{" is inside of none. So
    # if there are as many objects as lines, every line is one.
    lines = np.asarray(split_lines(block.data, threads))
    if len(lines) == 0:
        return None
    octets = np.frombuffer(block.data, np.uint8)
    if np.any(octets[lines[:, 0]] != ord("{")) or np.any(octets[lines[:, 1] - 1] != ord("}")):
        return None
    stream: Any = pa.BufferReader(pa.py_buffer(block.data))  # the stubs know files alone
    try:
        rows = arrow_json.read_json(
            stream,
            read_options=arrow_json.ReadOptions(use_threads=threads > 1, block_size=_ARROW_BLOCK),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema([(field, pa.string())]),
                unexpected_field_behavior="ignore",
            ),
        )
    except pa.ArrowException:
        return None
    column = rows.column(field)
    if column.null_count > 0 or len(column) != len(lines):
        return None
    data, spans = text_of(pa.concat_arrays(column.chunks))
    return DocumentBatch(data.data, spans.data, file.source)


def _read_by_python(
    block: Block, file: CorpusFile, options: ReadOptions, tell: Tell
) -> Iterator[bytes]:
    import json

    field = options.text_field

    def place(index: int) -> str:
        return f"{file.source}, line {count_lines_before(file, block.offset) + index + 1}"

    # JSON ends lines at "\n" alone; str.splitlines would also cut at U+2028 inside a string.
    for index, line in enumerate(str(block.data, "utf-8").split("\n")):
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
        if not isinstance(value, str):
            _refuse_record(record, field, place(index))
        yield encode_text(value, lambda: place(index), options, tell)  # noqa: B023


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
            hint="choose the field that holds the text by text_field (--text-field)",
        )
    raise CorpusError(
        f"{place}: field {field!r} is {type(record[field]).__name__}, not a string",
        hint="choose the field that holds the text by text_field (--text-field)",
    )
