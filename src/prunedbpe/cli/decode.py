"""``prunedbpe decode``: token ids -> documents."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.encoded import read_documents
from prunedbpe.errors import PrunedBPEError
from prunedbpe.tokenizer import Tokenizer


def command(
    tokenizer: options.TokenizerFolder,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Output of `encode` in any format; standard input by default, except for bin, "
            "megatron and mds.",
        ),
    ] = "-",
    column: Annotated[
        str | None,
        typer.Option(
            help="Column with the ids; by default the one the file names, else ids.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help='A line {"text": ...} for each document; bytes that are not UTF-8 become U+FFFD.',
        ),
    ] = False,
) -> None:
    """Decode token ids.

    Every document ends with a line break; its bytes are otherwise exactly those that were encoded.

    \b
    prunedbpe encode tok text.txt | prunedbpe decode tok
    prunedbpe decode tok ids.parquet --json
    """
    tok = Tokenizer.load(tokenizer)
    out = sys.stdout.buffer
    for place, ids in read_documents(sys.stdin.buffer if file == "-" else file, column=column):
        try:
            document = tok.decode_bytes(ids)
        except PrunedBPEError as error:
            raise PrunedBPEError(f"{place}: {error.message}", hint=error.hint) from None
        if as_json:
            text = document.decode("utf-8", "replace")
            document = json.dumps({"text": text}, ensure_ascii=False).encode()
        out.write(document + b"\n")
    out.flush()
