"""The vocabulary that encoders are measured with, in every format that a library reads."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from common import HERE, file_hash
from competitors.encoders import Files

VOCAB_SIZE = 32_768
FOLDER = HERE.parent / "bench-vocab"
PUBLISHED_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def add_vocabulary_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vocab", type=Path, help="folder of a vocabulary of other texts")


def vocabulary_of(arguments: argparse.Namespace, texts: Sequence[Path]) -> Path:
    """The folder of the vocabulary that was given, or of that of the texts, which is made once."""
    known_as = hashlib.sha256("".join(map(file_hash, texts)).encode()).hexdigest()[:12]
    folder: Path = arguments.vocab or FOLDER / known_as
    if not (folder / "tokenizer.json").exists():
        _make(texts, folder)
    return folder


def _make(texts: Sequence[Path], folder: Path) -> None:
    """One learning run; Standard for all, and pruned to the same size for ourselves."""
    import prunedbpe
    from prunedbpe.corpus import Corpus
    from prunedbpe.exchange.huggingface_export import write_huggingface
    from prunedbpe.exchange.tiktoken_export import write_tiktoken

    files = Files(folder)
    corpus = Corpus([str(text) for text in texts])
    for threshold, where in (("40%", files.pruned), (0, files.own)):
        tok = prunedbpe.train(
            corpus, VOCAB_SIZE, threshold=threshold, special_tokens=(), pretokenizer="cl100k"
        )
        tok.save(where)
    write_tiktoken(tok, files.tiktoken)
    write_huggingface(tok, files.json)
    # The export spells out every class, for one result under any Unicode version. Libraries know
    # the published pattern and have quick code for it, which they shall use; ids are compared.
    settings = json.loads(Path(files.json).read_text())
    for step in settings["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"] = {"Regex": PUBLISHED_CL100K}
    Path(files.json).write_text(json.dumps(settings, ensure_ascii=False))
