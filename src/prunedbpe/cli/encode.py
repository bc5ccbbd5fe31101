"""``prunedbpe encode``: documents -> token ids."""

from __future__ import annotations

import sys
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import print_json
from prunedbpe.corpus import Corpus
from prunedbpe.encoded import encode_corpus, encode_files, format_by_ending
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import Tokenizer


class IdFormat(str, Enum):
    """How token ids are written."""

    JSONL = "jsonl"
    IDS = "ids"
    NPY = "npy"
    BIN = "bin"
    PARQUET = "parquet"
    ARROW = "arrow"
    MEGATRON = "megatron"
    MDS = "mds"


class IdTypeName(str, Enum):
    """The type of a token id."""

    UINT16 = "uint16"
    UINT32 = "uint32"
    INT32 = "int32"
    INT64 = "int64"


class MissingName(str, Enum):
    """What a row without text is."""

    ERROR = "error"
    EMPTY = "empty"
    SKIP = "skip"


def command(
    tokenizer: options.TokenizerFolder,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="Read as `train` reads a corpus; standard input by default.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; standard output by default."),
    ] = None,
    format_: Annotated[
        IdFormat | None,
        typer.Option(
            "--format",
            help='A line {"ids": [...]} or a line of plain ids per document; one NumPy array of '
            "all ids, or the same without a header, with offsets in a second file; a table with "
            "a column of lists; .bin and .idx of Megatron-LM; or a folder of MosaicML Streaming. "
            "By default the ending of OUTPUT decides, else jsonl.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="Name of the column of ids: jsonl, parquet, arrow and mds. "
            "By default ids, for mds tokens.",
            show_default=False,
        ),
    ] = None,
    dtype: Annotated[
        IdTypeName | None,
        typer.Option(
            help="Type of an id. By default the smallest that npy, bin and megatron know, uint32 "
            "in tables, int32 in mds.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        MissingName,
        typer.Option(
            help="A row whose text is null is an error, a row without ids (and so is an empty "
            "string), or no row.",
        ),
    ] = MissingName.ERROR,
    allow_special: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT|all",
            help="Special token whose text stands for it; repeat for more.",
            show_default=False,
        ),
    ] = None,
    append: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Special token to append to every document.", show_default=False
        ),
    ] = None,
    segmentation: options.SegmentationOption = None,
    per_file: Annotated[
        bool,
        typer.Option(
            "--per-file",
            help="Write one file per input into the folder OUTPUT, and skip those already done.",
        ),
    ] = False,
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    engine: options.Engine = None,
    address: options.Address = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Encode documents as token ids.

    The segmentation is the tokenizer's own, unless --segmentation overrides it.

    \b
    echo "some text" | prunedbpe encode tok
    prunedbpe encode tok texts/ -o ids.npy
    prunedbpe encode tok texts/ --column input_ids --dtype int32 -o ids.parquet
    prunedbpe encode tok texts/ --format megatron --append "<_EOS_>" -o train
    prunedbpe encode tok shards/ --format bin --per-file --append "<_EOS_>" \\
        -o ids/
    prunedbpe encode tok shards/ --format bin --engine ray -o ids/
    """
    if engine is None and address is not None:
        raise SettingsError("--address needs --engine", hint="add --engine ray")
    per_file = per_file or engine is not None
    if per_file and output is None:
        option = "--per-file" if engine is None else "--engine"
        raise SettingsError(f"{option} needs a folder", hint="give it with --output")
    if as_json and output is None and format_ not in (None, IdFormat.JSONL):
        raise SettingsError("--json needs --output", hint="standard output has the ids")
    tok = Tokenizer.load(tokenizer)
    corpus = Corpus(
        files or ["-"],
        **options.choose_reading(text_field, max_document, strict=strict),
        excluding=[output] if per_file else [],
    )
    specials = allow_special or []
    chosen: dict[str, Any] = {
        "column": column,
        "dtype": None if dtype is None else dtype.value,
        "missing": missing.value,
        "append_token": append,
        "allowed_special": "all" if "all" in specials else specials,
        "segmentation": options.choose_segmentation(segmentation),
        "normalization": "NFC" if nfc else None,
        "threads": threads,
        # A bar between lines of ids on a terminal makes both unreadable.
        "progress": options.choose_progress(
            progress, quiet=quiet or (output is None and sys.stdout.isatty())
        ),
    }
    by_ending = None if output is None or per_file else format_by_ending(output)
    name: Any = by_ending or IdFormat.JSONL.value if format_ is None else format_.value
    if output is None:
        encode_corpus(tok, corpus, sys.stdout.buffer, name, **chosen)
        return
    if per_file:
        options.prepare_folder(output)
        if engine is not None:
            from prunedbpe.encoded.ray_encoding import encode_files_on_ray

            report = encode_files_on_ray(tok, corpus, output, name, address=address, **chosen)
        else:
            report = encode_files(tok, corpus, output, name, **chosen)
    else:
        if name != "mds":  # a folder
            options.prepare_file(output)
        report = encode_corpus(tok, corpus, output, name, **chosen)
    if as_json:
        print_json({"output": str(output), "format": name, **asdict(report)})
