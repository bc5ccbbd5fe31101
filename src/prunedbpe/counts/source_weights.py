"""Weights of sources: a small file, or a mapping -> how much each source matters.

A weight of 1 is the default, 2 counts twice, and 0 means that the source does not matter at all.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from prunedbpe.corpus.files import COMPRESSIONS
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import FloatArray, Int64Array

_MOST_NAMES = 20
"""An error names at most this many of the known sources."""

_PART = re.compile(r" \[\d+/\d+\]$")
_FORM = 'write {"name": 2.5} as JSON, or lines of a name, a tab or comma, and a number'


def parse_source_weights(path: str | Path) -> dict[str, float]:
    r"""Read weights from a JSON object, or from lines ``name<tab>weight`` or ``name,weight``.

    Blank lines and lines that start with ``#`` are skipped.

    Raises:
        FormatError: The file cannot be read; the message names the line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "weights.tsv")
    ...     _ = path.write_text("# what matters\nenglish/*\t2\nlogs\t0\n", encoding="utf-8")
    ...     parse_source_weights(path)
    {'english/*': 2.0, 'logs': 0.0}
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: the weights cannot be read: {error}", hint=_FORM) from error
    weights: dict[str, float] = {}
    for place, name, value in _entries(path, text):
        if name in weights:
            raise FormatError(f"{place}: the source {name!r} has a weight already")
        try:
            check_weight(name, value)
        except SettingsError as error:
            raise FormatError(f"{place}: {error.message}", hint=error.hint) from error
        weights[name] = float(value)
    return weights


def check_weight(name: str, weight: Any) -> None:
    """Refuse a name or a weight that cannot be one.

    Raises:
        SettingsError: The name is empty, or the weight is not a number from 0 on.

    >>> check_weight("logs", -1)
    Traceback (most recent call last):
    prunedbpe.errors.SettingsError: source 'logs' has the weight -1
    hint: give a number, 0 or more
    """
    is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
    if not is_number or not math.isfinite(weight) or weight < 0:
        raise SettingsError(
            f"source {name!r} has the weight {weight!r}", hint="give a number, 0 or more"
        )
    if not name:
        raise SettingsError("a weight has no source", hint=_FORM)


def match_weights(names: Sequence[str], weights: Mapping[str, float]) -> FloatArray:
    """Return the weight of each source; 1 for those that no weight is given for.

    A weight is given for a source by its name, for a file also by its name without folder or
    suffix, for everything in a folder by the folder, and by a pattern such as ``english/*``. Parts
    of a divided file have the weight of the file. If several match, the last one decides.

    Raises:
        SettingsError: A weight matches no source, is not a number from 0 on, or all are 0.

    >>> names = ["texts/english/wiki.txt [1/2]", "texts/english/wiki.txt [2/2]", "texts/logs.txt"]
    >>> match_weights(names, {"english": 2, "logs": 0}).tolist()
    [2.0, 2.0, 0.0]
    """
    found = np.ones(len(names))
    for pattern, weight in weights.items():
        check_weight(pattern, weight)
        matching = [i for i, name in enumerate(names) if _matches(name, pattern)]
        if not matching:
            known = ", ".join(map(repr, names[:_MOST_NAMES]))
            more = len(names) - _MOST_NAMES
            raise SettingsError(
                f"a weight is given for {pattern!r}, but no source has that name",
                hint=f"the sources are: {known}" + (f", and {more} more" if more > 0 else ""),
            )
        found[matching] = weight
    if len(found) and not found.any():
        raise SettingsError(
            "all sources have the weight 0", hint="give at least one a weight above 0"
        )
    return found


def parts_of_files(names: Sequence[str]) -> Int64Array:
    """Into how many parts the file of each source was divided.

    >>> parts_of_files(["wiki.txt [1/2]", "wiki.txt [2/2]", "logs.txt"]).tolist()
    [2, 2, 1]
    """
    files = [_PART.sub("", name) for name in names]
    counts = Counter(files)
    return np.array([counts[file] for file in files], np.int64)


def _matches(name: str, pattern: str) -> bool:
    whole = _PART.sub("", name)
    if pattern in (name, whole):
        return True
    path = PurePath(whole)
    unpacked = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    if pattern == unpacked.stem:
        return True
    return any(place.match(pattern) for place in (path, *path.parents))


def _entries(path: str | Path, text: str) -> Iterator[tuple[str, str, Any]]:
    """Yield place, name and weight of each entry."""
    if text.lstrip().startswith("{"):
        try:
            # As pairs: a dict would drop a name that comes twice.
            pairs = json.loads(text, object_pairs_hook=list)
        except json.JSONDecodeError as error:
            raise FormatError(
                f"{path}, line {error.lineno}: not JSON: {error.msg}", hint=_FORM
            ) from error
        yield from ((str(path), name, weight) for name, weight in pairs)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{path}, line {number}"
        name, separator, weight = line.rpartition("\t" if "\t" in line else ",")
        try:
            value = float(weight)
        except ValueError:
            separator = ""
        if not separator:
            raise FormatError(f"{place}: not a name and a weight: {line!r}", hint=_FORM)
        yield place, name.strip(), value
