"""Token ids that a user passes: a list or an array, and what is wrong with others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prunedbpe._support.arguments import described, wrong_type
from prunedbpe.errors import PrunedBPEError, WrongTypeError
from prunedbpe.types import AnyArray, UInt32Array

TokenIds = Sequence[int] | UInt32Array


def as_uint32(ids: AnyArray) -> UInt32Array:
    """Convert ids to what native code takes; a number out of range must not become an id."""
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise WrongTypeError(
            f"token ids are a flat list of whole numbers, not {ids.ndim}-dimensional of type "
            f"{ids.dtype}"
        )
    if ids.dtype != np.uint32:
        outside = np.flatnonzero((ids < 0) | (ids > 0xFFFFFFFF))
        if len(outside):
            raise IndexError(f"{ids[outside[0]]} at index {outside[0]} is not a token id")
    return np.ascontiguousarray(ids, np.uint32)


def not_ids(ids: object, error: IndexError | TypeError) -> PrunedBPEError:
    """Return the error for ids that native code refused, or that :func:`as_uint32` did."""
    if isinstance(error, WrongTypeError):
        return error
    if isinstance(error, TypeError):
        whole = "token ids are a flat list of whole numbers"
        if isinstance(ids, str) or not isinstance(ids, Sequence):
            return wrong_type(whole, ids)
        wrong = (i for i, item in enumerate(ids) if not hasattr(item, "__index__"))
        place = next(wrong, 0)
        return WrongTypeError(f"{whole}, but item {place} is {described(ids[place])}")
    return PrunedBPEError(
        f"cannot decode: {error}", hint="was the text encoded with another tokenizer?"
    )
