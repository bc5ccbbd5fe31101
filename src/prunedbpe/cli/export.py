"""``prunedbpe export``: a tokenizer -> a format of another library."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import info
from prunedbpe.exchange.formats import export
from prunedbpe.tokenizer import Tokenizer


class ExportFormat(str, Enum):
    """The formats that can be written."""

    TRANSFORMERS = "transformers"
    HUGGINGFACE = "huggingface"
    TIKTOKEN = "tiktoken"
    DECODE_TABLE = "decode-table"
    ALL_RANKS = "all-ranks"
    PAPER = "paper"


_FILES = {ExportFormat.HUGGINGFACE: "tokenizer.json", ExportFormat.TIKTOKEN: "ranks.tiktoken"}


def command(
    tokenizer: options.TokenizerFolder,
    format_: Annotated[
        ExportFormat,
        typer.Argument(
            metavar="FORMAT",
            help="transformers, decode-table, all-ranks, paper: any tokenizer; huggingface, "
            "tiktoken: Standard BPE only.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Folder to write; for huggingface and tiktoken also a file.",
            show_default=False,
        ),
    ],
    quiet: options.Quiet = False,
) -> None:
    """Export a tokenizer to another format, exactly or not at all.

    Stock merge models cannot hide a token, so `huggingface` and `tiktoken` refuse a pruned
    vocabulary.

    \b
    prunedbpe export tok transformers -o folder    # AutoTokenizer.from_pretrained("folder")
    prunedbpe export standard huggingface -o tokenizer.json
    """
    tok = Tokenizer.load(tokenizer)
    if format_ in _FILES and (output.is_dir() or not output.suffix):
        output = output / _FILES[format_]
    if format_ is ExportFormat.TRANSFORMERS:
        from prunedbpe.integrations.transformers import PrunedBPETokenizer

        options.prepare_folder(output)
        PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(str(output))
    else:
        export(tok, format_.value, output)
    if not quiet:
        info(f"written to {output}")
