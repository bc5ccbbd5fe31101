"""A tokenizer as a notebook shows it: what it is, what it was trained for, some of its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prunedbpe._support.notebook_view import Share, view
from prunedbpe.vocabulary.vocabulary_view import view_tokens

if TYPE_CHECKING:
    from prunedbpe.tokenizer.tokenizer import Tokenizer


def view_tokenizer(tokenizer: Tokenizer) -> str:
    """Return HTML for a notebook."""
    vocabulary, training = tokenizer.vocabulary, tokenizer.training
    standard, length = (
        training.get(name) for name in ("standard_encoded_length", "encoded_length")
    )
    shorter = None
    if isinstance(standard, int) and isinstance(length, int) and standard > 0:
        shorter = Share(1 - length / standard)
    facts = {
        "vocab size": tokenizer.vocab_size,
        "merges": len(vocabulary.pairs),
        "internal tokens": vocabulary.internal_count,
        "special tokens": " ".join(tokenizer.special_tokens) or "none",
        "pretokenizer": tokenizer.pretokenizer.name,
        "segmentation": tokenizer.segmentation,
        "threshold": training.get("threshold"),
        "tokens of the training text": length,
        "fewer than Standard BPE": shorter,
    }
    return view("Tokenizer", facts, view_tokens(vocabulary))
