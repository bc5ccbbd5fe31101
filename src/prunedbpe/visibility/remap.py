"""Token ids: what number the model sees for each rank, and what an internal token expands into.

Ids: bytes 0-255, visible learned tokens from 256 on in merge order, special tokens after them,
internal tokens from the vocabulary size on. The merge rank stays the training rank.
"""

from __future__ import annotations

from itertools import chain

from prunedbpe.arrays import np
from prunedbpe.types import BYTE_COUNT, BoolArray, Int64Array, UInt32Array


def assign_token_ids(visible: BoolArray, special_count: int) -> UInt32Array:
    """Token id of every rank.

    Args:
        visible: By rank, bytes first, whether the token is visible.
        special_count: How many special tokens stand between visible and internal ones.

    >>> visible = np.ones(259, bool)
    >>> visible[256] = False
    >>> assign_token_ids(visible, special_count=1)[255:].tolist()
    [255, 259, 256, 257]
    """
    vocab_size = int(visible.sum()) + special_count
    ids = np.empty(len(visible), np.uint32)
    ids[visible] = np.arange(visible.sum())
    ids[~visible] = vocab_size + np.arange((~visible).sum())
    return ids


def expand_internal(
    pairs: UInt32Array, visible: BoolArray, token_ids: UInt32Array
) -> tuple[UInt32Array, Int64Array]:
    """The visible token ids that stand for each rank, as flat ids and offsets.

    >>> pairs = np.array([[97, 98], [256, 99]], np.uint32)  # "ab", "abc"
    >>> visible = np.ones(258, bool)
    >>> visible[256] = False
    >>> ids, offsets = expand_internal(pairs, visible, assign_token_ids(visible, 0))
    >>> ids[offsets[256]:offsets[257]].tolist(), ids[offsets[257]:offsets[258]].tolist()
    ([97, 98], [256])
    """
    hidden = np.flatnonzero(~visible)
    ids = token_ids.tolist()
    expansions: dict[int, list[int]] = {}
    for rank, (left, right) in zip(
        hidden.tolist(), pairs[hidden - BYTE_COUNT].tolist(), strict=True
    ):
        # Children have lower ranks, so theirs are final already.
        expansions[rank] = [
            *(expansions.get(left) or (ids[left],)),
            *(expansions.get(right) or (ids[right],)),
        ]
    widths = np.ones(len(visible), np.int64)
    widths[hidden] = [len(expansion) for expansion in expansions.values()]
    offsets = np.zeros(len(visible) + 1, np.int64)
    np.cumsum(widths, out=offsets[1:])
    flat = np.empty(int(offsets[-1]), np.uint32)
    is_visible = np.repeat(visible, widths)
    flat[is_visible] = token_ids[visible]
    flat[~is_visible] = list(chain.from_iterable(expansions.values()))
    return flat, offsets
