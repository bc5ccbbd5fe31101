"""Whatever a user calls a tokenizer -> ours: an object of transformers, a path, or a Hub name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prunedbpe.errors import FormatError
from prunedbpe.exchange.huggingface_import import huggingface_of
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.tokenizer import Tokenizer


def open_tokenizer(given: Any, **options: Any) -> Tokenizer:
    """Return a tokenizer, importing it if it is not ours.

    Args:
        given: A :class:`Tokenizer`; a fast tokenizer of transformers or one of tokenizers; a path;
            or a name on the Hub, such as ``gpt2``.
        **options: Those of :func:`~prunedbpe.exchange.importing.import_tokenizer`.

    Raises:
        FormatError: It is neither a path nor a name that the Hub or its local cache knows.
        MissingExtraError: A name needs ``huggingface_hub``.
    """
    if isinstance(given, Tokenizer):
        return given
    if isinstance(given, (str, Path)):
        return import_tokenizer(given, **options)
    backend = getattr(given, "backend_tokenizer", given)
    if not hasattr(backend, "to_str"):
        raise FormatError(
            f"a {type(given).__name__} is not a tokenizer that can be read",
            hint="give a fast tokenizer of transformers, a path, or a name on the Hub",
        )
    return huggingface_of(json.loads(backend.to_str()), Path("tokenizer.json"), **options)
