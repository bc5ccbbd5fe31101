"""Shards: contiguous runs of the corpus, planned by bytes on disk.

Shards follow one another in corpus order, so their tables reduce to the table of the whole, first
positions included. A plan depends only on the files and their sizes: each worker makes it for
itself, and all agree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from prunedbpe.corpus.files import CorpusFile
from prunedbpe.errors import SettingsError


@dataclass(frozen=True)
class Shard:
    """One of ``count`` disjoint parts of a corpus.

    >>> Shard(0, 4)
    Shard(index=0, count=4)
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise SettingsError(
                f"shard {self.index} of {self.count} does not exist",
                hint="shards are numbered from 0 to one below their count",
            )


@dataclass(frozen=True)
class FilePart:
    """The lines of a file that begin in the bytes ``[begin, end)``; or a whole file.

    A line belongs to the part that holds its first byte, so the parts of a file hold each line
    once.
    """

    file: CorpusFile
    begin: int
    end: int

    @property
    def is_start(self) -> bool:
        """Whether the file begins here: exactly one part of each file does."""
        return self.begin == 0


def plan_parts(files: Sequence[CorpusFile], shard: Shard | None) -> list[FilePart]:
    """Return the parts of ``files`` that make up ``shard``, in order; all files without a shard.

    A file that cannot be cut goes as a whole to the shard that holds its first byte.

    Raises:
        SettingsError: Standard input cannot be divided into shards.
    """
    if shard is None:
        return [FilePart(file, 0, file.size or 0) for file in files]
    sizes = []
    for file in files:
        if file.size is None:
            raise SettingsError(
                "standard input cannot be divided into shards",
                hint="write it to a file first, or count it as a whole",
            )
        sizes.append(file.size)
    total = sum(sizes)
    cuts = [total * index // shard.count for index in range(shard.count)]
    low = cuts[shard.index]
    high = cuts[shard.index + 1] if shard.index + 1 < shard.count else total
    parts = []
    start = 0
    for file, size in zip(files, sizes, strict=True):
        # Cuts may coincide (few bytes, many shards); the last at or before a file owns its start.
        owns_start = bisect_right(cuts, start) - 1 == shard.index
        if file.is_splittable and size > 0:
            begin, end = max(low - start, 0), min(high - start, size)
            if begin < end:
                parts.append(FilePart(file, begin, end))
        elif owns_start:
            parts.append(FilePart(file, 0, size))
        start += size
    return parts
