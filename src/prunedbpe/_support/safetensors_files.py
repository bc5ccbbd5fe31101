"""Safetensors files: tensors by name, copied to a new file with some of them changed.

A file is the length of its header as ``uint64``, the header as JSON (name -> type, shape, and where
its bytes begin and end), and the bytes. Tensors that stay are copied as bytes, whatever their type.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.input_files import naming
from prunedbpe.errors import FormatError
from prunedbpe.types import AnyArray, Settings

_BLOCK = 1 << 24
_MOST_HEADER = 100_000_000
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


class _Entry(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class SafetensorsFile:
    """A file, opened for reading; tensors are read when asked for.

    Args:
        path: The file.

    Attributes:
        metadata: The free text of its header.

    Raises:
        FormatError: The file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with naming(path), path.open("rb") as file:
            size = path.stat().st_size
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= min(size - 8, _MOST_HEADER):
                raise ValueError(f"a header of {length} bytes")
            header = json.loads(file.read(length))
            self.metadata: Settings = header.pop("__metadata__", {})
            self._start = 8 + length
            self._entries: dict[str, _Entry] = {}
            for name, entry in header.items():
                begin, end = entry["data_offsets"]
                shape = tuple(entry["shape"])
                if not 0 <= begin <= end <= size - self._start:
                    raise ValueError(f"tensor {name!r} ends outside the file")
                self._entries[name] = _Entry(entry["dtype"], shape, begin, end)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor."""
        return {name: entry.shape for name, entry in self._entries.items()}

    def floats(self, name: str) -> AnyArray:
        """Read a tensor; ``bfloat16`` becomes ``float32``.

        Raises:
            FormatError: It has another type, or its size is wrong.
        """
        dtype, shape, begin, end = self._entries[name]
        if dtype not in _TYPES:
            raise FormatError(
                f"{self._path}: tensor {name!r} is of type {dtype}",
                hint=f"convert it to one of {', '.join(_TYPES)}",
            )
        stored = np.dtype(_TYPES[dtype])
        if end - begin != math.prod(shape) * stored.itemsize:
            raise FormatError(f"{self._path}: tensor {name!r} has not the size of its shape")
        if not end - begin:
            return np.zeros(shape, np.float32)
        values = np.memmap(self._path, stored, "r", self._start + begin, shape)
        return _from_bfloat16(values) if dtype == "BF16" else values

    def copy_with(self, output: Path, changed: Mapping[str, AnyArray]) -> int:
        """Write all tensors to a new file, some of them changed, in the type they had.

        Returns:
            The bytes of its tensors.
        """
        header: Settings = {"__metadata__": self.metadata} if self.metadata else {}
        position = 0
        for name, (dtype, shape, begin, end) in self._entries.items():
            size = end - begin
            if name in changed:
                shape = changed[name].shape
                size = math.prod(shape) * np.dtype(_TYPES[dtype]).itemsize
            header[name] = {
                "dtype": dtype,
                "shape": list(shape),
                "data_offsets": [position, position + size],
            }
            position += size
        data = json.dumps(header, separators=(",", ":")).encode()
        data += b" " * (-len(data) % 8)  # tensors begin at a multiple of 8 bytes
        with atomic_write(output) as target, self._path.open("rb") as source:
            target.write(len(data).to_bytes(8, "little") + data)
            for name, entry in self._entries.items():
                if name in changed:
                    target.write(_stored(changed[name], entry.dtype))
                    continue
                source.seek(self._start + entry.begin)
                left = entry.end - entry.begin
                while left > 0:
                    block = source.read(min(left, _BLOCK))
                    if not block:
                        raise FormatError(f"{self._path}: cut short")
                    target.write(block)
                    left -= len(block)
        return position


def _from_bfloat16(values: AnyArray) -> AnyArray:
    return (values.astype(np.uint32) << 16).view(np.float32)


def _stored(values: AnyArray, dtype: str) -> Any:
    if dtype != "BF16":
        return np.ascontiguousarray(values, _TYPES[dtype]).data
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(values), 0x7FC0, rounded).astype("<u2").data
