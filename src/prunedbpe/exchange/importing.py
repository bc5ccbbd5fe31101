"""Import any supported tokenizer: find the format, then read it exactly or refuse it by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from prunedbpe._support.arguments import to_path
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.json_values import JsonValue
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.exchange.hub_names import download, is_hub_name
from prunedbpe.exchange.huggingface_import import huggingface_of, import_gpt2_files
from prunedbpe.exchange.sentencepiece_model import is_sentencepiece, refuse_sentencepiece
from prunedbpe.exchange.tekken_import import is_tekken, tekken_of
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.types import Settings
from prunedbpe.vocabulary.vocabulary_files import INTERNAL_FILE, VISIBLE_FILE, read_paper_files

_KNOWN_FILES = (
    "tokenizer.json, tekken.json, vocab.json with merges.txt, vocab.txt with inter_vocab.txt, "
    "a .tiktoken rank file, tokenizer.model"
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
        path: A ``tokenizer.json``, a ``tekken.json``, a rank file of tiktoken; a folder; or a
            repository of the Hugging Face Hub, such as ``"openai-community/gpt2"``, if there is no
            file or folder of this name and ``huggingface_hub`` is installed. A folder is one that
            :meth:`Tokenizer.save` wrote, or holds one of these, of which the first counts:
            ``tokenizer.json``; ``tekken.json``; ``vocab.json`` and ``merges.txt``; ``vocab.txt``
            and ``inter_vocab.txt``; one ``*.tiktoken``; ``tokenizer.model``.
        pretokenizer: How to cut text: a built-in name or a pattern. Only for rank files,
            ``vocab.json`` and ``vocab.txt``, which do not say it.
        special_tokens: The special tokens: with their ids for a rank file, by name for
            ``vocab.json``.
        unicode_version: The Unicode version of the library to reproduce, for files of another
            library.

    Raises:
        NotExactError: The original uses an unsupported feature; the message names it.
        FormatError: The format is unknown, or a file is damaged.
        MissingExtraError: The name of a repository needs ``huggingface_hub``.
        SettingsError: The files say themselves what an option would decide.
    """
    path = to_path(path)
    if not path.exists() and is_hub_name(str(path)):
        path = download(str(path))
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
        return _reader_of_file(path), [path]
    if not path.is_dir():
        raise FormatError(
            f"{path}: no such file or folder",
            hint=f"give a tokenizer or its folder: {_KNOWN_FILES}",
        )
    if (path / SETTINGS_FILE).is_file():
        return Tokenizer.load, [path]
    for name in ("tokenizer.json", "tekken.json"):
        if (path / name).is_file():
            return _reader_of_file(path / name), [path / name]
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return import_gpt2_files, [path / "vocab.json", path / "merges.txt"]
    if (path / VISIBLE_FILE).is_file() and (path / INTERNAL_FILE).is_file():
        return import_paper_files, [path]
    rank_files = sorted(path.glob("*.tiktoken"))
    for file in [*(rank_files if len(rank_files) == 1 else []), path / "tokenizer.model"]:
        if file.is_file():
            return _reader_of_file(file), [file]
    raise FormatError(
        f"{path}: holds no tokenizer of a known format", hint=f"known files: {_KNOWN_FILES}"
    )


def _reader_of_file(path: Path) -> Callable[..., Tokenizer]:
    """Tell by the contents what a file is: several formats are named tokenizer.model."""
    if path.suffix == ".json":
        contents = read_json(path)
        if is_tekken(JsonValue(contents)):
            return partial(tekken_of, JsonValue(contents))
        return partial(huggingface_of, contents)
    with naming(path):
        data = path.read_bytes()
        if is_sentencepiece(data):
            raise refuse_sentencepiece(data)
    return import_tiktoken


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
