"""A selection: a prefix of the merges, and which of its tokens are hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.merges.merge_table import Applied, MergeTable
from prunedbpe.types import BYTE_COUNT, BoolArray, UInt32Array
from prunedbpe.visibility.exposure import encoded_length
from prunedbpe.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Selection:
    """The retained merges, and which of their tokens are hidden.

    Attributes:
        hidden: Whether each rank is hidden, bytes first; its length gives the retained merges.
    """

    hidden: BoolArray

    @property
    def merge_count(self) -> int:
        """Number of retained merges."""
        return len(self.hidden) - BYTE_COUNT

    @property
    def hidden_count(self) -> int:
        """Number of tokens kept only to build others."""
        return int(self.hidden.sum())

    @property
    def visible_learned(self) -> int:
        """Number of learned tokens that a model sees."""
        return self.merge_count - self.hidden_count

    def length(self, pairs: UInt32Array, applied: Applied) -> int:
        """Return the encoded length of the corpus that ``applied`` describes."""
        return encoded_length(pairs, applied, self.hidden)

    def vocabulary(self, merges: MergeTable, special_tokens: tuple[str, ...] = ()) -> Vocabulary:
        """Return the vocabulary for a tokenizer."""
        return Vocabulary(merges.pairs[: self.merge_count].copy(), ~self.hidden, special_tokens)

    def visible_strings(self, merges: MergeTable) -> list[bytes]:
        """Return the bytes of the visible tokens."""
        strings = merges.token_bytes
        return [strings[rank] for rank in np.flatnonzero(~self.hidden).tolist()]


def standard(merges: MergeTable, required: int) -> Selection:
    """Select Standard BPE: the first ``required`` merges, nothing hidden.

    >>> standard(MergeTable.from_pairs([(97, 98), (256, 99)]), 1).merge_count
    1
    """
    need_merges(merges, required)
    return Selection(np.zeros(BYTE_COUNT + required, bool))


def need_merges(merges: MergeTable, wanted: int) -> None:
    """Raise an error if there are fewer merges than ``wanted``."""
    if len(merges) < wanted:
        why = "no pair occurs twice after them" if merges.exhausted else "no more were learned"
        raise InsufficientCandidatesError(
            f"{wanted} merges are needed but only {len(merges)} exist: {why}",
            hint="learn more merges, or choose a smaller vocabulary",
        )
