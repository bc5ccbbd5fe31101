"""What follows from the tokens of a tokenizer for transformers, built once and not per call.

The tables are dropped when a token is added or a special token changes, and built again on use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from prunedbpe import _core
from prunedbpe.integrations.segments import AddedTokenLike, Segment, cut_at_added_tokens
from prunedbpe.tokenizer.special_tokens import special_pattern
from prunedbpe.types import Int64Array


@dataclass
class TokenTables:
    """Tables to find added tokens in text, to decode and to measure tokens.

    Attributes:
        known: The bytes of every token id of the tokenizer.
        added: The added tokens by id. An id may be one of the tokenizer's.
        special: Ids that decoding leaves out on request.
        surround: Puts special tokens around a list of ids.
    """

    known: Sequence[bytes]
    added: Mapping[int, AddedTokenLike]
    special: Collection[int]
    surround: Callable[[list[int]], list[int]]

    @cached_property
    def around(self) -> tuple[list[int], list[int]]:
        """The special tokens that a call adds before and after a text."""
        built = self.surround([-1])
        place = built.index(-1)
        return built[:place], built[place + 1 :]

    # Added tokens in text

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Matches any added token, the longest first."""
        texts = tuple(token.content for token in self.added.values())
        return special_pattern(texts) if texts else None

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token.content: token_id for token_id, token in self.added.items()}

    def cut(self, text: str) -> list[Segment] | None:
        """Cut a text at its added tokens; ``None`` if it holds none."""
        if self.pattern is None or not self.pattern.search(text):
            return None
        parts = [part for part in self.pattern.split(text) if part]
        return cut_at_added_tokens(parts, self._ids, self.added)

    # Tokens to text

    @cached_property
    def byte_lengths(self) -> Int64Array:
        """Bytes of every token id of the tokenizer."""
        return np.array([len(spelled) for spelled in self.known], np.int64)

    @cached_property
    def spelled(self) -> list[bytes]:
        """The bytes of every id; empty for an id between them that no token has."""
        spelled = [*self.known]
        spelled += [b""] * (max(self.added, default=-1) + 1 - len(spelled))
        for token_id, token in self.added.items():
            spelled[token_id] = token.content.encode()
        return spelled

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
