"""The corpus: files, folders, standard input or an iterable of texts, read as document batches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prunedbpe._support.progress import Task
from prunedbpe._support.threads import one_ahead
from prunedbpe.corpus.documents import CorpusReport, DocumentBatch, ReadOptions
from prunedbpe.corpus.files import STDIN, CorpusFile, PathInput, Shard, find_files, plan_parts
from prunedbpe.corpus.readers import PYTHON_SOURCE, Piece, read_parts, read_texts
from prunedbpe.errors import CorpusError, SettingsError
from prunedbpe.types import Settings

CorpusInput = PathInput | Iterable[PathInput] | Iterable[str]
"""Whatever a user calls a corpus."""

_WORTH_A_THREAD = 1 << 19
"""Bytes of a batch that take long enough to use to read the next one in a thread meanwhile."""


class Corpus:
    r"""Documents of files, streamed in order.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    ...     corpus = Corpus(folder)
    ...     [document for batch in corpus.batches() for document in batch.documents()]
    [b'one', b'two']
    >>> corpus.report.documents, corpus.report.bytes
    (2, 6)

    Args:
        inputs: A path or several: files, folders, ``-`` for standard input.
        text_field: The field of JSON lines, and the column of Parquet files, that holds the text.
        strict: Raise an error for what is otherwise skipped or repaired, and reported: documents
            that are not UTF-8, and lone surrogates.
        shard: Read only this part of the corpus.
        excluding: Folders to leave out where an input folder contains them, such as the output
            of the run.
        batch_bytes: Approximate size of a batch; a longer document makes a longer batch.
        source_field: The field of JSON lines, and the column of Parquet files, that names the
            source of a document; only :func:`prunedbpe.count_by_source` reads it.
        max_document_bytes: A longer document is an error, because a document is held in memory as
            a whole: a line, a row, or a file without lines.

    Raises:
        CorpusError: An input is missing or of a kind that cannot be read.
        SettingsError: The corpus cannot be divided into shards, a size is below 1, or the same
            field holds text and source.
    """

    def __init__(
        self,
        inputs: PathInput | Iterable[PathInput],
        *,
        text_field: str = "text",
        strict: bool = False,
        shard: Shard | None = None,
        excluding: Sequence[PathInput | None] = (),
        batch_bytes: int = ReadOptions.batch_bytes,
        source_field: str | None = None,
        max_document_bytes: int = ReadOptions.max_document_bytes,
    ) -> None:
        if isinstance(inputs, (str, os.PathLike)):
            inputs = [inputs]
        options = ReadOptions(text_field, strict, batch_bytes, source_field, max_document_bytes)
        self._prepare(options, shard, files=find_files(inputs, excluding))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        strict: bool = False,
        batch_bytes: int = ReadOptions.batch_bytes,
    ) -> Corpus:
        """Make a corpus of Python strings, each a document.

        >>> corpus = Corpus.from_texts(["one", "", "two"])
        >>> [list(batch.documents()) for batch in corpus.batches()]
        [[b'one', b'two']]

        Args:
            texts: Any iterable; a generator can be read only once.
            strict: As for :class:`Corpus`.
            batch_bytes: As for :class:`Corpus`.
        """
        corpus = cls.__new__(cls)
        options = ReadOptions(strict=strict, batch_bytes=batch_bytes)
        corpus._prepare(options, None, texts=texts)
        return corpus

    def _prepare(
        self,
        options: ReadOptions,
        shard: Shard | None,
        *,
        files: Sequence[CorpusFile] = (),
        texts: Iterable[str] | None = None,
    ) -> None:
        for name in ("batch_bytes", "max_document_bytes"):
            if getattr(options, name) < 1:
                raise SettingsError(f"{name} is {getattr(options, name)}", hint="give at least 1")
        if options.source_field == options.text_field:
            raise SettingsError(
                f"the field {options.text_field!r} cannot be both text and source",
                hint="name another field with source_field (--source-field)",
            )
        self._options = options
        self._shard = shard
        self._files = files
        self._parts = plan_parts(files, shard)
        self._texts = texts
        self._texts_used = False
        self._report = CorpusReport()

    @property
    def size(self) -> int | None:
        """Bytes on disk, the total of a progress bar; ``None`` if unknown."""
        if self._texts is not None or self._has_stdin:
            return None
        return sum(part.end - part.begin for part in self._parts)

    @property
    def _has_stdin(self) -> bool:
        return any(part.file.is_stdin for part in self._parts)

    @property
    def sources(self) -> list[str]:
        """The source names of the batches, in order."""
        if self._texts is not None:
            return [PYTHON_SOURCE]
        return [part.file.source for part in self._parts]

    @property
    def options(self) -> ReadOptions:
        """How documents are read."""
        return self._options

    @property
    def shard(self) -> Shard | None:
        """The part of the corpus that is read."""
        return self._shard

    @property
    def report(self) -> CorpusReport:
        """What the last, or current, call of :meth:`batches` has read so far."""
        return self._report

    def fingerprint(self) -> list[Settings]:
        """Return path and size of every file of the whole corpus, whatever the shard.

        Runs with equal fingerprints may share counts. Standard input and iterables have the size
        ``None``: their content is unknown.
        """
        if self._texts is not None:
            return [{"path": PYTHON_SOURCE, "bytes": None}]
        return [{"path": file.source, "bytes": file.size} for file in self._files]

    def batches(
        self, task: Task | None = None, *, threads: int = 1, with_sources: bool = False
    ) -> Iterator[DocumentBatch]:
        """Read the corpus from its beginning, every file once.

        Args:
            task: Advanced by the bytes read from disk, compressed or not, after each batch; in
                all by :attr:`size`.
            threads: How many threads may check and split a block. With more than one, files are
                read one batch ahead.
            with_sources: Whether to read the source field as well, if the corpus names one.

        Raises:
            CorpusError: A file is damaged or cannot be read; with ``strict``, is not UTF-8.
        """
        self._report = CorpusReport()
        reached = 0
        options = self._options
        if not with_sources:
            options = replace(options, source_field=None)
        for piece in self._pieces(options, threads):
            batch = piece.batch
            read = CorpusReport(documents=len(batch), bytes=batch.text_bytes)
            self._report += piece.report + read
            if len(batch):
                yield batch
            if task is not None and piece.position > reached:
                task.advance(piece.position - reached)
                reached = piece.position
        if task is not None and (self.size or 0) > reached:
            task.advance((self.size or 0) - reached)

    def _pieces(self, options: ReadOptions, threads: int) -> Iterator[Piece]:
        if self._texts is None:
            pieces = read_parts(self._parts, options, threads)
            # A thread that waits for standard input would keep an interrupted program alive.
            return pieces if self._has_stdin else one_ahead(pieces, threads, _is_large)
        if self._texts_used and iter(self._texts) is self._texts:
            raise CorpusError(
                "the iterable of texts has been read before and cannot be read again",
                hint="give a list, or make a new corpus",
            )
        self._texts_used = True
        return read_texts(self._texts, options)


def _is_large(piece: Piece) -> bool:
    return len(piece.batch.data) >= _WORTH_A_THREAD


def open_corpus(corpus: Corpus | CorpusInput, **options: Any) -> Corpus:
    """Open whatever a user calls a corpus.

    - A :class:`Corpus` is returned as it is.
    - A single string or path object is a path, ``-`` standard input.
    - A list or tuple with path objects holds paths.
    - A list or tuple of strings holds paths if all exist (or are ``-``). If only some exist, the
      others are an error. If none exists, they are texts, unless they all look like paths:
      with a suffix or a separator, and without white space.
    - Any other iterable holds texts, each string a document.

    :class:`Corpus` and :meth:`Corpus.from_texts` do not guess.

    >>> [list(batch.documents()) for batch in open_corpus(["a text", "another"]).batches()]
    [[b'a text', b'another']]

    Args:
        corpus: The corpus.
        options: The options of :class:`Corpus`; a Corpus has its own and takes no others.

    Raises:
        CorpusError: An input is missing, or the type cannot be a corpus.
        SettingsError: An option does not fit the corpus.
    """
    if isinstance(corpus, Corpus):
        _refuse_options(corpus, options)
        return corpus
    if isinstance(corpus, (str, os.PathLike)):
        return Corpus(corpus, **options)
    if isinstance(corpus, (bytes, bytearray)) or not isinstance(corpus, Iterable):
        raise CorpusError(
            f"a corpus cannot be of type {type(corpus).__name__}",
            hint="give a path, a list of paths, or an iterable of strings",
        )
    if isinstance(corpus, (list, tuple)) and _are_paths(corpus):
        return Corpus(corpus, **options)
    if options.pop("shard", None) is not None:
        raise SettingsError(
            "an iterable of texts cannot be divided into shards",
            hint="write the texts to a .jsonl file, or give each worker its own texts",
        )
    for name in ("text_field", "source_field", "excluding", "max_document_bytes"):
        options.pop(name, None)  # only files have them
    return Corpus.from_texts(corpus, **options)  # type: ignore[arg-type]


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    if not items or any(isinstance(item, os.PathLike) for item in items):
        return True
    if not all(isinstance(item, str) for item in items):
        return False
    missing = [item for item in items if not _exists(item)]
    if len(missing) == len(items) and not all(map(_looks_like_path, items)):
        return False
    if missing:
        first = missing[0] if len(missing[0]) <= 60 else missing[0][:57] + "..."
        raise CorpusError(
            f"{len(missing)} of {len(items)} inputs do not exist; the first is {first!r}",
            hint="check the spelling; for texts instead of paths use Corpus.from_texts",
        )
    return True


def _exists(name: str) -> bool:
    if name == STDIN:
        return True
    try:
        return name != "" and Path(name).exists()  # Path("") is the working directory
    except (OSError, ValueError):  # too long for a path, or with a NUL character
        return False


def _looks_like_path(name: str) -> bool:
    has_suffix = re.search(r"\w\.[A-Za-z]\w{0,9}$", name) is not None
    return (has_suffix or os.sep in name or "/" in name) and re.search(r"\s", name) is None


def _refuse_options(corpus: Corpus, options: dict[str, Any]) -> None:
    defaults = {"shard": None, "excluding": (), **vars(ReadOptions())}
    own = {"shard": corpus.shard, **vars(corpus.options)}
    for name, value in options.items():
        if value not in (own.get(name), defaults.get(name)):
            raise SettingsError(
                f"{name}={value!r} conflicts with the Corpus, which has {own.get(name)!r}",
                hint="give the option where the Corpus is made",
            )
