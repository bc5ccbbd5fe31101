"""A file, folder or stream of token ids -> documents, whatever format it has.

:func:`open_encoded` maps ``npy``, ``bin`` and Megatron's files into memory, for random access.
Opening costs one pass over the offsets and does not depend on the number of ids: each id is checked
when its document is read, and all bytes only on request. :func:`read_documents` reads any format
from its beginning and finds out by itself which one it is.

Whatever a file holds, a document has ids below the vocabulary size that the metadata name, or below
2**32 if there are none; or reading it is a :class:`FormatError` that names the file and the place.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe._support.commit import finish_interrupted_commit, read_together
from prunedbpe._support.input_files import naming, read_json
from prunedbpe.encoded.file_formats import (
    FLAT_FORMATS,
    FORMAT_NAME,
    FORMAT_VERSION,
    ID_TYPES,
    METADATA_KEY,
    NPY_HEADER_BYTES,
    file_checksum,
    fingerprint,
    ids_file,
    npy_header,
    side_files,
)
from prunedbpe.encoded.mds_files import MdsIndex
from prunedbpe.encoded.megatron_files import read_index
from prunedbpe.errors import FormatError
from prunedbpe.tokenizer import TokenIds
from prunedbpe.types import AnyArray, Int64Array, Settings

_NPY_MAGIC, _PARQUET_MAGIC, _ARROW_MAGIC = b"\x93NUMPY", b"PAR1", b"ARROW1"
_BINARY_ENDINGS = (".npy", ".parquet", ".arrow")
_ALL_IDS = 1 << 32
_LOG = logging.getLogger("prunedbpe")
_AGAIN = "encode the corpus again"


class EncodedDocuments(Sequence[AnyArray]):
    """A sequence of documents, each an array of ids.

    Args:
        ids: The ids of all documents, one after the other.
        offsets: Where each document begins, and at the end the number of ids.
        vocab_size: Ids of a document must be below it.
        name: The file, for errors.

    Attributes:
        ids: As given. Not checked: an id of a damaged file may be out of range.
        offsets: As given.
        vocab_size: As given.
    """

    def __init__(
        self,
        ids: AnyArray,
        offsets: Int64Array,
        vocab_size: int = _ALL_IDS,
        name: str = "encoded documents",
    ) -> None:
        self.ids = ids
        self.offsets = offsets
        self.vocab_size = vocab_size
        self._name = name

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> AnyArray:  # type: ignore[override]  # no slices
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        document = self.ids[self.offsets[index] : self.offsets[index + 1]]
        if _has_wrong_ids(document, self.vocab_size):
            raise _wrong_ids(document, self.vocab_size, f"{self._name}, document {index + 1}")
        return document


def open_encoded(path: str | Path, *, verify: bool = False) -> EncodedDocuments:
    """Map an ``npy`` or ``bin`` file with its offsets, or Megatron's two files, into memory.

    Args:
        path: The file of ids, or Megatron's index; its side files are next to it. Files that
            Megatron wrote need no metadata.
        verify: Read all ids and compare their checksum. Without it, a file of more than 256 KiB is
            compared in 64 places, and an id that is out of range is an error when its document
            is read.

    Raises:
        FormatError: A file is missing or damaged, the files come from different runs, or the
            version is unknown.
    """
    path = Path(path)
    if path.is_dir():
        raise FormatError(
            f"{path}: a folder; only files with all ids in one piece are mapped into memory",
            hint="read it with read_documents, or with StreamingDataset of mosaicml-streaming",
        )
    index = _megatron_index(path)
    if index is not None:
        files = [index, ids_file(index, "megatron"), side_files(index)[1]]
        names = [file.name for file in files]
        return read_together(path.parent, names, lambda: _open_megatron(*files, verify=verify))
    names = [file.name for file in (path, *side_files(path))]
    return read_together(path.parent, names, lambda: _open(path, verify=verify))


def _megatron_index(path: Path) -> Path | None:
    """Return the index if a name means files of Megatron: that of the index, or of its ids."""
    if path.suffix == ".idx":
        return path
    index = path.with_suffix(".idx")
    is_ids = path.suffix == ".bin" and index.is_file() and not side_files(path)[1].exists()
    return index if is_ids else None


def _open_megatron(index: Path, ids: Path, described: Path, *, verify: bool) -> EncodedDocuments:
    for needed in (index, ids):
        if not needed.is_file():
            raise FormatError(f"{needed}: no such file", hint=f"check the name, or {_AGAIN}")
    vocab_size, checksum = _ALL_IDS, None
    if described.is_file():
        metadata = read_json(described)
        with naming(described):
            vocab_size = _vocab_size(metadata)
            checksum = (metadata["ids"] or {}).get("crc32")
            recorded = {ids: metadata["ids"], index: metadata["offsets"]}
        _check_same_run(recorded, described)
    with naming(index):
        dtype, offsets = read_index(index)
    tokens = int(offsets[-1])
    if ids.stat().st_size != tokens * np.dtype(dtype).itemsize:
        raise FormatError(f"{ids}: not {tokens} ids of type {dtype}", hint=_AGAIN)
    if verify and checksum is not None and file_checksum(ids) != checksum:
        raise FormatError(f"{ids}: damaged: the checksum of its ids is wrong", hint=_AGAIN)
    return EncodedDocuments(_map_ids(ids, dtype, 0, tokens), offsets, vocab_size, str(ids))


def _map_ids(path: Path, dtype: str, start: int, tokens: int) -> AnyArray:
    little = np.dtype(dtype).newbyteorder("<")
    # An empty range cannot be mapped.
    return np.memmap(path, little, "r", start, (tokens,)) if tokens else np.zeros(0, little)


def _check_same_run(recorded: dict[Path, Any], described: Path) -> None:
    """Compare sizes and digests of files with those of their metadata."""
    for file, expected in recorded.items():
        found: Settings = fingerprint(file)
        if not isinstance(expected, dict) or any(expected.get(key) != found[key] for key in found):
            raise FormatError(
                f"{file}: damaged, or not of the same run as {described.name}", hint=_AGAIN
            )


def _open(path: Path, *, verify: bool) -> EncodedDocuments:
    offsets_path, metadata_path = side_files(path)
    for needed in (path, offsets_path, metadata_path):
        if not needed.is_file():
            raise FormatError(
                f"{needed}: no such file" + ("" if needed == path else f"; {path.name} needs it"),
                hint=f"check the name, or {_AGAIN}",
            )
    metadata = read_json(metadata_path)
    with naming(metadata_path):
        vocab_size = _vocab_size(metadata)
        tokens, documents = metadata["tokens"], metadata["documents"]
        format_, type_name = metadata["settings"]["format"], metadata["settings"]["dtype"]
        if format_ not in FLAT_FORMATS or type_name not in ID_TYPES:
            raise ValueError(f"format {format_!r}, dtype {type_name!r}")
        if type(tokens) is not int or type(documents) is not int:
            raise ValueError(f"{tokens!r} tokens of {documents!r} documents")
        dtype = np.dtype(type_name).newbyteorder("<")
        start = NPY_HEADER_BYTES if format_ == "npy" else 0
        size = start + tokens * dtype.itemsize
        expected = {path: metadata["ids"], offsets_path: metadata["offsets"]}
        checksum = dict(expected[path] or {}).pop("crc32", None)
    _check_same_run(expected, metadata_path)
    with path.open("rb") as stream:
        header = stream.read(start)
    if path.stat().st_size != size or (start and header != npy_header(dtype, tokens)):
        raise FormatError(f"{path}: not {tokens} ids of type {dtype.name}", hint=_AGAIN)
    if verify and file_checksum(path, start) != checksum:
        raise FormatError(f"{path}: damaged: the checksum of its ids is wrong", hint=_AGAIN)
    offsets = _map_offsets(offsets_path)
    _check_offsets(offsets, tokens, str(offsets_path))
    if len(offsets) - 1 != documents:
        raise FormatError(f"{offsets_path}: not {documents} documents", hint=_AGAIN)
    return EncodedDocuments(
        _map_ids(path, type_name, start, tokens), offsets, vocab_size, str(path)
    )


def read_documents(
    source: str | Path | BinaryIO, *, column: str | None = None
) -> Iterator[tuple[str, TokenIds]]:
    r"""Read encoded documents of any format.

    Args:
        source: A file or folder that ``encode`` wrote, or a stream of any format of one file with
            a beginning of its own: not ``bin``, ``megatron`` and ``mds``.
        column: Column of ``jsonl``, ``parquet``, ``arrow`` and ``mds``; by default the one the file
            names, else ``ids``, or ``tokens`` in ``mds``.

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
    finish_interrupted_commit(path.parent)
    if path.is_dir():
        yield from _numbered(f"{path}, document", _read_mds(path, column))
        return
    # With a side file beside it, only the whole set will do: ids alone may be of an old run.
    is_mapped = path.suffix in (".bin", ".idx")
    if is_mapped or any(side.exists() for side in side_files(path)):
        yield from _numbered(f"{path}, document", open_encoded(path))
        return
    if path.suffix in _BINARY_ENDINGS and path.is_file() and not path.stat().st_size:
        # Without this, it would pass for a text file without documents.
        raise FormatError(f"{path}: empty, cut short", hint=_AGAIN)
    with path.open("rb") as stream:
        yield from _read_stream(stream, str(path), column)


def _read_mds(folder: Path, column: str | None) -> Iterator[AnyArray]:
    index = MdsIndex(folder)
    vocab_size = _ALL_IDS
    if index.metadata is not None:
        with naming(folder):
            vocab_size = _vocab_size(index.metadata)
    for number, document in enumerate(index.documents(column), 1):
        if _has_wrong_ids(document, vocab_size):
            raise _wrong_ids(document, vocab_size, f"{folder}, document {number}")
        yield document


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


def _has_wrong_ids(ids: AnyArray, vocab_size: int) -> bool:
    plain = np.asarray(ids)  # a memory map is slower
    return bool(len(ids)) and bool(
        plain.max() >= vocab_size or (ids.dtype.kind == "i" and plain.min() < 0)
    )


def _wrong_ids(ids: TokenIds, vocab_size: int, place: str) -> FormatError:
    wrong = next(token_id for token_id in ids if not 0 <= token_id < vocab_size)
    return FormatError(f"{place}: {wrong} is not a token id below {vocab_size}", hint=_AGAIN)


def _read_npy(data: bytes, name: str) -> EncodedDocuments:
    """Read an array of ids, followed by one of offsets; without offsets it is one document."""
    stream = io.BytesIO(data)
    ids = _read_array(stream, name, "token ids", "iu")
    if stream.tell() == len(data):
        _LOG.warning("%s: an array without offsets; read as one document", name)
        offsets: AnyArray = np.array([0, len(ids)])
    else:
        offsets = _read_array(stream, name, "offsets", "i")
        if stream.tell() != len(data):
            raise FormatError(f"{name}: bytes after the offsets", hint=_AGAIN)
    _check_offsets(offsets, len(ids), name)
    return EncodedDocuments(ids, offsets, name=name)


def _read_array(stream: io.BytesIO, name: str, what: str, kinds: str) -> AnyArray:
    """Read one array; NumPy would allocate what a damaged header claims, and then read."""
    try:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"version {version} of the format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        if len(shape) != 1 or dtype.kind not in kinds:
            raise ValueError(f"{len(shape)} dimensions of {dtype}")
        data = stream.read(shape[0] * dtype.itemsize)
        return np.frombuffer(data, dtype, shape[0])
    except Exception as error:  # a header is a Python literal, with as many ways to be wrong
        message = f"{name}: not an array of {what}: {error}"
        raise FormatError(message, hint=_AGAIN) from error


def _map_offsets(path: Path) -> Int64Array:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except Exception as error:  # as above
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


def _vocab_size(metadata: Any) -> int:
    """Check the metadata of an encoded corpus; return the size of the vocabulary."""
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT_NAME:
        raise FormatError("not the metadata of an encoded corpus", hint=_AGAIN)
    if metadata.get("version") != FORMAT_VERSION:
        raise FormatError(
            f"version {metadata.get('version')!r} is unknown",
            hint=f"install the version of prunedbpe that wrote it, or {_AGAIN}",
        )
    vocab_size = metadata["settings"]["vocab_size"]
    if type(vocab_size) is not int or not 0 < vocab_size <= _ALL_IDS:
        raise FormatError(f"vocab_size {vocab_size!r}", hint=_AGAIN)
    return vocab_size


def _read_table(body: Any, name: str, column: str | None, is_parquet: bool) -> Iterator[AnyArray]:
    row = 0
    vocab_size = _ALL_IDS
    with _naming_arrow(name):
        table: Any = (
            pq.ParquetFile(body, page_checksum_verification=True)
            if is_parquet
            else pa.ipc.open_file(body)
        )
        schema: pa.Schema = table.schema_arrow if is_parquet else table.schema
        described = (schema.metadata or {}).get(METADATA_KEY.encode())
        if described is not None:
            metadata: Settings = json.loads(described)
            vocab_size = _vocab_size(metadata)
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
            batch.validate(full=True)
            lists = batch.column(column)
            ids = lists.flatten()
            if lists.null_count or ids.null_count:
                raise FormatError(f"column {column!r} has nulls", hint="remove the rows with nulls")
            flat = ids.to_numpy(zero_copy_only=False)
            ends = np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))
            for document in np.split(flat, ends[:-1]) if len(lists) else ():
                row += 1
                if _has_wrong_ids(document, vocab_size):
                    raise _wrong_ids(document, vocab_size, f"row {row}")
                yield document


@contextmanager
def _naming_arrow(name: str) -> Iterator[None]:
    """Like :func:`naming`, also for what Arrow raises on damaged files."""
    try:
        with naming(name):
            yield
    except (pa.ArrowException, OSError, MemoryError, RecursionError) as error:
        first_line = str(error).partition("\n")[0]
        raise FormatError(f"{name}: cannot be read: {first_line}", hint=_AGAIN) from error


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
            words = line.split()
            if not all(map(bytes.isdigit, words)):  # int() takes signs and underscores
                raise ValueError("not decimal numbers")
            ids = list(map(int, words))
        if not isinstance(ids, list) or any(type(token_id) is not int for token_id in ids):
            raise ValueError("not a list of whole numbers")
    except (ValueError, KeyError, RecursionError) as error:
        raise FormatError(
            f"{place}: not token ids",
            hint=f'a line is {{"{column}": [...]}}, a JSON list or plain ids; '
            "decode bin files by name",
        ) from error
    if ids and (min(ids) < 0 or max(ids) >= _ALL_IDS):
        raise _wrong_ids(ids, _ALL_IDS, place)
    return ids
