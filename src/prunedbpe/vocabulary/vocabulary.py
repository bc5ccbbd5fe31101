"""The vocabulary: merges and visibility as one finished, immutable artefact.

Encoding, export, inspection and evaluation all take a :class:`Vocabulary`. It checks itself when
built: children come before parents, no two tokens spell the same bytes, and every token encodes to
itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import check_type, wrong_type
from prunedbpe._support.json_values import shown
from prunedbpe._support.notebook_view import view
from prunedbpe._support.result_tables import ArrowExport
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
from prunedbpe.vocabulary.vocabulary_view import view_tokens, vocabulary_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa


class UnreachableTokenError(FormatError):
    """No text encodes to this token: a merge is missing or has too high a rank.

    Attributes:
        rank: The rank of the token.
    """

    def __init__(self, message: str, rank: int) -> None:
        super().__init__(message)
        self.rank = rank


@dataclass(frozen=True, eq=False)
class Vocabulary(ArrowExport):
    """Retained merges, which of their tokens are visible, and the special tokens.

    Attributes:
        pairs: Left and right rank of each retained merge; merge ``i`` makes rank ``256 + i``.
        visible: For every rank, bytes first, whether a model sees the token.
        special_tokens: Reserved tokens; their ids follow the ids of the visible tokens.
    """

    pairs: UInt32Array
    visible: BoolArray
    special_tokens: tuple[str, ...] = DEFAULT_SPECIAL_TOKENS

    def __post_init__(self) -> None:
        for name in ("pairs", "visible"):
            check_type(name, getattr(self, name), np.ndarray, "prunedbpe.train makes vocabularies")
        check_special_tokens(self.special_tokens)
        rank_count = BYTE_COUNT + len(self.pairs)
        if len(self.visible) != rank_count:
            raise FormatError(
                f"{len(self.pairs)} merges make {rank_count} ranks, "
                f"but visibility is given for {len(self.visible)}"
            )
        if not self.visible[:BYTE_COUNT].all():
            raise FormatError("a byte is hidden, but internal tokens must expand to visible ones")
        late = _core.find_late_part(self.pairs)
        if late is not None:
            raise FormatError(
                f"rank {BYTE_COUNT + late} is made of {self.pairs[late].tolist()}, "
                "but both must be lower ranks"
            )
        self._check_strings()
        for array in (self.pairs, self.visible):
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, object]:
        """Pickle the fields alone: cached properties must not change the bytes of a pickle."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _check_strings(self) -> None:
        """Refuse duplicate and unreachable tokens: an edited file may hold them."""
        # At most one of two tokens with the same bytes is reachable, so this finds either fault.
        rank = _core.find_unreachable(self.pairs)
        if rank is None:
            return
        for string, times in Counter(self.strings).items():
            if times > 1:
                ranks = [rank for rank, other in enumerate(self.strings) if other == string]
                raise UnreachableTokenError(
                    f"ranks {ranks} all spell {shown(string)}: only one of them can appear",
                    max(ranks),
                )
        raise UnreachableTokenError(
            f"{shown(self.strings[rank])} encodes to other tokens: this one can never appear", rank
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(vocab_size={self.vocab_size}, merges={len(self.pairs)}, "
            f"internal={self.internal_count})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "vocab size": self.vocab_size,
            "merges": len(self.pairs),
            "internal tokens": self.internal_count,
            "special tokens": " ".join(self.special_tokens) or "none",
        }
        return view("Vocabulary", facts, view_tokens(self))

    def to_arrow(self) -> pa.Table:
        """Return one row for each token, internal ones included, in order of token id.

        ``text`` is missing where the bytes are not valid UTF-8; ``rank``, ``left`` and ``right``
        where no merge makes the token.

        >>> tokens = Vocabulary(np.array([[97, 98]], np.uint32), np.ones(257, bool), ("<e>",))
        >>> tokens.to_arrow().slice(256).to_pylist()[0]  # doctest: +NORMALIZE_WHITESPACE
        {'token_id': 256, 'bytes': b'ab', 'text': 'ab', 'rank': 256, 'left': 97, 'right': 98,
         'visible': True, 'special': False}
        """
        return vocabulary_to_arrow(self)

    def __len__(self) -> int:
        """Number of tokens that a model sees."""
        return self.vocab_size

    @cached_property
    def visible_count(self) -> int:
        """Number of bytes and visible learned tokens."""
        return int(self.visible.sum())

    @property
    def internal_count(self) -> int:
        """Number of tokens kept only to build others."""
        return len(self.visible) - self.visible_count

    @property
    def vocab_size(self) -> int:
        """Number of tokens that a model sees: bytes, visible learned and special tokens."""
        return self.visible_count + len(self.special_tokens)

    @cached_property
    def spelled(self) -> tuple[ByteArray, Int64Array]:
        """The bytes of every rank: one flat array and offsets."""
        return _core.spell(self.pairs)

    @cached_property
    def strings(self) -> list[bytes]:
        """The bytes of every rank."""
        flat, offsets = self.spelled
        text = flat.tobytes()
        return [text[begin:end] for begin, end in pairwise(offsets.tolist())]

    @cached_property
    def token_ids(self) -> UInt32Array:
        """Token id of every rank."""
        return _core.assign_token_ids(self.visible, len(self.special_tokens))

    @property
    def visible_strings(self) -> tuple[list[bytes], UInt32Array]:
        """The strings that text may be cut into, and their token ids: all but special tokens."""
        ranks = np.flatnonzero(self.visible)
        return [self.strings[rank] for rank in ranks.tolist()], self.token_ids[ranks]

    @cached_property
    def ranks_by_id(self) -> Int64Array:
        """Rank of every token id, internal ones included; -1 for special tokens."""
        ranks = np.full(len(self.visible) + len(self.special_tokens), -1, np.int64)
        ranks[self.token_ids] = np.arange(len(self.visible))
        return ranks

    @cached_property
    def special_ids(self) -> dict[str, TokenId]:
        """Token id of each special token."""
        return {text: TokenId(self.visible_count + i) for i, text in enumerate(self.special_tokens)}

    @cached_property
    def expansions(self) -> tuple[UInt32Array, Int64Array]:
        """The visible token ids that every rank expands to: one flat array and offsets."""
        return _core.expand_internal(self.pairs, self.visible, self.token_ids)

    def expansion(self, rank: Rank | int) -> list[int]:
        """Return the visible token ids that one rank expands to."""
        flat, offsets = self.expansions
        ids: list[int] = flat[offsets[rank] : offsets[rank + 1]].tolist()
        return ids

    @cached_property
    def bytes_by_id(self) -> list[bytes]:
        """The bytes of every token id: visible and special tokens, then internal ones."""
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
        """Return the ranks built directly from this one."""
        return [
            Rank(BYTE_COUNT + i) for i in np.flatnonzero((self.pairs == rank).any(axis=1)).tolist()
        ]

    def unsupported_internal(self) -> list[Rank]:
        """Return the internal tokens that no visible token is built on."""
        supports = self.visible.copy()
        for rank in range(len(self.visible) - 1, BYTE_COUNT - 1, -1):
            if supports[rank]:
                supports[self.pairs[rank - BYTE_COUNT]] = True
        return [Rank(rank) for rank in np.flatnonzero(~supports).tolist()]


def check_special_tokens(special_tokens: Sequence[str]) -> tuple[str, ...]:
    """Refuse special tokens that are empty, duplicated or not valid UTF-8."""
    if isinstance(special_tokens, str):  # otherwise every letter would become a special token
        raise SettingsError(
            f"special_tokens is the text {shown(special_tokens)}", hint="give a list of texts"
        )
    if not isinstance(special_tokens, Iterable):
        raise wrong_type("special_tokens is a list of texts", special_tokens)
    for text in special_tokens:
        if not isinstance(text, str):
            raise SettingsError(f"special token {shown(text)} is not text")
        if not text:
            raise SettingsError("a special token is empty")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SettingsError(f"special token {shown(text)} holds a lone surrogate") from None
    if len(set(special_tokens)) < len(special_tokens):
        twice = next(text for text in special_tokens if special_tokens.count(text) > 1)
        raise SettingsError(f"special token {shown(twice)} is given twice")
    return tuple(special_tokens)
