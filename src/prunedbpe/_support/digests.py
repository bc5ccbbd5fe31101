"""Digests: short SHA-256 fingerprints of files and arrays, the same on every machine.

128 bits: too many for an accidental collision, short enough to read.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from prunedbpe.types import AnyArray

_HEX_DIGITS = 32
_BLOCK_BYTES = 1 << 20


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
        digest.update(little_endian.data)
    return digest.hexdigest()[:_HEX_DIGITS]
