"""Encoders: one vocabulary in files -> functions that encode and decode.

All libraries read the same 32k vocabulary, as a rank file or as a tokenizer.json. A library that
returns both lists and arrays has one entry for each. Add a library with one function under
``@encoder``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKENIZERS_RC = "tokenizers>=1.0.0rc1"


@dataclass(frozen=True)
class Files:
    """One vocabulary, split by "cl100k", in every format that a library reads."""

    folder: Path

    @property
    def standard(self) -> Path:
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
    """What a library offers; ``ids`` turns a result of ``one`` into a list of ids."""

    one: Callable[[str], Any]
    batch: Callable[[list[str]], Any]
    decode: Callable[[list[int]], Any]
    ids: Callable[[Any], list[int]] = list


@dataclass(frozen=True)
class Entry:
    """One row of the table.

    Attributes:
        returns: "list" or "array"; ratios compare results of the same kind.
        make: Loads the vocabulary.
        requirement: What to install into an environment of its own, because the release clashes
            with another peer; empty for a library of the extra ``bench``.
    """

    returns: str
    make: Callable[[Files], Encoder]
    requirement: str = ""


ENCODERS: dict[str, Entry] = {}


def encoder(
    name: str, returns: str, requirement: str = ""
) -> Callable[[Callable[[Files], Encoder]], Callable[[Files], Encoder]]:
    def register(make: Callable[[Files], Encoder]) -> Callable[[Files], Encoder]:
        ENCODERS[name] = Entry(returns, make, requirement)
        return make

    return register


def _own(folder: Path, returns: str) -> Encoder:
    from prunedbpe import Tokenizer

    tok = Tokenizer.load(folder)
    if returns == "list":
        return Encoder(tok.encode, tok.encode_batch, tok.decode_bytes)
    return Encoder(
        tok.encode_to_numpy, tok.encode_batch_to_numpy, tok.decode_bytes, lambda a: a.tolist()
    )


encoder("prunedbpe", "list")(lambda files: _own(files.standard, "list"))
encoder("prunedbpe, pruned", "list")(lambda files: _own(files.pruned, "list"))
encoder("prunedbpe, arrays", "array")(lambda files: _own(files.standard, "array"))
encoder("prunedbpe, arrays, pruned", "array")(lambda files: _own(files.pruned, "array"))


def _fastokens_ids(answer: Any) -> list[int]:
    return answer.ids if hasattr(answer, "ids") else list(answer)


@encoder("fastokens", "list")
def _fastokens(files: Files) -> Encoder:
    import fastokens

    tok = fastokens.Tokenizer.from_file(files.json)
    return Encoder(
        lambda text: _fastokens_ids(tok.encode(text)),
        lambda texts: [_fastokens_ids(answer) for answer in tok.encode_batch(texts)],
        tok.decode,
    )


@encoder("fastokens, flat", "array")
def _fastokens_flat(files: Files) -> Encoder:
    import fastokens

    tok = fastokens.Tokenizer.from_file(files.json)
    return Encoder(tok.encode_ordinary, tok.encode_batch_flat, tok.decode, _fastokens_ids)


@encoder("gigatoken", "array")
def _gigatoken(files: Files) -> Encoder:
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(files.tiktoken, pretokenizer="cl100k")
    return Encoder(tok.encode, tok.encode_batch, tok.decode, lambda answer: answer.tolist())


@encoder("gigatoken, lists", "list")
def _gigatoken_lists(files: Files) -> Encoder:
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(files.tiktoken, pretokenizer="cl100k")
    return Encoder(lambda text: tok.encode(text).tolist(), tok.encode_batch_list, tok.decode)


@encoder("splintr", "list")
def _splintr(files: Files) -> Encoder:
    import splintr

    tok = splintr.Tokenizer(files.tiktoken, splintr.CL100K_BASE_PATTERN)
    return Encoder(tok.encode_ordinary, tok.encode_batch, tok.decode_bytes)


@encoder("quicktok", "list")
def _quicktok(files: Files) -> Encoder:
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
def _tiktoken(files: Files) -> Encoder:
    from prunedbpe import Tokenizer
    from prunedbpe.exchange.tiktoken_export import to_tiktoken

    tok = to_tiktoken(Tokenizer.load(files.standard))
    threads = os.cpu_count() or 1
    return Encoder(
        tok.encode_ordinary,
        lambda texts: tok.encode_ordinary_batch(texts, num_threads=threads),
        tok.decode_bytes,
    )


@encoder("tokenizers 1.0rc", "list", TOKENIZERS_RC)
@encoder("tokenizers", "list")
def _tokenizers(files: Files) -> Encoder:
    from tokenizers import Tokenizer

    tok = Tokenizer.from_file(files.json)
    encode_batch = getattr(tok, "encode_batch_fast", tok.encode_batch)  # gone in 1.0
    return Encoder(
        lambda text: tok.encode(text, add_special_tokens=False).ids,
        lambda texts: [x.ids for x in encode_batch(texts, add_special_tokens=False)],
        tok.decode,
    )
