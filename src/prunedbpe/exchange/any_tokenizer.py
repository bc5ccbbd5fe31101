"""Whatever a user calls a tokenizer -> ours: an object of transformers, a path, or a Hub name."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from prunedbpe.errors import FormatError, MissingExtraError
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
        path = Path(given) if Path(given).exists() else _from_hub(str(given))
        return import_tokenizer(path, **options)
    backend = getattr(given, "backend_tokenizer", given)
    if not hasattr(backend, "to_str"):
        raise FormatError(
            f"a {type(given).__name__} is not a tokenizer that can be read",
            hint="give a fast tokenizer of transformers, a path, or a name on the Hub",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(backend.to_str(), encoding="utf-8")
        return import_tokenizer(path, **options)


def _from_hub(name: str) -> Path:
    """Return the ``tokenizer.json`` of a name on the Hub."""
    if name.startswith((".", "/")) or name.count("/") > 1 or name.endswith((".json", ".tiktoken")):
        raise FormatError(f"{name}: no such file or folder", hint="check the path")
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise MissingExtraError(
            "huggingface_hub", "transformers", f"{name!r}, which is no path but may be on the Hub,"
        ) from error
    try:
        return Path(hf_hub_download(name, "tokenizer.json"))
    except Exception as error:  # of the network, of the Hub, of the name
        raise FormatError(
            f"{name}: no such file or folder, and not found on the Hub: "
            + str(error).partition("\n")[0],
            hint="check the name and the connection, or give a tokenizer.json",
        ) from error
