"""A tokenizer as a folder: the paper's two vocabulary files, and settings in ``prunedbpe.json``.

The JSON holds how text is cut and by which Unicode version, the special tokens, and where the
vocabulary comes from. It is versioned; a later version of the library reads older files.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import json_bytes, naming, read_json, write_together
from prunedbpe.errors import FormatError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Settings
from prunedbpe.vocabulary import Vocabulary
from prunedbpe.vocabulary.vocabulary_files import paper_files, read_paper_files

SETTINGS_FILE = "prunedbpe.json"
FORMAT = "prunedbpe tokenizer"
IMPORTED_FORMAT = "prunedbpe imported tokenizer"
FORMAT_VERSION = 1


def read_settings(folder: Path) -> Settings:
    """Read the settings of a tokenizer, trained or imported.

    Raises:
        FormatError: The folder is not that of a tokenizer, or of a newer version.
    """
    if not folder.is_dir():
        raise FormatError(f"{folder}: no such folder", hint="use the folder of a tokenizer")
    path = folder / SETTINGS_FILE
    settings = read_json(path)
    if not isinstance(settings, dict) or settings.get("format") not in (FORMAT, IMPORTED_FORMAT):
        raise FormatError(f"{path}: not the settings of a tokenizer")
    if settings.get("version") != FORMAT_VERSION:
        raise FormatError(
            f"{path}: version {settings.get('version')!r} is unknown",
            hint="install the version of prunedbpe that wrote it",
        )
    return settings


def write_tokenizer(
    folder: Path, vocabulary: Vocabulary, pretokenizer: Pretokenizer, training: Settings
) -> None:
    """Write a tokenizer; the settings come last, so a folder with them is complete."""
    settings = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "pretokenizer": pretokenizer.describe(),
        "vocab_size": vocabulary.vocab_size,
        "internal_tokens": vocabulary.internal_count,
        "special_tokens": list(vocabulary.special_tokens),
        "training": training,
    }
    write_together(folder, {**paper_files(vocabulary), SETTINGS_FILE: json_bytes(settings)})


def read_tokenizer(folder: Path, settings: Settings) -> tuple[Vocabulary, Pretokenizer, Settings]:
    """Read a tokenizer and check that its files agree.

    Args:
        folder: The folder.
        settings: What :func:`read_settings` found there.

    Raises:
        FormatError: A file is missing or damaged, or contradicts another.
    """
    path = folder / SETTINGS_FILE
    pretokenizer_settings = settings.get("pretokenizer")
    if not isinstance(pretokenizer_settings, dict):
        raise FormatError(f"{path}: 'pretokenizer' is missing")
    with naming(path):
        pretokenizer = Pretokenizer.from_settings(pretokenizer_settings)
    vocabulary = read_paper_files(folder)
    for name, value in (
        ("vocab_size", vocabulary.vocab_size),
        ("internal_tokens", vocabulary.internal_count),
        ("special_tokens", list(vocabulary.special_tokens)),
    ):
        if settings.get(name) != value:
            raise FormatError(
                f"{path}: {name!r} is {settings.get(name)!r}, "
                f"but the vocabulary files have {value!r}",
                hint="the files do not belong together",
            )
    training = settings.get("training", {})
    return vocabulary, pretokenizer, training if isinstance(training, dict) else {}
