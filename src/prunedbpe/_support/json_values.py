"""Values of a JSON file from outside, and checks of their types.

In: what :func:`~prunedbpe._support.input_files.read_json` returns. Out: values of the type that
the caller asks for, or a :class:`FormatError` that names the path of keys, as in
``model.merges[17]``. A key that is missing counts as ``null``, as in the files of other libraries.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any

from prunedbpe.errors import FormatError
from prunedbpe.types import Settings

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80
_short.maxlevel = 3


def shown(value: object) -> str:
    """Return the repr of a value from outside, shortened: it may be huge or deeply nested.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    return _short.repr(value)


class JsonValue:
    """A value, and its place in the file.

    >>> value = JsonValue({"model": {"merges": ["a b", 5]}})
    >>> [merge.text() for merge in value["model"]["merges"].items()]
    Traceback (most recent call last):
    prunedbpe.errors.FormatError: model.merges[1] is 5, not a text
    """

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, key: str | int = "", parent: JsonValue | None = None) -> None:
        self.value = value
        self._key = key
        self._parent = parent

    @property
    def path(self) -> str:
        """The keys that lead to the value."""
        before = self._parent.path if self._parent is not None else ""
        if isinstance(self._key, int):
            return f"{before}[{self._key}]"
        return f"{before}.{self._key}" if before else self._key

    def __bool__(self) -> bool:
        """Whether the value is there and not ``null``."""
        return self.value is not None

    def __getitem__(self, key: str) -> JsonValue:
        """The value of a key of this object; ``null`` if the key is missing."""
        return JsonValue(self.object().get(key), key, self)

    def items(self) -> Iterator[JsonValue]:
        """The values of this list; none if it is ``null``."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.error("a list")
        for place, item in enumerate(self.value):
            yield JsonValue(item, place, self)

    def object(self) -> Settings:
        """The value, which must be an object."""
        if not isinstance(self.value, dict):
            raise self.error("an object")
        return self.value

    def text(self) -> str:
        """The value, which must be a text that UTF-8 can express."""
        if not isinstance(self.value, str):
            raise self.error("a text")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.error("valid Unicode: it holds a lone surrogate") from None
        return self.value

    def integer(self) -> int:
        """The value, which must be a whole number."""
        if type(self.value) is not int:  # True is an instance of int
            raise self.error("a whole number")
        return self.value

    def flag(self, default: bool | None = None) -> bool:
        """The value, which must be true or false; ``default`` if it is ``null``."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value

    def error(self, expected: str) -> FormatError:
        """Return the error for a value of another type."""
        name = self.path or "the top level"
        if self.value is None:
            return FormatError(f"{name} is missing or null, not {expected}")
        return FormatError(f"{name} is {shown(self.value)}, not {expected}")
