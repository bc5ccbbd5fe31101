"""The corpus: files, standard input, texts or Arrow data in memory, read as document batches."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from prunedbpe._support.arguments import wrong_type
from prunedbpe._support.progress import Task
from prunedbpe._support.remote_files import is_glob, is_url
from prunedbpe._support.result_tables import ArrowExport
from prunedbpe._support.threads import one_ahead
from prunedbpe.corpus.documents import CorpusReport, DocumentBatch, Missing, ReadOptions
from prunedbpe.corpus.files import STDIN, CorpusFile, PathInput, Shard, find_files, plan_parts
from prunedbpe.corpus.readers import (
    ARROW_SOURCE,
    PYTHON_SOURCE,
    Piece,
    ReadPlace,
    read_parts,
    read_table,
    read_texts,
)
from prunedbpe.errors import CorpusError, SettingsError
from prunedbpe.types import Settings


class ArrowStream(Protocol):
    """What exports rows or a column as Arrow data: tables of pyarrow, polars, pandas, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule that holds a stream of Arrow data."""


class ArrowArray(Protocol):
    """What exports one array as Arrow data."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Return capsules that hold a type and an array."""


CorpusInput = PathInput | Iterable[PathInput] | Iterable[str] | ArrowStream | ArrowArray
"""Whatever a user calls a corpus."""

_WORTH_A_THREAD = 1 << 19
"""Bytes of a batch that take long enough to use to read the next one in a thread meanwhile."""


@dataclass(frozen=True)
class _Memory:
    """Documents that are not in files.

    Attributes:
        held: The texts or the Arrow data.
        source: The source name of the batches.
        read: Reads all of it.
    """

    held: Any
    source: str
    read: Callable[[Any, ReadOptions], Iterator[Piece]]

    def can_be_read_once(self) -> bool:
        """Whether reading uses it up: a generator, or a stream of record batches."""
        if self.source == ARROW_SOURCE:
            return hasattr(self.held, "read_next_batch")
        return iter(self.held) is self.held


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
        inputs: A path or several: files, folders, globs such as ``texts/**/*.txt``, URLs of these
            such as ``s3://bucket/texts/``, ``-`` for standard input.
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
        elif not isinstance(inputs, Iterable):
            raise wrong_type("a corpus is a path or a list of paths", inputs)
        options = ReadOptions(text_field, strict, batch_bytes, source_field, max_document_bytes)
        self._prepare(options, shard, files=find_files(inputs, excluding))

    def __repr__(self) -> str:
        if self._memory is not None:
            return f"Corpus({type(self._memory.held).__name__} in memory)"
        shard = "" if self._shard is None else f", shard={self._shard!r}"
        return f"Corpus(files={len(self._files)}, bytes={self.size}{shard})"

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str | None],
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
        if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
            raise wrong_type("texts is an iterable of texts", texts)
        corpus = cls.__new__(cls)
        options = ReadOptions(strict=strict, batch_bytes=batch_bytes)
        corpus._prepare(options, None, memory=_Memory(texts, PYTHON_SOURCE, read_texts))
        return corpus

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        *,
        text_field: str = "text",
        strict: bool = False,
        batch_bytes: int = ReadOptions.batch_bytes,
        source_field: str | None = None,
        max_document_bytes: int = ReadOptions.max_document_bytes,
    ) -> Corpus:
        """Make a corpus of Arrow data in memory, each row a document, without Python strings.

        >>> import pyarrow as pa
        >>> corpus = Corpus.from_arrow(pa.table({"body": ["one", None, "two"]}), text_field="body")
        >>> [list(batch.documents()) for batch in corpus.batches()]
        [[b'one', b'two']]

        Args:
            data: An array or chunked array of strings, or a table, record batch or reader of
                record batches of pyarrow; anything that exports Arrow data, such as a polars data
                frame or a DuckDB result; a dataset of Hugging Face. A reader can be read only once.
            text_field: The column that holds the text; an array is that column.
            strict: As for :class:`Corpus`.
            batch_bytes: As for :class:`Corpus`.
            source_field: The column that names the source of a document.
            max_document_bytes: As for :class:`Corpus`.
        """
        corpus = cls.__new__(cls)
        options = ReadOptions(text_field, strict, batch_bytes, source_field, max_document_bytes)
        corpus._prepare(options, None, memory=_Memory(data, ARROW_SOURCE, read_table))
        return corpus

    def _prepare(
        self,
        options: ReadOptions,
        shard: Shard | None,
        *,
        files: Sequence[CorpusFile] = (),
        memory: _Memory | None = None,
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
        self._memory = memory
        self._memory_used = False
        self._report = CorpusReport()
        self._place = ReadPlace()

    @property
    def size(self) -> int | None:
        """Bytes on disk, the total of a progress bar; ``None`` if unknown."""
        if self._memory is not None or self._has_stdin:
            return None
        return sum(part.end - part.begin for part in self._parts)

    @property
    def _has_stdin(self) -> bool:
        return any(part.file.is_stdin for part in self._parts)

    @property
    def sources(self) -> list[str]:
        """The source names of the batches, in order."""
        if self._memory is not None:
            return [self._memory.source]
        return [part.file.source for part in self._parts]

    @property
    def files(self) -> Sequence[CorpusFile]:
        """All files of the corpus, whatever the shard; none if it is an iterable of texts."""
        return self._files

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

    @property
    def place(self) -> ReadPlace:
        """Where the batch that follows the last one of :meth:`batches` begins."""
        return self._place

    def fingerprint(self) -> list[Settings]:
        """Return path and size of every file of the whole corpus, whatever the shard.

        Runs with equal fingerprints may share counts. Standard input, iterables and Arrow data have
        the size ``None``: their content is unknown.
        """
        if self._memory is not None:
            return [{"path": self._memory.source, "bytes": None}]
        return [{"path": file.source, "bytes": file.size} for file in self._files]

    def part(self, shard: Shard | None) -> Corpus:
        """Return one shard of the same files, or all of them, readable from any working folder."""
        corpus = type(self).__new__(type(self))
        files = [
            replace(file, path=file.path.absolute()) if isinstance(file.path, Path) else file
            for file in self._files
        ]
        corpus._prepare(self._options, shard, files=files)
        return corpus

    def check_files(self) -> None:
        """Check that another machine has the same files as the one where the corpus was opened.

        Raises:
            CorpusError: A file that is to be read is missing here, or has another size.
        """
        for part in self._parts:
            path, size = part.file.path, part.file.size
            if not isinstance(path, Path) or size is None:
                continue
            found = path.stat().st_size if path.is_file() else None
            if found != size:
                state = "is missing" if found is None else f"has {found:,} bytes"
                raise CorpusError(
                    f"{part.file.source}: {state} on the worker {platform.node()}, "
                    f"but has {size:,} bytes where the corpus was opened",
                    hint="all machines must see the same files, under the same path",
                )

    def batches(
        self,
        task: Task | None = None,
        *,
        threads: int = 1,
        with_sources: bool = False,
        begin_at: tuple[ReadPlace, CorpusReport] | None = None,
        missing: Missing | None = None,
    ) -> Iterator[DocumentBatch]:
        """Read the corpus from its beginning, every file once.

        >>> corpus = Corpus.from_texts(["one", None, "two"])
        >>> [list(batch.documents()) for batch in corpus.batches(missing="empty")]
        [[b'one', b'', b'two']]

        Args:
            task: Advanced after each batch: by the bytes read from disk, compressed or not, in all
                :attr:`size`; and by the bytes of text in them.
            threads: How many threads may check and split a block. With more than one, files are
                read one batch ahead.
            with_sources: Whether to read the source field as well, if the corpus names one.
            begin_at: The :attr:`place` where an earlier reading of the same files stopped, and its
                :attr:`report`. This one continues there.
            missing: What a null is: ``"error"``; ``"empty"``, a document without text, and so are
                empty strings; or ``"skip"``. By default it is skipped in a table, and an error in
                JSON lines and in an iterable.

        Raises:
            CorpusError: A file is damaged or cannot be read; with ``strict``, is not UTF-8.
        """
        self._place, self._report = begin_at or (ReadPlace(), CorpusReport())
        reached = 0
        options = replace(self._options, missing=missing)
        if not with_sources:
            options = replace(options, source_field=None)
        for piece in self._pieces(options, threads):
            self._place = piece.place
            batch = piece.batch
            read = CorpusReport(documents=len(batch), bytes=batch.text_bytes)
            self._report += piece.report + read
            if len(batch):
                yield batch
            if task is not None and (piece.position > reached or read.bytes):
                task.advance(max(piece.position - reached, 0), text_bytes=read.bytes)
                reached = max(piece.position, reached)
        if task is not None and (self.size or 0) > reached:
            task.advance((self.size or 0) - reached)

    def _pieces(self, options: ReadOptions, threads: int) -> Iterator[Piece]:
        if self._memory is None:
            pieces = read_parts(self._parts, options, threads, self._place)
            # A thread that waits for standard input would keep an interrupted program alive.
            return pieces if self._has_stdin else one_ahead(pieces, threads, _is_large)
        if self._memory_used and self._memory.can_be_read_once():
            is_arrow = self._memory.source == ARROW_SOURCE
            name, remedy = ("stream", "table") if is_arrow else ("iterable", "list")
            raise CorpusError(
                f"the {name} of texts has been read before and cannot be read again",
                hint=f"give a {remedy}, or make a new corpus",
            )
        self._memory_used = True
        return self._memory.read(self._memory.held, options)


def _is_large(piece: Piece) -> bool:
    return len(piece.batch.data) >= _WORTH_A_THREAD


def open_corpus(corpus: Corpus | CorpusInput, **options: Any) -> Corpus:
    """Open whatever a user calls a corpus.

    - A :class:`Corpus` is returned as it is.
    - A single string or path object is a path, ``-`` standard input.
    - A list or tuple with path objects holds paths.
    - Arrow data and datasets of Hugging Face hold texts in one column, see
      :meth:`Corpus.from_arrow`.
    - A list or tuple of strings holds paths if all exist (or are ``-``, URLs or globs). If only
      some exist, the others are an error. If none exists, they are texts, unless they all look
      like paths: with a suffix or a separator, and without white space.
    - Any other iterable holds texts, each string a document.

    :class:`Corpus`, :meth:`Corpus.from_texts` and :meth:`Corpus.from_arrow` do not guess.

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
    if isinstance(corpus, ArrowExport):  # a result of this library, with names of its own columns
        raise CorpusError(
            f"a corpus cannot be of type {type(corpus).__name__}",
            hint="give the text: a path, a list of paths, or an iterable of strings",
        )
    if _is_arrow(corpus):
        _refuse_shard(options, "Arrow data")
        options.pop("excluding", None)
        return Corpus.from_arrow(corpus, **options)
    if isinstance(corpus, (bytes, bytearray)) or not isinstance(corpus, Iterable):
        raise CorpusError(
            f"a corpus cannot be of type {type(corpus).__name__}",
            hint="give a path, a list of paths, or an iterable of strings",
        )
    if isinstance(corpus, (list, tuple)) and _are_paths(corpus):
        return Corpus(corpus, **options)
    _refuse_shard(options, "an iterable of texts")
    for name in ("text_field", "source_field", "excluding", "max_document_bytes"):
        options.pop(name, None)  # only files have them
    return Corpus.from_texts(corpus, **options)  # type: ignore[arg-type]


def _refuse_shard(options: dict[str, Any], corpus: str) -> None:
    if options.pop("shard", None) is not None:
        raise SettingsError(
            f"{corpus} cannot be divided into shards",
            hint="write the texts to a .jsonl file, or give each worker its own texts",
        )


def _is_arrow(corpus: Any) -> bool:
    """Whether a corpus is Arrow data: such as exports it, an array of old Arrow, or a dataset."""
    if hasattr(corpus, "__arrow_c_stream__") or hasattr(corpus, "__arrow_c_array__"):
        return True
    package = type(corpus).__module__.split(".")[0]
    if package == "datasets":
        return hasattr(corpus, "with_format")
    return package == "pyarrow" and isinstance(corpus, sys.modules["pyarrow"].ChunkedArray)


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    if not items or any(isinstance(item, os.PathLike) for item in items):
        return True
    if not all(isinstance(item, str) for item in items):
        return False
    missing = [item for item in items if not _exists(item)]
    if len(missing) == len(items) and not all(map(_looks_like_path, items)):
        return False
    missing = [item for item in missing if not _is_search(item)]
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


def _is_search(name: str) -> bool:
    """Whether a string is a URL or a glob, and not a text: the corpus looks for its files."""
    return _looks_like_path(name) and (is_url(name) or is_glob(name))


def _looks_like_path(name: str) -> bool:
    has_suffix = re.search(r"[\w*?\]]\.[A-Za-z]\w{0,9}$", name) is not None
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
