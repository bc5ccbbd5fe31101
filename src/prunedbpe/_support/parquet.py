"""Tables of ours as Parquet: columns any program can read, settings in the schema's metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.errors import FormatError
from prunedbpe.types import Settings

if TYPE_CHECKING:
    import pyarrow as pa

_METADATA_KEY = b"prunedbpe"


def write_table(path: Path, table: pa.Table, settings: Settings) -> None:
    """Write a table and its settings, whole or not at all."""
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {_METADATA_KEY: json.dumps(settings).encode()}
    with atomic_write(path) as file:
        pq.write_table(
            table.replace_schema_metadata(metadata),
            file,
            compression="zstd",
            write_page_checksum=True,
        )


def read_table(
    path: Path, columns: Mapping[str, str], format_name: str, version: int
) -> tuple[pa.Table, Settings]:
    """Read a table of the given format.

    Args:
        path: The file.
        columns: The names of the columns, and of their Arrow types.
        format_name: The format it must be of.
        version: The version it must be of.

    Returns:
        The table with these columns, of these types, and the settings.

    Raises:
        FormatError: The file is missing, no Parquet, of another format, of a newer version, or
            lacks a column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise FormatError(f"{path}: no such file")
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"{path}: not a Parquet file that can be read: {error}",
            hint="the file is damaged: make it anew",
        ) from error
    settings = _settings_of(path, table)
    if settings.get("format") != format_name:
        raise FormatError(
            f"{path}: holds {settings.get('format', 'an unknown format')!r}, not {format_name!r}"
        )
    if settings.get("version") != version:
        raise FormatError(
            f"{path}: version {settings.get('version')} of {format_name!r} is not known here",
            hint="install the version of prunedbpe that wrote it, or make the file anew",
        )
    for column in columns:
        if column not in names:
            raise FormatError(f"{path}: column {column!r} is missing, there are {names}")
        if table[column].null_count:
            raise FormatError(f"{path}: column {column!r} holds nulls")
    return pa.table({name: _cast(path, table, name, columns[name]) for name in columns}), settings


def _cast(path: Path, table: pa.Table, name: str, type_name: str) -> pa.ChunkedArray[Any]:
    """A column as the type asked for; a value that does not fit it is an error."""
    import pyarrow as pa

    try:
        return table[name].cast(type_name)
    except pa.ArrowException as error:
        raise FormatError(
            f"{path}: column {name!r} is of type {table[name].type}, not {type_name}: {error}",
            hint="the file is damaged: make it anew",
        ) from error


def _settings_of(path: Path, table: pa.Table) -> Settings:
    try:
        settings = json.loads((table.schema.metadata or {})[_METADATA_KEY])
    except (KeyError, ValueError):
        settings = None
    if not isinstance(settings, dict):
        raise FormatError(
            f"{path}: a Parquet file, but not one of prunedbpe's",
            hint="give a file that `prunedbpe count` or `prunedbpe learn` wrote",
        )
    return cast("Settings", settings)
