"""Token ids and expansions."""

from __future__ import annotations

import numpy as np

from prunedbpe.visibility.remap import assign_token_ids, expand_internal

# "ab", "abc", "abcd", "cd"
PAIRS = np.array([[97, 98], [256, 99], [257, 100], [99, 100]], np.uint32)


def visible(*hidden: int) -> np.ndarray:
    mask = np.ones(256 + len(PAIRS), bool)
    mask[list(hidden)] = False
    return mask


def expansions(mask: np.ndarray, special_count: int = 0) -> list[list[int]]:
    flat, offsets = expand_internal(PAIRS, mask, assign_token_ids(mask, special_count))
    return [flat[offsets[rank] : offsets[rank + 1]].tolist() for rank in range(len(mask))]


def test_nothing_hidden():
    assert assign_token_ids(visible(), 4).tolist() == list(range(260))
    assert expansions(visible()) == [[token_id] for token_id in range(260)]


def test_internal_tokens_come_behind_the_special_ones():
    assert assign_token_ids(visible(256, 258), 2)[256:].tolist() == [260, 256, 261, 257]


def test_expansion_is_recursive():
    assert expansions(visible(258))[258] == [257, 100]
    assert expansions(visible(257, 258))[258] == [256, 99, 100]
    assert expansions(visible(256, 257, 258))[256:] == [
        [97, 98],
        [97, 98, 99],
        [97, 98, 99, 100],
        [256],
    ]


def test_everything_hidden():
    mask = visible(*range(256, 260))
    assert assign_token_ids(mask, 1)[256:].tolist() == [257, 258, 259, 260]
    assert all(token_id < 256 for ids in expansions(mask, 1) for token_id in ids)
