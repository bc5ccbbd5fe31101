"""``prunedbpe encode``: documents -> token ids."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.cli import options
from prunedbpe.corpus import Corpus
from prunedbpe.encoded.encoded_files import encode_corpus, encode_files, special_id
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import SpecialSet, Tokenizer
from prunedbpe.types import UInt32Array


class IdFormat(str, Enum):
    """How token ids are written."""

    JSONL = "jsonl"
    IDS = "ids"
    NPY = "npy"
    BIN = "bin"
    PARQUET = "parquet"
    ARROW = "arrow"


class SegmentationName(str, Enum):
    """How chunks are cut into tokens."""

    RANK = "rank"
    SHORTEST = "shortest"


_FILES_ONLY = (IdFormat.BIN, IdFormat.PARQUET, IdFormat.ARROW)
_LIBRARY = (IdFormat.NPY, *_FILES_ONLY)
"""Formats that the library writes by itself, given a file."""


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
        IdFormat,
        typer.Option(
            "--format",
            help='A line {"ids": [...]} for each document, or a line of plain ids; one NumPy array '
            "with the ids of all documents, or the same without a header, and the offsets of the "
            "documents in a second file; or a table with a column of lists.",
        ),
    ] = IdFormat.JSONL,
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
            metavar="TEXT", help="Special token to put behind every document.", show_default=False
        ),
    ] = None,
    segmentation: Annotated[
        SegmentationName,
        typer.Option(
            help="Merge by rank, as the tokenizer was trained, or cut every chunk into the fewest "
            "visible tokens."
        ),
    ] = SegmentationName.RANK,
    per_file: Annotated[
        bool,
        typer.Option(
            "--per-file",
            help="Write one file for every input into the folder OUTPUT; after a stop, files that "
            "are done are left alone.",
        ),
    ] = False,
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
) -> None:
    """Encode documents as token ids.

    \b
    echo "some text" | prunedbpe encode tok
    prunedbpe encode tok texts/ --format npy -o ids.npy
    prunedbpe encode tok shards/ --format bin --per-file --append "<_EOS_>" -o ids/
    """
    tok = Tokenizer.load(tokenizer)
    corpus = Corpus(files or ["-"], text_field=text_field, strict=strict)
    names = allow_special or []
    allowed: SpecialSet = "all" if "all" in names else names
    # What the tokenizer does not know is told before any text is read.
    tok.encode("", allowed_special=allowed, segmentation=segmentation.value)
    # A bar in the middle of the ids helps nobody.
    watcher = options.choose_progress(
        progress, quiet=quiet or (output is None and sys.stdout.isatty())
    )
    if per_file or format_ in _FILES_ONLY or (output is not None and format_ in _LIBRARY):
        _encode_files(
            tok, corpus, output, format_, per_file,
            append_token=append, allowed_special=allowed, segmentation=segmentation.value,
            threads=threads, progress=watcher,
        )  # fmt: skip
        return
    if append is not None:
        end = np.array([special_id(tok, append)], np.uint32)
    with (
        _open_output(output) as file,
        watcher.task("Encoding", total=corpus.size, unit="bytes") as task,
    ):
        arrays = []
        for batch in corpus.batches(task):
            texts = [document.decode() for document in batch.documents()]
            ids, offsets = tok.encode_batch_to_numpy(
                texts,
                allowed_special=allowed,
                segmentation=segmentation.value,
                threads=threads,
            )
            if format_ is IdFormat.NPY:
                arrays.append(ids)
                continue
            for begin, stop in pairwise(offsets.tolist()):
                document = ids[begin:stop]
                if append is not None:
                    document = np.concatenate([document, end])
                file.write(_line(document, format_))
        if format_ is IdFormat.NPY:
            np.save(file, np.concatenate([np.zeros(0, np.uint32), *arrays]))


def _encode_files(
    tok: Tokenizer,
    corpus: Corpus,
    output: Path | None,
    format_: IdFormat,
    per_file: bool,
    **how: Any,
) -> None:
    if format_ is IdFormat.IDS:
        raise SettingsError("--per-file does not write --format ids", hint="use jsonl")
    if output is None:
        raise SettingsError(
            f"--format {format_.value} cannot be written to standard output"
            if not per_file
            else "--per-file needs a folder",
            hint="give it with --output",
        )
    if per_file:
        options.prepare_folder(output)
        encode_files(tok, corpus, output, format_.value, **how)
    else:
        options.prepare_file(output)
        encode_corpus(tok, corpus, output, format_.value, **how)


@contextmanager
def _open_output(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    options.prepare_file(path)
    with atomic_write(path) as file:
        yield file


def _line(ids: UInt32Array, format_: IdFormat) -> bytes:
    if format_ is IdFormat.IDS:
        return (" ".join(map(str, ids.tolist())) + "\n").encode()
    return f'{{"ids": {ids.tolist()}}}\n'.encode()
