"""Import any supported tokenizer: find the format, then read it exactly or refuse it by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe.errors import FormatError
from prunedbpe.exchange.huggingface_import import import_gpt2_files, import_huggingface
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.vocabulary.vocabulary_files import INTERNAL_FILE, VISIBLE_FILE, read_paper_files

_KNOWN_FILES = (
    "tokenizer.json, vocab.json with merges.txt, a .tiktoken rank file, "
    "vocab.txt with inter_vocab.txt"
)


def import_tokenizer(path: str | Path, **options: Any) -> Tokenizer:
    """Import a tokenizer from any known format.

    Args:
        path: A ``tokenizer.json``; a ``.tiktoken`` rank file; a folder with a ``tokenizer.json``,
            with ``vocab.json`` and ``merges.txt``, or with ``vocab.txt`` and ``inter_vocab.txt``;
            or a folder that :meth:`Tokenizer.save` wrote.
        **options: The options of the function for the format.

    Raises:
        NotExactError: The original uses an unsupported feature; the message names it.
        FormatError: The format is unknown, or a file is damaged.
    """
    path = Path(path)
    finish_interrupted_commit(path if path.is_dir() else path.parent)
    if path.is_file():
        if path.suffix == ".json":
            return import_huggingface(path, **options)
        return import_tiktoken(path, **options)
    if not path.is_dir():
        raise FormatError(
            f"{path}: no such file or folder",
            hint=f"give a tokenizer or its folder: {_KNOWN_FILES}",
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
        f"{path}: holds no tokenizer of a known format", hint=f"known files: {_KNOWN_FILES}"
    )


def import_paper_files(
    folder: str | Path, *, pretokenizer: str | Pretokenizer = "reference"
) -> Tokenizer:
    """Read ``vocab.txt`` and ``inter_vocab.txt`` of the paper's released implementation.

    Args:
        folder: The folder of both files.
        pretokenizer: How to cut text. The files do not say; the default cuts as that
            implementation does.
    """
    vocabulary = read_paper_files(Path(folder))
    return Tokenizer(vocabulary, pretokenizer, {"imported": {"format": "vocab.txt"}})
