"""Pretokenizers: text -> chunks, the pieces that merges never cross."""

from prunedbpe.pretokenizers.pretokenizer import (
    BUILTIN_PRETOKENIZERS,
    UNICODE_VERSION,
    Pretokenizer,
    find_pretokenizer,
    pretokenize,
)

__all__ = [
    "BUILTIN_PRETOKENIZERS",
    "UNICODE_VERSION",
    "Pretokenizer",
    "find_pretokenizer",
    "pretokenize",
]
