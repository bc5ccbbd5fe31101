"""Import any supported tokenizer: find the format, then read it exactly or refuse it by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from prunedbpe._support.arguments import to_path
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.exchange.huggingface_import import import_gpt2_files, import_huggingface
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.types import Settings
from prunedbpe.vocabulary.vocabulary_files import INTERNAL_FILE, VISIBLE_FILE, read_paper_files

_KNOWN_FILES = (
    "tokenizer.json, vocab.json with merges.txt, a .tiktoken rank file, "
    "vocab.txt with inter_vocab.txt"
)


def import_tokenizer(
    path: str | Path,
    *,
    pretokenizer: str | Pretokenizer | None = None,
    special_tokens: Mapping[str, int] | Sequence[str] | None = None,
    unicode_version: str | None = None,
) -> Tokenizer:
    """Import a tokenizer from any known format.

    Args:
        path: A ``tokenizer.json``; a ``.tiktoken`` rank file; a folder with a ``tokenizer.json``,
            with ``vocab.json`` and ``merges.txt``, or with ``vocab.txt`` and ``inter_vocab.txt``;
            or a folder that :meth:`Tokenizer.save` wrote.
        pretokenizer: How to cut text: a built-in name or a pattern. Only for rank files,
            ``vocab.json`` and ``vocab.txt``, which do not say it.
        special_tokens: The special tokens: with their ids for a rank file, by name for
            ``vocab.json``.
        unicode_version: The Unicode version of the library to reproduce, for files of another
            library.

    Raises:
        NotExactError: The original uses an unsupported feature; the message names it.
        FormatError: The format is unknown, or a file is damaged.
        SettingsError: The files say themselves what an option would decide.
    """
    path = to_path(path)
    given: Settings = {
        "pretokenizer": pretokenizer,
        "special_tokens": special_tokens,
        "unicode_version": unicode_version,
    }
    options = {name: value for name, value in given.items() if value is not None}
    finish_interrupted_commit(path if path.is_dir() else path.parent)
    read, files = _reader_of(path)
    for name in options:
        if name not in inspect.signature(read).parameters:
            raise SettingsError(
                f"{name} is no option for {path}: the files say it", hint=f"leave out {name}"
            )
    if "special_tokens" in options and read is import_gpt2_files:
        options["special_tokens"] = tuple(options["special_tokens"])
    tokenizer: Tokenizer = read(*files, **options)
    return tokenizer


def _reader_of(path: Path) -> tuple[Callable[..., Tokenizer], list[Path]]:
    """Return the function that reads a tokenizer, and the files it takes."""
    if path.is_file():
        return (import_huggingface if path.suffix == ".json" else import_tiktoken), [path]
    if not path.is_dir():
        raise FormatError(
            f"{path}: no such file or folder",
            hint=f"give a tokenizer or its folder: {_KNOWN_FILES}",
        )
    if (path / SETTINGS_FILE).is_file():
        return Tokenizer.load, [path]
    if (path / "tokenizer.json").is_file():
        return import_huggingface, [path]
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return import_gpt2_files, [path / "vocab.json", path / "merges.txt"]
    if (path / VISIBLE_FILE).is_file() and (path / INTERNAL_FILE).is_file():
        return import_paper_files, [path]
    rank_files = sorted(path.glob("*.tiktoken"))
    if len(rank_files) == 1:
        return import_tiktoken, rank_files
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
    vocabulary = read_paper_files(to_path(folder))
    return Tokenizer(vocabulary, pretokenizer, {"imported": {"format": "vocab.txt"}})
