"""Readers: a part of a file -> batches of documents, one reader for each layout.

A reader gives pairs: a batch, and how far the file has been read on the disk. Parquet has a reader
of its own in ``parquet``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from prunedbpe._core import find_invalid_utf8
from prunedbpe.arrays import np
from prunedbpe.corpus.batches import (
    DocumentBatch,
    batch_of_documents,
    batch_of_lines,
    batch_of_whole,
)
from prunedbpe.corpus.blocks import (
    Block,
    count_lines_before,
    cut_at_lines,
    line_blocks,
    whole_file_block,
)
from prunedbpe.corpus.inputs import STDIN, CorpusFile, Layout
from prunedbpe.corpus.report import CorpusReport
from prunedbpe.corpus.shards import FilePart
from prunedbpe.errors import CorpusError
from prunedbpe.records import record

PYTHON_SOURCE = "<python>"
"""The source name of texts that come from an iterable."""

BatchAt = tuple[DocumentBatch, int]
"""A batch, and the bytes read from the disk up to its end."""

Tell = Callable[[CorpusReport], None]
"""Takes what a reader has to report beside its documents, to be added to the rest."""


@record(frozen=True)
class ReadOptions:
    """What a user may choose about reading; see :class:`prunedbpe.corpus.Corpus`."""

    text_field: str = "text"
    normalize: bool = False
    strict: bool = False
    batch_bytes: int = 16 << 20


def read_part(
    part: FilePart, options: ReadOptions, tell: Tell, threads: int = 1
) -> Iterator[BatchAt]:
    """Read a part of a file by the reader of its layout."""
    if part.file.is_stdin:
        yield from _read_stdin(options, tell)
    elif part.file.layout is Layout.PARQUET:
        from prunedbpe.corpus.parquet import read_parquet

        yield from read_parquet(part.file, options.text_field, options.batch_bytes)
    elif part.file.layout is Layout.WHOLE:
        block = whole_file_block(part.file, threads)
        yield batch_of_whole(block.data, part.file.source), block.disk_position
    else:
        for block in line_blocks(part, options.batch_bytes, threads):
            if part.file.layout is Layout.LINES:
                batch = batch_of_lines(block.data, part.file.source, threads)
            else:
                batch = batch_of_documents(
                    list(_json_documents(block, part.file, options, tell)), part.file.source
                )
            yield batch, block.disk_position


def read_texts(texts: Iterable[str], options: ReadOptions, tell: Tell) -> Iterator[BatchAt]:
    """Put Python strings into batches; the position is the bytes of all texts so far."""
    documents: list[bytes] = []
    size = position = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise CorpusError(
                f"document {index} of the iterable is of type {type(text).__name__}, not str",
                hint="give strings, for instance (row['text'] for row in rows)",
            )
        documents.append(_encode(text, lambda: f"document {index}", options, tell))  # noqa: B023
        size += len(documents[-1])
        if size >= options.batch_bytes:
            position += size
            yield batch_of_documents(documents, PYTHON_SOURCE), position
            documents, size = [], 0
    yield batch_of_documents(documents, PYTHON_SOURCE), position + size


def _read_stdin(options: ReadOptions, tell: Tell) -> Iterator[BatchAt]:
    """Read lines as they come. What came cannot be read again, so a bad line is left out alone."""
    for piece, offset in cut_at_lines(sys.stdin.buffer, options.batch_bytes):
        data = memoryview(piece)
        position = offset + len(piece)
        if offset == 0 and piece.startswith(b"\xef\xbb\xbf"):
            data = data[3:]
        batch = batch_of_lines(data, STDIN)
        fault = find_invalid_utf8(data)
        if fault >= 0:
            if options.strict:
                raise CorpusError(
                    f"standard input is not UTF-8 at byte {position - len(data) + fault}",
                    hint="convert it to UTF-8, or leave out strict to skip such lines",
                )
            # A line end is never part of a character, so a line is valid or not by itself.
            valid = np.array(
                [find_invalid_utf8(data[begin:end]) < 0 for begin, end in batch.spans.tolist()]
            )
            tell(CorpusReport(skipped=(STDIN,), skipped_lines=int((~valid).sum())))
            batch = DocumentBatch(data, np.asarray(batch.spans)[valid].data, STDIN)
        yield batch, position


def _json_documents(
    block: Block, file: CorpusFile, options: ReadOptions, tell: Tell
) -> Iterator[bytes]:
    """The text fields of the lines of a block; blank lines are nothing."""
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
        yield _encode(value, lambda: place(index), options, tell)  # noqa: B023


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


def _encode(text: str, place: Callable[[], str], options: ReadOptions, tell: Tell) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if options.strict:
            raise CorpusError(
                f"{place()}: lone surrogate U+{ord(text[error.start]):04X} at character "
                f"{error.start}, which UTF-8 cannot hold",
                hint="repair the text, or leave out strict to replace surrogates by U+FFFD",
            ) from error
        tell(CorpusReport(replaced_documents=1))
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
