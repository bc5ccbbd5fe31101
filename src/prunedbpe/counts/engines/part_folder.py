"""A folder that all workers see: parts of a corpus -> partial tables -> reduced buckets -> table.

Every step writes files that appear when they are complete, and leaves alone what is there. So any
step may run twice or on another machine, and a job that was stopped does what is missing.

- ``count.json``: what is counted, and in how many parts
- ``part-00012-of-00400.arrow``: the partial table of one part
- ``joined-0-00128-of-00400.arrow``: several of them as one, if there are many
- ``bucket-007.arrow``: one hash bucket of the whole corpus, in order of first position
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from prunedbpe._support import locations
from prunedbpe._support.memory import DEFAULT_SHARE, machine_memory
from prunedbpe._support.progress import SILENT
from prunedbpe._support.sealed_json import read_sealed, write_sealed
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, Shard
from prunedbpe.counts.bounded import LEAST_MEMORY, BoundedCount
from prunedbpe.counts.bucket_merge import (
    at_least,
    merge_by_position,
    read_slices,
    write_counts,
    write_slices,
)
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.counting import CountedFile
from prunedbpe.counts.partial_tables import (
    BUCKETS,
    MOST_JOINED,
    BucketReducer,
    PartialTable,
    join_partial_tables,
    to_batch,
)
from prunedbpe.errors import FormatError, RunMismatchError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Settings


@dataclass(frozen=True)
class PartFolder:
    """What workers need to know about the job.

    Attributes:
        folder: Where the files are: an absolute path, or a URL.
        pretokenizer: Cuts the documents.
        threads: Threads of a worker.
        memory: Bytes that counting a part may take; by default a worker's share of half of the
            machine's.
    """

    folder: str
    pretokenizer: Pretokenizer
    threads: int = 1
    memory: int | None = None

    # 1. The plan.

    def claim(self, corpus: Corpus, parts: int | None, planned: int) -> int:
        """Make the folder that of this job, or find that it is; return the number of parts.

        Args:
            corpus: The corpus.
            parts: Into how many parts to divide it, if the user says so.
            planned: The number otherwise. An earlier run may have had another idea, and its parts
                can be used.

        Raises:
            RunMismatchError: The folder belongs to another job.
        """
        identity: Settings = {
            "corpus": corpus.fingerprint(),
            "options": asdict(corpus.options),
            "pretokenizer": self.pretokenizer.describe(),
        }
        path = f"{self.folder}/count.json"
        if not locations.exists(path):
            locations.create_folder(self.folder)
            write_sealed(path, {**identity, "parts": parts or planned})
            return parts or planned
        found = read_sealed(path, f"remove the folder {self.folder} to start over")
        known = found.pop("parts", None)
        if found != identity or not isinstance(known, int):
            raise RunMismatchError(
                f"{self.folder} holds the parts of another count",
                hint="remove the folder, or give another one",
            )
        if parts not in (None, known):
            raise RunMismatchError(
                f"{self.folder} holds a count in {known} parts, not {parts}",
                hint=f"ask for {known} parts, or give another folder",
            )
        return known

    # 2. Counting, once for each part.

    def part_path(self, shard: Shard) -> str:
        """The partial table of a part."""
        return f"{self.folder}/part-{shard.index:05d}-of-{shard.count:05d}.arrow"

    def count_part(self, corpus: Corpus, shard: Shard) -> None:
        """Count a part, unless that is done.

        Raises:
            CorpusError: A file is damaged, or is not the same on this machine.
        """
        if _is_readable(self.part_path(shard)):
            return
        part = corpus.part(shard)
        part.check_files()
        self.write_part(part, shard)

    def write_part(self, corpus: Corpus, shard: Shard) -> None:
        """Count a corpus into the partial table of a shard."""
        with BoundedCount(
            corpus, self.pretokenizer, threads=self.threads, memory=self.task_memory()
        ) as counter:
            counter.run(SILENT)
            counter.write_partial_table(self.part_path(shard), shard)

    def task_memory(self) -> int:
        """Bytes that counting a part may take on this machine."""
        if self.memory is not None:
            return self.memory
        share = DEFAULT_SHARE * self.threads / worker_count(None)
        return max(int(machine_memory() * share), LEAST_MEMORY)

    # 3. Reducing.

    def joins(self, paths: Sequence[str], level: int) -> list[tuple[str, Sequence[str]]]:
        """Divide partial tables into groups; each is to be joined to a table of the given path."""
        count = paths[0].removesuffix(".arrow").rpartition("-")[2]
        return [
            (
                f"{self.folder}/joined-{level}-{first:05d}-of-{count}.arrow",
                paths[first : first + MOST_JOINED],
            )
            for first in range(0, len(paths), MOST_JOINED)
        ]

    def join(self, path: str, paths: Sequence[str]) -> None:
        """Join partial tables, unless that is done."""
        if not _is_readable(path):
            join_partial_tables(path, paths, self.threads)

    def bucket_path(self, index: int) -> str:
        """A reduced bucket."""
        return f"{self.folder}/bucket-{index:03d}.arrow"

    def reduce(self, paths: Sequence[str], buckets: range) -> int:
        """Reduce some buckets of all partial tables, unless that is done; return how many.

        Raises:
            FormatError: A partial table is damaged; the message names it.
        """
        missing = [index for index in buckets if not locations.exists(self.bucket_path(index))]
        if missing:
            with _opened(paths) as reducer:
                for index in missing:
                    columns, cells = reducer.bucket(index)
                    write_slices(self.bucket_path(index), to_batch(columns, cells))
        return len(buckets)

    # 4. The result.

    def write(self, paths: Sequence[str], output: Path, min_chunk_count: int) -> CountedFile:
        """Merge the reduced buckets into the file of the whole corpus, block by block."""
        with _opened(paths) as reducer:
            report = reducer.corpus
        header = ChunkCounts.empty(
            pretokenizer=self.pretokenizer, corpus=report, min_chunk_count=min_chunk_count
        )
        with locations.fetched([self.bucket_path(index) for index in range(BUCKETS)]) as buckets:
            merged = merge_by_position([read_slices(path) for path in buckets])
            blocks = (at_least(block, min_chunk_count) for block in merged)
            written = write_counts(output, blocks, header.settings())
        return CountedFile(
            written.rows, written.hexdigest(), header, self.task_memory(), spilled=True
        )


@contextmanager
def _opened(paths: Sequence[str]) -> Iterator[BucketReducer]:
    """Open partial tables together."""
    with ExitStack() as stack:
        yield BucketReducer([stack.enter_context(closing(PartialTable(path))) for path in paths])


def plan_parts_of(corpus: Corpus, part_bytes: int, cpus: int) -> int:
    """Return into how many parts to divide a corpus: a few for each CPU, none too large.

    Raises:
        SettingsError: It cannot be divided.
    """
    if corpus.size is None or corpus.shard is not None:
        raise SettingsError(
            "only a whole corpus of files can be counted on a cluster",
            hint="write standard input or an iterable to files first; leave out the shard",
        )
    return max(-(-corpus.size // part_bytes), min(4 * cpus, corpus.size // LEAST_PART_BYTES), 1)


LEAST_PART_BYTES = 1_000_000
"""A smaller part costs more to start than to count."""


def _is_readable(path: str) -> bool:
    """Whether there is a partial table; one that was cut short is none, and is written again."""
    try:
        PartialTable(path).close()
    except FormatError:
        return False
    return True
