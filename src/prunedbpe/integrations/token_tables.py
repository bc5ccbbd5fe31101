"""What follows from the tokens of a tokenizer for transformers, built once and not per call.

The tables are dropped when a token is added or a special token changes, and built again on use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from prunedbpe import _core
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet
from prunedbpe.integrations.added_tokens import (
    AddedTokenFinder,
    AddedTokenLike,
    cut_at_added_tokens,
)
from prunedbpe.integrations.segments import Segment
from prunedbpe.integrations.token_spans import spaces_of
from prunedbpe.types import Int64Array


@dataclass
class TokenTables:
    """Tables to find added tokens in text, to decode and to measure tokens.

    Attributes:
        known: The bytes of every token id of the tokenizer.
        added: The added tokens by id. An id may be one of the tokenizer's.
        special: Ids that decoding leaves out on request.
        surround: Puts special tokens around a list of ids.
        types: Returns the token types of what ``surround`` returns.
        normalize: Normalizes text, if the tokenizer does.
        by_alphabet: Added tokens spell bytes too if all their characters are in the byte alphabet,
            as in Hugging Face tokenizers.
        others: Tokens that are found in no text, by id.
    """

    known: Sequence[bytes]
    added: Mapping[int, AddedTokenLike]
    special: Collection[int]
    surround: Callable[[list[int]], list[int]]
    types: Callable[[list[int]], list[int]]
    normalize: Callable[[str], str] | None = None
    by_alphabet: bool = False
    others: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def around(self) -> tuple[list[int], list[int]]:
        """The special tokens that a call adds before and after a text."""
        built = self.surround([-1])
        place = built.index(-1)
        return built[:place], built[place + 1 :]

    @cached_property
    def types_around(self) -> tuple[list[int], int]:
        """The token types of the special tokens around a text, and that of the text."""
        types = self.types([-1])
        place = len(self.around[0])
        return types[:place] + types[place + 1 :], types[place]

    # Added tokens in text

    @cached_property
    def finders(self) -> list[AddedTokenFinder]:
        """They find tokens that match the text as it is, then those that match normalized text."""
        kinds: list[dict[int, AddedTokenLike]] = [{}, {}]
        for token_id, token in self.added.items():
            kinds[token.normalized][token_id] = token
        finders = [AddedTokenFinder(kinds[0]), AddedTokenFinder(kinds[1], self.normalize)]
        return [finder for finder in finders if finder.added]

    def cut(self, text: str, split_special: bool = False) -> list[Segment] | None:
        """Cut a text at its added tokens; ``None`` if it holds none."""
        return cut_at_added_tokens(text, self.finders, split_special)

    # Tokens to text

    @cached_property
    def byte_lengths(self) -> Int64Array:
        """Bytes of every token id of the tokenizer."""
        return np.array([len(spelled) for spelled in self.known], np.int64)

    @cached_property
    def spelled(self) -> list[bytes]:
        """The bytes of every id; empty for an id between them that no token has."""
        spelled = [*self.known]
        spelled += [b""] * (max([*self.added, *self.others], default=-1) + 1 - len(spelled))
        for token_id, name in self.others.items():
            spelled[token_id] = name.encode()
        for token_id, token in self.added.items():
            text = token.content
            spelled[token_id] = (self.by_alphabet and from_byte_alphabet(text)) or text.encode()
        return spelled

    @cached_property
    def spaces(self) -> tuple[Int64Array, Int64Array]:
        """How many spaces each token id of the tokenizer begins and ends with."""
        first, last = np.array(list(map(spaces_of, self.known)), np.int64).T
        return first, last

    @cached_property
    def _decoder(self) -> _core.Decoder:
        return _decoder(self.spelled)

    @cached_property
    def _decoder_without_special(self) -> _core.Decoder:
        """A decoder to which special tokens spell nothing."""
        spelled = [*self.spelled]
        for token_id in self.special:
            spelled[token_id] = b""
        return _decoder(spelled)

    def decode(self, ids: Any, skip_special: bool) -> str:
        """Return the text of a list of ids; an id that no token has spells nothing."""
        decoder = self._decoder_without_special if skip_special else self._decoder
        try:
            return decoder.decode_text(ids, "replace")
        except IndexError:  # an embedding may have more rows than the vocabulary
            count = len(self.spelled)
            return decoder.decode_text([i for i in ids if 0 <= i < count], "replace")


def _decoder(spelled: list[bytes]) -> _core.Decoder:
    offsets = np.cumsum([0, *map(len, spelled)], dtype=np.int64)
    return _core.Decoder(np.frombuffer(b"".join(spelled), np.uint8), offsets)
