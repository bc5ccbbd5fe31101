"""NumPy, imported when it is first used, and tables whose columns become arrays when asked for.

Importing NumPy takes longer than counting ten megabytes of text. Native code hands its results out
as memoryviews; as long as they only go from one native function to the next, no array is needed.
"""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any

from prunedbpe.types import Column

__all__ = ["Columns", "import_meanwhile", "is_array", "np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _WhenUsed(ModuleType):
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, value)  # not asked for here again
            return value

    np = _WhenUsed("numpy")


def import_meanwhile() -> None:
    """Import NumPy in a thread of its own, while native code is at work that needs no Python."""
    threading.Thread(target=importlib.import_module, args=("numpy",)).start()


def is_array(value: object) -> bool:
    """Whether ``value`` is an array of NumPy; there is none before somebody has imported it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


class _ArrayField:
    """A field that takes an array or a memoryview and answers an array."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, table: Any, column: Column) -> None:
        vars(table)[self._name] = column

    def __get__(self, table: Any, owner: type) -> Any:
        if table is None:  # a dataclass asks for a default: there is none
            raise AttributeError(self._name)
        column = vars(table)[self._name]
        if isinstance(column, memoryview):
            column = vars(table)[self._name] = np.asarray(column)
        return column


class Columns:
    """Base of a dataclass whose fields named in ``arrays`` may be given as memoryviews."""

    def __init_subclass__(cls, arrays: tuple[str, ...] = ()) -> None:
        for name in arrays:
            setattr(cls, name, _ArrayField(name))

    def column(self, name: str) -> Column:
        """A field as it was given, for native code."""
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: arrays, because a memoryview cannot be."""
        return {
            name: np.asarray(value) if isinstance(value, memoryview) else value
            for name, value in vars(self).items()
        }
