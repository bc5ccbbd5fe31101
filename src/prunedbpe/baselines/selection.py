"""A selection: which tokens of a merge list's prefix a model does not see."""

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
    """A number of merges to retain, and which of their tokens are hidden.

    Attributes:
        hidden: By rank, bytes first; its length says how many merges are retained.
    """

    hidden: BoolArray

    @property
    def merge_count(self) -> int:
        """Merges retained."""
        return len(self.hidden) - BYTE_COUNT

    @property
    def hidden_count(self) -> int:
        """Tokens kept only to build others."""
        return int(self.hidden.sum())

    @property
    def visible_learned(self) -> int:
        """Learned tokens a model sees."""
        return self.merge_count - self.hidden_count

    def length(self, pairs: UInt32Array, applied: Applied) -> int:
        """Tokens of the corpus that ``applied`` is about."""
        return encoded_length(pairs, applied, self.hidden)

    def vocabulary(self, merges: MergeTable, special_tokens: tuple[str, ...] = ()) -> Vocabulary:
        """The vocabulary, ready for a tokenizer."""
        return Vocabulary(merges.pairs[: self.merge_count].copy(), ~self.hidden, special_tokens)

    def visible_strings(self, merges: MergeTable) -> list[bytes]:
        """What the visible tokens spell, bytes first."""
        strings = merges.token_bytes
        return [strings[rank] for rank in np.flatnonzero(~self.hidden).tolist()]


def standard(merges: MergeTable, required: int) -> Selection:
    """Standard BPE: the first merges, nothing hidden.

    >>> standard(MergeTable.from_pairs([(97, 98), (256, 99)]), 1).merge_count
    1
    """
    need_merges(merges, required)
    return Selection(np.zeros(BYTE_COUNT + required, bool))


def need_merges(merges: MergeTable, wanted: int) -> None:
    """Refuse to work with fewer merges than ``wanted``."""
    if len(merges) < wanted:
        why = "no pair occurs twice after them" if merges.exhausted else "no more were learned"
        raise InsufficientCandidatesError(
            f"{wanted} merges are needed, there are {len(merges)}, and {why}",
            hint="learn more merges, or choose a smaller vocabulary",
        )
