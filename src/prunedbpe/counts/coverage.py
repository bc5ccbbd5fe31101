"""Coverage: which shards of a corpus a table holds, so that tables can be reduced in any order.

Positions in a table count from the start of the first shard it holds, the shards laid end to end in
corpus order. When tables are joined, the positions of every shard move by as many bytes as the
shards before it have. That keeps their order, so the first position of a chunk may be found before
or after the move: any subset, order or tree of tables reduces to the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prunedbpe.corpus import Shard
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.types import Int64Array, Settings

_MOST_NAMED = 10
"""An error names at most this many shards."""


@dataclass(frozen=True)
class Coverage:
    """Some shards of a corpus, each with its bytes of text.

    Attributes:
        count: Into how many shards the corpus is divided.
        indices: The shards, ascending.
        sizes: Bytes of text of each.
    """

    count: int
    indices: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, shard: Shard | None, size: int) -> Coverage:
        """Return the coverage of one shard, or of a corpus that is not divided."""
        shard = shard or Shard(0, 1)
        return cls(shard.count, (shard.index,), (size,))

    @property
    def is_whole(self) -> bool:
        """Whether no shard is missing."""
        return len(self.indices) == self.count

    @property
    def shard(self) -> Shard | None:
        """The shard, if it is one of several."""
        if len(self.indices) != 1 or self.count == 1:
            return None
        return Shard(self.indices[0], self.count)

    def as_settings(self) -> Settings:
        """Return it as a JSON object."""
        return {"count": self.count, "indices": list(self.indices), "sizes": list(self.sizes)}

    @classmethod
    def from_settings(cls, settings: Settings | None) -> Coverage | None:
        """Read what :meth:`as_settings` returned.

        Raises:
            FormatError: It makes no sense.
        """
        if settings is None:
            return None
        count, indices, sizes = settings["count"], settings["indices"], settings["sizes"]
        numbers = [count, *indices, *sizes]
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise FormatError(f"the shards of a table are not numbers: {settings!r}")
        is_rising = all(a < b for a, b in zip([-1, *indices], [*indices, count], strict=True))
        if not is_rising or len(indices) != len(sizes) or not indices:
            raise FormatError(f"the shards of a table make no sense: {settings!r}")
        return cls(count, tuple(indices), tuple(sizes))

    def check_whole(self) -> None:
        """Refuse an incomplete corpus.

        Raises:
            SettingsError: Shards are missing; the message names them.
        """
        if not self.is_whole:
            missing = sorted(set(range(self.count)) - set(self.indices))
            raise SettingsError(
                f"{_named(missing, self.count)} missing",
                hint="give the tables of all shards, or ask for a partial table",
            )

    def moves(self, whole: Coverage) -> tuple[Int64Array, Int64Array]:
        """Return where the shards begin here, and by how much each moves in a larger table."""
        begins = _begins(self.sizes)
        place = dict(zip(whole.indices, _begins(whole.sizes).tolist(), strict=True))
        return begins, np.array([place[index] for index in self.indices], np.int64) - begins


def join_coverage(parts: Sequence[Coverage]) -> Coverage:
    """Return what tables cover together.

    Raises:
        SettingsError: They divide the corpus differently, or a shard comes twice.

    >>> join_coverage([Coverage(3, (2,), (10,)), Coverage(3, (0,), (20,))])
    Coverage(count=3, indices=(0, 2), sizes=(20, 10))
    """
    counts = sorted({part.count for part in parts})
    if len(counts) > 1:
        raise SettingsError(
            f"tables of different divisions: into {' and '.join(map(str, counts))} shards",
            hint="count all shards with the same INDEX/COUNT plan",
        )
    sizes: dict[int, int] = {}
    doubled = []
    for part in parts:
        for index, size in zip(part.indices, part.sizes, strict=True):
            if index in sizes:
                doubled.append(index)
            sizes[index] = size
    if doubled:
        raise SettingsError(
            f"{_named(sorted(set(doubled)), counts[0])} given twice", hint="give every shard once"
        )
    indices = tuple(sorted(sizes))
    return Coverage(counts[0], indices, tuple(sizes[index] for index in indices))


def move_positions(positions: Int64Array, moves: tuple[Int64Array, Int64Array]) -> Int64Array:
    """Move positions, each by what :meth:`Coverage.moves` says of its shard.

    >>> moves = Coverage(3, (0, 2), (10, 5)).moves(Coverage(3, (0, 1, 2), (10, 100, 5)))
    >>> move_positions(np.array([0, 9, 10, 14]), moves).tolist()
    [0, 9, 110, 114]
    """
    begins, shifts = moves
    if np.all(shifts == shifts[0]):
        return positions + shifts[0] if shifts[0] else positions
    return positions + shifts[np.searchsorted(begins, positions, side="right") - 1]


def _begins(sizes: Sequence[int]) -> Int64Array:
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


def _named(indices: Sequence[int], count: int) -> str:
    """Name shards, and say "is" or "are"."""
    named = ", ".join(f"{index}/{count}" for index in indices[:_MOST_NAMED])
    if len(indices) > _MOST_NAMED:
        named += f" and {len(indices) - _MOST_NAMED} more"
    return f"shard {named} is" if len(indices) == 1 else f"shards {named} are"
