"""Import any supported tokenizer: find the format, then read it exactly or refuse it by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.json_values import JsonValue
from prunedbpe.errors import FormatError
from prunedbpe.exchange.hub_names import download, is_hub_name
from prunedbpe.exchange.huggingface_import import import_gpt2_files, import_huggingface_settings
from prunedbpe.exchange.sentencepiece_model import is_sentencepiece, refuse_sentencepiece
from prunedbpe.exchange.tekken_import import is_tekken, tekken_of
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.vocabulary.vocabulary_files import INTERNAL_FILE, VISIBLE_FILE, read_paper_files

_KNOWN_FILES = (
    "tokenizer.json, tekken.json, vocab.json with merges.txt, vocab.txt with inter_vocab.txt, "
    "a .tiktoken rank file, tokenizer.model"
)


def import_tokenizer(path: str | Path, **options: Any) -> Tokenizer:
    """Import a tokenizer from any known format.

    Args:
        path: A ``tokenizer.json``, a ``tekken.json``, a rank file of tiktoken; a folder; or a
            repository of the Hugging Face Hub, such as ``"openai-community/gpt2"``, if there is no
            file or folder of this name and ``huggingface_hub`` is installed. A folder is one that
            :meth:`Tokenizer.save` wrote, or holds one of these, of which the first counts:
            ``tokenizer.json``; ``tekken.json``; ``vocab.json`` and ``merges.txt``; ``vocab.txt``
            and ``inter_vocab.txt``; one ``*.tiktoken``; ``tokenizer.model``.
        **options: The options of the function for the format.

    Raises:
        NotExactError: The original uses an unsupported feature; the message names it.
        FormatError: The format is unknown, or a file is damaged.
        MissingExtraError: The name of a repository needs ``huggingface_hub``.
    """
    given, path = str(path), Path(path)
    if not path.exists() and is_hub_name(given):
        path = download(given)
    finish_interrupted_commit(path if path.is_dir() else path.parent)
    if path.is_file():
        return _import_file(path, **options)
    if not path.is_dir():
        raise FormatError(
            f"{path}: no such file or folder",
            hint=f"give a tokenizer or its folder: {_KNOWN_FILES}",
        )
    if (path / SETTINGS_FILE).is_file():
        return Tokenizer.load(path)
    for name in ("tokenizer.json", "tekken.json"):
        if (path / name).is_file():
            return _import_file(path / name, **options)
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return import_gpt2_files(path / "vocab.json", path / "merges.txt", **options)
    if (path / VISIBLE_FILE).is_file() and (path / INTERNAL_FILE).is_file():
        return import_paper_files(path, **options)
    rank_files = sorted(path.glob("*.tiktoken"))
    if len(rank_files) == 1:
        return _import_file(rank_files[0], **options)
    if (path / "tokenizer.model").is_file():
        return _import_file(path / "tokenizer.model", **options)
    raise FormatError(
        f"{path}: holds no tokenizer of a known format", hint=f"known files: {_KNOWN_FILES}"
    )


def _import_file(path: Path, **options: Any) -> Tokenizer:
    """Import a file. Its contents decide what it is: several formats are named tokenizer.model."""
    if path.suffix == ".json":
        contents = read_json(path)
        if is_tekken(JsonValue(contents)):
            return tekken_of(JsonValue(contents), path, **options)
        with naming(path):
            return import_huggingface_settings(contents, path.name, **options)
    with naming(path):
        data = path.read_bytes()
        if is_sentencepiece(data):
            raise refuse_sentencepiece(data)
    return import_tiktoken(path, **options)


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
