"""Records: frozen dataclasses that are made at once.

``dataclasses`` imports ``inspect``, and compiles the methods of every class. That was half of the
time in which ``from prunedbpe import count, learn`` runs, so the modules of counting, learning and
loading use these decorators instead. Type checkers see the real ones. Fields are the annotated
names of the class, behind those of the record it is made from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["field", "fields", "record", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field, replace
else:

    def field(*, default_factory: Callable[[], Any]) -> _Made:
        """A default that is made anew for every record."""
        return _Made(default_factory)

    def record(*, frozen: bool, eq: bool = True) -> Callable[[type], type]:
        """Make a class a record, as ``dataclasses.dataclass`` would; it must be frozen."""
        assert frozen
        return lambda cls: _make_record(cls, eq)

    def replace(old: Any, /, **changes: Any) -> Any:
        """A record like ``old`` but for the fields given."""
        return type(old)(**{**fields(old), **changes})


def fields(of: Any) -> dict[str, Any]:
    """The fields of a record, in order.

    >>> @record(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> fields(Point(1)), replace(Point(1), y=2), Point(1) == Point(1, 0)
    ({'x': 1, 'y': 0}, Point(x=1, y=2), True)
    """
    return {name: getattr(of, name) for name in of.__match_args__}


class _Made:
    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _make_record(cls: Any, eq: bool) -> Any:
    own = cls.__annotations__
    defaults = {name: getattr(cls, name) for name in own if hasattr(cls, name)}
    for name, default in defaults.items():
        if isinstance(default, _Made):
            delattr(cls, name)
    # One that is given anew keeps its place.
    names = dict.fromkeys((*getattr(cls, "__match_args__", ()), *own))
    cls.__match_args__ = tuple(names)  # type: ignore[misc]
    cls._defaults = {**getattr(cls, "_defaults", {}), **defaults}
    cls.__init__, cls.__setattr__, cls.__delattr__ = _init, _refuse, _refuse
    if "__repr__" not in vars(cls):
        cls.__repr__ = _repr
    if eq:
        cls.__eq__, cls.__hash__ = _eq, _hash
    return cls


def _init(self: Any, *values: Any, **named: Any) -> None:
    names = self.__match_args__
    given = dict(zip(names, values, strict=False))
    if len(given) < len(values):
        raise TypeError(f"{type(self).__name__} has {len(names)} fields, {len(values)} are given")
    for name in named:
        if name in given or name not in names:
            problem = "is given twice" if name in given else "is not known"
            raise TypeError(f"{type(self).__name__}: the field {name!r} {problem}")
    given.update(named)
    for name in names:
        if name in given:
            value = given[name]
        elif name in self._defaults:
            value = self._defaults[name]
            value = value.make() if isinstance(value, _Made) else value
        else:
            raise TypeError(f"{type(self).__name__}: the field {name!r} is missing")
        object.__setattr__(self, name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _refuse(self: Any, name: str, value: Any = None) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: {name!r} stays as it is")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in fields(self).items())
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> bool:
    return fields(self) == fields(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(fields(self).values()))
