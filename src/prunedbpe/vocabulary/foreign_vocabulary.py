"""A vocabulary imported from another library; it keeps the token ids of that library.

The ids come from outside, so the vocabulary checks them when it is built: every importer and every
saved import goes through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from prunedbpe._support.json_values import shown
from prunedbpe.errors import FormatError
from prunedbpe.types import Int64Array, TokenId, UInt32Array
from prunedbpe.vocabulary.vocabulary import Vocabulary

MOST_UNUSED_IDS = 1 << 18
"""How many ids below the highest may have no token.

Tables by id need memory for unused ids too, so one wrong number must not make them huge. The public
vocabularies leave at most some thousands of ids unused.
"""


@dataclass(frozen=True, eq=False, repr=False)
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.internal_count:
            rank = int(self.visible.argmin())
            raise FormatError(
                f"{shown(self.strings[rank])} is internal: an imported vocabulary has only visible "
                "tokens"
            )
        for kind, ids, tokens in (
            ("ids_of_ranks", self.ids_of_ranks, self.visible),
            ("ids_of_specials", self.ids_of_specials, self.special_tokens),
        ):
            if len(ids) != len(tokens):
                raise FormatError(f"{kind} has {len(ids)} ids for {len(tokens)} tokens")
        self._check_unmergeable()
        self._check_ids()

    def _check_unmergeable(self) -> None:
        known = set(self.strings) if self.unmergeable else set()
        for string, token_id in self.unmergeable:
            if not string:
                raise FormatError(f"the token of id {shown(token_id)} is empty")
            if string in known:
                raise FormatError(f"two tokens spell {shown(string)}")
            known.add(string)

    def _check_ids(self) -> None:
        """Refuse ids that are not whole numbers, are used twice, or are far above all others."""
        owners: dict[int, bytes | str] = {}
        for token, token_id in self._tokens():
            if type(token_id) is not int or token_id < 0:  # True is an instance of int
                raise FormatError(
                    f"token {shown(token)} has the id {shown(token_id)}: ids are whole numbers "
                    "from 0"
                )
            if token_id in owners:
                raise FormatError(
                    f"tokens {shown(owners[token_id])} and {shown(token)} both have the id "
                    f"{token_id}"
                )
            owners[token_id] = token
        highest = max(owners)
        unused = highest + 1 - len(owners)
        if unused > MOST_UNUSED_IDS:
            raise FormatError(
                f"token {shown(owners[highest])} has the id {shown(highest)}, but there are only "
                f"{len(owners)} tokens",
                hint=f"at most {MOST_UNUSED_IDS} ids below the highest may be unused",
            )

    def _tokens(self) -> Iterator[tuple[bytes | str, int]]:
        """All tokens with their ids."""
        return chain(
            zip(self.strings, self.ids_of_ranks, strict=True),
            self.unmergeable,
            zip(self.special_tokens, self.ids_of_specials, strict=True),
        )

    @cached_property
    def vocab_size(self) -> int:
        """The highest id plus one."""
        return max(token_id for _, token_id in self._tokens()) + 1

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
