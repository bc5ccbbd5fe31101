"""Files from outside: read with limits, and with errors that name the file and the place."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prunedbpe._support.json_values import shown
from prunedbpe._support.remote_files import is_url, open_url
from prunedbpe.errors import FormatError, NotExactError, SettingsError

_MOST_DIGITS = 100
_MOST_LEVELS = 100
_TOO_DEEP = f"lists and objects are nested deeper than {_MOST_LEVELS} levels"
_DAMAGED = "the file is damaged: create it again, or restore it from a copy"


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file. Objects have no key twice, numbers are finite.

    Raises:
        FormatError: The file cannot be read, or is not JSON; the message names the file and, if
            the syntax is wrong, the line.
    """
    text = read_text(path)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object_without_duplicates,
            parse_int=_whole_number,
            parse_float=_finite_float,
            parse_constant=_finite_float,
        )
        _check_depth(value)
        return value
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path}, line {error.lineno}: not JSON: {error.msg}", hint=_DAMAGED
        ) from error
    except RecursionError as error:
        raise FormatError(f"{path}: {_TOO_DEEP}", hint=_DAMAGED) from error
    except ValueError as error:  # of the functions below
        raise FormatError(f"{path}: {error}", hint=_DAMAGED) from error


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {shown(key)} twice")
    return found


def _check_depth(value: Any) -> None:
    """Refuse values that recursive functions cannot handle, however deep this Python can read."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            child
            for container in level
            if isinstance(container, (dict, list))
            for child in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _whole_number(text: str) -> int:
    if len(text) > _MOST_DIGITS:  # int() would take quadratic time, or raise an error of its own
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits: {shown(text)}")
    return int(text)


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is not a finite number")
    return value


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a file, or a URL, of UTF-8; line ends stay as they are.

    Raises:
        FormatError: It is missing, unreadable or not UTF-8; the message names it.
    """
    try:
        if is_url(os.fspath(path)):
            with open_url(os.fspath(path)) as file:
                return file.read().decode()
        return Path(path).read_bytes().decode()
    except FileNotFoundError as error:
        raise FormatError(
            f"{path}: no such file", hint="check the folder, or create the file again"
        ) from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}", hint=_DAMAGED) from error


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn any error about the contents of a file into one that names it.

    A :class:`NotExactError` stays one. All others become a :class:`FormatError`.

    >>> with naming("run.json"):
    ...     _ = {}["corpus"]
    Traceback (most recent call last):
    prunedbpe.errors.FormatError: run.json: its contents make no sense: KeyError('corpus')
    hint: the file is damaged: create it again, or restore it from a copy
    """
    try:
        yield
    except NotExactError as error:
        raise NotExactError(f"{path}: {error.message}", hint=error.hint) from error
    except (FormatError, SettingsError) as error:
        raise FormatError(f"{path}: {error.message}", hint=error.hint) from error
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{path}: its contents make no sense: {error!r}",
            hint=_DAMAGED,
        ) from error
