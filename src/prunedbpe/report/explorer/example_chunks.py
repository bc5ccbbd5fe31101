"""Example chunks: for every token, the most frequent chunks in which it stands.

In: the unique chunks of a text, cut. Out: for each rank up to three excerpts. A long chunk is
shortened to what surrounds the token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prunedbpe.counts import ChunkCounts
from prunedbpe.types import Int64Array, UInt32Array

MOST_EXAMPLES = 3
"""Examples kept for each token."""

MOST_AROUND = 18
"""Bytes shown on each side of the token."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Excerpts of chunks, those of one rank after those of another.

    Attributes:
        per_rank: How many excerpts each rank has.
        excerpts: Whole UTF-8 characters; what is left out is marked by an ellipsis.
        starts: Where the token begins in its excerpt, in UTF-16 units as JavaScript counts.
        counts: How often the chunk occurs in the text.
        unique_chunks: In how many different chunks each rank stands.
    """

    per_rank: Int64Array
    excerpts: list[str]
    starts: Int64Array
    counts: Int64Array
    unique_chunks: Int64Array


def find_examples(
    ranks: UInt32Array, offsets: Int64Array, chunks: ChunkCounts, token_lengths: Int64Array
) -> Examples:
    """Find the examples of every rank.

    Args:
        ranks: All unique chunks, cut.
        offsets: Where each chunk begins in ``ranks``.
        chunks: The chunks.
        token_lengths: The bytes of every rank.

    >>> chunks = ChunkCounts.from_mapping({b"that": 1, b"hat": 5})
    >>> cut = np.array([116, 256, 256], np.uint32)  # t hat, hat
    >>> found = find_examples(cut, np.array([0, 2, 3]), chunks, np.array([1] * 256 + [3]))
    >>> found.excerpts, found.counts.tolist(), found.unique_chunks[256].item()
    (['that', 'hat', 'that'], [1, 5, 1], 2)
    """
    sizes = np.diff(offsets)
    chunk_of = np.repeat(np.arange(len(sizes)), sizes)
    # Group by rank; inside it, frequent chunks first. Of one chunk, only the first place counts.
    order = np.lexsort((chunk_of, -chunks.counts[chunk_of], ranks))
    rank, chunk = ranks[order], chunk_of[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (rank[1:] != rank[:-1]) | (chunk[1:] != chunk[:-1])
    order, rank, chunk = order[fresh], rank[fresh], chunk[fresh]
    unique_chunks = np.bincount(rank, minlength=len(token_lengths))
    first = np.cumsum(unique_chunks) - unique_chunks
    chosen = np.arange(len(rank)) - first[rank] < MOST_EXAMPLES
    order, chunk = order[chosen], chunk[chosen]
    text = chunks.data.tobytes()
    # All chunks lie end to end, so a token begins where the tokens before it end.
    ends = np.cumsum(token_lengths[ranks])
    begins = np.concatenate([[0], ends[:-1]])
    found = [
        _excerpt(text[low:high], begin - low, end - low)
        for low, high, begin, end in zip(
            chunks.offsets[chunk].tolist(),
            chunks.offsets[chunk + 1].tolist(),
            begins[order].tolist(),
            ends[order].tolist(),
            strict=True,
        )
    ]
    return Examples(
        per_rank=np.minimum(unique_chunks, MOST_EXAMPLES),
        excerpts=[excerpt for excerpt, _ in found],
        starts=np.array([start for _, start in found], np.int64),
        counts=chunks.counts[chunk],
        unique_chunks=unique_chunks,
    )


def _excerpt(chunk: bytes, begin: int, end: int) -> tuple[str, int]:
    """Return what surrounds a token, cut between characters, and where the token begins in it.

    >>> _excerpt("中文a".encode() + b"b" * 40, 6, 7)
    ('中文abbbbbbbbbbbbbbbbbb…', 2)
    """
    low, high = max(begin - MOST_AROUND, 0), min(end + MOST_AROUND, len(chunk))
    while low > 0 and chunk[low] & 0xC0 == 0x80:
        low -= 1
    while high < len(chunk) and chunk[high] & 0xC0 == 0x80:
        high += 1
    before = "…" * (low > 0) + chunk[low:begin].decode(errors="replace")
    text = "…" * (low > 0) + chunk[low:high].decode(errors="replace") + "…" * (high < len(chunk))
    return text, len(before.encode("utf-16-le")) // 2
