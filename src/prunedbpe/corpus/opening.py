"""Whatever a user calls a corpus -> a :class:`Corpus`: the rule that tells paths from texts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prunedbpe.corpus.corpus import Corpus
from prunedbpe.corpus.inputs import STDIN, PathInput
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.errors import CorpusError, SettingsError

CorpusInput = PathInput | Iterable[PathInput] | Iterable[str]
"""Whatever a user calls a corpus."""


def open_corpus(corpus: Corpus | CorpusInput, **options: Any) -> Corpus:
    """Open whatever a user calls a corpus.

    - A :class:`Corpus` is taken as it is.
    - A single string or path object is always a path, ``-`` standard input.
    - A list or tuple with path objects is paths. A list or tuple of strings is paths if all of them
      exist (or are ``-``), texts if none does; if only some do, it is an error naming the others.
      An empty string is a text.
    - Any other iterable is texts, each string a document.

    Who wants no guessing calls :class:`Corpus` or :meth:`Corpus.from_texts`.

    >>> [list(batch.documents()) for batch in open_corpus(["a text", "another"]).batches()]
    [[b'a text', b'another']]

    Args:
        corpus: The corpus.
        options: The options of :class:`Corpus`; a Corpus has its own and takes no others.

    Raises:
        CorpusError: An input is missing, or this is no corpus.
        SettingsError: An option does not fit the corpus.
    """
    if isinstance(corpus, Corpus):
        _refuse_options(corpus, options)
        return corpus
    if isinstance(corpus, (str, os.PathLike)):
        return Corpus(corpus, **options)
    if isinstance(corpus, (bytes, bytearray)) or not isinstance(corpus, Iterable):
        raise CorpusError(
            f"a corpus cannot be of type {type(corpus).__name__}",
            hint="give a path, a list of paths, or an iterable of strings",
        )
    if isinstance(corpus, (list, tuple)) and _are_paths(corpus):
        return Corpus(corpus, **options)
    if options.pop("shard", None) is not None:
        raise SettingsError(
            "an iterable of texts cannot be divided into shards",
            hint="write the texts to a .jsonl file, or give each worker its own texts",
        )
    options.pop("text_field", None)
    return Corpus.from_texts(corpus, **options)  # type: ignore[arg-type]


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    if not items or any(isinstance(item, os.PathLike) for item in items):
        return True
    if not all(isinstance(item, str) for item in items):
        return False
    missing = [item for item in items if not _exists(item)]
    if missing and len(missing) < len(items):
        shown = ", ".join(
            repr(item if len(item) <= 60 else item[:57] + "...") for item in missing[:5]
        )
        raise CorpusError(
            f"{len(missing)} of {len(items)} inputs do not exist: {shown}",
            hint="check the spelling; if they are texts, not paths, use Corpus.from_texts",
        )
    return not missing


def _exists(name: str) -> bool:
    if name == STDIN:
        return True
    try:
        return name != "" and Path(name).exists()  # Path("") is the working directory
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False


def _refuse_options(corpus: Corpus, options: dict[str, Any]) -> None:
    defaults = {"shard": None, **vars(ReadOptions())}
    own = {"shard": corpus.shard, **vars(corpus.options)}
    for name, value in options.items():
        if value not in (own.get(name), defaults.get(name)):
            raise SettingsError(
                f"{name}={value!r} is given beside a Corpus that has {own.get(name)!r}",
                hint="give the option where the Corpus is made",
            )
