"""Readers: a part of a file -> batches of documents, one reader for each layout.

A reader gives pairs: a batch, and how far the file has been read on the disk. What ``parquet`` and
``json_lines`` are for is imported only where there are such files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import numpy as np

from prunedbpe._core import find_invalid_utf8
from prunedbpe.corpus.batches import (
    DocumentBatch,
    batch_of_documents,
    batch_of_lines,
    batch_of_whole,
    encode_text,
)
from prunedbpe.corpus.blocks import (
    check_file,
    cut_at_lines,
    line_blocks,
    make_block,
    whole_file_block,
)
from prunedbpe.corpus.inputs import STDIN, Layout
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.corpus.report import CorpusReport, Tell
from prunedbpe.corpus.shards import FilePart
from prunedbpe.errors import CorpusError

PYTHON_SOURCE = "<python>"
"""The source name of texts that come from an iterable."""

BatchAt = tuple[DocumentBatch, int]
"""A batch, and the bytes read from the disk up to its end."""


def read_part(
    part: FilePart, options: ReadOptions, tell: Tell, threads: int = 1, *, check_first: bool = True
) -> Iterator[BatchAt]:
    """Read a part of a file by the reader of its layout; for the arguments see ``line_blocks``."""
    if part.file.is_stdin:
        yield from _read_stdin(options, tell)
    elif part.file.layout is Layout.PARQUET:
        from prunedbpe.corpus.parquet_files import read_parquet

        yield from read_parquet(part.file, options.text_field, options.batch_bytes)
    elif part.file.layout is Layout.WHOLE:
        block = whole_file_block(part.file, threads)
        yield batch_of_whole(block.data, part.file.source), block.disk_position
    elif part.file.layout is Layout.LINES:
        for block in line_blocks(part, options.batch_bytes, threads, check_first=check_first):
            batch = batch_of_lines(block.data, part.file.source, threads)
            yield batch, block.disk_position
    else:
        yield from _read_json_lines(part, options, tell, threads, check_first)


def _read_json_lines(
    part: FilePart, options: ReadOptions, tell: Tell, threads: int, check_first: bool
) -> Iterator[BatchAt]:
    from prunedbpe.corpus.json_lines import batch_of_json_lines

    for block in line_blocks(part, options.batch_bytes, threads, check_first=check_first):
        try:
            batch = batch_of_json_lines(block, part.file, options, tell, threads)
        except CorpusError:
            # A file that is not UTF-8 is left out, whatever else is wrong with it.
            if not check_first:
                check_file(part.file, threads)
            raise
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
        documents.append(encode_text(text, lambda: f"document {index}", options, tell))  # noqa: B023
        size += len(documents[-1])
        if size >= options.batch_bytes:
            position += size
            yield batch_of_documents(documents, PYTHON_SOURCE), position
            documents, size = [], 0
    yield batch_of_documents(documents, PYTHON_SOURCE), position + size


def _read_stdin(options: ReadOptions, tell: Tell) -> Iterator[BatchAt]:
    """Read lines as they come. What came cannot be read again, so a bad line is left out alone."""
    for piece, offset in cut_at_lines(sys.stdin.buffer, options.batch_bytes):
        position = offset + len(piece)
        data = make_block(piece, offset, position).data
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
