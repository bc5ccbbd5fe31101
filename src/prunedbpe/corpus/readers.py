"""Readers: parts of files, or texts -> pieces: batches of documents, each with its report.

Reading may run ahead in a thread of its own, so a reader returns what it found with each piece and
changes no shared state.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from prunedbpe._core import find_invalid_utf8, split_lines
from prunedbpe.corpus.blocks import HEAD_BYTES, Block, TextStream, text_blocks
from prunedbpe.corpus.documents import (
    CorpusReport,
    DocumentBatch,
    ReadOptions,
    check_lengths,
    counted,
    refuse_missing,
    replace_surrogates,
    report_skipped,
)
from prunedbpe.corpus.files import CorpusFile, FilePart, Layout
from prunedbpe.errors import CorpusError
from prunedbpe.types import ByteArray, Int64Array

PYTHON_SOURCE = "<python>"
"""The source name of texts that come from an iterable."""

ARROW_SOURCE = "<arrow>"
"""The source name of Arrow data in memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = "UTF-16, not UTF-8"
_logger = logging.getLogger("prunedbpe")


@dataclass(frozen=True)
class ReadPlace:
    """How far a corpus has been read; reading can begin again there.

    Attributes:
        part: Number of the file, or part of a file, that is being read.
        pieces: Pieces of it that have been read.
        offset: Where in the file the next one begins, if it can begin anywhere.
    """

    part: int = 0
    pieces: int = 0
    offset: int | None = None


@dataclass(frozen=True, eq=False)
class Piece:
    """A batch and what was found while reading it.

    Attributes:
        batch: The documents; there may be none.
        position: Bytes read from disk up to the end of the batch; of texts, their own bytes.
        report: What was skipped or repaired; the batch itself is not counted.
        place: Where the next piece begins.
    """

    batch: DocumentBatch
    position: int
    report: CorpusReport
    place: ReadPlace = ReadPlace()


def read_parts(
    parts: Sequence[FilePart],
    options: ReadOptions,
    threads: int,
    begin_at: ReadPlace = ReadPlace(),
) -> Iterator[Piece]:
    """Read parts of files one after the other; positions count from the first part."""
    start = 0
    for number, part in enumerate(parts):
        source, size = part.file.source, part.end - part.begin
        if number < begin_at.part:
            start += size
            continue
        is_resumed = number == begin_at.part and begin_at.pieces > 0
        found = opened = CorpusReport(files=int(part.is_start and not is_resumed))
        rest, read_before = part, begin_at.pieces if is_resumed else 0
        if is_resumed and begin_at.offset is not None:
            rest = replace(part, begin=min(begin_at.offset, part.end))
        # A file that can only be read from its beginning is read up to the place once more.
        skipped = 0 if rest is not part else read_before
        for index, piece in enumerate(_read_part(rest, options, threads)):
            if index < skipped:
                continue
            # Lines cross the ends of parts, and standard input has no size.
            done = piece.position - part.begin
            position = start + (done if part.file.is_stdin else min(max(done, 0), size))
            place = replace(piece.place, part=number, pieces=read_before - skipped + index + 1)
            yield Piece(piece.batch, position, piece.report + opened, place)
            found += piece.report
            opened = CorpusReport()
        if opened.files:
            place = ReadPlace(number + 1)
            yield Piece(DocumentBatch.from_documents([], source), start, opened, place)
        if found.skipped_documents:
            _warn(part.file, found)
        start += size


def read_texts(texts: Iterable[str | None], options: ReadOptions) -> Iterator[Piece]:
    """Put Python strings into batches."""
    documents: list[bytes] = []
    size = position = replaced = 0

    def piece() -> Piece:
        batch = DocumentBatch.from_documents(
            documents, PYTHON_SOURCE, keep_empty=options.keeps_empty
        )
        return Piece(batch, position, CorpusReport(replaced_documents=replaced))

    for index, text in enumerate(texts):
        if text is None and options.missing is not None:
            if options.missing == "error":
                refuse_missing(f"document {index} of the iterable")
            text = ""
        if not isinstance(text, str):
            raise CorpusError(
                f"document {index} of the iterable is of type {type(text).__name__}, not str",
                hint="give strings, for instance (row['text'] for row in rows)",
            )
        try:
            documents.append(text.encode())
        except UnicodeEncodeError as error:
            documents.append(replace_surrogates(error, f"document {index}", options))
            replaced += 1
        size += len(documents[-1])
        if size >= options.batch_bytes:
            position += size
            yield piece()
            documents, size, replaced = [], 0, 0
    position += size
    yield piece()


def read_table(table: Any, options: ReadOptions) -> Iterator[Piece]:
    """Put the text column of Arrow data into batches."""
    from prunedbpe.corpus.arrow_tables import read_arrow

    position = 0
    for batch, places in read_arrow(table, ARROW_SOURCE, options):
        position += batch.text_bytes
        yield Piece(batch, position, report_skipped(places, options))


def _read_part(part: FilePart, options: ReadOptions, threads: int) -> Iterator[Piece]:
    if part.file.layout is Layout.PARQUET:
        from prunedbpe.corpus.parquet_files import read_parquet

        for batch, position, places in read_parquet(part, options):
            yield Piece(batch, position, report_skipped(places, options))
        return
    with TextStream(part.file) as stream:
        if is_utf16(stream.head):
            if part.is_start:
                yield _skip_utf16(part.file, options)
            return
        for block in text_blocks(stream, part, options):
            yield _read_block(block, part.file, options, threads)


def _read_block(block: Block, file: CorpusFile, options: ReadOptions, threads: int) -> Piece:
    data = block.data
    end = block.offset + len(block.data)
    place = ReadPlace(offset=end if file.is_splittable else None)
    if block.offset == 0 and data[:3].tobytes() == _BYTE_ORDER_MARK:
        data = data[3:]
    shift = block.offset + len(block.data) - len(data)
    if file.layout is Layout.WHOLE:
        spans = np.array([[0, len(data)]] if len(data) else [], np.int64).reshape(-1, 2)
    else:
        spans = split_lines(data, threads)
    check_lengths(spans, options, lambda row: f"{file.source}, byte {shift + int(spans[row, 0])}")
    rows, offsets = _find_invalid(data, spans, threads)
    report = report_skipped(
        [f"{file.source}, byte {shift + offset}" for offset in offsets], options
    )
    if file.layout is not Layout.JSONL:
        batch = DocumentBatch(data, np.delete(spans, rows, axis=0) if rows else spans, file.source)
        return Piece(batch, block.disk_position, report, place)

    from prunedbpe.corpus.json_lines import read_json_lines

    if rows:  # blank the invalid lines, so that the others keep their numbers
        data = data.copy()
        for begin, end in spans[rows].tolist():
            data[begin:end] = ord(" ")
    batch, replaced = read_json_lines(data, block.offset, file, options, threads)
    return Piece(batch, block.disk_position, replace(report, replaced_documents=replaced), place)


def _find_invalid(data: ByteArray, spans: Int64Array, threads: int) -> tuple[list[int], list[int]]:
    """Find the lines that are not UTF-8: their rows in ``spans``, and the first fault in each.

    A line end is never part of a character, so each line is valid or not by itself.
    """
    rows: list[int] = []
    offsets: list[int] = []
    fault = find_invalid_utf8(data, threads)
    while fault >= 0:
        row = int(np.searchsorted(spans[:, 1], fault, side="right"))
        rows.append(row)
        offsets.append(fault)
        end = int(spans[row, 1])
        found = find_invalid_utf8(data[end:])
        fault = end + found if found >= 0 else -1
    return rows, offsets


def is_utf16(head: bytes) -> bool:
    r"""Whether a file with this beginning is UTF-16: by its byte order mark, or by its NUL bytes.

    Latin text in UTF-16 has a NUL in every second place.

    >>> is_utf16("text".encode("utf-16")), is_utf16("text".encode("utf-16-be")), is_utf16(b"text")
    (True, True, False)
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    if len(head) < 4:
        return False
    even, odd = (head[first:HEAD_BYTES:2] for first in (0, 1))
    # A file with NULs in both places is binary, or UTF-8 text that contains NULs.
    return (4 * even.count(0) >= len(even)) != (4 * odd.count(0) >= len(odd))


def _skip_utf16(file: CorpusFile, options: ReadOptions) -> Piece:
    place = f"{file.source}: {_UTF16}"
    if options.strict:
        raise CorpusError(place, hint=_utf16_remedy(file))
    report = CorpusReport(skipped_documents=1, skipped=(place,))
    return Piece(DocumentBatch.from_documents([], file.source), file.size or 0, report)


def _utf16_remedy(file: CorpusFile) -> str:
    convert = "iconv -f UTF-16 -t UTF-8"
    if file.is_stdin:
        return f"pipe it through: {convert}"
    if isinstance(file.path, str):
        return f"copy it to a local file and convert it: {convert}"
    name = PurePath(file.source)
    if file.compression:
        name = name.with_suffix("")
    unpack = "unpack it, then " if file.compression else ""
    return f"{unpack}convert it: {convert} {name} > {name.with_stem(name.stem + '-utf8')}"


def _warn(file: CorpusFile, report: CorpusReport) -> None:
    """Log one line for a file: where its first skipped document is, and how many there are."""
    first = report.skipped[0]
    if first.endswith(_UTF16):
        _logger.warning("%s; file skipped; %s", first, _utf16_remedy(file))
    else:
        documents = counted(report.skipped_documents, "document")
        _logger.warning("%s; %s of this file skipped", first, documents)
