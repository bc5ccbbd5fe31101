"""The formats of encoded files: their names, side files and id types, and what writers share.

======== =====================================================================================
jsonl    one line ``{"ids": [...]}`` per document
ids      one line of numbers per document
npy      all ids as one NumPy array; ``NAME.offsets.npy`` and ``NAME.meta.json`` beside it
bin      the same ids without a header; the same two side files
parquet  a column of lists
arrow    the same as an Arrow IPC file
megatron ids and index of Megatron-LM, ``NAME.bin`` and ``NAME.idx``; ``NAME.idx.meta.json``
mds      a folder of MosaicML Streaming: ``index.json`` and shards
======== =====================================================================================

``NAME`` is the whole file name in ``npy`` and ``bin``, so ``x.npy`` and ``x.bin`` never share a
side file. In these two, document ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.

A CRC-32 of all that is written finds a changed byte in the middle of a large file. SHA-256 would
cost 5 % of the time of encoding, and three times as much on processors without instructions for it.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from prunedbpe.errors import SettingsError
from prunedbpe.types import Int64Array, Settings, UInt32Array

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

FileFormat = Literal["jsonl", "ids", "npy", "bin", "parquet", "arrow", "megatron", "mds"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
FLAT_FORMATS = ("npy", "bin")
STREAM_FORMATS = ("jsonl", "ids", "npy")

ENDINGS: dict[FileFormat, str] = {name: name for name in FILE_FORMATS} | {"megatron": "idx"}
"""Of the name of the output; of Megatron's two files, that is the index."""

COLUMNS: dict[str, str] = {"jsonl": "ids", "parquet": "ids", "arrow": "ids", "mds": "tokens"}
"""The name of the column, unless an option gives another; other formats have none."""

IdType = Literal["uint16", "uint32", "int32", "int64"]
ID_TYPES: tuple[IdType, ...] = get_args(IdType)
_ALL_MEGATRON = ("uint16", "int32", "int64")
_MOST_IN_MEGATRON = 65_500
"""Megatron itself uses ``int32`` for a vocabulary of this size or more."""

FORMAT_NAME = "prunedbpe encoded corpus"
FORMAT_VERSION = 1
METADATA_KEY = "prunedbpe"
"""Where tables and MDS indices hold the metadata."""

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
        checksum: CRC-32 once it is finished: of the ids of ``npy``, ``bin`` and ``megatron``, of
            all shards of ``mds``, else of the whole file. Empty for a stream.
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


class Checksum:
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


def id_type(format_: FileFormat, vocab_size: int, chosen: IdType | None) -> str | None:
    """Return the type of an id in a file; ``None`` for formats of text.

    Raises:
        SettingsError: The format does not know the chosen type, or the type is too small.

    >>> id_type("npy", 65_536, None), id_type("megatron", 65_536, None), id_type("ids", 300, None)
    ('uint16', 'int32', None)
    """
    if format_ in ("jsonl", "ids"):
        if chosen is not None:
            raise SettingsError(
                f"dtype {chosen}: format {format_} is text", hint="leave out the type of ids"
            )
        return None
    allowed = _ALL_MEGATRON if format_ == "megatron" else ID_TYPES
    if chosen is None:
        most = _MOST_IN_MEGATRON - 1 if format_ == "megatron" else 1 << 16
        if format_ in ("npy", "bin", "megatron") and vocab_size <= most:
            return "uint16"
        return "int32" if format_ in ("megatron", "mds") else "uint32"
    if chosen not in allowed:
        raise SettingsError(
            f"dtype {chosen!r}: unknown in format {format_}", hint=f"use {', '.join(allowed)}"
        )
    if vocab_size - 1 > np.iinfo(chosen).max:
        raise SettingsError(
            f"dtype {chosen}: too small for {vocab_size:,} ids", hint="choose a wider type"
        )
    return chosen


def format_by_ending(output: Path) -> FileFormat | None:
    """Return the format that the ending of an output means, if any."""
    ending = output.suffix.removeprefix(".")
    return next((name for name in FILE_FORMATS if ENDINGS[name] == ending), None)


def primary_file(output: Path, format_: FileFormat) -> Path:
    """Return the output that names the others: for Megatron the index, of the prefix given.

    >>> [primary_file(Path(name), "megatron").name for name in ("train", "train.bin", "a.b")]
    ['train.idx', 'train.idx', 'a.b.idx']
    """
    if format_ != "megatron":
        return output
    prefix = output.with_suffix("") if output.suffix in (".bin", ".idx") else output
    return prefix.with_name(prefix.name + ".idx")


def ids_file(output: Path, format_: FileFormat) -> Path:
    """Return where the ids of an output are."""
    return output.with_suffix(".bin") if format_ == "megatron" else output


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
    """Every file that encoding into ``path`` writes; ``mds`` writes a folder.

    Raises:
        SettingsError: The name is that of a side file of another output.
    """
    if path.name.endswith((_OFFSETS_ENDING, _METADATA_ENDING)):
        raise SettingsError(
            f"{path}: this name is reserved for a side file", hint="choose another name"
        )
    if format_ == "megatron":
        return [path, ids_file(path, format_), side_files(path)[1]]
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
    return files_checksum([path], start)


def files_checksum(paths: Iterable[Path], start: int = 0) -> str:
    """CRC-32 of files one after the other, each from byte ``start`` on."""
    value = 0
    for path in paths:
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
