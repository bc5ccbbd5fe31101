"""Arrow's columns of text -> bytes and spans, in Arrow's own memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from prunedbpe.types import ByteArray, Int64Array


def text_of(column: Any) -> tuple[ByteArray, Int64Array]:
    """The bytes of a column, and the spans of the rows that hold text: neither null nor empty."""
    if pa.types.is_string(column.type):
        offset_type: type[np.signedinteger[Any]] = np.int32
    else:
        offset_type = np.int64
        if not pa.types.is_large_string(column.type):
            column = column.cast(pa.large_string())
    _, offset_buffer, text_buffer = column.buffers()
    if len(column) == 0 or text_buffer is None:
        return np.empty(0, np.uint8), np.empty((0, 2), np.int64)
    offsets = np.frombuffer(offset_buffer, offset_type)[column.offset :][: len(column) + 1]
    spans = np.stack([offsets[:-1], offsets[1:]], axis=1).astype(np.int64)
    keep = spans[:, 1] > spans[:, 0]
    if column.null_count:
        keep &= column.is_valid().to_numpy(zero_copy_only=False)
    return np.frombuffer(text_buffer, np.uint8), spans[keep]
