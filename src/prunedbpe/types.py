"""The small types that pass between stages."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal, NewType, get_args

import numpy as np
from numpy.typing import NDArray

from prunedbpe.errors import SettingsError

Rank = NewType("Rank", int)
"""Position of a token in training order; bytes are 0-255. Decides merge priority."""

TokenId = NewType("TokenId", int)
"""The number a model sees, decided after pruning. Never a rank."""

BYTE_COUNT = 256
"""Ranks and token ids below this are the single bytes, always visible."""

DEFAULT_SPECIAL_TOKENS = ("<_EOS_>", "<_SOS_>", "<_SEP_>", "<_PAD_>")
"""The reserved tokens of the paper, in its order."""

Segmentation = Literal["rank", "shortest"]
"""How a chunk is cut into visible tokens: merged by rank and expanded, or into the fewest."""

SEGMENTATIONS: tuple[Segmentation, ...] = get_args(Segmentation)


def check_segmentation(value: object) -> Segmentation:
    """Return a segmentation, or raise a :class:`SettingsError` if there is none of this name."""
    for segmentation in SEGMENTATIONS:
        if value == segmentation:
            return segmentation
    raise SettingsError(f"segmentation={value!r}", hint="use 'rank' or 'shortest'")


class Visibility(IntEnum):
    """What becomes of a learned token."""

    VISIBLE = 0
    """Exported to the model: it has a token id below the vocabulary size."""
    INTERNAL = 1
    """Kept only to build other tokens; encoding expands it into visible ones."""
    DISCARDED = 2
    """Learned after the visible budget was full, and dropped."""


AnyArray = NDArray[Any]
BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]
FloatArray = NDArray[np.float64]
Int64Array = NDArray[np.int64]
UInt32Array = NDArray[np.uint32]

Settings = dict[str, Any]
"""A JSON object, as written to and read from settings files."""
