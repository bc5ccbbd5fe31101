"""A corpus as files of token ids: JSON lines, NumPy, flat binary, Parquet or Arrow.

In: whatever :func:`prunedbpe.train` reads. Out, in the order of the corpus:

========== ==========================================================================
jsonl      one line ``{"ids": [...]}`` a document
npy        ``NAME.npy``, all ids end to end; ``NAME.offsets.npy``
bin        ``NAME.bin``, the same without a header; ``NAME.offsets.npy``; ``NAME.json``
parquet    a column ``ids`` of lists
arrow      the same as an Arrow IPC file, which opens without reading it
========== ==========================================================================

``npy`` and ``bin`` take two bytes an id where the vocabulary allows, else four; document ``i`` is
``ids[offsets[i]:offsets[i + 1]]``, and both open memory-mapped. Every batch is encoded on all
cores; memory holds one batch, and for flat files the offsets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import numpy as np

from prunedbpe._support.atomic_files import atomic_write, read_json, write_json
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.corpus.batches import DocumentBatch
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.tokenizer import Segmentation, SpecialSet, Tokenizer
from prunedbpe.types import AnyArray, Int64Array, Settings, UInt32Array

if TYPE_CHECKING:
    from io import IOBase

    import pyarrow as pa

FileFormat = Literal["jsonl", "npy", "bin", "parquet", "arrow"]
FILE_FORMATS: tuple[FileFormat, ...] = ("jsonl", "npy", "bin", "parquet", "arrow")

_LARGEST_IN_TWO_BYTES = 1 << 16


class _StartAgainError(Exception):
    """Ids were written of a file that is not UTF-8; caught where writing began."""


def _start_again() -> None:
    raise _StartAgainError


@dataclass(frozen=True)
class EncodedReport:
    """What was written: documents, tokens, and the bytes of text they stand for."""

    documents: int = 0
    tokens: int = 0
    bytes: int = 0

    def __add__(self, other: EncodedReport) -> EncodedReport:
        return EncodedReport(
            self.documents + other.documents, self.tokens + other.tokens, self.bytes + other.bytes
        )


def encode_documents(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus,
    *,
    allowed_special: SpecialSet = (),
    segmentation: Segmentation = "rank",
    threads: int | None = None,
    progress: Progress = SILENT,
    forget: Callable[[], None] | None = None,
) -> Iterator[tuple[UInt32Array, Int64Array, int]]:
    """Encode a corpus batch by batch: flat ids, offsets, and the bytes of the batch.

    For ``forget`` see :meth:`prunedbpe.corpus.Corpus.batches`.
    """
    opened = open_corpus(corpus)
    with progress.task("Encoding", total=opened.size, unit="bytes") as task:
        for batch in opened.batches(task, threads=worker_count(threads), forget=forget):
            ids, offsets = tokenizer.encode_batch_to_numpy(
                _texts(batch),
                allowed_special=allowed_special,
                segmentation=segmentation,
                threads=threads,
            )
            yield ids, offsets, batch.text_bytes


def encode_corpus(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus,
    output: str | Path,
    format: FileFormat | None = None,
    *,
    append_token: str | None = None,
    allowed_special: SpecialSet = (),
    segmentation: Segmentation = "rank",
    threads: int | None = None,
    progress: Progress = SILENT,
) -> EncodedReport:
    """Encode a corpus into one file, whole or not at all.

    Args:
        tokenizer: What encodes.
        corpus: Paths, an iterable of texts, or a :class:`~prunedbpe.corpus.Corpus`.
        output: The file to write.
        format: One of :data:`FILE_FORMATS`; by the ending of ``output`` if not given.
        append_token: A special token to put behind every document.
        allowed_special: Special tokens whose text stands for them, ``"all"`` or by name.
        segmentation: As for :meth:`~prunedbpe.tokenizer.Tokenizer.encode`.
        threads: One per core by default; the result does not depend on it.
        progress: Who watches.

    >>> import tempfile
    >>> import prunedbpe
    >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = encode_corpus(tok, iter(["ab", "ab c"]), Path(folder, "a.npy"))
    ...     documents = open_encoded(Path(folder, "a.npy"))
    ...     report.tokens, [ids.tolist() for ids in documents]
    (4, [[256], [256, 32, 99]])
    """
    output = Path(output)
    format = format or _format_of(output)
    if format not in FILE_FORMATS:
        raise SettingsError(f"format {format!r}", hint=f"there are {', '.join(FILE_FORMATS)}")
    end = None if append_token is None else special_id(tokenizer, append_token)
    output.parent.mkdir(parents=True, exist_ok=True)
    corpus = open_corpus(corpus)
    encode = partial(
        encode_documents, tokenizer, corpus, allowed_special=allowed_special,
        segmentation=segmentation, threads=threads, progress=progress,
    )  # fmt: skip
    # Every file is read once. Only if one turns out not to be UTF-8 when some of it has been
    # written, all is written again, and the files are checked first.
    try:
        return _write_encoded(tokenizer, encode(forget=_start_again), output, format, end)
    except _StartAgainError:
        return _write_encoded(tokenizer, encode(), output, format, end)


def _write_encoded(
    tokenizer: Tokenizer,
    batches: Iterator[tuple[UInt32Array, Int64Array, int]],
    output: Path,
    format: FileFormat,
    end: int | None,
) -> EncodedReport:
    """Write batches of :func:`encode_documents`, with the id ``end`` behind every document."""
    report = EncodedReport()
    offsets_of_all: list[Int64Array] = [np.zeros(1, np.int64)]

    def counted() -> Iterator[tuple[UInt32Array, Int64Array]]:
        nonlocal report
        for ids, offsets, text_bytes in batches:
            if end is not None:
                ids, offsets = _append_to_each(ids, offsets, end)
            offsets_of_all.append(offsets[1:] + report.tokens)
            report += EncodedReport(len(offsets) - 1, len(ids), text_bytes)
            yield ids, offsets

    dtype = np.dtype("<u2" if tokenizer.vocab_size <= _LARGEST_IN_TWO_BYTES else "<u4")
    with atomic_write(output) as file:
        if format in ("npy", "bin"):
            _write_flat(file, counted(), dtype, with_header=format == "npy")
        elif format == "jsonl":
            for ids, offsets in counted():
                file.write(_json_lines(ids, offsets))
        else:
            _write_arrow(file, counted(), format)
        if format in ("npy", "bin"):
            offsets = np.concatenate(offsets_of_all)
            with atomic_write(_beside(output, ".offsets.npy")) as beside:
                np.save(beside, offsets)
            write_json(
                _beside(output, ".json"),
                {
                    "format": "prunedbpe encoded corpus",
                    "version": 1,
                    "dtype": dtype.name,
                    "vocab_size": tokenizer.vocab_size,
                    **asdict(report),
                },
            )
    return report


def encode_files(
    tokenizer: Tokenizer,
    corpus: Corpus,
    folder: str | Path,
    format: FileFormat,
    *,
    append_token: str | None = None,
    allowed_special: SpecialSet = (),
    segmentation: Segmentation = "rank",
    threads: int | None = None,
    progress: Progress = SILENT,
) -> EncodedReport:
    """Encode every file of a corpus into a file of its own; files already done are left alone.

    Files appear only when they are complete, so a run that was stopped goes on where it was when
    it is started again. ``encoded.json`` keeps what belongs to which input; another tokenizer,
    format or option, or an input of another size, starts anew.

    Args:
        tokenizer: What encodes.
        corpus: Files; no iterable and no standard input.
        folder: Where the results go, named after the place of the input in the corpus.
        format: One of :data:`FILE_FORMATS`.
        append_token: A special token to put behind every document.
        allowed_special: Special tokens whose text stands for them, ``"all"`` or by name.
        segmentation: As for :meth:`~prunedbpe.tokenizer.Tokenizer.encode`.
        threads: One per core by default.
        progress: Who watches.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = corpus.fingerprint()
    if any(entry["bytes"] is None for entry in inputs):
        raise SettingsError(
            "only a corpus of files can be encoded file by file",
            hint="encode standard input or an iterable into one file",
        )
    identity = {
        "tokenizer": tokenizer_digest(tokenizer),
        "format": format,
        "append_token": append_token,
        "allowed_special": allowed_special if allowed_special == "all" else sorted(allowed_special),
    }
    if segmentation != "rank":  # lists that were written before there was a choice stay valid
        identity["segmentation"] = segmentation
    ledger_path = folder / "encoded.json"
    done: dict[str, Any] = {}
    if ledger_path.is_file():
        ledger = read_json(ledger_path)
        if not isinstance(ledger, dict) or not isinstance(ledger.get("files"), dict):
            raise FormatError(f"{ledger_path}: not the list of an encoded corpus")
        if ledger.get("identity") == identity:
            done = ledger["files"]
    total = EncodedReport()
    options = corpus.options
    for number, entry in enumerate(inputs):
        name = f"{number:05d}.{format}"
        known = done.get(name)
        if not (known and known["input"] == entry and (folder / name).is_file()):
            part = Corpus(
                entry["path"],
                text_field=options.text_field,
                strict=options.strict,
                batch_bytes=options.batch_bytes,
            )
            report = encode_corpus(
                tokenizer, part, folder / name, format,
                append_token=append_token, allowed_special=allowed_special,
                segmentation=segmentation, threads=threads, progress=progress,
            )  # fmt: skip
            done[name] = {"input": entry, **asdict(report)}
            write_json(ledger_path, {"identity": identity, "files": done})
        known = done[name]
        total += EncodedReport(known["documents"], known["tokens"], known["bytes"])
    return total


class EncodedDocuments:
    """Documents of an ``npy`` or ``bin`` file, memory-mapped: a sequence of arrays of ids."""

    def __init__(self, ids: AnyArray, offsets: Int64Array) -> None:
        self.ids = ids
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> AnyArray:
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]


def open_encoded(path: str | Path) -> EncodedDocuments:
    """Open what :func:`encode_corpus` wrote as ``npy`` or ``bin``, without reading it."""
    path = Path(path)
    offsets = np.load(_beside(path, ".offsets.npy"), mmap_mode="r")
    if path.suffix == ".npy":
        return EncodedDocuments(np.load(path, mmap_mode="r"), offsets)
    settings = read_json(_beside(path, ".json"))
    if not path.stat().st_size:  # an empty file cannot be mapped
        return EncodedDocuments(np.zeros(0, settings["dtype"]), offsets)
    return EncodedDocuments(np.memmap(path, np.dtype(settings["dtype"]), mode="r"), offsets)


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """Identity of a tokenizer: what decides which ids a text gets."""
    vocabulary = tokenizer.vocabulary
    specials = json.dumps(vocabulary.special_ids).encode()
    cut = json.dumps(tokenizer.pretokenizer.describe()).encode()
    return digest_arrays(
        vocabulary.pairs,
        vocabulary.token_ids,
        np.frombuffer(specials, np.uint8),
        np.frombuffer(cut, np.uint8),
    )


def _texts(batch: DocumentBatch) -> list[str]:
    data = batch.data.tobytes()
    return [data[begin:end].decode() for begin, end in batch.spans.tolist()]


def _format_of(output: Path) -> FileFormat:
    ending = output.suffix.removeprefix(".")
    for format in FILE_FORMATS:
        if ending == format:
            return format
    raise SettingsError(
        f"{output}: the ending does not tell the format",
        hint=f"end it in one of {', '.join('.' + name for name in FILE_FORMATS)}",
    )


def special_id(tokenizer: Tokenizer, name: str) -> int:
    """The id of a special token, or an error that names those there are."""
    if name not in tokenizer.special_tokens:
        raise SettingsError(
            f"{name!r} is no special token",
            hint=f"there are {', '.join(tokenizer.special_tokens) or 'none'}",
        )
    return tokenizer.special_tokens[name]


def _append_to_each(
    ids: UInt32Array, offsets: Int64Array, token_id: int
) -> tuple[UInt32Array, Int64Array]:
    longer = np.insert(ids, offsets[1:], np.uint32(token_id))
    return longer, offsets + np.arange(len(offsets))


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name.removesuffix(path.suffix) + ending)


def _json_lines(ids: UInt32Array, offsets: Int64Array) -> bytes:
    flat, bounds = ids.tolist(), offsets.tolist()
    lines = [
        f'{{"ids": {flat[begin:end]}}}\n'
        for begin, end in zip(bounds, bounds[1:], strict=False)  # noqa: RUF007
    ]
    return "".join(lines).encode()


def _write_flat(
    file: BinaryIO,
    batches: Iterator[tuple[UInt32Array, Int64Array]],
    dtype: np.dtype[Any],
    *,
    with_header: bool,
) -> None:
    """Ids end to end. The header of npy has the length, so it is written again at the end."""
    write_header: Any = np.lib.format.write_array_header_1_0
    header: Settings = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": (10**18,),  # keeps room for any length
    }
    if with_header:
        write_header(file, header)
    begin = file.tell()
    total = 0
    for ids, _ in batches:
        file.write(ids.astype(dtype).tobytes())
        total += len(ids)
    if with_header:
        file.seek(0)
        write_header(file, {**header, "shape": (total,)})
        if file.tell() != begin:
            raise FormatError("the header of a NumPy file changed its length")
        file.seek(0, 2)


def _write_arrow(
    file: BinaryIO, batches: Iterator[tuple[UInt32Array, Int64Array]], format: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("ids", pa.large_list(pa.uint32()))])
    writer: Any = (
        pq.ParquetWriter(file, schema, compression="zstd")
        if format == "parquet"
        else pa.ipc.new_file(cast("IOBase", file), schema)
    )
    with writer:
        for ids, offsets in batches:
            writer.write_batch(pa.record_batch([id_lists(ids, offsets)], schema=schema))


def id_lists(ids: UInt32Array, offsets: Int64Array) -> pa.LargeListArray[Any]:
    """Flat ids and offsets as an Arrow array of lists, without a copy."""
    import pyarrow as pa

    from_arrays: Any = pa.LargeListArray.from_arrays  # the stubs know no arrays of NumPy here
    return cast("pa.LargeListArray[Any]", from_arrays(pa.array(offsets), pa.array(ids)))
