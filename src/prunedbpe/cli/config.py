"""Configuration files: the options of a command as TOML, written and read.

A file has one table for each verb, and the keys are the names of the options::

    [train]
    corpus = ["texts/"]
    vocab-size = 16000
    threshold = "auto"

What stands on the command line has precedence. Paths are relative to the working folder.
"""

from __future__ import annotations

import difflib
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path, PurePath
from typing import Any

from prunedbpe.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same parser as a package
    import tomli as tomllib

_COMMENT_WIDTH = 88


def read_config(path: Path, verb: str, params: Sequence[Any]) -> dict[str, Any]:
    """Read the options of a verb.

    Args:
        path: The file.
        verb: Name of the table.
        params: The options and arguments of the verb, as click knows them.

    Returns:
        Values by the names of the parameters; the parser checks them like words of a command line.

    Raises:
        SettingsError: The file is not TOML, or has a table or key that does not exist.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}", hint="see `--save-config`") from None
    stray = [key for key, value in tables.items() if not isinstance(value, dict)]
    if stray:
        raise SettingsError(
            f"{path}: {stray[0]!r} stands outside of a table", hint=f"put it below [{verb}]"
        )
    if verb not in tables:
        raise SettingsError(
            f"{path}: there is no table [{verb}]", hint=f"it has {', '.join(tables) or 'nothing'}"
        )
    by_key = {key_of(param): param for param in params if key_of(param)}
    values = {}
    for key, value in tables[verb].items():
        if key not in by_key:
            near = difflib.get_close_matches(key, by_key, 1)
            raise SettingsError(
                f"{path}: {verb} has no option {key!r}",
                hint=f"did you mean {near[0]!r}?" if near else f"see prunedbpe {verb} --help",
            )
        values[by_key[key].name] = _as_words(value, by_key[key], f"{path}: {key}")
    return values


def _as_words(value: Any, param: Any, place: str) -> Any:
    """Return a value of TOML as the parser expects it: words, or a list of words."""
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise SettingsError(f"{place} is {value!r}", hint="use true or false")
        return value
    is_list = param.nargs == -1 or getattr(param, "multiple", False)
    words = value if isinstance(value, list) else [value]
    if any(isinstance(word, (bool, dict, list)) for word in words) or len(words) != 1 > is_list:
        raise SettingsError(
            f"{place} is {value!r}", hint=f"use {'a list' if is_list else 'one text or number'}"
        )
    return [str(word) for word in words] if is_list else str(value)


def key_of(param: Any) -> str:
    """Return the key of an option or argument; empty for what a file cannot set."""
    if param.param_type_name == "argument":
        return str(param.name).rstrip("_").replace("_", "-")
    name = max(param.opts, key=len).lstrip("-")
    return "" if name in ("help", "config", "save-config") else name


def as_toml(verb: str, params: Sequence[Any], values: Mapping[str, Any]) -> str:
    """Write all options of a verb as a table of TOML, those without a value as a comment.

    Args:
        verb: The verb.
        params: As for :func:`read_config`.
        values: By the names of the parameters; of what was given or is the default.
    """
    lines = [f"# prunedbpe {verb} --config FILE", "", f"[{verb}]"]
    for param in params:
        key = key_of(param)
        if not key:
            continue
        help_text = getattr(param, "help", None) or ""
        lines += [f"# {line}" for line in textwrap.wrap(help_text, _COMMENT_WIDTH)]
        value = values.get(param.name)
        is_empty = value is None or (isinstance(value, (list, tuple)) and not value)
        lines.append(f"# {key} =" if is_empty else f"{key} = {toml_value(value)}")
        lines.append("")
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    r"""Write a value as TOML.

    >>> print(toml_value(["a\tb", "é"]), toml_value(True), toml_value(0.5))
    ["a\tb", "é"] true 0.5

    Raises:
        SettingsError: A text has bytes that are not UTF-8.
    """
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, PurePath):
        value = str(value)
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"{value!r} is not UTF-8", hint="TOML cannot hold it") from None
    return text
