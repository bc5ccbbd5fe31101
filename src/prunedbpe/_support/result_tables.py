"""Results as tables: Arrow data for pandas, polars, DuckDB and others.

A class defines ``to_arrow``; :class:`ArrowExport` adds the Arrow C stream interface, which
``pyarrow.table``, ``polars.DataFrame`` and DuckDB take. Rows of a result are a :class:`ResultRows`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

Row = TypeVar("Row")


class ArrowExport:
    """What exports itself as Arrow data."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        table: Any = self.to_arrow()  # the stubs do not type the method
        return table.__arrow_c_stream__(requested_schema)


class ResultRows(list[Row], ArrowExport):
    """The rows of a result: a list that a notebook shows as a table, and that converts to Arrow.

    Libraries that take both lists and Arrow data read it as a list: give them :meth:`to_arrow`.

    Attributes:
        ARROW_COLUMNS: The columns of :meth:`to_arrow` and their types.
    """

    ARROW_COLUMNS: ClassVar[Mapping[str, str]]

    @abstractmethod
    def as_rows(self) -> list[dict[str, Any]]:
        """Return the rows as flat mappings, for CSV and JSON."""

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with the columns :attr:`ARROW_COLUMNS`."""
        return rows_to_arrow(self.as_rows(), self.ARROW_COLUMNS)


def rows_to_arrow(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> pa.Table:
    """Return an Arrow table of flat mappings; the types hold even if a column has no value.

    >>> rows_to_arrow([{"a": 1, "b": None}], {"a": "int64", "b": "double"}).schema.types
    [DataType(int64), DataType(double)]
    """
    import pyarrow as pa  # slow to import

    types: Any = pa.type_for_alias  # the stubs know it for literals only
    schema = pa.schema([(name, types(kind)) for name, kind in columns.items()])
    return pa.Table.from_pylist([dict(row) for row in rows], schema)


def text_or_none(spelled: bytes) -> str | None:
    """Return a token as text, or ``None`` if it is not valid UTF-8."""
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return None
