"""Encode a corpus into token ids: into one file, a stream, or one file per input.

In: anything :func:`prunedbpe.train` reads. Out: the formats of :mod:`prunedbpe.encoded.writer`, in
the order of the corpus. Each batch is encoded on all cores straight from the bytes of the corpus.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from prunedbpe._support.atomic_files import read_json, write_json
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.progress import SILENT, Progress, Task
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, DocumentBatch, open_corpus
from prunedbpe.corpus.batches import normalized
from prunedbpe.encoded.reader import open_encoded
from prunedbpe.encoded.writer import (
    COLUMN_FORMATS,
    FILE_FORMATS,
    FLAT_FORMATS,
    EncodedReport,
    FileFormat,
    fingerprint,
    open_writer,
    output_files,
)
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.tokenizer import AllowedSpecial, Segmentation, Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Int64Array, Settings, UInt32Array

LEDGER = "encoded.json"
_LEDGER_FORMAT = "prunedbpe encoded files"
_LEDGER_VERSION = 1
_SECONDS_BETWEEN_LEDGERS = 5.0
_TWO_BYTES = 1 << 16


@dataclass(frozen=True)
class EncodingOptions:
    """What decides which ids are written, besides the tokenizer and the corpus.

    Attributes:
        format: One of :data:`~prunedbpe.encoded.writer.FILE_FORMATS`.
        column: Name of the column of ``jsonl``, ``parquet`` and ``arrow``.
        append_token: A special token to append to every document.
        allowed_special: Special tokens whose text stands for them, ``"all"`` or by name.
        segmentation: As for :meth:`~prunedbpe.tokenizer.Tokenizer.encode`.
        normalization: Unicode normal form to bring documents to first.
    """

    format: FileFormat
    column: str = "ids"
    append_token: str | None = None
    allowed_special: AllowedSpecial = ()
    segmentation: Segmentation = "rank"
    normalization: Literal["NFC"] | None = None

    def __post_init__(self) -> None:
        if self.format not in FILE_FORMATS:
            raise SettingsError(f"format {self.format!r}", hint=f"use {', '.join(FILE_FORMATS)}")
        if not self.column or (self.column != "ids" and self.format not in COLUMN_FORMATS):
            raise SettingsError(
                f"column {self.column!r}: format {self.format} has no column of this name",
                hint=f"name the column of {', '.join(COLUMN_FORMATS)}",
            )
        if self.normalization not in (None, "NFC"):
            raise SettingsError(f"normalization {self.normalization!r}", hint="use NFC or None")

    def check(self, tokenizer: Tokenizer) -> None:
        """Raise a :class:`SettingsError` for anything the tokenizer does not know."""
        tokenizer.encode("", allowed_special=self.allowed_special, segmentation=self.segmentation)
        if self.append_token is not None and self.append_token not in tokenizer.special_tokens:
            raise SettingsError(
                f"{self.append_token!r} is not a special token",
                hint=f"use one of {', '.join(tokenizer.special_tokens) or '(there are none)'}",
            )

    def describe(self, tokenizer: Tokenizer, corpus: Corpus) -> Settings:
        """Everything that decides the ids of a text, as plain JSON: equal settings, equal ids."""
        allowed = self.allowed_special
        return {
            **asdict(self),
            "allowed_special": allowed if allowed == "all" else sorted(set(allowed)),
            "tokenizer": tokenizer_digest(tokenizer),
            "vocab_size": tokenizer.vocab_size,
            "dtype": id_type(tokenizer),
            "text_field": corpus.options.text_field,
            "strict": corpus.options.strict,
        }


def encode_corpus(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus,
    output: str | Path | BinaryIO,
    format: FileFormat | None = None,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
    **options: Any,
) -> EncodedReport:
    """Encode a corpus into one file, which appears only when complete, or into a stream.

    Args:
        tokenizer: Encodes the text.
        corpus: Paths, an iterable of texts, or a :class:`~prunedbpe.corpus.Corpus`.
        output: The file to write, or a binary stream for ``jsonl``, ``ids`` or ``npy``.
        format: By the ending of ``output`` if not given.
        threads: One per core by default; the result does not depend on it.
        progress: Progress reporter; silent by default.
        **options: The other fields of :class:`EncodingOptions`.

    Raises:
        SettingsError: An option is wrong, or an output file is an input of the corpus.

    >>> import tempfile
    >>> import prunedbpe
    >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = encode_corpus(tok, iter(["ab", "ab c"]), Path(folder, "a.npy"))
    ...     documents = open_encoded(Path(folder, "a.npy"))
    ...     report.tokens, [ids.tolist() for ids in documents]
    (4, [[256], [256, 32, 99]])
    """
    if isinstance(output, str):
        output = Path(output)
    chosen = EncodingOptions(format or _format_of(output), **options)
    chosen.check(tokenizer)
    corpus = open_corpus(corpus)
    if isinstance(output, Path):
        _refuse_own_input(corpus, output_files(output, chosen.format))
        output.parent.mkdir(parents=True, exist_ok=True)
    settings = chosen.describe(tokenizer, corpus)
    with progress.task("Encoding", total=corpus.size, unit="bytes") as task:
        return _encode(tokenizer, corpus, output, chosen, settings, threads, task)


def encode_files(
    tokenizer: Tokenizer,
    corpus: Corpus,
    folder: str | Path,
    format: FileFormat,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
    **options: Any,
) -> EncodedReport:
    """Encode every file of a corpus into a file of its own, and skip those already done.

    Outputs are numbered in corpus order: ``00000.npy``, ``00001.npy``. The ledger ``encoded.json``
    records the input and the settings of each, so an interrupted run can be resumed. A file is
    encoded again if its input, any setting or the tokenizer changed, or if its output is damaged.

    Args:
        tokenizer: Encodes the text.
        corpus: Files; not an iterable, standard input or a shard.
        folder: Where the outputs go.
        format: One of :data:`~prunedbpe.encoded.writer.FILE_FORMATS`.
        threads: One per core by default; the result does not depend on it.
        progress: Progress reporter; silent by default.
        **options: The other fields of :class:`EncodingOptions`.

    Raises:
        SettingsError: An option is wrong, or an output file is an input of the corpus.
    """
    folder = Path(folder)
    chosen = EncodingOptions(format, **options)
    chosen.check(tokenizer)
    inputs = corpus.fingerprint()
    if corpus.shard is not None or any(entry["bytes"] is None for entry in inputs):
        raise SettingsError(
            "only a whole corpus of files can be encoded file by file",
            hint="encode a shard, standard input or an iterable into one file",
        )
    outputs = [folder / f"{number:05d}.{format}" for number in range(len(inputs))]
    written = [path for output in outputs for path in output_files(output, format)]
    _refuse_own_input(corpus, [folder / LEDGER, *written])
    folder.mkdir(parents=True, exist_ok=True)
    settings = chosen.describe(tokenizer, corpus)
    done = _read_ledger(folder)
    saved = time.monotonic()
    total = EncodedReport()
    with progress.task("Encoding", total=corpus.size, unit="bytes") as task:
        try:
            for entry, output in zip(inputs, outputs, strict=True):
                origin = {**entry, "mtime_ns": Path(entry["path"]).stat().st_mtime_ns}
                expected = {"input": origin, "settings": settings}
                known = done.get(output.name)
                if known is not None and _is_done(output, chosen, known, expected):
                    report = EncodedReport(*(known[key] for key in asdict(total)))
                    task.advance(entry["bytes"])
                else:
                    done.pop(output.name, None)
                    part = Corpus(entry["path"], **asdict(corpus.options))
                    report = _encode(tokenizer, part, output, chosen, settings, threads, task)
                    done[output.name] = {
                        **expected, "output": fingerprint(output), **asdict(report)
                    }  # fmt: skip
                total += report
                # Not after every file: the ledger of many small files is longer than each.
                if time.monotonic() - saved > _SECONDS_BETWEEN_LEDGERS:
                    _write_ledger(folder, done)
                    saved = time.monotonic()
            _remove_others(folder, chosen, done, {output.name for output in outputs})
        finally:
            _write_ledger(folder, done)
    return total


def encoded_batches(
    tokenizer: Tokenizer,
    corpus: Corpus,
    *,
    threads: int | None = None,
    task: Task | None = None,
    normalization: Literal["NFC"] | None = None,
    **options: Any,
) -> Iterator[tuple[UInt32Array, Int64Array, int]]:
    """Encode a corpus batch by batch: flat ids, offsets, and the bytes of text they encode.

    Args:
        tokenizer: Encodes the text.
        corpus: The documents.
        threads: One per core by default.
        task: Advanced by the bytes read.
        normalization: Unicode normal form to bring documents to first.
        **options: As for :meth:`~prunedbpe.tokenizer.Tokenizer.encode`.
    """
    for batch in corpus.batches(task, threads=worker_count(threads)):
        if normalization is not None:
            batch = _normalized(batch)
        data, spans = np.asarray(batch.data), np.asarray(batch.spans)
        ids, offsets = tokenizer.encode_documents(data, spans, threads=threads, **options)
        yield ids, offsets, batch.text_bytes


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """Identity of a tokenizer: everything that decides which ids a text gets."""
    vocabulary = tokenizer.vocabulary
    rules: list[Any] = [vocabulary.special_ids, tokenizer.pretokenizer.describe()]
    if isinstance(tokenizer, ImportedTokenizer):
        unmergeable = [(string.hex(), token_id) for string, token_id in vocabulary.unmergeable]
        rules += [tokenizer.cut.describe(), tokenizer.whole_chunks, unmergeable]
    described = np.frombuffer(json.dumps(rules).encode(), np.uint8)
    return digest_arrays(vocabulary.pairs, vocabulary.token_ids, described)


def id_type(tokenizer: Tokenizer) -> str:
    """The smaller of ``uint16`` and ``uint32`` that holds every id."""
    return "uint16" if tokenizer.vocab_size <= _TWO_BYTES else "uint32"


def _encode(
    tokenizer: Tokenizer,
    corpus: Corpus,
    output: Path | BinaryIO,
    chosen: EncodingOptions,
    settings: Settings,
    threads: int | None,
    task: Task,
) -> EncodedReport:
    batches = encoded_batches(
        tokenizer, corpus, threads=threads, task=task, normalization=chosen.normalization,
        allowed_special=chosen.allowed_special, segmentation=chosen.segmentation,
    )  # fmt: skip
    with open_writer(output, id_type(tokenizer), settings) as writer:
        for ids, offsets, text_bytes in batches:
            if chosen.append_token is not None:
                end = np.uint32(tokenizer.special_tokens[chosen.append_token])
                ids = np.insert(ids, offsets[1:], end)
                offsets = offsets + np.arange(len(offsets))
            writer.write(ids, offsets, text_bytes)
    return writer.report


def _normalized(batch: DocumentBatch) -> DocumentBatch:
    return normalized(batch)


def _format_of(output: Path | BinaryIO) -> FileFormat:
    ending = output.suffix.removeprefix(".") if isinstance(output, Path) else "jsonl"
    for format_ in FILE_FORMATS:
        if ending == format_:
            return format_
    raise SettingsError(
        f"{output}: no format has this ending",
        hint=f"name the format, or end the name in {', '.join('.' + name for name in FILE_FORMATS)}",
    )


def _refuse_own_input(corpus: Corpus, outputs: Iterable[Path]) -> None:
    """Refuse to overwrite an input, before anything is read; links are followed."""
    inputs = {
        Path(entry["path"]).resolve()
        for entry in corpus.fingerprint()
        if entry["bytes"] is not None
    }
    for output in outputs:
        if output.resolve() in inputs:
            raise SettingsError(
                f"{output}: the output would overwrite an input of the corpus",
                hint="write to another name or folder",
            )


# The ledger of encode_files


def _read_ledger(folder: Path) -> dict[str, Any]:
    path = folder / LEDGER
    if not path.exists():
        return {}
    ledger = read_json(path)
    if (
        not isinstance(ledger, dict)
        or ledger.get("format") != _LEDGER_FORMAT
        or ledger.get("version") != _LEDGER_VERSION
        or not isinstance(ledger.get("files"), dict)
    ):
        raise FormatError(
            f"{path}: not a ledger of encoded files, or of another version",
            hint="remove it to encode every file again",
        )
    return dict(ledger["files"])


def _write_ledger(folder: Path, files: dict[str, Any]) -> None:
    ledger = {"format": _LEDGER_FORMAT, "version": _LEDGER_VERSION, "files": files}
    write_json(folder / LEDGER, ledger)


def _is_done(output: Path, chosen: EncodingOptions, known: Settings, expected: Settings) -> bool:
    """Whether an output is what would be written again, and is intact."""
    if any(known.get(key) != value for key, value in expected.items()) or not output.is_file():
        return False
    if known.get("output") != fingerprint(output):
        return False
    if chosen.format in FLAT_FORMATS:
        try:
            open_encoded(output)
        except FormatError:
            return False
    return True


def _remove_others(
    folder: Path, chosen: EncodingOptions, done: dict[str, Any], current: set[str]
) -> None:
    """Remove outputs of this format whose inputs are no longer in the corpus."""
    for name in list(done):
        if name not in current and name.endswith(f".{chosen.format}"):
            for path in output_files(folder / name, chosen.format):
                path.unlink(missing_ok=True)
            del done[name]
