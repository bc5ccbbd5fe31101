"""Digests: short SHA-256 fingerprints of files, arrays and JSON, the same on every machine.

128 bits: too many for an accidental collision, short enough to read.
"""

from __future__ import annotations

import hashlib
import json
import os
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


def digest_arrays(*arrays: AnyArray) -> str:
    """Digest the types, shapes and values of arrays.

    >>> import numpy as np
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], ">i8"))
    True
    >>> digest_arrays(np.array([1, 2], np.int64)) == digest_arrays(np.array([1, 2], np.int32))
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        little_endian = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        digest.update(f"{little_endian.dtype.str}{array.shape}".encode())
        data = little_endian.reshape(-1).view(np.uint8)
        for begin in range(0, len(data), _UPDATE_BYTES):  # Ctrl-C acts between two updates
            digest.update(data[begin : begin + _UPDATE_BYTES].data)
    return digest.hexdigest()[:_HEX_DIGITS]


def digest_json(value: Any) -> str:
    """Digest a JSON value, whatever the order of its keys.

    >>> digest_json({"a": 1, "b": [2.5]}) == digest_json({"b": [2.5], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_HEX_DIGITS]
