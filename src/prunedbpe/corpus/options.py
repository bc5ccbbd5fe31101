"""What a user may choose about reading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """See :class:`prunedbpe.corpus.Corpus`."""

    text_field: str = "text"
    strict: bool = False
    batch_bytes: int = 16 << 20
