"""GreedTok: a vocabulary of strings that cover the corpus, without merges.

Lim et al. 2025, "A Partition Cover Approach to Tokenization", arXiv 2501.06246. Each step takes the
string that joins the most neighbouring bytes not joined yet. Encoding covers a chunk with the
tokens in the order of choice. One choice serves every smaller vocabulary, which is a prefix. Plain
Python: :func:`prunedbpe.reference.baselines.greedtok`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from prunedbpe import _core
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe.counts import ChunkCounts
from prunedbpe.types import Int64Array

_STEPS = 256
"""Tokens between two progress reports, and between two checks for Ctrl-C."""


@dataclass(frozen=True, eq=False)
class GreedTok:
    """The tokens of GreedTok, in order of choice.

    Attributes:
        tokens: The learned tokens; the 256 bytes are not among them.
        saved: How many tokens each one makes the training corpus shorter.
    """

    tokens: list[bytes]
    saved: Int64Array

    def saved_on(self, counts: ChunkCounts) -> Int64Array:
        """Return how many tokens each one makes another corpus shorter.

        >>> chosen = learn_greedtok(ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"that": 1}), 2)
        >>> chosen.saved_on(ChunkCounts.from_mapping({b"theater": 1, b"that": 2})).tolist()
        [2, 0]
        """
        saved: Int64Array = _core.greedtok_scores(
            np.frombuffer(b"".join(self.tokens), np.uint8),
            np.cumsum([0, *map(len, self.tokens)], dtype=np.int64),
            *counts.columns[:3],
        )
        return saved


def learn_greedtok(
    counts: ChunkCounts,
    required: int,
    *,
    least_frequency: int = 1,
    progress: Progress = SILENT,
) -> GreedTok:
    """Choose the tokens of GreedTok.

    Candidates are all strings of 2 to 254 bytes inside chunks. Of tied candidates the shortest is
    taken, then the one that occurs first.

    Args:
        counts: The corpus.
        required: Number of learned tokens; fewer are returned if nothing is left to join.
        least_frequency: Least number of occurrences of a candidate, overlapping ones included. As
            published, every string is a candidate, and a long one that occurs once may be chosen.
        progress: Progress reporter; silent by default.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> chosen = learn_greedtok(counts, 3)
    >>> chosen.tokens, chosen.saved.tolist()
    ([b'at', b'the', b'cat'], [4, 4, 2])
    """
    native = _core.GreedTokLearner(*counts.columns[:3], least_frequency)
    with progress.task("GreedTok", total=required, unit="tokens") as task:
        done = 0
        while done < required:
            taken = native.advance(min(_STEPS, required - done))
            if taken == 0:
                break
            done += taken
            task.advance(taken)
    data, offsets, saved = native.chosen()
    text = data.tobytes()
    tokens = [text[start:end] for start, end in pairwise(offsets.tolist())]
    return GreedTok(tokens, saved)
