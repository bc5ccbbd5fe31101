"""Digests: short SHA-256 fingerprints of files, arrays and JSON, the same on every machine.

128 bits: too many for an accidental collision, short enough to read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe.types import AnyArray

_HEX_DIGITS = 32
_BLOCK_BYTES = 1 << 20
_UPDATE_BYTES = 1 << 26


def digest_file(path: str | os.PathLike[str]) -> str:
    """Digest the bytes of a file, read once in small blocks."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()[:_HEX_DIGITS]


class ArrayDigest:
    """Digest of one array whose values come block by block."""

    def __init__(self) -> None:
        self._values = hashlib.sha256()

    def update(self, block: AnyArray) -> None:
        """Add the next values, flattened."""
        little_endian = block.astype(block.dtype.newbyteorder("<"), order="C", copy=False)
        data = little_endian.reshape(-1).view(np.uint8)
        for begin in range(0, len(data), _UPDATE_BYTES):  # Ctrl-C acts between two updates
            self._values.update(data[begin : begin + _UPDATE_BYTES].data)

    def header(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
        """Type, shape and values of the whole array, for :func:`join_digests`."""
        name = dtype.newbyteorder("<").str
        return f"{name}{shape}{self._values.hexdigest()}".encode()


def join_digests(headers: Iterable[bytes]) -> str:
    """Digest several arrays by their headers."""
    return hashlib.sha256(b"".join(headers)).hexdigest()[:_HEX_DIGITS]


def digest_arrays(*arrays: AnyArray) -> str:
    """Digest the types, shapes and values of arrays.

    >>> import numpy as np
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], ">i8"))
    True
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], np.int32))
    False
    """
    headers = []
    for array in arrays:
        digest = ArrayDigest()
        digest.update(array)
        headers.append(digest.header(array.dtype, array.shape))
    return join_digests(headers)


def digest_json(value: Any) -> str:
    """Digest a JSON value, whatever the order of its keys.

    >>> digest_json({"a": 1, "b": [2.5]}) == digest_json({"b": [2.5], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_HEX_DIGITS]
