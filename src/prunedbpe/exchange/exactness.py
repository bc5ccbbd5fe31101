"""What every export to another library asks first: can that library be exact at all?"""

from __future__ import annotations

from typing import Protocol

from prunedbpe.errors import NotExactError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.vocabulary import Vocabulary


class HasVocabulary(Protocol):
    """What an export needs of a tokenizer."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Merges, visibility and special tokens."""

    @property
    def pretokenizer(self) -> Pretokenizer:
        """What cuts text before merging."""


def require_standard(vocabulary: Vocabulary, target: str) -> None:
    """Refuse a vocabulary with internal tokens.

    A stock merge model emits whatever its merges build. With ``ab`` internal and ``abc`` visible
    it either can build ``abc``, and then emits ``ab`` as one id where no ``c`` follows, or cannot
    build ``abc`` at all. Neither encodes as the pruned tokenizer does.

    Raises:
        NotExactError: Tokens are internal; the message names one, and what is exact instead.
    """
    if not vocabulary.internal_count:
        return
    rank = next(rank for rank, visible in enumerate(vocabulary.visible) if not visible)
    parents = vocabulary.parents(rank)
    example = f"{vocabulary.strings[rank]!r}"
    if parents:
        example += f", needed to build {vocabulary.strings[parents[0]]!r}"
    raise NotExactError(
        f"{vocabulary.internal_count} tokens are internal (the first: {example}), and {target} "
        "would emit them as ids of their own: it cannot encode as this tokenizer does",
        hint="exact instead: format 'transformers' (a folder for AutoTokenizer), 'decode-table' "
        "(ids to bytes, for programs that only decode) or 'all-ranks' (a stock model over all "
        "ranks and the table that expands its ids); or train with threshold 0",
    )
