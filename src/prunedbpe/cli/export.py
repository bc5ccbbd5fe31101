"""``prunedbpe export``: a tokenizer -> files of other libraries."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.messages import tell


class ExportFormat(str, Enum):
    """What can be written."""

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
            help="transformers, decode-table, all-ranks, paper: exact for every tokenizer; "
            "huggingface, tiktoken: exact for Standard BPE, refused for pruned vocabularies.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The folder; for huggingface and tiktoken it may be the file.",
            show_default=False,
        ),
    ],
    quiet: options.Quiet = False,
) -> None:
    """Write a tokenizer for other libraries, exactly or not at all.

    A pruned vocabulary is no stock merge model: one that can build a token emits the steps on the
    way to it as tokens of their own. So `huggingface` and `tiktoken` refuse it.

    \b
    prunedbpe export tok transformers -o folder    # AutoTokenizer.from_pretrained("folder")
    prunedbpe export standard huggingface -o tokenizer.json
    """
    from prunedbpe.exchange.formats import export
    from prunedbpe.tokenizer import Tokenizer

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
        tell(f"written to {output}")
