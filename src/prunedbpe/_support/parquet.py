"""Tables as Parquet: columns that any program can read, settings in the schema's metadata.

Parquet's own checksums cover the pages of a file, but not its footer, which says where the pages of
a column are, what they mean, and how many rows there are. A checksum over all values and settings
does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.digests import digest_json
from prunedbpe.errors import FormatError
from prunedbpe.types import Settings

_METADATA_KEY = b"prunedbpe"
_DAMAGED = "the file is damaged: create it again"
_GROUP_ROWS = 1 << 20


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
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {**settings, "checksum": _checksum(settings, values_digest)}
    metadata = {_METADATA_KEY: json.dumps(settings).encode()}
    table = pa.table(columns).replace_schema_metadata(metadata)
    with (
        atomic_write(path) as file,
        pq.ParquetWriter(
            file, table.schema, compression="zstd", write_page_checksum=True
        ) as writer,
    ):
        for first in range(0, max(len(table), 1), _GROUP_ROWS):  # Ctrl-C acts between two groups
            writer.write_table(table.slice(first, _GROUP_ROWS), _GROUP_ROWS)


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
    if not path.is_file():
        raise FormatError(f"{path}: no such file")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
            table = pa.concat_tables(groups) if groups else file.schema_arrow.empty_table()
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError, ArithmeticError) as error:
        raise FormatError(
            f"{path}: not a Parquet file that can be read: {error}", hint=_DAMAGED
        ) from error
    settings = _settings_of(path, table)
    if settings.get("format") != format_name:
        raise FormatError(
            f"{path}: holds {settings.get('format', 'an unknown format')!r}, not {format_name!r}"
        )
    if settings.get("version") != version:
        raise FormatError(
            f"{path}: version {settings.get('version')} of {format_name!r} is unknown",
            hint="install the version of prunedbpe that wrote it, or create the file again",
        )
    for column in columns:
        if column not in names:
            raise FormatError(f"{path}: column {column!r} is missing; the file has {names}")
        if _has_nulls(table[column]):
            raise FormatError(f"{path}: column {column!r} holds nulls")
    return pa.table({name: _cast(path, table, name, columns[name]) for name in columns}), settings


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


def _cast(path: Path, table: pa.Table, name: str, type_name: str | pa.DataType) -> Any:
    """Cast a column; a value that does not fit the type is an error."""
    try:
        return table[name].cast(type_name)
    except pa.ArrowException as error:
        raise FormatError(
            f"{path}: column {name!r} has type {table[name].type}, not {type_name}: {error}",
            hint=_DAMAGED,
        ) from error


def _settings_of(path: Path, table: pa.Table) -> Settings:
    try:
        settings = json.loads((table.schema.metadata or {})[_METADATA_KEY])
    except (KeyError, ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise FormatError(
            f"{path}: a Parquet file that prunedbpe did not write",
            hint="give the output of `prunedbpe count` or `prunedbpe learn`",
        )
    return cast("Settings", settings)
