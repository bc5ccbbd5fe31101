"""The corpus: files, folders, standard input or an iterable of texts, read as document batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from prunedbpe._support.progress import Task
from prunedbpe._support.threads import one_ahead
from prunedbpe.corpus.batches import DocumentBatch
from prunedbpe.corpus.inputs import STDIN, CorpusFile, PathInput, find_files
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.corpus.readers import PYTHON_SOURCE
from prunedbpe.corpus.report import CorpusReport
from prunedbpe.corpus.shards import Shard, plan_parts
from prunedbpe.corpus.steps import Fault, Step, read_steps, read_text_steps
from prunedbpe.errors import CorpusError, SettingsError
from prunedbpe.types import Settings

DEFAULT_BATCH_BYTES = 16 << 20
_WORTH_A_THREAD = 1 << 19


class Corpus:
    r"""Documents of files, in order, streamed.

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
        strict: Make an error of what is otherwise left out or repaired, and reported: files that
            are not UTF-8, and lone surrogates.
        shard: Read only this part of the corpus.
        excluding: Folders that are never read, such as the output of the run.
        batch_bytes: About how many bytes a batch holds; a longer document makes a longer batch.

    Raises:
        CorpusError: An input is missing or of a kind that cannot be read.
        SettingsError: A shard of standard input is asked for, or a batch size below one.
    """

    def __init__(
        self,
        inputs: PathInput | Iterable[PathInput],
        *,
        text_field: str = "text",
        strict: bool = False,
        shard: Shard | None = None,
        excluding: Sequence[PathInput | None] = (),
        batch_bytes: int = DEFAULT_BATCH_BYTES,
    ) -> None:
        if isinstance(inputs, (str, os.PathLike)):
            inputs = [inputs]
        options = ReadOptions(text_field, strict, batch_bytes)
        self._prepare(options, shard, files=find_files(inputs, excluding))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        strict: bool = False,
        batch_bytes: int = DEFAULT_BATCH_BYTES,
    ) -> Corpus:
        """A corpus of Python strings, each a document.

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
        if options.batch_bytes < 1:
            raise SettingsError(f"batch_bytes is {options.batch_bytes}", hint="give at least 1")
        self._options = options
        self._shard = shard
        self._files = files
        self._parts = plan_parts(files, shard)
        self._texts = texts
        self._texts_used = False
        self._report = CorpusReport()

    @property
    def size(self) -> int | None:
        """Bytes on the disk, the total of a progress bar; ``None`` when it cannot be known."""
        if self._texts is not None or self._has_stdin:
            return None
        return sum(part.end - part.begin for part in self._parts)

    @property
    def _has_stdin(self) -> bool:
        return any(part.file.is_stdin for part in self._parts)

    @property
    def sources(self) -> list[str]:
        """The names batches give as their source, in order."""
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
        """What the last (or running) call of :meth:`batches` has read so far."""
        return self._report

    def fingerprint(self) -> list[Settings]:
        """Path and size of every file of the whole corpus, whatever the shard.

        Two runs over equal fingerprints may share what was counted. Standard input and iterables
        have no size (``None``): nothing can be said about them.
        """
        if self._texts is not None:
            return [{"path": PYTHON_SOURCE, "bytes": None}]
        return [{"path": file.source, "bytes": file.size} for file in self._files]

    def batches(
        self,
        task: Task | None = None,
        *,
        threads: int = 1,
        forget: Callable[[], None] | None = None,
    ) -> Iterator[DocumentBatch]:
        """Read the corpus from its beginning.

        Args:
            task: Advanced by the bytes read from the disk, also of compressed files, each time the
                caller comes back from a batch; over the whole corpus by :attr:`size`.
            threads: How many may read and check a large file. With more than one, files are read
                one batch ahead.
            forget: Undoes all that was done with the batches so far, or raises an error of the
                caller's own. Whoever gives it has every file read only once: it is called when a
                file turns out not to be UTF-8 after some of it was handed out, and then the corpus
                is read again without that file. From then on, or without ``forget``, large files
                are read twice, to be checked first.

        Raises:
            CorpusError: A file is damaged or cannot be read; with ``strict``, is not UTF-8.
        """
        # What comes from standard input cannot be read again.
        check_first = forget is None or self._has_stdin
        reached = 0
        left_out: set[str] = set()
        while True:
            self._report = CorpusReport()
            for step in self._steps(threads, frozenset(left_out), check_first=check_first):
                if step.fault is not None:
                    self._check_strict(step.fault)
                    if step.fault.is_late:  # which no file is that was checked first
                        assert forget is not None
                        forget()
                    _warn("%s: skipped, not UTF-8 at byte %d", step.fault.source, step.fault.offset)
                    left_out.add(step.fault.source)
                    if step.fault.is_late:
                        check_first = True  # where one is bad, many may be
                        break
                self._report += step.report
                if step.batch is not None:
                    yield step.batch
                if task is not None and step.reached > reached:
                    task.advance(step.reached - reached)
                    reached = step.reached
            else:
                break
        if self._report.skipped_lines:
            _warn("%s: %d lines skipped, not UTF-8", STDIN, self._report.skipped_lines)

    def _steps(
        self, threads: int, left_out: Collection[str], *, check_first: bool
    ) -> Iterator[Step]:
        if self._texts is None:
            steps = read_steps(
                self._parts, self._options, threads, check_first=check_first, left_out=left_out
            )
            # A thread that waits for standard input would keep an interrupted program from ending.
            return steps if self._has_stdin else one_ahead(steps, threads, _takes_long)
        if self._texts_used and iter(self._texts) is self._texts:
            raise CorpusError(
                "the iterable of texts has been read before and cannot be read again",
                hint="give a list, or make the corpus anew",
            )
        self._texts_used = True
        return read_text_steps(self._texts, self._options)

    def _check_strict(self, fault: Fault) -> None:
        if self._options.strict:
            raise CorpusError(
                f"{fault.source}: not UTF-8 at byte {fault.offset}",
                hint="convert the file to UTF-8, take it out, or leave out strict to skip it",
            )


def _takes_long(step: Step) -> bool:
    """Is what is done with it worth a thread? Most files of source code are not."""
    return step.batch is not None and len(step.batch.data) >= _WORTH_A_THREAD


def _warn(message: str, *values: object) -> None:
    import logging  # rarely needed, and slow to import

    logging.getLogger("prunedbpe").warning(message, *values)
