"""Folders of MosaicML Streaming (MDS, version 2): shards of samples, and ``index.json``.

A sample is a document. A shard, little-endian: the number of samples n and n + 1 offsets into the
file, all ``uint32``; the configuration as JSON; the samples. A sample of one column of variable
size: its size as ``uint32``, then the array. An array of one dimension: one byte, ``4 +`` the type
of the length; the length; the values.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe._support.atomic_files import json_bytes
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.temporary_files import naming_target
from prunedbpe.encoded.file_formats import METADATA_KEY, Writer
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import AnyArray, Int64Array, Settings, UInt32Array

INDEX_FILE = "index.json"
_SIZE_LIMIT = 1 << 26
_LENGTH_TYPES = ("<u1", "<u2", "<u4", "<u8")
_OFFSETS_END = 1 << 32


class MdsWriter(Writer):
    """Writes shards of up to 64 MiB into a folder, with the bytes of the library's ``MDSWriter``.

    Args:
        folder: An empty folder.
        target: The name it will have, for errors.
        metadata: For ``index.json``; its settings name the column and the type of ids.
    """

    def __init__(self, folder: Path, target: Path, metadata: Settings) -> None:
        super().__init__()
        self._folder, self._target, self._metadata = folder, target, metadata
        settings = metadata["settings"]
        self._dtype = np.dtype(settings["dtype"]).newbyteorder("<")
        self._config: Settings = {
            "column_encodings": [f"ndarray:{settings['dtype']}"],
            "column_names": [settings["column"]],
            "column_sizes": [None],
            "compression": None,
            "format": "mds",
            "hashes": [],
            "size_limit": _SIZE_LIMIT,
            "version": 2,
        }
        self._config_data = json.dumps(self._config).encode()
        self._shards: list[Settings] = []
        self._checksum = 0
        self._checksums: list[str] = []
        self._begin_shard()

    def _begin_shard(self) -> None:
        self._samples: list[bytes] = []
        self._size = 8 + len(self._config_data)

    def _write(self, ids: UInt32Array, offsets: Int64Array) -> None:
        values = ids.astype(self._dtype)
        for begin, end in pairwise(offsets.tolist()):
            sample = _sample(values[begin:end])
            if self._samples and self._size + len(sample) + 4 > _SIZE_LIMIT:
                self._end_shard()
            self._samples.append(sample)
            self._size += len(sample) + 4

    def _end_shard(self) -> None:
        if self._size >= _OFFSETS_END:
            raise SettingsError(
                f"{self._target}: a document needs {self._size:,} bytes, MDS allows 4 GiB",
                hint="divide the document, or choose another format",
            )
        sizes = np.array([0, *map(len, self._samples)], np.int64)
        begin = 4 + 4 * len(sizes) + len(self._config_data)
        head = np.append(np.int64(len(self._samples)), sizes.cumsum() + begin).astype("<u4")
        data = b"".join([head.tobytes(), self._config_data, *self._samples])
        name = f"shard.{len(self._shards):05}.mds"
        with naming_target(self._target / name):
            _write_synced(self._folder / name, data)
        self._checksum = zlib.crc32(data, self._checksum)
        self._checksums.append(f"{zlib.crc32(data):08x}")
        raw = {"basename": name, "bytes": len(data), "hashes": {}}
        self._shards.append(
            {"raw_data": raw, "samples": len(self._samples), "zip_data": None, **self._config}
        )
        self._begin_shard()

    def finish(self) -> None:
        """Write the last shard and the index."""
        if self._samples:
            self._end_shard()
        self.checksum = f"{self._checksum:08x}"
        described = {**self._metadata, **vars(self.report), "crc32": self._checksums}
        index = {METADATA_KEY: described, "shards": self._shards, "version": 2}
        with naming_target(self._target / INDEX_FILE):
            _write_synced(self._folder / INDEX_FILE, json_bytes(index))


def _sample(values: AnyArray) -> bytes:
    kind = next(kind for kind in range(4) if len(values) < 1 << (8 << kind))
    length = np.array([len(values)], _LENGTH_TYPES[kind]).tobytes()
    size = 1 + len(length) + values.nbytes
    return b"".join([size.to_bytes(4, "little"), bytes([4 + kind]), length, values.tobytes()])


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


class MdsIndex:
    """The index of a folder that any program wrote.

    Args:
        folder: The folder.

    Attributes:
        metadata: Ours, if we wrote it.
        shards: The files, in order.

    Raises:
        FormatError: There is no such index, or it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / INDEX_FILE
        index = read_json(path)
        with naming(path):
            if index["version"] != 2 or not isinstance(index["shards"], list):
                raise ValueError(f"version {index['version']!r}")
            self.metadata: Settings | None = index.get(METADATA_KEY)
            self._entries: list[Any] = index["shards"]
            names = [entry["raw_data"]["basename"] for entry in self._entries]
            for name in names:
                if Path(name).name != name:
                    raise ValueError(f"{name!r} is not a file of this folder")
            self._checksums: list[Any] = [None] * len(names)
            if self.metadata is not None:
                self._checksums = self.metadata["crc32"]
                if len(self._checksums) != len(names):
                    raise ValueError(f"{len(names)} shards and {len(self._checksums)} checksums")
        self.shards = [folder / name for name in names]

    def documents(self, column: str | None) -> Iterator[AnyArray]:
        """Read the ids of all documents.

        Args:
            column: The column; by default the one of ours, else ``tokens``.

        Raises:
            FormatError: A shard is missing or damaged, or has no such column of ids.
        """
        if column is None and self.metadata is not None:
            column = self.metadata["settings"]["column"]
        for path, entry, checksum in zip(self.shards, self._entries, self._checksums, strict=True):
            with naming(path):
                yield from _read_shard(path, entry, checksum, column or "tokens")


def _read_shard(path: Path, entry: Settings, checksum: Any, column: str) -> Iterator[AnyArray]:
    if entry["format"] != "mds" or entry["compression"] is not None:
        raise FormatError("compressed or not MDS", hint="read it with mosaicml-streaming")
    names, sizes = entry["column_names"], entry["column_sizes"]
    encodings = dict(zip(names, entry["column_encodings"], strict=True))
    kind, _, type_name = encodings.get(column, "").partition(":")
    if kind != "ndarray" or type_name not in ("uint16", "uint32", "int32", "int64"):
        raise FormatError(
            f"no column {column!r} of token ids",
            hint=f"choose one of {', '.join(names)} with --column",
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}") from error
    if checksum is not None and f"{zlib.crc32(data):08x}" != checksum:
        raise FormatError("damaged: its checksum is wrong", hint="encode the corpus again")
    count = entry["samples"]
    offsets = np.frombuffer(data, "<u4", count + 1, 4).astype(np.int64)
    if len(data) < 4 or int.from_bytes(data[:4], "little") != count:
        raise ValueError(f"not {count} samples")
    if offsets[-1] != len(data) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets that do not fit the file")
    place = names.index(column)
    for begin, end in pairwise(offsets.tolist()):
        yield _array_in(data[begin:end], sizes, place, type_name)


def _array_in(sample: bytes, sizes: list[int | None], place: int, type_name: str) -> AnyArray:
    """Find the array of one column; those of variable size have it at the head of the sample."""
    variable = sum(size is None for size in sizes)
    heads = iter(np.frombuffer(sample, "<u4", variable).tolist())
    lengths = [next(heads) if size is None else size for size in sizes]
    begin = 4 * variable + sum(lengths[:place])
    array = sample[begin : begin + lengths[place]]
    kind = array[0] - 4
    if kind not in range(4):
        raise ValueError("an array that is not of one dimension")
    start = 1 + (1 << kind)
    dtype = np.dtype(type_name).newbyteorder("<")
    length = int.from_bytes(array[1:start], "little")
    if len(array) != start + length * dtype.itemsize:
        raise ValueError(f"not {length} ids")
    return np.frombuffer(array, dtype, length, start)
