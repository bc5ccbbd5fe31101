"""``prunedbpe export``: a tokenizer -> a format of another library."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import info, print_json
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


def command(
    tokenizer: options.TokenizerFolder,
    format_: Annotated[
        ExportFormat,
        typer.Argument(
            metavar="FORMAT",
            help="transformers, decode-table: any tokenizer; huggingface: segmentation shortest, "
            "or Standard BPE; tiktoken: Standard BPE; all-ranks, paper: segmentation rank.",
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
    library_classes: Annotated[
        bool,
        typer.Option(
            "--library-classes",
            help="huggingface: cut by the character classes of the library, for gpt2 and o200k. "
            "tokenizers 1.0 needs it; characters newer than its Unicode version may differ.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Export a tokenizer to another format, exactly or not at all.

    A tokenizer with segmentation shortest becomes a stock tokenizer.json. Stock merge models cannot
    hide a token, so `huggingface` and `tiktoken` refuse a pruned vocabulary that is merged by rank.

    \b
    prunedbpe export tok huggingface -o folder   # AutoTokenizer reads it
    prunedbpe export tok huggingface -o tokenizer.json
    prunedbpe export pruned transformers -o folder  # needs prunedbpe there
    """
    tok = Tokenizer.load(tokenizer)
    if format_ is ExportFormat.TRANSFORMERS:
        from prunedbpe.integrations.transformers import PrunedBPETokenizer

        options.prepare_folder(output)
        PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(str(output))
    else:
        export(tok, format_.value, output, library_classes=library_classes)
    if not quiet:
        info(f"{format_.value} written to {output}")
    if as_json:
        files = sorted(map(str, output.iterdir())) if output.is_dir() else [str(output)]
        print_json({"format": format_.value, "output": str(output), "files": files})
