"""The formats of ``prunedbpe export`` by name, each exact or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prunedbpe.errors import SettingsError
from prunedbpe.exchange.decode_table import write_decode_table
from prunedbpe.exchange.exactness import HasVocabulary
from prunedbpe.exchange.huggingface_export import write_all_ranks, write_huggingface
from prunedbpe.exchange.tiktoken_export import write_tiktoken
from prunedbpe.vocabulary.vocabulary_files import write_paper_files

_WRITERS: dict[str, Callable[[HasVocabulary, Path], object]] = {
    "huggingface": write_huggingface,
    "tiktoken": write_tiktoken,
    "decode-table": write_decode_table,
    "all-ranks": write_all_ranks,
    "paper": lambda tokenizer, folder: write_paper_files(folder, tokenizer.vocabulary),
}

EXPORT_FORMATS = (*_WRITERS, "transformers")
"""``huggingface`` and ``tiktoken`` write a file, the others into a folder."""


def export(tokenizer: HasVocabulary, format: str, output: str | Path) -> None:
    """Write a tokenizer in one of :data:`EXPORT_FORMATS` but ``transformers``.

    Raises:
        NotExactError: The format cannot express the tokenizer; the message says what can.
        SettingsError: There is no such format.
    """
    if format not in _WRITERS:
        raise SettingsError(f"format {format!r}", hint=f"there are {', '.join(EXPORT_FORMATS)}")
    _WRITERS[format](tokenizer, Path(output))
