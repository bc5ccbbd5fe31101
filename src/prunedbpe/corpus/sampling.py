"""Sampling: a corpus -> some of its text, in stretches spread evenly over all files.

Stretch ``k`` of ``n`` begins ``k / n`` of the way through the corpus, by bytes on disk, so that a
corpus with one language after the other is represented as it is. The order of reading halves the
gaps again and again: the first 2, 4, 8, ... stretches are spread over the whole corpus too.

A file that cannot be cut (compressed, Parquet) is read from its beginning if it is longer than a
stretch. Every stretch that lies in it continues where the one before it stopped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from prunedbpe._support.threads import one_ahead
from prunedbpe.corpus.corpus import Corpus
from prunedbpe.corpus.documents import DocumentBatch, ReadOptions
from prunedbpe.corpus.files import CorpusFile, FilePart, Layout
from prunedbpe.corpus.readers import read_parts
from prunedbpe.errors import SettingsError

_LEAST_BLOCK = 1 << 16
"""Bytes of text to read at a time, at least."""


@dataclass(frozen=True, eq=False)
class SampledBatch:
    """Some documents of a sample.

    Attributes:
        batch: The documents.
        disk_bytes: Bytes on disk they take.
    """

    batch: DocumentBatch
    disk_bytes: int


def nested_order(stretches: int) -> list[int]:
    """Return the order of reading, in which the first 2, 4, 8, ... stretches are spread evenly.

    >>> nested_order(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    order = [0]
    while len(order) < stretches:
        order = [2 * k for k in order] + [2 * k + 1 for k in order]
    return order


class Sample:
    """A part of a corpus that stands for the whole.

    Args:
        corpus: Files; standard input and iterables can be read only once.
        sample_bytes: Bytes on disk to read. The whole corpus is read, every document once, if it
            has no more.
        stretches: In how many pieces; a power of two.

    Raises:
        SettingsError: The corpus is not made of files, or is a shard.
    """

    def __init__(self, corpus: Corpus, sample_bytes: int, stretches: int) -> None:
        size = corpus.size
        if size is None:
            raise SettingsError(
                "standard input and iterables cannot be sampled: they can be read only once",
                hint="write the text to a file first",
            )
        if corpus.shard is not None:
            raise SettingsError("a shard cannot be sampled", hint="sample the whole corpus")
        if sample_bytes < 1:
            raise SettingsError(f"sample_bytes is {sample_bytes}", hint="give at least 1")
        self.size = size
        self.stretches = stretches
        self.is_whole = sample_bytes >= size
        self._length = max(sample_bytes // stretches, 1)
        # A file without lines is one document. A long one is cut into lines, or it would be the
        # whole sample.
        self._files = [
            replace(file, layout=Layout.LINES)
            if file.layout is Layout.WHOLE and self._is_long(file)
            else file
            for file in corpus.files
        ]
        self._starts = list(accumulate((file.size or 0 for file in self._files), initial=0))
        self._options = replace(corpus.options, source_field=None)
        if not self.is_whole:
            block = min(self._options.batch_bytes, max(self._length, _LEAST_BLOCK))
            self._options = replace(self._options, batch_bytes=block)
        self._open: dict[int, _OpenFile] = {}

    def _is_long(self, file: CorpusFile) -> bool:
        return not self.is_whole and (file.size or 0) > self._length

    def _can_cut(self, file: CorpusFile) -> bool:
        # The row groups of Parquet are far longer than a stretch.
        return file.is_splittable and not (self._is_long(file) and file.layout is Layout.PARQUET)

    def read(self, stretches: list[int], threads: int) -> Iterator[SampledBatch]:
        """Read some stretches, each at most once."""
        pieces = (piece for k in stretches for piece in self._read_stretch(k, threads))
        return one_ahead(pieces, threads, lambda piece: len(piece.batch.data) >= 1 << 19)

    def _read_stretch(self, k: int, threads: int) -> Iterator[SampledBatch]:
        begin = self.size * k // self.stretches
        end = self.size * (k + 1) // self.stretches
        if not self.is_whole:
            begin += (end - begin - self._length) // 2
            end = begin + self._length
        index = max(bisect_right(self._starts, begin) - 1, 0)
        while index < len(self._files) and self._starts[index] < end:
            file, start = self._files[index], self._starts[index]
            size = file.size or 0
            first, last = max(begin - start, 0), min(end - start, size)
            if first >= last:
                pass
            elif self._can_cut(file):
                yield from self._read_part(FilePart(file, first, last), threads)
            elif self._is_long(file):
                yield from self._continue(index, last - first, threads)
            elif first == 0:
                yield from self._read_part(FilePart(file, 0, size), threads)
            index += 1

    def _read_part(self, part: FilePart, threads: int) -> Iterator[SampledBatch]:
        reached = 0
        for piece in read_parts([part], self._options, threads):
            yield SampledBatch(piece.batch, piece.position - reached)
            reached = piece.position
        if part.end - part.begin > reached:
            nothing = DocumentBatch.from_documents([], part.file.source)
            yield SampledBatch(nothing, part.end - part.begin - reached)

    def _continue(self, index: int, wanted: int, threads: int) -> Iterator[SampledBatch]:
        """Read more of a file that cannot be cut, up to its end."""
        if index not in self._open:
            self._open[index] = _OpenFile(self._files[index], self._options, threads)
        yield from self._open[index].read(wanted)


class _OpenFile:
    """A file that is read from its beginning, a stretch at a time."""

    def __init__(self, file: CorpusFile, options: ReadOptions, threads: int) -> None:
        self._size = file.size or 0
        self._is_packed = file.compression is not None
        if self._is_packed:
            options = replace(options, batch_bytes=_LEAST_BLOCK)
        self._pieces = read_parts([FilePart(file, 0, self._size)], options, threads)
        self._position = 0  # of the last piece
        self._wanted = 0
        self._done = 0  # bytes on disk whose documents have been returned

    def read(self, wanted: int) -> Iterator[SampledBatch]:
        """Read on until as many bytes on disk are done as were ever wanted, or the file ends."""
        self._wanted += wanted
        while self._done < min(self._wanted, self._size):
            piece = next(self._pieces, None)
            before = self._done
            if piece is None:
                self._done = self._size
                yield SampledBatch(DocumentBatch.from_documents([], ""), self._size - before)
                return
            # An unpacker reads ahead on disk. What it has read is unpacked when it reads again.
            if piece.position > self._position:
                self._done = self._position if self._is_packed else piece.position
                self._position = piece.position
            yield SampledBatch(piece.batch, self._done - before)
