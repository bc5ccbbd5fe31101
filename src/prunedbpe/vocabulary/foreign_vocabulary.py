"""A vocabulary imported from another library; it keeps the token ids of that library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prunedbpe.types import Int64Array, TokenId, UInt32Array
from prunedbpe.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class ForeignVocabulary(Vocabulary):
    """A vocabulary without internal tokens whose ids are given, not assigned.

    Attributes:
        ids_of_ranks: Original id of every rank.
        ids_of_specials: Original id of every special token.
        unmergeable: Tokens that no merge produces, with their ids. They decode; encoding emits one
            only if the original looks up whole chunks and the chunk equals the token.
    """

    ids_of_ranks: tuple[int, ...] = ()
    ids_of_specials: tuple[int, ...] = ()
    unmergeable: tuple[tuple[bytes, int], ...] = ()

    @property
    def vocab_size(self) -> int:
        """The highest id plus one."""
        others = [token_id for _, token_id in self.unmergeable]
        return max([*self.ids_of_ranks, *self.ids_of_specials, *others]) + 1

    @cached_property
    def token_ids(self) -> UInt32Array:
        """Original id of every rank."""
        return np.array(self.ids_of_ranks, np.uint32)

    @property
    def visible_strings(self) -> tuple[list[bytes], UInt32Array]:
        """The strings that text may be cut into and their ids, with those that no merge makes."""
        strings = [*self.strings, *(string for string, _ in self.unmergeable)]
        ids = [*self.ids_of_ranks, *(token_id for _, token_id in self.unmergeable)]
        return strings, np.array(ids, np.uint32)

    @cached_property
    def ranks_by_id(self) -> Int64Array:
        """Rank of every id; -1 for special tokens, unmergeable tokens and unused ids."""
        ranks = np.full(self.vocab_size, -1, np.int64)
        ranks[self.token_ids] = np.arange(len(self.visible))
        return ranks

    @cached_property
    def special_ids(self) -> dict[str, TokenId]:
        """Original id of each special token."""
        return {
            text: TokenId(token_id)
            for text, token_id in zip(self.special_tokens, self.ids_of_specials, strict=True)
        }

    @cached_property
    def bytes_by_id(self) -> list[bytes]:
        """The bytes of every id; empty for unused ids."""
        spelled = [b""] * self.vocab_size
        for string, token_id in self.unmergeable:
            spelled[token_id] = string
        for string, token_id in zip(self.strings, self.ids_of_ranks, strict=True):
            spelled[token_id] = string
        for text, token_id in self.special_ids.items():
            spelled[token_id] = text.encode()
        return spelled

    def as_own(self) -> Vocabulary:
        """Return the same merges and special tokens with ids assigned by this library."""
        return Vocabulary(self.pairs.copy(), self.visible.copy(), self.special_tokens)
