"""A file or a stream of token ids -> documents, whatever format it has.

:func:`open_encoded` maps ``npy`` and ``bin`` files into memory, for random access. Opening costs
one pass over the offsets and does not depend on the number of ids. :func:`read_documents` reads any
format from its beginning and finds out by itself which one it is.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.atomic_files import naming, read_json
from prunedbpe.encoded.writer import (
    FLAT_FORMATS,
    FORMAT_NAME,
    FORMAT_VERSION,
    METADATA_KEY,
    NPY_HEADER_BYTES,
    fingerprint,
    npy_header,
    side_files,
)
from prunedbpe.errors import FormatError
from prunedbpe.tokenizer import TokenIds
from prunedbpe.types import AnyArray, Int64Array, Settings

_NPY_MAGIC, _PARQUET_MAGIC, _ARROW_MAGIC = b"\x93NUMPY", b"PAR1", b"ARROW1"
_LOG = logging.getLogger("prunedbpe")
_AGAIN = "encode the corpus again"


class EncodedDocuments(Sequence[AnyArray]):
    """A sequence of documents, each an array of ids.

    Attributes:
        ids: The ids of all documents, one after the other.
        offsets: Where each document begins, and at the end the number of ids.
    """

    def __init__(self, ids: AnyArray, offsets: Int64Array) -> None:
        self.ids = ids
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> AnyArray:  # type: ignore[override]  # no slices
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]


def open_encoded(path: str | Path) -> EncodedDocuments:
    """Map an ``npy`` or ``bin`` file with its offsets into memory.

    Raises:
        FormatError: A file is missing or damaged, the files come from different runs, or the
            version is unknown.
    """
    path = Path(path)
    offsets_path, metadata_path = side_files(path)
    for needed in (path, offsets_path, metadata_path):
        if not needed.is_file():
            raise FormatError(
                f"{needed}: no such file" + ("" if needed == path else f"; {path.name} needs it"),
                hint=f"check the name; after an interrupted run, {_AGAIN}",
            )
    metadata = read_json(metadata_path)
    with naming(metadata_path):
        _check_version(metadata)
        tokens, documents = metadata["tokens"], metadata["documents"]
        format_, type_name = metadata["settings"]["format"], metadata["settings"]["dtype"]
        if format_ not in FLAT_FORMATS or type_name not in ("uint16", "uint32"):
            raise ValueError(f"format {format_!r}, dtype {type_name!r}")
        dtype = np.dtype(type_name).newbyteorder("<")
        start = NPY_HEADER_BYTES if format_ == "npy" else 0
        size = start + tokens * dtype.itemsize
        expected = {path: metadata["ids"], offsets_path: metadata["offsets"]}
    for file, recorded in expected.items():
        if fingerprint(file) != recorded:
            raise FormatError(
                f"{file}: damaged, or not of the same run as {metadata_path.name}", hint=_AGAIN
            )
    with path.open("rb") as stream:
        header = stream.read(start)
    if path.stat().st_size != size or (start and header != npy_header(dtype, tokens)):
        raise FormatError(f"{path}: not {tokens} ids of type {dtype.name}", hint=_AGAIN)
    offsets = _map_offsets(offsets_path)
    _check_offsets(offsets, tokens, str(offsets_path))
    if len(offsets) - 1 != documents:
        raise FormatError(f"{offsets_path}: not {documents} documents", hint=_AGAIN)
    if not tokens:  # an empty range cannot be mapped
        return EncodedDocuments(np.zeros(0, dtype), offsets)
    return EncodedDocuments(np.memmap(path, dtype, "r", start, (tokens,)), offsets)


def read_documents(
    source: str | Path | BinaryIO, *, column: str | None = None
) -> Iterator[tuple[str, TokenIds]]:
    r"""Read encoded documents of any format.

    Args:
        source: A file that ``encode`` wrote, or a stream of any format but ``bin``.
        column: Column of ``jsonl``, ``parquet`` and ``arrow``; by default the one the file names,
            else ``ids``.

    Yields:
        Where a document is, for messages, and its ids.

    Raises:
        FormatError: The contents are not token ids; the message names the place.

    >>> [ids for _, ids in read_documents(io.BytesIO(b'{"ids": [1, 2]}\n[3]\n4 5\n\n'))]
    [[1, 2], [3], [4, 5], []]
    """
    if not isinstance(source, (str, Path)):
        yield from _read_stream(source, "standard input", column)
        return
    path = Path(source)
    # With a side file beside it, only the whole set will do: ids alone may be of an old run.
    if path.suffix == ".bin" or any(side.exists() for side in side_files(path)):
        yield from _numbered(f"{path}, document", open_encoded(path))
        return
    with path.open("rb") as stream:
        yield from _read_stream(stream, str(path), column)


def _read_stream(stream: BinaryIO, name: str, column: str | None) -> Iterator[tuple[str, TokenIds]]:
    can_rewind = stream.seekable() and stream.tell() == 0
    line = stream.readline()
    if line.startswith(_NPY_MAGIC):
        yield from _numbered(f"{name}, document", _read_npy(line + stream.read(), name))
    elif line.startswith((_PARQUET_MAGIC, _ARROW_MAGIC)):
        if can_rewind:
            stream.seek(0)
        body = stream if can_rewind else io.BytesIO(line + stream.read())
        is_parquet = line.startswith(_PARQUET_MAGIC)
        yield from _numbered(f"{name}, row", _read_table(body, name, column, is_parquet))
    else:
        number = 1
        while line:
            place = f"{name}, line {number}"
            yield place, _parse_line(line, place, column or "ids")
            line = stream.readline()
            number += 1


def _numbered(place: str, documents: Iterable[AnyArray]) -> Iterator[tuple[str, AnyArray]]:
    for number, ids in enumerate(documents, 1):
        yield f"{place} {number}", ids


def _read_npy(data: bytes, name: str) -> EncodedDocuments:
    """Read an array of ids, followed by one of offsets; without offsets it is one document."""
    stream = io.BytesIO(data)
    try:
        ids = np.load(stream, allow_pickle=False)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"{ids.ndim} dimensions of {ids.dtype}")
        if stream.tell() == len(data):
            _LOG.warning("%s: an array without offsets; read as one document", name)
            offsets = np.array([0, len(ids)])
        else:
            offsets = np.load(stream, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise FormatError(f"{name}: not an array of token ids: {error}", hint=_AGAIN) from error
    _check_offsets(offsets, len(ids), name)
    return EncodedDocuments(ids, offsets)


def _map_offsets(path: Path) -> Int64Array:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError, OSError) as error:
        raise FormatError(f"{path}: not an array of offsets: {error}", hint=_AGAIN) from error


def _check_offsets(offsets: AnyArray, tokens: int, name: str) -> None:
    if offsets.ndim != 1 or offsets.dtype.kind != "i" or not len(offsets):
        problem = f"{offsets.ndim} dimensions of {offsets.dtype}"
    elif offsets[0] != 0 or offsets[-1] != tokens:
        problem = f"from {offsets[0]} to {offsets[-1]} for {tokens} ids"
    elif (offsets[1:] < offsets[:-1]).any():
        problem = f"falling after document {int(np.argmax(offsets[1:] < offsets[:-1]))}"
    else:
        return
    raise FormatError(f"{name}: offsets do not fit the ids: {problem}", hint=_AGAIN)


def _check_version(metadata: Any) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT_NAME:
        raise FormatError("not the metadata of an encoded corpus", hint=_AGAIN)
    if metadata.get("version") != FORMAT_VERSION:
        raise FormatError(
            f"version {metadata.get('version')!r} is unknown",
            hint=f"install the version of prunedbpe that wrote it, or {_AGAIN}",
        )


def _read_table(body: Any, name: str, column: str | None, is_parquet: bool) -> Iterator[AnyArray]:
    with naming(name):  # the errors of Arrow are ValueErrors
        table: Any = pq.ParquetFile(body) if is_parquet else pa.ipc.open_file(body)
        schema: pa.Schema = table.schema_arrow if is_parquet else table.schema
        described = (schema.metadata or {}).get(METADATA_KEY)
        if described is not None:
            metadata: Settings = json.loads(described)
            _check_version(metadata)
            column = column or metadata["settings"]["column"]
        column = column or "ids"
        if column not in schema.names or not _holds_ids(schema.field(column).type):
            raise FormatError(
                f"no column {column!r} with lists of token ids",
                hint=f"choose one of {', '.join(schema.names)} with --column",
            )
        batches = (
            table.iter_batches(columns=[column])
            if is_parquet
            else map(table.get_batch, range(table.num_record_batches))
        )
        for batch in batches:
            lists = batch.column(column)
            ids = lists.flatten()
            if lists.null_count or ids.null_count:
                raise FormatError(f"column {column!r} has nulls", hint="remove the rows with nulls")
            flat = ids.to_numpy(zero_copy_only=False)
            ends = np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))
            yield from np.split(flat, ends[:-1]) if len(lists) else ()


def _holds_ids(type_: pa.DataType) -> bool:
    is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_)
    return is_list and pa.types.is_integer(type_.value_type)  # type: ignore[attr-defined]


def _parse_line(line: bytes, place: str, column: str) -> list[int]:
    """Token ids of a line: a JSON object with the column, a JSON list, or plain numbers."""
    try:
        if line.lstrip()[:1] in (b"{", b"["):
            value: Any = json.loads(line)
            ids = value[column] if isinstance(value, dict) else value
        else:
            ids = [int(word) for word in line.split()]
        if not isinstance(ids, list) or any(type(token_id) is not int for token_id in ids):
            raise ValueError(f"{ids!r} is not a list of whole numbers")
    except (ValueError, KeyError) as error:
        raise FormatError(
            f"{place}: not token ids",
            hint=f'a line is {{"{column}": [...]}}, a JSON list or plain ids; '
            "decode bin files by name",
        ) from error
    return ids
