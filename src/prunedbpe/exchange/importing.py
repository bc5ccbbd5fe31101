"""Tokenizers made elsewhere, taken over exactly or refused by the name of what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prunedbpe.errors import FormatError
from prunedbpe.exchange.huggingface_import import import_gpt2_files, import_huggingface
from prunedbpe.exchange.paper_import import import_paper_files
from prunedbpe.exchange.tiktoken_import import import_encoding, import_tiktoken
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.vocabulary.vocabulary_files import INTERNAL_FILE, VISIBLE_FILE

__all__ = [
    "ImportedTokenizer",
    "import_encoding",
    "import_gpt2_files",
    "import_huggingface",
    "import_paper_files",
    "import_tiktoken",
    "import_tokenizer",
]

_KNOWN_FILES = (
    "tokenizer.json, vocab.json with merges.txt, a .tiktoken rank file, "
    "vocab.txt with inter_vocab.txt"
)


def import_tokenizer(path: str | Path, **options: Any) -> Tokenizer:
    """Take over a tokenizer, whatever of the known formats it is in.

    Args:
        path: A ``tokenizer.json``; a ``.tiktoken`` rank file; a folder with a ``tokenizer.json``,
            with ``vocab.json`` and ``merges.txt``, or with ``vocab.txt`` and ``inter_vocab.txt``;
            or a folder of ours.
        **options: Those of the function for the format.

    Raises:
        NotExactError: The original uses something that is not supported; it is named.
        FormatError: The format is not known, or a file is damaged.
    """
    path = Path(path)
    if path.is_file():
        if path.suffix == ".json":
            return import_huggingface(path, **options)
        return import_tiktoken(path, **options)
    if not path.is_dir():
        raise FormatError(
            f"{path}: no such file or folder",
            hint=f"give a tokenizer, or its folder: {_KNOWN_FILES}",
        )
    if (path / SETTINGS_FILE).is_file():
        return Tokenizer.load(path)
    if (path / "tokenizer.json").is_file():
        return import_huggingface(path, **options)
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return import_gpt2_files(path / "vocab.json", path / "merges.txt", **options)
    if (path / VISIBLE_FILE).is_file() and (path / INTERNAL_FILE).is_file():
        return import_paper_files(path, **options)
    rank_files = sorted(path.glob("*.tiktoken"))
    if len(rank_files) == 1:
        return import_tiktoken(rank_files[0], **options)
    raise FormatError(
        f"{path}: holds no tokenizer that is known here",
        hint=f"known are {_KNOWN_FILES}",
    )
