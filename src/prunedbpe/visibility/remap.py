"""Token ids: what number the model sees for each rank, and what an internal token expands into.

Ids: bytes 0-255, visible learned tokens from 256 on in merge order, special tokens after them,
internal tokens from the vocabulary size on. The merge rank stays the training rank.
"""

from __future__ import annotations

from prunedbpe import _core
from prunedbpe.types import Column


def assign_token_ids(visible: Column, special_count: int) -> Column:
    """Token id of every rank.

    Args:
        visible: By rank, bytes first, whether the token is visible.
        special_count: How many special tokens stand between visible and internal ones.

    >>> visible = memoryview(bytes([True] * 256 + [False, True, True])).cast("?")
    >>> assign_token_ids(visible, special_count=1)[255:].tolist()
    [255, 259, 256, 257]
    """
    return _core.assign_token_ids(visible, special_count)


def expand_internal(pairs: Column, visible: Column, token_ids: Column) -> tuple[Column, Column]:
    """The visible token ids that stand for each rank, as flat ids and offsets.

    >>> import numpy as np
    >>> pairs = np.array([[97, 98], [256, 99]], np.uint32)  # "ab", "abc"
    >>> visible = np.ones(258, bool)
    >>> visible[256] = False
    >>> ids, offsets = expand_internal(pairs, visible, assign_token_ids(visible, 0))
    >>> ids[offsets[256]:offsets[257]].tolist(), ids[offsets[257]:offsets[258]].tolist()
    ([97, 98], [256])
    """
    ids, offsets = _core.expand_internal(pairs, visible, token_ids)
    return ids, offsets
