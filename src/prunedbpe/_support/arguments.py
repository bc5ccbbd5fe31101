"""Checks of what a user passes: one short error that names the argument, instead of a traceback.

In: a value, and the name of the argument. Out: the value, of the type that the code needs, or a
:class:`~prunedbpe.errors.WrongTypeError`.
"""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from prunedbpe._support.json_values import shown
from prunedbpe.errors import WrongTypeError


def to_path(value: str | os.PathLike[str]) -> Path:
    """Return a path.

    >>> to_path(3)  # type: ignore[arg-type]
    Traceback (most recent call last):
    prunedbpe.errors.WrongTypeError: a path is a text or a Path, not 3 of type int
    """
    if not isinstance(value, (str, os.PathLike)):
        raise wrong_type("a path is a text or a Path", value)
    return Path(value)


def to_whole_number(name: str, value: object) -> int:
    """Return an argument that must be a whole number; those of NumPy are too.

    >>> to_whole_number("vocab_size", "1000")
    Traceback (most recent call last):
    prunedbpe.errors.WrongTypeError: vocab_size is a whole number, not '1000' of type str
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise wrong_type(f"{name} is a whole number", value) from None


def check_type(name: str, value: object, kind: type | tuple[type, ...], hint: str) -> None:
    """Refuse an argument of another type; ``hint`` says what makes the right one."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(one.__name__ for one in kinds)
        raise wrong_type(f"{name} must be of type {names}", value, hint)


def check_text(value: object) -> None:
    """Refuse what is not a text.

    >>> check_text(b"abc")
    Traceback (most recent call last):
    prunedbpe.errors.WrongTypeError: a text is a str, not b'abc' of type bytes
    hint: decode it first: data.decode('utf-8')
    """
    if isinstance(value, str):
        return
    hint = None
    if isinstance(value, (bytes, bytearray)):
        hint = "decode it first: data.decode('utf-8')"
    elif isinstance(value, (list, tuple)):
        hint = "for many texts use encode_batch"
    raise wrong_type("a text is a str", value, hint)


def to_texts(values: Iterable[str]) -> list[str]:
    """Return the texts of a batch as a list; each is checked where it is encoded.

    >>> to_texts("abc")
    Traceback (most recent call last):
    prunedbpe.errors.WrongTypeError: a batch is a list of texts, not 'abc' of type str
    hint: for one text use encode
    """
    if isinstance(values, (str, bytes)):
        raise wrong_type("a batch is a list of texts", values, "for one text use encode")
    try:
        return list(values)
    except TypeError:
        raise wrong_type("a batch is a list of texts", values) from None


def wrong_type(expected: str, value: object, hint: str | None = None) -> WrongTypeError:
    """Return the error for a value of the wrong type."""
    return WrongTypeError(f"{expected}, not {described(value)}", hint=hint)


def described(value: object) -> str:
    """Return a value and its type, for a message.

    >>> described([1, 2]), described(None)
    ('[1, 2] of type list', 'None')
    """
    return "None" if value is None else f"{shown(value)} of type {type(value).__name__}"


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Refuse options that do not exist.

    >>> check_names(["treshold"], ["threshold", "segmentation"])
    Traceback (most recent call last):
    prunedbpe.errors.WrongTypeError: there is no option 'treshold'
    hint: did you mean 'threshold'?
    """
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise WrongTypeError(f"there is no option {name!r}", hint=hint)
