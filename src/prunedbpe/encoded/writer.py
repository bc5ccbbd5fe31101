"""Token ids -> a file, a folder or a stream: one small writer per format of :mod:`.file_formats`.

A file and its side files replace older ones together. Memory holds one batch; ``npy``, ``bin`` and
``megatron`` keep the offsets too, ``mds`` a shard of 64 MiB, and ``npy`` on a stream all ids,
because its header states the length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.atomic_files import atomic_writes, json_bytes
from prunedbpe._support.atomic_folders import atomic_folder, check_replaceable
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import read_json
from prunedbpe.encoded.file_formats import (
    FLAT_FORMATS,
    FORMAT_NAME,
    FORMAT_VERSION,
    METADATA_KEY,
    STREAM_FORMATS,
    Checksum,
    FileFormat,
    Writer,
    fingerprint,
    ids_file,
    npy_header,
    output_files,
    side_files,
)
from prunedbpe.encoded.mds_files import INDEX_FILE, MdsWriter
from prunedbpe.encoded.megatron_files import write_index
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import AnyArray, Int64Array, Settings, UInt32Array

if TYPE_CHECKING:
    from io import IOBase


@contextmanager
def open_writer(output: Path | BinaryIO, settings: Settings) -> Iterator[Writer]:
    """Open a writer for a file or folder, which appears only when complete, or for a stream.

    Args:
        output: The file, or a stream for a format of :data:`STREAM_FORMATS`.
        settings: What decides the ids; ``format``, ``column`` and ``dtype`` decide how they are
            written. Kept in the metadata of the formats that have any.
    """
    writer: Writer
    metadata: Settings = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "settings": settings}
    format_, column = settings["format"], settings["column"]
    if not isinstance(output, Path):
        writer = _stream_writer(output, settings)
        yield writer
        writer.finish()
        output.flush()
    elif format_ == "mds":
        with atomic_folder(output, _is_mds_folder) as folder:
            writer = MdsWriter(folder, output, metadata)
            yield writer
            writer.finish()
    elif format_ in (*FLAT_FORMATS, "megatron"):
        index, described = side_files(output)
        if format_ == "megatron":
            index = output
        ids = ids_file(output, format_)
        with atomic_writes(index, described, ids, removing=_old_files(output, format_)) as files:
            writer = _FlatWriter(files, metadata)
            yield writer
            writer.finish()
    else:
        finish_interrupted_commit(output.parent)  # it may concern side files
        with atomic_writes(output, removing=_old_side_files(output)) as (file,):
            if format_ in STREAM_FORMATS:
                writer = _LineWriter(file, format_, column, Checksum())
            else:
                writer = _TableWriter(file, format_, column, metadata)
            try:
                yield writer
            finally:
                writer.finish()  # a table must be closed before its file, also after an error


def id_lists(ids: AnyArray, offsets: Int64Array) -> pa.LargeListArray[Any]:
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


class _LineWriter(Writer):
    def __init__(
        self, file: BinaryIO, format_: FileFormat, column: str, checksum: Checksum | None = None
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
    """Ids one after the other; offsets or Megatron's index, and metadata, when all is known."""

    def __init__(self, files: Sequence[BinaryIO], metadata: Settings) -> None:
        super().__init__()
        self._offsets_file, self._metadata_file, self._file = files
        self._metadata = metadata
        self._checksum = Checksum()
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
        if self._metadata["settings"]["format"] == "megatron":
            write_index(self._offsets_file, offsets, self._dtype.name)
        else:
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
        self._checksum = Checksum()
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
        self._dtype = np.dtype(metadata["settings"]["dtype"])
        self._schema = pa.schema(
            [(column, pa.large_list(pa.from_numpy_dtype(self._dtype)))],
            {METADATA_KEY: json.dumps(metadata)},
        )
        sink = cast("IO[Any]", self._file)
        self._writer: Any = (
            pq.ParquetWriter(sink, self._schema, compression="zstd", write_page_checksum=True)
            if format_ == "parquet"
            else pa.ipc.new_file(cast("IOBase", sink), self._schema)
        )

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        lists = id_lists(ids.astype(self._dtype, copy=False), offsets)
        self._writer.write_batch(pa.record_batch([lists], schema=self._schema))

    def finish(self) -> None:
        self._writer.close()
        self.checksum = self._file.finish()


def _old_files(path: Path, format_: FileFormat) -> list[Path]:
    """What would describe other ids: ``bin`` and Megatron both write a file ``NAME.bin``."""
    if format_ == "megatron":
        return _old_side_files(ids_file(path, format_))
    index = path.with_suffix(".idx")
    described = side_files(index)[1]
    is_over = format_ == "bin" and path.suffix == ".bin" and _is_ours(described)
    return [described, index] if is_over else []


def _old_side_files(path: Path) -> list[Path]:
    """The side files of a flat file that has this name now."""
    offsets, described = side_files(path)
    return [described, offsets] if _is_ours(described) else []


def _is_ours(described: Path) -> bool:
    """Whether a file is metadata that we wrote."""
    try:
        metadata = read_json(described)
    except (FormatError, OSError):
        return False
    return isinstance(metadata, dict) and metadata.get("format") == FORMAT_NAME


def _is_mds_folder(folder: Path) -> bool:
    """Whether a folder is one that we wrote."""
    try:
        index = read_json(folder / INDEX_FILE)
    except (FormatError, OSError):
        return False
    return isinstance(index, dict) and METADATA_KEY in index


def check_output(output: Path, format_: FileFormat) -> list[Path]:
    """Return every file that encoding into ``output`` writes, before anything is read.

    Raises:
        SettingsError: The name is that of a side file, or of a folder that must not be replaced.
    """
    if format_ == "mds":
        check_replaceable(output, _is_mds_folder)
    return output_files(output, format_)
