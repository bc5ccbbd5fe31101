"""Encode a corpus into token ids: into one file or a stream.

In: anything :func:`prunedbpe.train` reads. Out: a format of
:mod:`prunedbpe.encoded.file_formats`, in the order of the corpus. Each batch is encoded on all
cores, straight from the bytes of the corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np

from prunedbpe._support.arguments import check_names
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.progress import ProgressLike, Task, as_progress
from prunedbpe._support.remote_files import is_url
from prunedbpe._support.signatures import takes_options
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.corpus.documents import Missing
from prunedbpe.encoded.file_formats import (
    COLUMNS,
    ENDINGS,
    FILE_FORMATS,
    EncodedReport,
    FileFormat,
    IdType,
    Writer,
    format_by_ending,
    id_type,
    primary_file,
)
from prunedbpe.encoded.writer import check_output, open_writer
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import SpecialSet, Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Int64Array, Segmentation, Settings, UInt32Array

_MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class EncodingOptions:
    """What decides which ids are written, besides the tokenizer and the corpus.

    Attributes:
        format: One of :data:`~prunedbpe.encoded.file_formats.FILE_FORMATS`.
        column: Name of the column of ``jsonl``, ``parquet``, ``arrow`` and ``mds``; ``ids`` by
            default, ``tokens`` for ``mds``.
        dtype: Type of an id; by default as :func:`~prunedbpe.encoded.file_formats.id_type` says.
        missing: What a null in the text column, field or iterable is: ``"error"``; ``"empty"``, a
            row without ids, and so is an empty string; or ``"skip"``, no row.
        append_token: A special token to append to every document.
        allowed_special: Special tokens whose text stands for them, ``"all"`` or by name.
        segmentation: ``"rank"`` or ``"shortest"``; by default the tokenizer's own.
        normalization: Unicode normal form to bring documents to first.
    """

    format: FileFormat
    column: str | None = None
    dtype: IdType | None = None
    missing: Missing = "error"
    append_token: str | None = None
    allowed_special: SpecialSet = ()
    segmentation: Segmentation | None = None
    normalization: Literal["NFC"] | None = None

    def __post_init__(self) -> None:
        if self.format not in FILE_FORMATS:
            raise SettingsError(f"format {self.format!r}", hint=f"use {', '.join(FILE_FORMATS)}")
        if self.column is not None and (not self.column or self.format not in COLUMNS):
            raise SettingsError(
                f"column {self.column!r}: format {self.format} has no column of this name",
                hint=f"name the column of {', '.join(COLUMNS)}",
            )
        if self.missing not in _MISSING:
            raise SettingsError(f"missing {self.missing!r}", hint=f"use {', '.join(_MISSING)}")
        if self.normalization not in (None, "NFC"):
            raise SettingsError(f"normalization {self.normalization!r}", hint="use NFC or None")

    def check(self, tokenizer: Tokenizer) -> None:
        """Raise a :class:`SettingsError` for anything the tokenizer does not know."""
        id_type(self.format, tokenizer.vocab_size, self.dtype)
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
            "segmentation": self.segmentation or tokenizer.segmentation,
            "tokenizer": tokenizer_digest(tokenizer),
            "vocab_size": tokenizer.vocab_size,
            "column": self.column or COLUMNS.get(self.format),
            "dtype": id_type(self.format, tokenizer.vocab_size, self.dtype),
            "text_field": corpus.options.text_field,
            "strict": corpus.options.strict,
        }


@takes_options(EncodingOptions)
def encode_corpus(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus,
    output: str | Path | BinaryIO,
    format: FileFormat | None = None,
    *,
    threads: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> EncodedReport:
    """Encode a corpus into one output, which appears only when complete, or into a stream.

    Args:
        tokenizer: Encodes the text.
        corpus: Paths, an iterable of texts, or a :class:`~prunedbpe.corpus.Corpus`.
        output: The file to write; for ``megatron`` the prefix of both files, with or without an
            ending, for ``mds`` a folder; or a binary stream for ``jsonl``, ``ids`` or ``npy``.
        format: By the ending of ``output`` if not given.
        threads: One per core by default; the result does not depend on it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        **options: The other fields of :class:`EncodingOptions`.

    Raises:
        SettingsError: An option is wrong, or an output file is an input of the corpus.
        CorpusError: A document is a null, unless ``missing`` allows it.

    >>> import tempfile
    >>> import prunedbpe
    >>> from prunedbpe.encoded import open_encoded
    >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = encode_corpus(tok, iter(["ab", "ab c"]), Path(folder, "a.npy"))
    ...     documents = open_encoded(Path(folder, "a.npy"))
    ...     report.tokens, [ids.tolist() for ids in documents]
    (4, [[256], [256, 32, 99]])
    """
    progress = as_progress(progress)
    if isinstance(output, str):
        output = Path(output)
    check_names(options, EncodingOptions.__dataclass_fields__)
    chosen = EncodingOptions(format or _format_of(output), **options)
    chosen.check(tokenizer)
    corpus = open_corpus(corpus)
    if isinstance(output, Path):
        output = primary_file(output, chosen.format)
        refuse_own_input(corpus, check_output(output, chosen.format))
        output.parent.mkdir(parents=True, exist_ok=True)
    settings = chosen.describe(tokenizer, corpus)
    with progress.task("Encoding", total=corpus.size, unit="bytes") as task:
        writer = encode_into(tokenizer, corpus, output, chosen, settings, threads, task)
    return writer.report


def encoded_batches(
    tokenizer: Tokenizer,
    corpus: Corpus,
    *,
    threads: int | None = None,
    task: Task | None = None,
    normalization: Literal["NFC"] | None = None,
    missing: Missing = "error",
    **options: Any,
) -> Iterator[tuple[UInt32Array, Int64Array, int]]:
    """Encode a corpus batch by batch: flat ids, offsets, and the bytes of text they encode.

    Args:
        tokenizer: Encodes the text.
        corpus: The documents.
        threads: One per core by default.
        task: Advanced by the bytes read.
        normalization: Unicode normal form to bring documents to first.
        missing: What a null is, as in :class:`EncodingOptions`.
        **options: As for :meth:`~prunedbpe.tokenizer.Tokenizer.encode`.
    """
    for batch in corpus.batches(task, threads=worker_count(threads), missing=missing):
        if normalization is not None:
            batch = batch.normalized("NFC")
        ids, offsets = tokenizer.encode_documents(
            batch.data, batch.spans, threads=threads, **options
        )
        yield ids, offsets, batch.text_bytes


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """Identity of a tokenizer: all that decides which ids a text gets but the segmentation."""
    vocabulary = tokenizer.vocabulary
    rules: list[Any] = [vocabulary.special_ids, tokenizer.pretokenizer.describe()]
    if isinstance(tokenizer, ImportedTokenizer):
        unmergeable = [(text.hex(), token_id) for text, token_id in tokenizer.foreign.unmergeable]
        rules += [tokenizer.cut.describe(), tokenizer.whole_chunks, unmergeable]
    described = np.frombuffer(json.dumps(rules).encode(), np.uint8)
    return digest_arrays(vocabulary.pairs, vocabulary.token_ids, described)


def encode_into(
    tokenizer: Tokenizer,
    corpus: Corpus,
    output: Path | BinaryIO,
    chosen: EncodingOptions,
    settings: Settings,
    threads: int | None,
    task: Task,
) -> Writer:
    """Encode a corpus with checked options; ``settings`` describe them. Return the used writer."""
    batches = encoded_batches(
        tokenizer, corpus, threads=threads, task=task, normalization=chosen.normalization,
        allowed_special=chosen.allowed_special, segmentation=chosen.segmentation,
        missing=chosen.missing,
    )  # fmt: skip
    with open_writer(output, settings) as writer:
        for ids, offsets, text_bytes in batches:
            if chosen.append_token is not None:
                end = np.uint32(tokenizer.special_tokens[chosen.append_token])
                ids = np.insert(ids, offsets[1:], end)
                offsets = offsets + np.arange(len(offsets))
            writer.write(ids, offsets, text_bytes)
    return writer


def _format_of(output: Path | BinaryIO) -> FileFormat:
    format_ = format_by_ending(output) if isinstance(output, Path) else "jsonl"
    if format_ is not None:
        return format_
    endings = ", ".join(f".{ending}" for ending in ENDINGS.values())
    raise SettingsError(
        f"{output}: no format has this ending", hint=f"name the format, or use {endings}"
    )


def refuse_own_input(corpus: Corpus, outputs: Iterable[Path]) -> None:
    """Refuse to overwrite an input, before anything is read; links are followed."""
    inputs = {
        Path(entry["path"]).resolve()
        for entry in corpus.fingerprint()
        if entry["bytes"] is not None and not is_url(entry["path"])
    }
    for output in outputs:
        if output.resolve() in inputs:
            raise SettingsError(
                f"{output}: the output would overwrite an input of the corpus",
                hint="write to another name or folder",
            )
