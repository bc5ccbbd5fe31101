"""A tokenizer as a folder: the paper's two vocabulary files, and settings in ``prunedbpe.json``.

The JSON holds how text is cut and by which Unicode version, the segmentation, the special tokens,
and where the vocabulary comes from. It is versioned; a later version of the library reads older
files. Version 2 adds the segmentation. A tokenizer that encodes by rank is written as version 1.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import json_bytes, write_together
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import SEGMENTATIONS, Segmentation, Settings, check_segmentation
from prunedbpe.vocabulary import Vocabulary
from prunedbpe.vocabulary.vocabulary_files import (
    INTERNAL_FILE,
    VISIBLE_FILE,
    paper_files,
    read_paper_files,
)

SETTINGS_FILE = "prunedbpe.json"
TOKENIZER_FILES = (VISIBLE_FILE, INTERNAL_FILE, SETTINGS_FILE)
"""The files of a tokenizer; they are replaced together."""

FORMAT = "prunedbpe tokenizer"
IMPORTED_FORMAT = "prunedbpe imported tokenizer"
RANK_VERSION = 1
FORMAT_VERSION = 2


def read_settings(folder: Path) -> Settings:
    """Read the settings of a tokenizer, trained or imported.

    Raises:
        FormatError: The folder is not that of a tokenizer, or of a newer version.
    """
    if not folder.is_dir():
        raise FormatError(f"{folder}: no such folder", hint="use the folder of a tokenizer")
    path = folder / SETTINGS_FILE
    fields = JsonValue(read_json(path))
    with naming(path):
        settings = fields.object()
        if fields["format"].value not in (FORMAT, IMPORTED_FORMAT):
            raise FormatError("not the settings of a tokenizer")
        if fields["version"].integer() not in (RANK_VERSION, FORMAT_VERSION):
            raise FormatError(
                f"version {shown(settings['version'])} is unknown",
                hint="install the version of prunedbpe that wrote it",
            )
    return settings


def version_for(segmentation: Segmentation) -> int:
    """The version to write: readers of version 1 would encode by rank, so they must refuse."""
    return RANK_VERSION if segmentation == "rank" else FORMAT_VERSION


def read_segmentation(folder: Path, settings: Settings) -> Segmentation:
    """Return the segmentation in the settings; version 1 need not name it, it is ``rank``.

    Raises:
        FormatError: It is unknown, or version 1 of the settings names another than ``rank``.
    """
    path = folder / SETTINGS_FILE
    field = JsonValue(settings)["segmentation"]
    with naming(path):
        is_named = "segmentation" in settings or settings["version"] >= FORMAT_VERSION
        name = field.text() if is_named else "rank"
        if name not in SEGMENTATIONS:
            raise field.error("'rank' or 'shortest'")
        segmentation = check_segmentation(name)
    if settings["version"] < version_for(segmentation):
        raise FormatError(
            f"{path}: version {settings['version']} has no segmentation {segmentation!r}",
            hint=f"set 'version' to {version_for(segmentation)}",
        )
    return segmentation


def write_tokenizer(
    folder: Path,
    vocabulary: Vocabulary,
    pretokenizer: Pretokenizer,
    training: Settings,
    segmentation: Segmentation,
) -> None:
    """Write a tokenizer; its files replace those of an older one together."""
    settings = {
        "format": FORMAT,
        "version": version_for(segmentation),
        "pretokenizer": pretokenizer.describe(),
        "segmentation": segmentation,
        "vocab_size": vocabulary.vocab_size,
        "internal_tokens": vocabulary.internal_count,
        "special_tokens": list(vocabulary.special_tokens),
        "training": training,
    }
    write_together(folder, {**paper_files(vocabulary), SETTINGS_FILE: json_bytes(settings)})


def read_tokenizer(
    folder: Path, settings: Settings
) -> tuple[Vocabulary, Pretokenizer, Settings, Segmentation]:
    """Read a tokenizer and check that its files agree.

    Args:
        folder: The folder.
        settings: What :func:`read_settings` found there.

    Raises:
        FormatError: A file is missing or damaged, or contradicts another.
    """
    path = folder / SETTINGS_FILE
    fields = JsonValue(settings)
    with naming(path):
        pretokenizer = Pretokenizer.from_settings(fields["pretokenizer"].object())
        training = fields["training"].object() if fields["training"] else {}
    segmentation = read_segmentation(folder, settings)
    vocabulary = read_paper_files(folder)
    for name, value in (
        ("vocab_size", vocabulary.vocab_size),
        ("internal_tokens", vocabulary.internal_count),
        ("special_tokens", list(vocabulary.special_tokens)),
    ):
        if settings.get(name) != value:
            raise FormatError(
                f"{path}: {name!r} is {shown(settings.get(name))}, "
                f"but the vocabulary files have {shown(value)}",
                hint="the files do not belong together",
            )
    return vocabulary, pretokenizer, training, segmentation
