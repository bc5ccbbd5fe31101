"""The vocabulary: merges and visibility as one finished, immutable artefact.

Everything later (encoding, export, inspection, evaluation) takes a :class:`Vocabulary`. It checks
itself when built: children before parents, no string spelled twice, every token encodes to itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise

import numpy as np

from prunedbpe import _core
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import (
    BYTE_COUNT,
    DEFAULT_SPECIAL_TOKENS,
    BoolArray,
    ByteArray,
    Int64Array,
    Rank,
    TokenId,
    UInt32Array,
)


class UnreachableTokenError(FormatError):
    """A token that no text ever encodes to: some merge is missing, or comes too late.

    Attributes:
        rank: The token.
    """

    def __init__(self, message: str, rank: int) -> None:
        super().__init__(message)
        self.rank = rank


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Retained merges, which of their tokens are visible, and the special tokens.

    Attributes:
        pairs: Left and right rank of each retained merge; merge ``i`` makes rank ``256 + i``.
        visible: By rank, bytes first, whether a model sees the token.
        special_tokens: Reserved tokens; their ids follow those of the visible tokens.
    """

    pairs: UInt32Array
    visible: BoolArray
    special_tokens: tuple[str, ...] = DEFAULT_SPECIAL_TOKENS

    def __post_init__(self) -> None:
        check_special_tokens(self.special_tokens)
        pairs, visible = self.pairs, self.visible
        if len(visible) != BYTE_COUNT + len(pairs):
            raise FormatError(
                f"{len(pairs)} merges make {BYTE_COUNT + len(pairs)} ranks, "
                f"but visibility is given for {len(visible)}"
            )
        if not all(visible[:BYTE_COUNT]):
            raise FormatError("a byte is hidden, but every internal token must end in visible ones")
        late = _core.find_late_part(pairs)
        if late is not None:
            raise FormatError(
                f"rank {BYTE_COUNT + late} is made of {self.pairs[late].tolist()}, "
                "but both must be lower ranks"
            )
        self._check_strings()
        for array in (pairs, visible):
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what is worked out later must not change a pickle's bytes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _check_strings(self) -> None:
        """Both are proved of every learned vocabulary; a file made by hand may break them."""
        # Of two tokens that spell the same at most one can be reached, so this finds either fault.
        rank = _core.find_unreachable(self.pairs)
        if rank is not None:
            spelled = Counter(self.strings)
            for twice in (string for string, times in spelled.items() if times > 1):
                ranks = [rank for rank, string in enumerate(self.strings) if string == twice]
                raise UnreachableTokenError(
                    f"ranks {ranks} all spell {twice!r}: only one of them can appear", max(ranks)
                )
            raise UnreachableTokenError(
                f"{self.strings[rank]!r} encodes to other tokens: this one can never appear", rank
            )

    def __len__(self) -> int:
        """All a model sees: bytes, visible learned tokens and special tokens."""
        return self.vocab_size

    @cached_property
    def visible_count(self) -> int:
        """Bytes and visible learned tokens."""
        return int(self.visible.tobytes().count(True))

    @property
    def internal_count(self) -> int:
        """Tokens kept only to build others."""
        return len(self.visible) - self.visible_count

    @property
    def vocab_size(self) -> int:
        """All a model sees: bytes, visible learned tokens and special tokens."""
        return self.visible_count + len(self.special_tokens)

    @cached_property
    def spelled(self) -> tuple[ByteArray, Int64Array]:
        """What every rank spells, bytes first, as flat bytes and offsets."""
        flat, offsets = _core.spell(self.pairs)
        return flat, offsets

    @cached_property
    def strings(self) -> list[bytes]:
        """What every rank spells, bytes first."""
        flat, offsets = self.spelled
        text = flat.tobytes()
        return [text[begin:end] for begin, end in pairwise(offsets.tolist())]

    @cached_property
    def token_ids(self) -> UInt32Array:
        """Token id of every rank."""
        return _core.assign_token_ids(self.visible, len(self.special_tokens))

    @cached_property
    def ranks_by_id(self) -> Int64Array:
        """Rank of every token id, internal ones too; -1 for special tokens."""
        ranks = np.full(len(self.visible) + len(self.special_tokens), -1, np.int64)
        ranks[self.token_ids] = np.arange(len(self.visible))
        return ranks

    @cached_property
    def special_ids(self) -> dict[str, TokenId]:
        """Token id of each special token."""
        return {text: TokenId(self.visible_count + i) for i, text in enumerate(self.special_tokens)}

    @cached_property
    def expansion_columns(self) -> tuple[ByteArray, Int64Array]:
        """The visible token ids that stand for each rank: flat ids and offsets."""
        return _core.expand_internal(self.pairs, self.visible, self.token_ids)

    def expansion(self, rank: Rank | int) -> list[int]:
        """The visible token ids that stand for one rank."""
        flat, offsets = self.expansion_columns
        ids: list[int] = flat[offsets[rank] : offsets[rank + 1]].tolist()
        return ids

    @cached_property
    def bytes_by_id(self) -> list[bytes]:
        """What every token id spells: visible and special tokens, then internal ones."""
        spelled = [b""] * (len(self.strings) + len(self.special_tokens))
        for token_id, string in zip(self.token_ids.tolist(), self.strings, strict=True):
            spelled[token_id] = string
        for text, token_id in self.special_ids.items():
            spelled[token_id] = text.encode()
        return spelled

    @cached_property
    def ranks_by_string(self) -> dict[bytes, Rank]:
        """Rank of every string."""
        return {string: Rank(rank) for rank, string in enumerate(self.strings)}

    def parents(self, rank: Rank | int) -> list[Rank]:
        """Ranks that have this one as a part."""
        return [
            Rank(BYTE_COUNT + i) for i in np.flatnonzero((self.pairs == rank).any(axis=1)).tolist()
        ]

    def unsupported_internal(self) -> list[Rank]:
        """Internal tokens no visible token is built on; they are kept but help nobody."""
        supports = self.visible.copy()
        for rank in range(len(self.visible) - 1, BYTE_COUNT - 1, -1):
            if supports[rank]:
                supports[self.pairs[rank - BYTE_COUNT]] = True
        return [Rank(rank) for rank in np.flatnonzero(~supports).tolist()]


def check_special_tokens(special_tokens: Sequence[str]) -> tuple[str, ...]:
    """Refuse special tokens that cannot be told apart or cannot be written as UTF-8."""
    if isinstance(special_tokens, str):  # a sequence of letters to Python, hardly to the user
        raise SettingsError(
            f"special_tokens is the text {special_tokens!r}", hint="give a list of texts"
        )
    for text in special_tokens:
        if not isinstance(text, str):
            raise SettingsError(f"special token {text!r} is not text")
        if not text:
            raise SettingsError("a special token is empty")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SettingsError(f"special token {text!r} holds a lone surrogate") from None
    if len(set(special_tokens)) < len(special_tokens):
        twice = next(text for text in special_tokens if special_tokens.count(text) > 1)
        raise SettingsError(f"special token {twice!r} is given twice")
    return tuple(special_tokens)
