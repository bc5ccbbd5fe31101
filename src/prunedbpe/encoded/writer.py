"""Token ids -> a file or a stream: one small writer per format.

======== =====================================================================================
jsonl    one line ``{"ids": [...]}`` per document
ids      one line of numbers per document
npy      all ids as one NumPy array; ``NAME.offsets.npy`` and ``NAME.meta.json`` beside it
bin      the same ids without a header; the same two side files
parquet  a column of lists
arrow    the same as an Arrow IPC file
======== =====================================================================================

``NAME`` is the whole file name, so ``x.npy`` and ``x.bin`` never share a side file. In ``npy`` and
``bin`` document ``i`` is ``ids[offsets[i]:offsets[i + 1]]``; both can be memory-mapped. A file and
its side files replace older ones together.

A CRC-32 of all that is written finds a changed byte in the middle of a large file. SHA-256 would
cost 5 % of the time of encoding, and three times as much on processors without instructions for it.

Memory holds one batch; ``npy`` and ``bin`` keep the offsets too, and ``npy`` on a stream all ids,
because its header states the length.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.atomic_files import atomic_writes, json_bytes
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import read_json
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import AnyArray, Int64Array, Settings, UInt32Array

if TYPE_CHECKING:
    from io import IOBase

    from _typeshed import ReadableBuffer

FileFormat = Literal["jsonl", "ids", "npy", "bin", "parquet", "arrow"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
FLAT_FORMATS = ("npy", "bin")
COLUMN_FORMATS = ("jsonl", "parquet", "arrow")
STREAM_FORMATS = ("jsonl", "ids", "npy")

FORMAT_NAME = "prunedbpe encoded corpus"
FORMAT_VERSION = 1
METADATA_KEY = b"prunedbpe"
NPY_HEADER_BYTES = 128

_OFFSETS_ENDING, _METADATA_ENDING = ".offsets.npy", ".meta.json"
_BLOCK_BYTES, _BLOCKS = 4096, 64
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class EncodedReport:
    """How many documents and tokens were written, and the bytes of text they encode."""

    documents: int = 0
    tokens: int = 0
    bytes: int = 0

    def __add__(self, other: EncodedReport) -> EncodedReport:
        return EncodedReport(
            self.documents + other.documents, self.tokens + other.tokens, self.bytes + other.bytes
        )


class Writer:
    """Writes documents in one format.

    Attributes:
        report: What was written so far.
        checksum: CRC-32 of the ids of a flat format, of the whole file otherwise, once it is
            finished; empty for a stream.
    """

    def __init__(self) -> None:
        self.report = EncodedReport()
        self.checksum = ""

    def write(self, ids: UInt32Array, offsets: Int64Array, text_bytes: int) -> None:
        """Append documents; document ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""
        self._write(ids, offsets)
        self.report += EncodedReport(len(offsets) - 1, len(ids), text_bytes)

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Write what is known only at the end."""


@contextmanager
def open_writer(output: Path | BinaryIO, settings: Settings) -> Iterator[Writer]:
    """Open a writer for a file, which appears only when complete, or for a stream.

    Args:
        output: The file, or a stream for a format of :data:`STREAM_FORMATS`.
        settings: What decides the ids; ``format``, ``column`` and ``dtype`` (of an id in the flat
            formats) decide how they are written. Kept in the metadata of the formats that have any.
    """
    writer: Writer
    metadata: Settings = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "settings": settings}
    format_, column = settings["format"], settings["column"]
    if not isinstance(output, Path):
        writer = _stream_writer(output, settings)
        yield writer
        writer.finish()
        output.flush()
    elif format_ in FLAT_FORMATS:
        with atomic_writes(*side_files(output), output) as files:
            writer = _FlatWriter(files, metadata)
            yield writer
            writer.finish()
    else:
        finish_interrupted_commit(output.parent)  # it may concern side files
        with atomic_writes(output, removing=_old_side_files(output)) as (file,):
            if format_ in STREAM_FORMATS:
                writer = _LineWriter(file, format_, column, _Checksum())
            else:
                writer = _TableWriter(file, format_, column, metadata)
            try:
                yield writer
            finally:
                writer.finish()  # a table must be closed before its file, also after an error


def side_files(path: Path) -> tuple[Path, Path]:
    """Where the offsets and the metadata of a flat file are.

    >>> [side.name for side in side_files(Path("x.npy"))]
    ['x.npy.offsets.npy', 'x.npy.meta.json']
    """
    return (
        path.with_name(path.name + _OFFSETS_ENDING),
        path.with_name(path.name + _METADATA_ENDING),
    )


def output_files(path: Path, format_: FileFormat) -> list[Path]:
    """Every file that encoding into ``path`` writes.

    Raises:
        SettingsError: The name is that of a side file of another output.
    """
    if path.name.endswith((_OFFSETS_ENDING, _METADATA_ENDING)):
        raise SettingsError(
            f"{path}: this name is reserved for a side file", hint="choose another name"
        )
    return [path, *side_files(path)] if format_ in FLAT_FORMATS else [path]


def fingerprint(path: Path) -> Settings:
    """The size of a file and a digest of up to 64 blocks of 4 KiB, spread evenly over it.

    Cheap for any size, so that opening a memory-mapped file stays instant. It covers all of a file
    of at most 256 KiB; for larger ones there is :func:`file_checksum`.
    """
    size = path.stat().st_size
    digest = hashlib.sha256()
    last = max(0, size - _BLOCK_BYTES)
    with path.open("rb") as file:
        for start in sorted({last * block // (_BLOCKS - 1) for block in range(_BLOCKS)}):
            file.seek(start)
            digest.update(file.read(_BLOCK_BYTES))
    return {"bytes": size, "sample": digest.hexdigest()[:32]}


def file_checksum(path: Path, start: int = 0) -> str:
    """CRC-32 of a file from byte ``start`` on, in hexadecimal; reads all of it."""
    value = 0
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(_READ_BYTES):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    """The header of a flat NumPy file, of the same size for every length."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({length},), }}"
    start = b"\x93NUMPY\x01\x00" + (NPY_HEADER_BYTES - 10).to_bytes(2, "little")
    return start + text.ljust(NPY_HEADER_BYTES - 11).encode() + b"\n"


def id_lists(ids: UInt32Array, offsets: Int64Array) -> pa.LargeListArray[Any]:
    """Flat ids and offsets as an Arrow array of lists, without a copy."""
    from_arrays: Any = pa.LargeListArray.from_arrays  # the stubs do not know NumPy arrays here
    return cast("pa.LargeListArray[Any]", from_arrays(pa.array(offsets), pa.array(ids)))


def _stream_writer(file: BinaryIO, settings: Settings) -> Writer:
    format_ = settings["format"]
    if format_ not in STREAM_FORMATS:
        raise SettingsError(
            f"format {format_} cannot be written to standard output",
            hint=f"give a file with --output, or use {', '.join(STREAM_FORMATS)}",
        )
    if format_ == "npy":
        return _NpyStreamWriter(file, settings["dtype"])
    return _LineWriter(file, format_, settings["column"])


class _Checksum:
    """CRC-32, on a thread of its own while the next batch is encoded."""

    def __init__(self) -> None:
        self._value = 0
        self._thread = ThreadPoolExecutor(1, "checksum")
        self._last: Future[None] | None = None

    def update(self, data: ReadableBuffer) -> None:
        """Add bytes, which must not change any more."""
        if self._last is not None:
            self._last.result()  # at most one batch waits
        self._last = self._thread.submit(self._add, data)

    def _add(self, data: ReadableBuffer) -> None:
        self._value = zlib.crc32(data, self._value)

    def finish(self) -> str:
        """Return the checksum in hexadecimal."""
        self._thread.shutdown()
        return f"{self._value:08x}"


class _LineWriter(Writer):
    def __init__(
        self, file: BinaryIO, format_: FileFormat, column: str, checksum: _Checksum | None = None
    ) -> None:
        super().__init__()
        self._file = file
        self._checksum = checksum
        is_json = format_ == "jsonl"
        self._begin = f"{{{json.dumps(column)}: [" if is_json else ""
        self._between, self._end = (", ", "]}\n") if is_json else (" ", "\n")

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        numbers = list(map(str, ids.tolist()))
        lines = [
            self._begin + self._between.join(numbers[begin:end]) + self._end
            for begin, end in pairwise(offsets.tolist())
        ]
        data = "".join(lines).encode()
        self._file.write(data)
        if self._checksum is not None:
            self._checksum.update(data)

    def finish(self) -> None:
        if self._checksum is not None:
            self.checksum = self._checksum.finish()


class _FlatWriter(Writer):
    def __init__(self, files: Sequence[BinaryIO], metadata: Settings) -> None:
        super().__init__()
        self._offsets_file, self._metadata_file, self._file = files
        self._metadata = metadata
        self._checksum = _Checksum()
        self._dtype = np.dtype(metadata["settings"]["dtype"]).newbyteorder("<")
        self._offsets: list[Int64Array] = [np.zeros(1, np.int64)]
        self._write_header(0)

    def _write_header(self, length: int) -> None:
        if self._metadata["settings"]["format"] == "npy":
            self._file.seek(0)
            self._file.write(npy_header(self._dtype, length))

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        data = ids.astype(self._dtype).data
        self._file.write(data)
        self._checksum.update(data)
        self._offsets.append(offsets[1:] + self.report.tokens)

    def finish(self) -> None:
        self.checksum = self._checksum.finish()
        self._write_header(self.report.tokens)
        offsets = np.concatenate(self._offsets)
        self._offsets_file.write(npy_header(offsets.dtype, len(offsets)))
        self._offsets_file.write(offsets.data)
        for file in (self._file, self._offsets_file):
            file.flush()
        self._metadata |= asdict(self.report)
        self._metadata["ids"] = fingerprint(Path(self._file.name)) | {"crc32": self.checksum}
        self._metadata["offsets"] = fingerprint(Path(self._offsets_file.name))
        self._metadata_file.write(json_bytes(self._metadata))


class _NpyStreamWriter(Writer):
    """Two arrays one after the other, ids and offsets: ``np.load`` reads the ids alone."""

    def __init__(self, file: BinaryIO, dtype: str) -> None:
        super().__init__()
        self._file = file
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._ids: list[AnyArray] = []
        self._offsets: list[Int64Array] = [np.zeros(1, np.int64)]

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        self._ids.append(ids.astype(self._dtype))
        self._offsets.append(offsets[1:] + self.report.tokens)

    def finish(self) -> None:
        for dtype, arrays in ((self._dtype, self._ids), (np.dtype("<i8"), self._offsets)):
            self._file.write(npy_header(dtype, sum(map(len, arrays))))
            for array in arrays:
                self._file.write(array.data)


class _ChecksummedFile:
    """Passes on what a table writer writes, and adds it to a checksum."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = _Checksum()
        self.flush = file.flush

    def write(self, data: Any) -> int:
        copy = bytes(data)  # Arrow uses the buffer again
        self._checksum.update(copy)
        return self._file.write(copy)

    def close(self) -> None:
        """Do nothing: the file belongs to its opener."""

    def finish(self) -> str:
        return self._checksum.finish()


class _TableWriter(Writer):
    def __init__(
        self, file: BinaryIO, format_: FileFormat, column: str, metadata: Settings
    ) -> None:
        super().__init__()
        self._file = _ChecksummedFile(file)
        self._schema = pa.schema(
            [(column, pa.large_list(pa.uint32()))], {METADATA_KEY: json.dumps(metadata).encode()}
        )
        sink = cast("IO[Any]", self._file)
        self._writer: Any = (
            pq.ParquetWriter(sink, self._schema, compression="zstd", write_page_checksum=True)
            if format_ == "parquet"
            else pa.ipc.new_file(cast("IOBase", sink), self._schema)
        )

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        self._writer.write_batch(pa.record_batch([id_lists(ids, offsets)], schema=self._schema))

    def finish(self) -> None:
        self._writer.close()
        self.checksum = self._file.finish()


def _old_side_files(path: Path) -> list[Path]:
    """The side files of a flat file that has this name now."""
    offsets, described = side_files(path)
    try:
        metadata = read_json(described)
    except (FormatError, OSError):
        return []
    is_ours = isinstance(metadata, dict) and metadata.get("format") == FORMAT_NAME
    return [described, offsets] if is_ours else []
