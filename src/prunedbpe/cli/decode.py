"""``prunedbpe decode``: token ids -> documents."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer

from prunedbpe.cli import options
from prunedbpe.errors import FormatError, PrunedBPEError
from prunedbpe.tokenizer import TokenIds, Tokenizer

_NPY_MAGIC = b"\x93NUMPY"


def command(
    tokenizer: options.TokenizerFolder,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="What `encode` wrote, in any of its formats."),
    ] = "-",
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
    """
    tok = Tokenizer.load(tokenizer)
    if file == "-":
        _decode_stream(tok, sys.stdin.buffer, file, as_json)
    else:
        with Path(file).open("rb") as stream:
            _decode_stream(tok, stream, file, as_json)


def _decode_stream(tok: Tokenizer, stream: BinaryIO, name: str, as_json: bool) -> None:
    out = sys.stdout.buffer
    for place, ids in _read_ids(stream, name):
        try:
            document = tok.decode_bytes(ids)
        except PrunedBPEError as error:
            raise PrunedBPEError(f"{place}: {error.message}", hint=error.hint) from None
        if as_json:
            text = document.decode("utf-8", "replace")
            document = json.dumps({"text": text}, ensure_ascii=False).encode()
        out.write(document + b"\n")
    out.flush()


def _read_ids(stream: BinaryIO, name: str) -> Iterator[tuple[str, TokenIds]]:
    """The ids of every document, each with the place it stands at."""
    source = "standard input" if name == "-" else name
    first = stream.readline()
    if first.startswith(_NPY_MAGIC):
        try:
            array = np.load(io.BytesIO(first + stream.read()), allow_pickle=False)
            if array.ndim != 1 or array.dtype.kind not in "iu":
                raise ValueError(f"{array.ndim} dimensions of {array.dtype}")
        except ValueError as error:
            raise FormatError(f"{source}: not an array of token ids: {error}") from error
        yield source, array.tolist()
        return
    number = 1
    line = first
    while line:
        place = f"{source}, line {number}"
        yield place, _parse_line(line, place)
        line = stream.readline()
        number += 1


def _parse_line(line: bytes, place: str) -> list[int]:
    r"""Token ids of a line: a JSON object with ``ids``, a JSON list, or plain numbers.

    >>> [_parse_line(line, "") for line in (b'{"ids": [1, 2]}\n', b"[1, 2]", b"1 2\n", b"\n")]
    [[1, 2], [1, 2], [1, 2], []]
    """
    try:
        if line.lstrip()[:1] in (b"{", b"["):
            value: Any = json.loads(line)
            ids = value["ids"] if isinstance(value, dict) else value
        else:
            ids = [int(word) for word in line.split()]
    except (ValueError, KeyError) as error:
        raise _not_ids(place) from error
    if not isinstance(ids, list) or any(type(token_id) is not int for token_id in ids):
        raise _not_ids(place)
    return ids


def _not_ids(place: str) -> FormatError:
    return FormatError(
        f"{place}: not token ids", hint='a line holds {"ids": [...]}, a JSON list, or plain ids'
    )
