"""Signatures that show the options a function really takes, in place of ``**options``.

The options are the fields of one frozen dataclass and are spelled there only. ``help()``, the hints
of a notebook and the reference show them through :pep:`362`; type checkers and editors read the
``Unpack`` in the annotation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_options(options: type, **defaults: object) -> Callable[[Function], Function]:
    """Show the fields of a dataclass as keyword-only parameters of the decorated function.

    A field that the function takes as a parameter of its own is not shown twice. The function is
    returned as it is, so calls cost nothing more.

    Args:
        options: The dataclass.
        **defaults: Defaults that are not those of the fields.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Options:
    ...     size: int = 3
    ...     name: str = "a"
    >>> @takes_options(Options, name="b")
    ... def make(path, **options): ...
    >>> inspect.signature(make)
    <Signature (path, *, size: 'int' = 3, name: 'str' = 'b')>
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {parameter.name for parameter in own}
        others = (field for field in fields(options) if field.name not in taken)
        shown = [_parameter(field, defaults) for field in others]
        marked: Any = function
        marked.__signature__ = signature.replace(parameters=[*own, *shown])
        return function

    return decorate


def _parameter(field: Field[Any], defaults: Mapping[str, object]) -> inspect.Parameter:
    default = defaults.get(field.name, field.default)
    annotation = field.type
    if field.name in defaults and default is None:
        annotation = f"{annotation} | None"
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=annotation,
    )
