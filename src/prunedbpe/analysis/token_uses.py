"""How often a corpus uses each token of a tokenizer, and how many tokens it needs.

In: a tokenizer, a segmentation and chunk counts. Out: lengths, and uses by token id, without
encoding the corpus: by rank from replaying the merges, else from the fewest tokens of each chunk.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from prunedbpe.counts import ChunkCounts
from prunedbpe.merges import MergeTable, replay
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.types import Int64Array, Segmentation, check_segmentation
from prunedbpe.visibility.exposure import encoded_length, exposure, flow


class UseCounter:
    """Measures one tokenizer on any number of corpora.

    Args:
        tokenizer: The tokenizer.
        segmentation: How chunks are cut; by default as the tokenizer cuts them.
        threads: One per core by default.

    Attributes:
        segmentation: The segmentation in use.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> counter = UseCounter(tok)
    >>> counts = prunedbpe.count(iter(["that cat"]))
    >>> counter.uses(counts)[256:].tolist(), counter.length(counts)  # th at, space c at
    ([2, 1, 0, 0, 0, 0], 5)
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        segmentation: Segmentation | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        self._tokenizer, self._threads = tokenizer, threads
        self.segmentation = check_segmentation(
            tokenizer.segmentation if segmentation is None else segmentation
        )
        self._hidden = ~tokenizer.vocabulary.visible

    def uses(self, counts: ChunkCounts) -> Int64Array:
        """How often each token id occurs; special tokens never do."""
        uses = np.zeros(self._tokenizer.vocab_size, np.int64)
        if self.segmentation == "shortest":
            found = self._segmenter.token_counts(counts, threads=self._threads)
            uses[: len(found)] = found
            return uses
        applied = replay(self._merges, counts, threads=self._threads)
        flows = flow(self._merges.pairs, exposure(self._merges.pairs, applied), self._hidden)
        visible = np.flatnonzero(~self._hidden)
        uses[self._tokenizer.vocabulary.token_ids[visible]] = flows[visible]
        return uses

    def length(self, counts: ChunkCounts) -> int:
        """How many tokens the corpus encodes to."""
        if self.segmentation == "shortest":
            return self.fewest(counts)
        applied = replay(self._merges, counts, threads=self._threads)
        return encoded_length(self._merges.pairs, applied, self._hidden)

    def fewest(self, counts: ChunkCounts) -> int:
        """The fewest visible tokens for the corpus, whatever the segmentation."""
        return self._segmenter.total_length(counts, threads=self._threads)

    @cached_property
    def _merges(self) -> MergeTable:
        return MergeTable.from_pairs(self._tokenizer.vocabulary.pairs, self._tokenizer.pretokenizer)

    @cached_property
    def _segmenter(self) -> ShortestSegmenter:
        return ShortestSegmenter.of(self._tokenizer.vocabulary, self._tokenizer.pretokenizer)
