"""Encoders: a vocabulary in files -> what a library encodes and decodes with.

All take the same 32k vocabulary, as a rank file and as a tokenizer.json. A library that answers in
two kinds (lists, arrays) has one entry for each. Add a library by one function with ``@encoder``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Files:
    """One vocabulary in every format that a library reads; cut by "cl100k"."""

    folder: Path

    @property
    def own(self) -> Path:
        return self.folder / "standard"

    @property
    def pruned(self) -> Path:
        return self.folder / "pruned"

    @property
    def tiktoken(self) -> str:
        return str(self.folder / "ranks.tiktoken")

    @property
    def json(self) -> str:
        return str(self.folder / "tokenizer.json")


@dataclass(frozen=True)
class Encoder:
    one: Callable[[str], Any]
    batch: Callable[[list[str]], Any] | None = None
    decode: Callable[[list[int]], Any] | None = None
    ids: Callable[[Any], list[int]] = list


@dataclass(frozen=True)
class Entry:
    kind: str  # "list" or "array"
    make: Callable[[Files], Encoder]


ENCODERS: dict[str, Entry] = {}


def encoder(name: str, kind: str) -> Callable[[Callable[[Files], Encoder]], None]:
    def keep(make: Callable[[Files], Encoder]) -> None:
        ENCODERS[name] = Entry(kind, make)

    return keep


def names_of(kind: str) -> Sequence[str]:
    return [name for name, entry in ENCODERS.items() if entry.kind == kind]


def _own(folder: Path, kind: str) -> Encoder:
    from prunedbpe import Tokenizer

    tok = Tokenizer.load(folder)
    if kind == "list":
        return Encoder(tok.encode, tok.encode_batch, tok.decode_bytes)
    return Encoder(
        tok.encode_to_numpy, tok.encode_batch_to_numpy, tok.decode_bytes, lambda a: a.tolist()
    )


encoder("prunedbpe", "list")(lambda files: _own(files.own, "list"))
encoder("prunedbpe pruned", "list")(lambda files: _own(files.pruned, "list"))
encoder("prunedbpe array", "array")(lambda files: _own(files.own, "array"))
encoder("prunedbpe pruned array", "array")(lambda files: _own(files.pruned, "array"))


@encoder("fastokens", "list")
def fastokens(files: Files) -> Encoder:
    import fastokens

    tok = fastokens.Tokenizer.from_file(files.json)

    def ids(answer: Any) -> list[int]:
        return answer.ids if hasattr(answer, "ids") else list(answer)

    return Encoder(
        lambda text: ids(tok.encode(text)),
        lambda texts: [ids(answer) for answer in tok.encode_batch(texts)],
        tok.decode,
    )


@encoder("fastokens flat", "array")
def fastokens_flat(files: Files) -> Encoder:
    import fastokens

    tok = fastokens.Tokenizer.from_file(files.json)
    return Encoder(
        tok.encode_ordinary,
        tok.encode_batch_flat,
        tok.decode,
        lambda answer: answer.ids if hasattr(answer, "ids") else list(answer),
    )


@encoder("gigatoken", "array")
def gigatoken(files: Files) -> Encoder:
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(files.tiktoken, pretokenizer="cl100k")
    return Encoder(tok.encode, tok.encode_batch, tok.decode, lambda answer: answer.tolist())


@encoder("gigatoken list", "list")
def gigatoken_list(files: Files) -> Encoder:
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(files.tiktoken, pretokenizer="cl100k")
    return Encoder(lambda text: tok.encode(text).tolist(), tok.encode_batch_list, tok.decode)


@encoder("splintr", "list")
def splintr(files: Files) -> Encoder:
    import splintr

    tok = splintr.Tokenizer(files.tiktoken, splintr.CL100K_BASE_PATTERN)
    return Encoder(tok.encode_ordinary, tok.encode_batch, tok.decode_bytes)


@encoder("quicktok", "list")
def quicktok(files: Files) -> Encoder:
    os.environ.setdefault("QUICKTOK_DATA", str(files.folder))
    import quicktok

    try:
        tok = quicktok.get_encoding("tokenizer")
    except RuntimeError:
        quicktok.import_tokenizer(files.json, "tokenizer")
        tok = quicktok.get_encoding("tokenizer")
    threads = os.cpu_count()
    return Encoder(
        tok.encode_ordinary, lambda texts: tok.encode_batch(texts, threads), tok.decode_bytes
    )


@encoder("tiktoken", "list")
def tiktoken(files: Files) -> Encoder:
    from prunedbpe import Tokenizer
    from prunedbpe.exchange.tiktoken_export import to_tiktoken

    tok = to_tiktoken(Tokenizer.load(files.own))
    threads = os.cpu_count() or 1
    return Encoder(
        tok.encode_ordinary,
        lambda texts: tok.encode_ordinary_batch(texts, num_threads=threads),
        tok.decode_bytes,
    )


@encoder("tokenizers", "list")
def tokenizers(files: Files) -> Encoder:
    from tokenizers import Tokenizer

    tok = Tokenizer.from_file(files.json)
    return Encoder(
        lambda text: tok.encode(text, add_special_tokens=False).ids,
        lambda texts: [x.ids for x in tok.encode_batch_fast(texts, add_special_tokens=False)],
        tok.decode,
    )
