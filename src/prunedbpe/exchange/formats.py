"""The formats of ``prunedbpe export`` by name; each export is exact or refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from prunedbpe.errors import SettingsError
from prunedbpe.exchange.decode_table import write_decode_table
from prunedbpe.exchange.exactness import require_rank
from prunedbpe.exchange.huggingface_export import (
    write_all_ranks,
    write_huggingface,
    write_huggingface_folder,
)
from prunedbpe.exchange.tiktoken_export import write_tiktoken
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.vocabulary.vocabulary_files import write_paper_files


def _write_huggingface(
    tokenizer: Tokenizer, output: Path, *, library_classes: bool = False
) -> None:
    write = write_huggingface_folder if _is_folder(output) else write_huggingface
    write(tokenizer, output, library_classes=library_classes)


def _write_tiktoken(tokenizer: Tokenizer, output: Path) -> None:
    write_tiktoken(tokenizer, output / "ranks.tiktoken" if _is_folder(output) else output)


def _write_paper(tokenizer: Tokenizer, folder: Path) -> None:
    require_rank(tokenizer, "the paper's implementation")
    write_paper_files(folder, tokenizer.vocabulary)


def _is_folder(output: Path) -> bool:
    return output.is_dir() or not output.suffix


_WRITERS: dict[str, Callable[[Tokenizer, Path], object]] = {
    "huggingface": _write_huggingface,
    "tiktoken": _write_tiktoken,
    "decode-table": write_decode_table,
    "all-ranks": write_all_ranks,
    "paper": _write_paper,
}

EXPORT_FORMATS = (*_WRITERS, "transformers")
"""``huggingface`` and ``tiktoken`` write a file or into a folder, the others into a folder."""


def export(
    tokenizer: Tokenizer, format: str, output: str | Path, *, library_classes: bool = False
) -> None:
    """Write a tokenizer in one of :data:`EXPORT_FORMATS`, except ``transformers``.

    Args:
        tokenizer: The tokenizer.
        format: The name of the format.
        output: A folder. For ``huggingface`` and ``tiktoken``, a name with a suffix is a file.
        library_classes: See :func:`~prunedbpe.exchange.huggingface_export.huggingface_settings`;
            for ``huggingface`` only.

    Raises:
        NotExactError: The format cannot express the tokenizer; the message names formats that can.
        SettingsError: The format is unknown, or has no ``library_classes``.
    """
    if format not in _WRITERS:
        raise SettingsError(
            f"unknown export format {format!r}", hint=f"use one of {', '.join(EXPORT_FORMATS)}"
        )
    writer = _WRITERS[format]
    if library_classes:
        if format != "huggingface":
            raise SettingsError(f"library_classes is for 'huggingface', not for {format!r}")
        writer = partial(_write_huggingface, library_classes=True)
    writer(tokenizer, Path(output))
