"""Vocabulary-only segmentation: the fewest visible tokens for every chunk, exact.

In: a vocabulary, and text or chunk counts. Out: token ids, or lengths. Merge ranks play no part;
any visible string may stand anywhere in a chunk. Among segmentations with the fewest tokens, the
last token is as long as possible, then the one before it, and so on. A new chunk costs O(its length
times the longest token); a chunk seen before is looked up, as in encoding by rank. Plain Python:
:func:`prunedbpe.reference.shortest`.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING

import numpy as np

from prunedbpe import _core
from prunedbpe._support.threads import thread_count
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import Int64Array, UInt32Array
from prunedbpe.vocabulary import Vocabulary

if TYPE_CHECKING:  # for lengths of counted corpora; encoding does without
    from prunedbpe.counts import ChunkCounts


class ShortestSegmenter:
    """Cuts chunks into the fewest visible tokens; immutable, shared between threads.

    Args:
        strings: The visible strings; all 256 bytes are among them.
        pretokenizer: What cuts text into chunks.
        ids: Token id of each string; its place by default.

    Attributes:
        native: The native segmenter.

    >>> segmenter = ShortestSegmenter([bytes([b]) for b in range(256)] + [b"ab", b"abc", b"cde"])
    >>> segmenter.encode("abcde").tolist()  # "ab" and "cde"; merging by rank may find "abc"
    [256, 258]
    """

    def __init__(
        self,
        strings: Sequence[bytes],
        pretokenizer: str | Pretokenizer = "paper",
        *,
        ids: UInt32Array | None = None,
    ) -> None:
        self.pretokenizer = find_pretokenizer(pretokenizer)
        self._is_native = self.pretokenizer.is_native and not self.pretokenizer.normalization
        self.native = _core.ShortestEncoder(
            np.frombuffer(b"".join(strings), np.uint8),
            _offsets(strings),
            np.arange(len(strings), dtype=np.uint32) if ids is None else ids,
            self.pretokenizer.name if self.pretokenizer.is_native else "",
        )

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, pretokenizer: str | Pretokenizer = "paper"
    ) -> ShortestSegmenter:
        """The segmenter of a vocabulary: its visible strings, without special tokens."""
        strings, ids = vocabulary.visible_strings
        return cls(strings, pretokenizer, ids=ids)

    def encode(self, text: str) -> UInt32Array:
        """Token ids of a text; no part of it stands for a special token."""
        if self._is_native:
            return self.native.encode_to_array(text)
        data = np.frombuffer(self.pretokenizer.normalize(text).encode(), np.uint8)
        return self.native.encode_chunks(data, self.pretokenizer.chunk_ends(data))

    def encode_batch(
        self, texts: Sequence[str], *, threads: int | None = None
    ) -> tuple[UInt32Array, Int64Array]:
        """As :meth:`encode` of each text, on many threads: flat ids, and where each text begins."""
        if self._is_native:
            return self.native.encode_batch(list(texts), thread_count(threads))
        lists = [self.encode(text) for text in texts]
        return np.concatenate([np.zeros(0, np.uint32), *lists]), _offsets(lists)

    def chunk_lengths(self, counts: ChunkCounts, *, threads: int | None = None) -> UInt32Array:
        """The fewest tokens of every unique chunk."""
        return self.native.chunk_lengths(counts.data, counts.offsets, thread_count(threads))

    def total_length(self, counts: ChunkCounts, *, threads: int | None = None) -> int:
        """The fewest tokens of a whole corpus."""
        return self.native.total_length(*counts.columns[:3], thread_count(threads))

    def token_counts(self, counts: ChunkCounts, *, threads: int | None = None) -> Int64Array:
        """How often each token stands in a corpus, by token id up to the highest.

        >>> from prunedbpe import ChunkCounts
        >>> segmenter = ShortestSegmenter([bytes([b]) for b in range(256)] + [b"aa", b"aaa"])
        >>> counts = ChunkCounts.from_mapping({b"aaaaa": 2, b"aaaa": 1})  # aa aaa, a aaa
        >>> segmenter.token_counts(counts)[[97, 256, 257]].tolist()
        [1, 2, 3]
        """
        return self.native.token_counts(*counts.columns[:3], thread_count(threads))


def shortest_lengths(
    strings: Sequence[bytes], counts: ChunkCounts, *, threads: int | None = None
) -> int:
    """The fewest tokens of a corpus when chunks are cut into any of ``strings``.

    Args:
        strings: The visible strings; all 256 bytes are among them.
        counts: The corpus.
        threads: One per core by default.

    >>> from prunedbpe import ChunkCounts
    >>> counts = ChunkCounts.from_mapping({b"abcde": 3, b"ab": 2})
    >>> shortest_lengths([bytes([b]) for b in range(256)] + [b"ab", b"abc", b"cde"], counts)
    8
    """
    return ShortestSegmenter(strings, counts.pretokenizer).total_length(counts, threads=threads)


def _offsets(parts: Sequence[Sized]) -> Int64Array:
    """Where each part begins when all are concatenated, and where the last one ends."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)
