"""Estimating: a sample of a corpus -> how large its table of counts will be, and how long it takes.

The sample is spread over the whole corpus (:mod:`prunedbpe.corpus.sampling`) and counted in nested
parts, each twice as large as the one before: the growth curve. A law
(:mod:`prunedbpe.counts.growth_law`) continues the curve up to the whole corpus.

Cost: reading and counting the sample.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass

import numpy as np

from prunedbpe import _core
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe._support.threads import thread_count, worker_count
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.corpus.sampling import Sample, nested_order
from prunedbpe.counts.bounded import add_batch, budget_for
from prunedbpe.counts.growth_law import GrowthLaw
from prunedbpe.errors import CorpusError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import Settings

SAMPLE_BYTES = 64_000_000
"""Bytes on disk that are read by default."""

_STRETCHES = 256
"""Places of the corpus that are read. With 64, mixed corpora were up to twice as far off."""

_DOUBLINGS = 4
"""How often the size of the nested parts doubles up to the whole sample."""

_TABLE_BYTES_PER_CHUNK = 64
"""Memory of a chunk while it is counted, without its bytes if it has more than 16."""


@dataclass(frozen=True)
class GrowthPoint:
    """One row of the growth curve: bytes of text, and what they hold."""

    text_bytes: int
    unique_chunks: int
    unique_bytes: int
    is_predicted: bool = False


@dataclass(frozen=True)
class Estimate:
    """What counting a corpus will come to.

    Attributes:
        disk_bytes: Bytes of the corpus on disk.
        sampled_bytes: Bytes on disk that were read.
        is_exact: The sample is the whole corpus, so all numbers but memory and time are exact.
        text_bytes: UTF-8 bytes of all documents.
        unique_chunks: Unique chunks.
        unique_bytes: Their bytes.
        most_chunks: Unique chunks if their growth slows down no further; not a bound.
        most_bytes: Their bytes.
        counting_memory: The smallest ``memory`` with which counting needs no temporary files.
        seconds: Time to count on this machine, with that much memory; a rough figure.
        threads: Number of counting threads.
        curve: Measured and predicted sizes of the table, by text.
    """

    disk_bytes: int
    sampled_bytes: int
    is_exact: bool
    text_bytes: int
    unique_chunks: int
    unique_bytes: int
    most_chunks: int
    most_bytes: int
    counting_memory: int
    seconds: float
    threads: int
    curve: tuple[GrowthPoint, ...]

    def as_settings(self) -> Settings:
        """Return the estimate as a JSON object."""
        return {**asdict(self), "curve": [asdict(point) for point in self.curve]}


def estimate(
    corpus: CorpusInput | Corpus,
    *,
    pretokenizer: str | Pretokenizer = "paper",
    sample_bytes: int = SAMPLE_BYTES,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Estimate:
    r"""Predict from a sample what counting a corpus will come to.

    Args:
        corpus: Files: paths, or a :class:`~prunedbpe.corpus.Corpus`.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.
        sample_bytes: Bytes on disk to read. A corpus that has no more is counted as a whole.
        threads: Number of counting threads; one per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        CorpusError: The sample holds no text.
        SettingsError: The corpus is not made of files, or is a shard.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("to be or not to be\n", encoding="utf-8")
    ...     found = estimate(folder)
    >>> found.is_exact, found.unique_chunks, found.text_bytes
    (True, 5, 18)
    """
    progress = as_progress(progress)
    sample = Sample(open_corpus(corpus), sample_bytes, _STRETCHES)
    counted = _SampleCount(find_pretokenizer(pretokenizer), threads)
    order = nested_order(_STRETCHES)
    ends = [_STRETCHES >> doublings for doublings in range(_DOUBLINGS, -1, -1)]
    with progress.task("Sampling", total=min(sample_bytes, sample.size), unit="bytes") as task:
        for begin, end in zip([0, *ends], ends, strict=False):
            task.advance(counted.add(sample, order[begin:end]))
    if not counted.curve:
        raise CorpusError(
            f"no text was read from {counted.disk_bytes:,} of {sample.size:,} bytes",
            hint="check the inputs and their encoding, or take a larger sample",
        )
    return counted.extrapolate(sample)


class _SampleCount:
    """Counts a sample part by part, and keeps the size of the table after each."""

    def __init__(self, pretokenizer: Pretokenizer, threads: int | None) -> None:
        self.curve: list[GrowthPoint] = []
        self.disk_bytes = 0
        self._pretokenizer = pretokenizer
        self._threads = threads
        self._workers = worker_count(threads)
        self._table = _core.ChunkCounter(1).finish()
        self._text_bytes = 0
        self._bytes_per_second = 1.0

    def add(self, sample: Sample, stretches: list[int]) -> int:
        """Count some stretches; returns their bytes on disk."""
        counter = _core.ChunkCounter(thread_count(self._threads))
        started = time.perf_counter()
        disk_bytes = text_bytes = 0
        for piece in sample.read(stretches, self._workers):
            disk_bytes += piece.disk_bytes
            text_bytes += piece.batch.text_bytes
            if len(piece.batch):
                add_batch(counter, self._pretokenizer, piece.batch)
        added = counter.finish()
        seconds = time.perf_counter() - started
        self.disk_bytes += disk_bytes
        if text_bytes:
            joined = _core.ChunkCounter(1)
            joined.add_counts(*self._table, 0, 0)
            joined.add_counts(*added, self._text_bytes, 0)
            self._table = joined.finish()
            self._text_bytes += text_bytes
            self._bytes_per_second = text_bytes / seconds
            chunks, _, counts, _ = self._table
            self.curve.append(GrowthPoint(self._text_bytes, len(counts), len(chunks)))
        return disk_bytes

    def extrapolate(self, sample: Sample) -> Estimate:
        """Predict the whole corpus."""
        text_bytes = self._text_bytes
        if not sample.is_whole:
            text_bytes = max(round(sample.size * text_bytes / self.disk_bytes), text_bytes)
        sizes = tuple(point.text_bytes for point in self.curve)
        chunks = GrowthLaw(sizes, tuple(point.unique_chunks for point in self.curve))
        unique_bytes = GrowthLaw(sizes, tuple(point.unique_bytes for point in self.curve))

        def predict(size: int) -> GrowthPoint:
            return GrowthPoint(size, round(chunks.at(size)), round(unique_bytes.at(size)), True)

        doublings = math.ceil(math.log2(text_bytes / sizes[-1]))
        later = [predict(sizes[-1] << i) for i in range(1, doublings)]
        if text_bytes > sizes[-1]:
            later.append(predict(text_bytes))
        last = [*self.curve, *later][-1]
        # Every worker has a table of its own, with the chunks of its share of the text.
        share = max(text_bytes / self._workers, 1)
        tables = self._workers * (
            _TABLE_BYTES_PER_CHUNK * chunks.at(share) + self._long_share() * unique_bytes.at(share)
        )
        return Estimate(
            disk_bytes=sample.size,
            sampled_bytes=self.disk_bytes,
            is_exact=sample.is_whole,
            text_bytes=text_bytes,
            unique_chunks=last.unique_chunks,
            unique_bytes=last.unique_bytes,
            most_chunks=round(chunks.at_most(text_bytes)),
            most_bytes=round(unique_bytes.at_most(text_bytes)),
            counting_memory=budget_for(round(tables)),
            seconds=text_bytes / self._bytes_per_second,
            threads=self._workers,
            curve=(*self.curve, *later),
        )

    def _long_share(self) -> float:
        """The share of unique bytes in chunks too long to be stored inside a table."""
        lengths = np.diff(self._table[1])
        return float(lengths[lengths > 16].sum() / max(lengths.sum(), 1))
