"""``prunedbpe encode``: documents -> token ids."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, BinaryIO

import numpy as np
import typer

from prunedbpe.cli import options
from prunedbpe.corpus import Corpus
from prunedbpe.files import atomic_write
from prunedbpe.tokenizer import AllowedSpecial, Tokenizer
from prunedbpe.types import UInt32Array


class IdFormat(str, Enum):
    """How token ids are written."""

    JSONL = "jsonl"
    IDS = "ids"
    NPY = "npy"


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
            help='A line {"ids": [...]} for each document, or a line of plain ids, or one NumPy '
            "array with the ids of all documents.",
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
    """
    tok = Tokenizer.load(tokenizer)
    corpus = Corpus(files or ["-"], text_field=text_field, normalize=nfc, strict=strict)
    names = allow_special or []
    allowed: AllowedSpecial = "all" if "all" in names else names
    tok.encode("", allowed_special=allowed)  # an unknown name is told before any text is read
    # A bar in the middle of the ids helps nobody.
    watcher = options.choose_progress(
        progress, quiet=quiet or (output is None and sys.stdout.isatty())
    )
    with (
        _open_output(output) as file,
        watcher.task("Encoding", total=corpus.size, unit="bytes") as task,
    ):
        arrays = []
        for batch in corpus.batches(task):
            texts = [document.decode() for document in batch.documents()]
            ids, offsets = tok.encode_batch_to_numpy(
                texts, allowed_special=allowed, threads=threads
            )
            if format_ is IdFormat.NPY:
                arrays.append(ids)
                continue
            bounds = offsets.tolist()
            for begin, end in pairwise(bounds):
                file.write(_line(ids[begin:end], format_))
        if format_ is IdFormat.NPY:
            np.save(file, np.concatenate([np.zeros(0, np.uint32), *arrays]))


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
