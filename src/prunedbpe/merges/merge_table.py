"""The merge table: what learning found, immutable, saved as Parquet.

Merge ``i`` makes rank ``256 + i`` out of two lower ranks. Each merge carries the frequency of its
pair when it was chosen, and the number of replacements it made: ``applied``, the one vector that
answers every later question about exposure and length (see :mod:`prunedbpe.visibility.exposure`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import to_path
from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.input_files import naming
from prunedbpe._support.notebook_view import ends, view, view_table
from prunedbpe._support.result_tables import ArrowExport, text_or_none
from prunedbpe.corpus import CorpusReport
from prunedbpe.errors import FormatError, RunMismatchError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import BYTE_COUNT, Int64Array, UInt32Array

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "prunedbpe merges"
FORMAT_VERSION = 3

MAKE_MERGES = "make them with learn(counts, 10_000), or MergeTable.load(path)"
"""What to do if something else than merges is given."""


class Candidates(Protocol):
    """Merges to choose visible tokens from: a finished table, or a learner that can add more."""

    def reach(self, merge_count: int) -> MergeTable:
        """Return at least ``merge_count`` merges, or as many as there can be."""


@dataclass(frozen=True, eq=False)
class Applied:
    """How one corpus is rewritten by a merge list, step by step.

    Attributes:
        byte_counts: How often each of the 256 bytes occurs in the corpus.
        replacements: How many replacements each merge makes, in merge order.
    """

    byte_counts: Int64Array
    replacements: Int64Array

    def __repr__(self) -> str:
        return f"Applied(merges={len(self)}, bytes={self.total_bytes})"

    def __len__(self) -> int:
        return len(self.replacements)

    def __add__(self, other: Applied) -> Applied:
        """Two corpora rewritten by the same merges, as one."""
        return Applied(self.byte_counts + other.byte_counts, self.replacements + other.replacements)

    @property
    def total_bytes(self) -> int:
        """Length of the corpus before any merge."""
        return int(self.byte_counts.sum())


@dataclass(frozen=True, eq=False)
class MergeTable(ArrowExport):
    """Learned merges in training order.

    Attributes:
        pairs: Left and right rank of each merge.
        frequencies: Frequency of the pair when it was chosen, overlapping occurrences counted.
        applied: What the merges did to the corpus they were learned on.
        pretokenizer: What cut that corpus; merges never cross its chunks.
        corpus: Documents, bytes and skipped documents of that corpus.
        counts_digest: Identity of the chunk counts they were learned on.
        exhausted: No pair was left that occurs twice, so there is no further merge.
        min_chunk_count: Chunks that occur fewer times were dropped before learning; 1 is exact.
    """

    pairs: UInt32Array
    frequencies: Int64Array
    applied: Applied
    pretokenizer: Pretokenizer = field(default_factory=lambda: Pretokenizer("paper"))
    corpus: CorpusReport = field(default_factory=CorpusReport)
    counts_digest: str = ""
    exhausted: bool = False
    min_chunk_count: int = 1

    def __post_init__(self) -> None:
        if not len(self.pairs) == len(self.frequencies) == len(self.applied):
            raise FormatError(
                f"{len(self.pairs)} merges with {len(self.frequencies)} frequencies "
                f"and {len(self.applied)} applied counts"
            )
        if len(self.applied.byte_counts) != BYTE_COUNT:
            raise FormatError(
                f"counts of {len(self.applied.byte_counts)} bytes instead of {BYTE_COUNT}"
            )
        wrong = _core.find_wrong_merge(self.pairs, self.frequencies, self.applied.replacements)
        if wrong is None:
            return
        i, name = wrong
        if name == "pair":
            raise FormatError(
                f"merge {i} (rank {BYTE_COUNT + i}) is made of {self.pairs[i].tolist()}, "
                "but both must be lower ranks"
            )
        raise FormatError(f"merge {i} has a negative {name}")

    def __repr__(self) -> str:
        return (
            f"MergeTable(merges={len(self)}, corpus_bytes={self.applied.total_bytes}, "
            f"pretokenizer={self.pretokenizer.name!r})"
        )

    def _repr_html_(self) -> str:
        total = self.applied.total_bytes
        facts = {
            "merges": len(self),
            "pretokenizer": self.pretokenizer.name,
            "bytes of the corpus": total,
            "tokens after all merges": total - int(self.applied.replacements.sum()),
        }
        rows = [
            [
                BYTE_COUNT + i,
                self.token_bytes[BYTE_COUNT + i],
                *(self.token_bytes[part] for part in self.pairs[i].tolist()),
                int(self.frequencies[i]),
                int(self.applied.replacements[i]),
            ]
            for i in ends(len(self))
        ]
        columns = ["rank", "token", "left", "right", "frequency", "applied"]
        return view("Merge table", facts, view_table("First and last merges", columns, rows))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def ranks(self) -> Int64Array:
        """The rank each merge makes."""
        return np.arange(BYTE_COUNT, BYTE_COUNT + len(self))

    @cached_property
    def token_bytes(self) -> list[bytes]:
        """What every rank spells, bytes first.

        >>> merges = MergeTable.from_pairs([(97, 98), (256, 99)])
        >>> merges.token_bytes[256:]
        [b'ab', b'abc']
        """
        spelled = [bytes([byte]) for byte in range(BYTE_COUNT)]
        for left, right in self.pairs.tolist():
            spelled.append(spelled[left] + spelled[right])
        return spelled

    @classmethod
    def from_pairs(
        cls,
        pairs: UInt32Array | Sequence[tuple[int, int]],
        pretokenizer: Pretokenizer | None = None,
    ) -> MergeTable:
        """Merges without a corpus, ready to be replayed on one.

        Args:
            pairs: Left and right rank of each merge.
            pretokenizer: What cut the corpus they come from; the paper's by default.
        """
        zeros = np.zeros(len(pairs), np.int64)
        return cls(
            np.asarray(pairs, np.uint32).reshape(-1, 2),
            zeros,
            Applied(np.zeros(BYTE_COUNT, np.int64), zeros),
            pretokenizer or Pretokenizer("paper"),
        )

    def reach(self, merge_count: int) -> MergeTable:
        """Return all merges there are: a finished table cannot learn more (:class:`Candidates`)."""
        return self

    def head(self, merge_count: int) -> MergeTable:
        """The first merges, as if learning had stopped there."""
        if merge_count >= len(self):
            return self
        return replace(
            self,
            pairs=self.pairs[:merge_count],
            frequencies=self.frequencies[:merge_count],
            applied=Applied(self.applied.byte_counts, self.applied.replacements[:merge_count]),
            exhausted=False,
        )

    @property
    def _digest(self) -> str:
        return digest_arrays(self.pairs, self.frequencies, self.applied.replacements)

    def to_arrow(self) -> pa.Table:
        """Return one row for each merge: what it makes, out of what, and how often.

        >>> merges = MergeTable.from_pairs([(97, 98)])
        >>> merges.to_arrow().to_pylist()  # doctest: +NORMALIZE_WHITESPACE
        [{'rank': 256, 'bytes': b'ab', 'text': 'ab', 'left': 97, 'right': 98, 'frequency': 0,
          'applied': 0}]
        """
        import pyarrow as pa

        strings = self.token_bytes[BYTE_COUNT:]
        return pa.table(
            {
                "rank": pa.array(self.ranks, pa.int64()),
                "bytes": pa.array(strings, pa.binary()),
                "text": pa.array([text_or_none(string) for string in strings], pa.string()),
                "left": self.pairs[:, 0],
                "right": self.pairs[:, 1],
                "frequency": self.frequencies,
                "applied": self.applied.replacements,
            }
        )

    def save(self, path: str | Path) -> None:
        """Write as Parquet: columns ``left``, ``right``, ``frequency``, ``applied``."""
        from prunedbpe._support.parquet import write_table  # Arrow is slow to import

        columns = {
            "left": self.pairs[:, 0],
            "right": self.pairs[:, 1],
            "frequency": self.frequencies,
            "applied": self.applied.replacements,
        }
        settings = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "pretokenizer": self.pretokenizer.describe(),
            "corpus": self.corpus.as_settings(),
            "counts_digest": self.counts_digest,
            "byte_counts": self.applied.byte_counts.tolist(),
            "exhausted": self.exhausted,
            "min_chunk_count": self.min_chunk_count,
        }
        write_table(to_path(path), columns, settings, self._digest)

    @classmethod
    def load(cls, path: str | Path) -> MergeTable:
        """Read a table that :meth:`save` wrote.

        Raises:
            FormatError: The file is not such a table, or is damaged.
        """
        from prunedbpe._support.parquet import check_table, read_table

        path = to_path(path)
        columns = {"left": "uint32", "right": "uint32", "frequency": "int64", "applied": "int64"}
        table, settings = read_table(path, columns, FORMAT, FORMAT_VERSION)
        left, right, frequencies, replacements = (table[name].to_numpy() for name in columns)
        with naming(path):
            merges = cls(
                pairs=np.stack([left, right], axis=1),
                frequencies=frequencies,
                applied=Applied(np.array(settings["byte_counts"], np.int64), replacements),
                pretokenizer=Pretokenizer.from_settings(settings["pretokenizer"]),
                corpus=CorpusReport.from_settings(settings["corpus"]),
                counts_digest=settings["counts_digest"],
                exhausted=settings["exhausted"],
                min_chunk_count=settings.get("min_chunk_count", 1),  # tables of before have none
            )
        check_table(path, settings, merges._digest)
        return merges


def check_same_merges(shorter: UInt32Array, longer: UInt32Array) -> None:
    """Refuse two merge lists unless the first is the beginning of the second.

    Args:
        shorter: Pairs of the list that must be a prefix.
        longer: Pairs of the other list.

    Raises:
        RunMismatchError: They differ; the message names the first difference.

    >>> check_same_merges(np.array([[97, 98]]), np.array([[97, 98], [256, 99]]))
    >>> check_same_merges(np.array([[97, 98]]), np.array([[97, 99]]))
    Traceback (most recent call last):
    prunedbpe.errors.RunMismatchError: not one merge list: rank 256 spells b'ab' in one and b'ac' \
in the other
    hint: use tokenizers and merges of the same run
    """
    hint = "use tokenizers and merges of the same run"
    if len(shorter) > len(longer):
        raise RunMismatchError(
            f"not one merge list: {len(shorter)} merges are needed, the other list has "
            f"{len(longer)}",
            hint=hint,
        )
    differs = (shorter != longer[: len(shorter)]).any(axis=1)
    if differs.any():
        rank = BYTE_COUNT + int(differs.argmax())
        spelled = [
            MergeTable.from_pairs(pairs[: rank - BYTE_COUNT + 1]).token_bytes[rank]
            for pairs in (shorter, longer)
        ]
        raise RunMismatchError(
            f"not one merge list: rank {rank} spells {spelled[0]!r} in one and {spelled[1]!r} "
            "in the other",
            hint=hint,
        )
