"""The formats of ``prunedbpe export`` by name; each export is exact or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prunedbpe.errors import SettingsError
from prunedbpe.exchange.decode_table import write_decode_table
from prunedbpe.exchange.exactness import require_own_ids
from prunedbpe.exchange.huggingface_export import write_all_ranks, write_huggingface
from prunedbpe.exchange.tiktoken_export import write_tiktoken
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.vocabulary.vocabulary_files import write_paper_files


def _write_paper(tokenizer: Tokenizer, folder: Path) -> None:
    require_own_ids(tokenizer)
    write_paper_files(folder, tokenizer.vocabulary)


_WRITERS: dict[str, Callable[[Tokenizer, Path], object]] = {
    "huggingface": write_huggingface,
    "tiktoken": write_tiktoken,
    "decode-table": write_decode_table,
    "all-ranks": write_all_ranks,
    "paper": _write_paper,
}

EXPORT_FORMATS = (*_WRITERS, "transformers")
"""``huggingface`` and ``tiktoken`` write one file, the others write into a folder."""


def export(tokenizer: Tokenizer, format: str, output: str | Path) -> None:
    """Write a tokenizer in one of :data:`EXPORT_FORMATS`, except ``transformers``.

    Raises:
        NotExactError: The format cannot express the tokenizer; the message names formats that can.
        SettingsError: The format is unknown.
    """
    if format not in _WRITERS:
        raise SettingsError(
            f"unknown export format {format!r}", hint=f"use one of {', '.join(EXPORT_FORMATS)}"
        )
    _WRITERS[format](tokenizer, Path(output))
