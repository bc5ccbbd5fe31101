"""Tables as Parquet: columns that any program can read, settings in the schema's metadata.

Parquet's own checksums cover the pages of a file, but not its footer, which says where the pages of
a column are, what they mean, and how many rows there are. A checksum over all values and settings
does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.digests import digest_json
from prunedbpe._support.input_files import naming
from prunedbpe.errors import FormatError
from prunedbpe.types import Settings

_METADATA_KEY = b"prunedbpe"
_CHECKSUM_KEY = b"prunedbpe.checksum"
"""Apart from the settings: it is known only when all values are written."""

_DAMAGED = "the file is damaged: create it again"
_GROUP_ROWS = 1 << 20


class TableWriter:
    """Writes a table block by block; the bytes of the file do not depend on the blocks."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema, settings: Settings) -> None:
        self._writer = writer
        self._schema = schema
        self._settings = settings
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def write(self, block: pa.Table) -> None:
        """Add rows."""
        self._waiting.append(block)
        self._rows += len(block)
        while self._rows >= _GROUP_ROWS:  # Ctrl-C acts between two groups
            self._write_group()

    def finish(self, values_digest: str) -> None:
        """Write what is left, and the checksum.

        Args:
            values_digest: Of all values in the columns; :func:`check_table` compares it.
        """
        if self._rows:
            self._write_group()
        checksum = _checksum(self._settings, values_digest)
        metadata: Any = {_CHECKSUM_KEY: checksum.encode()}  # the stubs know only str
        self._writer.add_key_value_metadata(metadata)

    def _write_group(self) -> None:
        table = pa.concat_tables(self._waiting)
        # In one chunk: where chunks end would show in the pages of the file.
        group = table.slice(0, _GROUP_ROWS).combine_chunks()
        self._writer.write_table(group.cast(self._schema), _GROUP_ROWS)
        self._waiting = [table.slice(_GROUP_ROWS)]
        self._rows = max(self._rows - _GROUP_ROWS, 0)


@contextmanager
def open_table(path: Path, schema: pa.Schema, settings: Settings) -> Iterator[TableWriter]:
    """Open a table for writing; the file appears when the block ends without an error.

    Args:
        path: The file.
        schema: Names and types of the columns.
        settings: A JSON object.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = schema.with_metadata({_METADATA_KEY: json.dumps(settings).encode()})
    with (
        atomic_write(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield TableWriter(writer, schema, settings)


def write_table(
    path: Path, columns: Mapping[str, Any], settings: Settings, values_digest: str
) -> None:
    """Write a table and its settings atomically.

    Args:
        path: The file.
        columns: Column name -> Arrow or NumPy array.
        settings: A JSON object.
        values_digest: Of all values in the columns; :func:`check_table` compares it.
    """
    table = pa.table(columns)
    with open_table(path, table.schema, settings) as writer:
        writer.write(table)
        writer.finish(values_digest)


def sealed_table(columns: Mapping[str, Any], settings: Settings, values_digest: str) -> pa.Table:
    """Return an Arrow table with its settings, and a checksum over all of it, in the metadata."""
    metadata = {
        _METADATA_KEY: json.dumps(settings).encode(),
        _CHECKSUM_KEY: _checksum(settings, values_digest).encode(),
    }
    return pa.table(columns).replace_schema_metadata(metadata)


def is_foreign(path: Path) -> bool:
    """Whether another program wrote a Parquet file: its footer does not mention this library.

    A missing entry of the metadata would not do: damage to its key may hide it.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 8, 0))
            length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
            if magic != b"PAR1" or length + 12 > size:
                return False
            file.seek(size - 8 - length)
            return _METADATA_KEY not in file.read(length)
    except OSError:
        return False


def read_table(
    path: Path, columns: Mapping[str, str | pa.DataType], format_name: str, version: int
) -> tuple[pa.Table, Settings]:
    """Read a table of the given format.

    Args:
        path: The file.
        columns: Column name -> Arrow type, or its name.
        format_name: The required format.
        version: The required version.

    Returns:
        The table with exactly these columns and types, and the settings.

    Raises:
        FormatError: The file is missing or not Parquet, has another format or version, or lacks a
            column.
    """
    with _open(path) as file:
        settings = _check_settings(path, file, format_name, version)
        groups = [_read_group(path, file, i, columns) for i in range(file.num_row_groups)]
    schema = pa.schema([(name, _type_of(kind)) for name, kind in columns.items()])
    return pa.concat_tables([schema.empty_table(), *groups]), settings


def read_settings(path: Path, format_name: str, version: int) -> Settings:
    """Read only the settings of a table; see :func:`read_table`."""
    with _open(path) as file:
        return _check_settings(path, file, format_name, version)


def read_groups(path: Path, columns: Mapping[str, str | pa.DataType]) -> Iterator[pa.Table]:
    """Read a table of known format group by group; see :func:`read_table`."""
    with _open(path) as file:
        for index in range(file.num_row_groups):
            yield _read_group(path, file, index, columns)


@contextmanager
def _open(path: Path) -> Iterator[pq.ParquetFile]:
    if not path.is_file():
        raise FormatError(f"{path}: no such file")
    with _as_damage(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file


@contextmanager
def _as_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, ArithmeticError) as error:
        raise FormatError(
            f"{path}: not a Parquet file that can be read: {error}", hint=_DAMAGED
        ) from error


def _check_settings(path: Path, file: pq.ParquetFile, format_name: str, version: int) -> Settings:
    settings = _settings_of(path, file.metadata.metadata or {})
    if settings.get("format") != format_name:
        raise FormatError(
            f"{path}: holds {settings.get('format', 'an unknown format')!r}, not {format_name!r}"
        )
    if settings.get("version") != version:
        raise FormatError(
            f"{path}: version {settings.get('version')} of {format_name!r} is unknown",
            hint="install the version of prunedbpe that wrote it, or create the file again",
        )
    return settings


def _read_group(
    path: Path, file: pq.ParquetFile, index: int, columns: Mapping[str, str | pa.DataType]
) -> pa.Table:
    with naming(path):
        return cast_columns(file.read_row_group(index), columns)


def cast_columns(table: pa.Table, columns: Mapping[str, str | pa.DataType]) -> pa.Table:
    """Return a table of exactly these columns and types.

    Raises:
        FormatError: A column is missing, holds nulls, or holds values that do not fit its type.
    """
    names = table.column_names
    for column in columns:
        if column not in names:
            raise FormatError(f"column {column!r} is missing; the columns are {names}")
        if _has_nulls(table[column]):
            raise FormatError(f"column {column!r} holds nulls")
    return pa.table({name: _cast(table, name, columns[name]) for name in columns})


def read_rows(path: Path) -> pa.Table:
    """Read all columns of a Parquet file, whatever they are.

    Raises:
        FormatError: The file is missing or not Parquet.
    """
    with _open(path) as file:
        groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
        return pa.concat_tables(groups) if groups else file.schema_arrow.empty_table()


def settings_in(metadata: Mapping[bytes, bytes] | None) -> Settings | None:
    """Return the settings in the metadata of a table, if there are any."""
    metadata = metadata or {}
    try:
        settings = json.loads(metadata[_METADATA_KEY])
        settings["checksum"] = metadata.get(_CHECKSUM_KEY, b"").decode()
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return cast("Settings", settings)


def check_table(path: Path, settings: Settings, values_digest: str) -> None:
    """Check that values and settings of a table are those that were written.

    Args:
        path: The file.
        settings: What :func:`read_table` returned.
        values_digest: Of all values that were read.

    Raises:
        FormatError: Something differs.
    """
    written = {name: value for name, value in settings.items() if name != "checksum"}
    if settings.get("checksum") != _checksum(written, values_digest):
        raise FormatError(
            f"{path}: its checksum does not match its contents",
            hint=_DAMAGED,
        )


def _checksum(settings: Settings, values_digest: str) -> str:
    return digest_json([values_digest, settings])


def _has_nulls(column: Any) -> bool:
    lists = pa.types.is_large_list(column.type) or pa.types.is_list(column.type)
    parts = [chunk.flatten() for chunk in column.chunks] if lists else []
    return any(part.null_count for part in [column, *parts])


def _cast(table: pa.Table, name: str, type_name: str | pa.DataType) -> Any:
    """Cast a column; a value that does not fit the type is an error."""
    try:
        return table[name].cast(type_name)
    except pa.ArrowException as error:
        raise FormatError(
            f"column {name!r} has type {table[name].type}, not {type_name}: {error}",
            hint=_DAMAGED,
        ) from error


def _settings_of(path: Path, metadata: Mapping[bytes, bytes]) -> Settings:
    settings = settings_in(metadata)
    if settings is None:
        raise FormatError(
            f"{path}: a Parquet file that prunedbpe did not write",
            hint="give the output of `prunedbpe count` or `prunedbpe learn`",
        )
    return settings


def _type_of(kind: str | pa.DataType) -> pa.DataType:
    alias: Any = kind  # the stubs know only literals
    return pa.type_for_alias(alias) if isinstance(kind, str) else kind
