"""What a user may choose about reading."""

from __future__ import annotations

from prunedbpe.records import record


@record(frozen=True)
class ReadOptions:
    """See :class:`prunedbpe.corpus.Corpus`."""

    text_field: str = "text"
    normalize: bool = False
    strict: bool = False
    batch_bytes: int = 16 << 20
