"""Exposure, flow and encoded length of a corpus for any prefix of the merges and any hidden set.

In: the pairs and what they did to a corpus (:class:`~prunedbpe.merges.merge_table.Applied`). Out:
numbers, without touching the corpus again; each is one pass over the merge list. With ``n_i`` the
replacements of merge ``i``, after the first K merges:

- total tokens ``T(K) = bytes - sum(n_i)``
- exposure ``E_K(t) = n_t - sum(n_i * how often t is a part of merge i)``
- with a hidden set H: ``flow(t) = E_K(t) + sum of flow(p) over the hidden p that t is a part of``,
  and ``encoded length = T(K) + sum of flow(t) over H``: each expansion turns one token into two.

Proofs are in ``docs/concepts/visibility.md``.
"""

from __future__ import annotations

import numpy as np

from prunedbpe.merges.merge_table import Applied
from prunedbpe.types import BYTE_COUNT, BoolArray, Int64Array, UInt32Array


def total_tokens(applied: Applied, merge_count: int | None = None) -> int:
    """Tokens of the corpus after the first ``merge_count`` merges (all by default)."""
    return applied.total_bytes - int(applied.replacements[:merge_count].sum())


def lengths_by_prefix(applied: Applied) -> Int64Array:
    """Tokens of the corpus after 0, 1, 2, ... merges: Standard BPE of every size at once."""
    lengths = np.empty(len(applied) + 1, np.int64)
    lengths[0] = applied.total_bytes
    np.subtract(applied.total_bytes, np.cumsum(applied.replacements), out=lengths[1:])
    return lengths


def exposure(
    pairs: UInt32Array,
    applied: Applied,
    merge_count: int | None = None,
    after_fewer: Int64Array | None = None,
) -> Int64Array:
    """How often each rank stands in the corpus after the first ``merge_count`` merges.

    Args:
        pairs: Left and right rank of each merge.
        applied: What the merges did to the corpus.
        merge_count: How many of them to apply; all by default.
        after_fewer: The exposures after some of them: only the others are gone through.

    Returns:
        Exposure by rank, bytes first.

    >>> from prunedbpe.counts import ChunkCounts
    >>> from prunedbpe.merges import learn
    >>> merges = learn(ChunkCounts.from_mapping({b"hat": 3, b"that": 2, b"ha": 1}), 2)
    >>> exposure(merges.pairs, merges.applied)[256:].tolist()  # "ha", "hat"
    [1, 5]
    """
    known = applied.byte_counts if after_fewer is None else after_fewer
    others = slice(len(known) - BYTE_COUNT, merge_count)
    replacements = applied.replacements[others]
    exposures = np.concatenate([known, replacements])
    for side in (0, 1):
        np.subtract.at(exposures, pairs[others, side], replacements)
    return exposures


def flow(pairs: UInt32Array, exposures: Int64Array, hidden: BoolArray) -> Int64Array:
    """How often each rank is met while hidden tokens are expanded.

    Args:
        pairs: Left and right rank of each merge.
        exposures: Exposure by rank, for the corpus and prefix in question.
        hidden: By rank, whether the token is hidden; bytes never are.

    Returns:
        By rank: for a hidden token the number of its expansions, for any other its number in the
        encoded corpus.
    """
    flows = exposures.copy()
    # All hidden tokens hand their share down at once, then those that got some do again: as many
    # rounds as hidden tokens are nested, not as many as there are tokens.
    ranks = np.flatnonzero(hidden)
    shares = exposures[ranks]
    passed = np.empty_like(flows)
    while len(ranks):
        passed[:] = 0
        np.add.at(passed, pairs[ranks - BYTE_COUNT].ravel(), np.repeat(shares, 2))
        flows += passed
        ranks = np.flatnonzero(hidden & (passed != 0))
        shares = passed[ranks]
    return flows


def encoded_length(
    pairs: UInt32Array, applied: Applied, hidden: BoolArray, exposures: Int64Array | None = None
) -> int:
    """Tokens of the corpus when all merges of ``hidden`` apply and its hidden tokens are expanded.

    Args:
        pairs: Left and right rank of each merge.
        applied: What the merges did to the corpus.
        hidden: By rank, whether the token is hidden; its length decides how many merges apply.
        exposures: Those after these merges, if they are known already.

    >>> from prunedbpe.counts import ChunkCounts
    >>> from prunedbpe.merges import learn
    >>> merges = learn(ChunkCounts.from_mapping({b"hat": 3, b"that": 2, b"ha": 1}), 2)
    >>> hidden = np.zeros(258, bool)
    >>> hidden[256] = True  # "ha": its one occurrence becomes "h", "a"
    >>> encoded_length(merges.pairs, merges.applied, hidden)
    9
    """
    merge_count = len(hidden) - BYTE_COUNT
    if exposures is None:
        exposures = exposure(pairs, applied, merge_count)
    flows = flow(pairs, exposures, hidden)
    return total_tokens(applied, merge_count) + int(flows[hidden].sum())
