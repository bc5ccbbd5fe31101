"""Files of Megatron-LM's ``IndexedDataset``: ids one after the other, and an index.

``NAME.bin`` holds all ids without a header. ``NAME.idx``, little-endian:

====== ============================================================================
bytes  meaning
====== ============================================================================
9      ``MMIDIDX``, two zero bytes
8      version, 1
1      type of an id: 4 is int32, 5 int64, 8 uint16
8      number of sequences, n
8      number of documents + 1, d
4 n    tokens of each sequence, int32
8 n    where each begins in ``NAME.bin``, in bytes, int64
8 d    number of the first sequence of each document, and n at the end, int64
====== ============================================================================

We write one sequence for each document. A reader must expect several.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import Int64Array

_MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQQ")
_CODES = {4: "int32", 5: "int64", 8: "uint16"}
_LONGEST = (1 << 31) - 1


class MegatronIndex(NamedTuple):
    """What an index says.

    Attributes:
        dtype: The type of an id.
        offsets: Where each document begins, in ids, and the number of ids.
    """

    dtype: str
    offsets: Int64Array


def write_index(file: BinaryIO, offsets: Int64Array, dtype: str) -> None:
    """Write the index of documents that lie one after the other.

    Raises:
        SettingsError: A document has 2**31 tokens or more.
    """
    lengths = np.diff(offsets)
    if len(lengths) and lengths.max() > _LONGEST:
        raise SettingsError(
            f"document {int(lengths.argmax()) + 1} has {int(lengths.max()):,} tokens; "
            "an index of Megatron counts up to 2,147,483,647",
            hint="divide the document, or choose another format",
        )
    code = next(code for code, name in _CODES.items() if name == dtype)
    file.write(_HEADER.pack(_MAGIC, 1, code, len(lengths), len(offsets)))
    file.write(lengths.astype("<i4").data)
    file.write((offsets[:-1] * np.dtype(dtype).itemsize).astype("<i8").data)
    file.write(np.arange(len(offsets), dtype="<i8").data)


def read_index(path: Path) -> MegatronIndex:
    """Read an index that any program wrote.

    Raises:
        FormatError: It is damaged, of another version, or its sequences leave gaps.
    """
    data = path.read_bytes()
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise FormatError("not an index of Megatron")
    _, version, code, sequences, documents = _HEADER.unpack_from(data)
    if version != 1 or code not in _CODES:
        raise FormatError(f"version {version} with ids of type {code}")
    if len(data) - _HEADER.size not in (
        12 * sequences + 8 * documents,
        13 * sequences + 8 * documents,  # with a mode for each sequence, as for several media
    ):
        raise FormatError(f"not {sequences} sequences of {documents - 1} documents")
    begin = _HEADER.size + 4 * sequences
    lengths = np.frombuffer(data, "<i4", sequences, _HEADER.size).astype(np.int64)
    pointers = np.frombuffer(data, "<i8", sequences, begin)
    firsts = np.frombuffer(data, "<i8", documents, begin + 8 * sequences)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    if (lengths < 0).any() or (pointers != ends[:-1] * np.dtype(_CODES[code]).itemsize).any():
        raise FormatError("its sequences do not follow one another")
    if (
        not documents
        or (firsts[0], firsts[-1]) != (0, sequences)
        or (firsts[1:] < firsts[:-1]).any()
    ):
        raise FormatError("its documents do not follow one another")
    return MegatronIndex(_CODES[code], ends[firsts])
