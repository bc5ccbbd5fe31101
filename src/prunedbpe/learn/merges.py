"""The merge table: what learning found, immutable; saved as Parquet.

Merge ``i`` makes rank ``256 + i`` out of two lower ranks. With every merge goes the frequency of
its pair when it was chosen, and how many replacements it made: ``applied``, the one vector that
answers every later question about exposure and length (see :mod:`prunedbpe.visibility.exposure`).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from prunedbpe import _core
from prunedbpe.arrays import Columns, np
from prunedbpe.corpus import CorpusReport
from prunedbpe.errors import FormatError
from prunedbpe.files import naming
from prunedbpe.pretokenize import Pretokenizer
from prunedbpe.records import field, record, replace
from prunedbpe.tables import read_table, write_table
from prunedbpe.types import BYTE_COUNT, Int64Array, UInt32Array

FORMAT = "prunedbpe merges"
FORMAT_VERSION = 1


@record(frozen=True, eq=False)
class Applied(Columns, arrays=("byte_counts", "replacements")):
    """How one corpus is rewritten by a merge list, step by step.

    Attributes:
        byte_counts: How often each of the 256 bytes occurs in the corpus.
        replacements: How many replacements each merge makes, in merge order.
    """

    byte_counts: Int64Array
    replacements: Int64Array

    def __len__(self) -> int:
        return len(self.column("replacements"))

    @property
    def total_bytes(self) -> int:
        """Length of the corpus before any merge."""
        return int(self.byte_counts.sum())


@record(frozen=True, eq=False)
class MergeTable(Columns, arrays=("pairs", "frequencies")):
    """Learned merges in training order.

    Attributes:
        pairs: Left and right rank of each merge.
        frequencies: Frequency of the pair when it was chosen, overlapping occurrences counted.
        applied: What the merges did to the corpus they were learned on.
        pretokenizer: What cut that corpus; merges never cross its chunks.
        corpus: Documents, bytes and skipped files of that corpus.
        counts_digest: Identity of the chunk counts they were learned on.
        exhausted: No pair was left that occurs twice; there is no further merge.
    """

    pairs: UInt32Array
    frequencies: Int64Array
    applied: Applied
    pretokenizer: Pretokenizer = field(default_factory=lambda: Pretokenizer("paper"))
    corpus: CorpusReport = field(default_factory=CorpusReport)
    counts_digest: str = ""
    exhausted: bool = False

    def __post_init__(self) -> None:
        pairs, frequencies = self.column("pairs"), self.column("frequencies")
        replacements = self.applied.column("replacements")
        if not len(pairs) == len(frequencies) == len(replacements):
            raise FormatError(
                f"{len(pairs)} merges with {len(frequencies)} frequencies "
                f"and {len(replacements)} applied counts"
            )
        byte_counts = self.applied.column("byte_counts")
        if len(byte_counts) != BYTE_COUNT:
            raise FormatError(f"counts of {len(byte_counts)} bytes, not {BYTE_COUNT}")
        wrong = _core.find_wrong_merge(pairs, frequencies, replacements)
        if wrong is None:
            return
        i, name = wrong
        if name == "pair":
            raise FormatError(
                f"merge {i} (rank {BYTE_COUNT + i}) is made of {self.pairs[i].tolist()}, "
                "but both must be lower ranks"
            )
        raise FormatError(f"merge {i} has a negative {name}")

    def __len__(self) -> int:
        return len(self.column("pairs"))

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
        cls, pairs: list[tuple[int, int]], pretokenizer: Pretokenizer | None = None
    ) -> MergeTable:
        """Merges without a corpus: they can be replayed on one.

        Args:
            pairs: Left and right rank of each merge.
            pretokenizer: What cut the corpus they come from; the paper's by default.
        """
        zeros = np.zeros(len(pairs), np.int64)
        return cls(
            np.array(pairs, np.uint32).reshape(-1, 2),
            zeros,
            Applied(np.zeros(BYTE_COUNT, np.int64), zeros),
            pretokenizer or Pretokenizer("paper"),
        )

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

    def save(self, path: str | Path) -> None:
        """Write as Parquet: columns ``left``, ``right``, ``frequency``, ``applied``."""
        import pyarrow as pa

        table = pa.table(
            {
                "left": self.pairs[:, 0],
                "right": self.pairs[:, 1],
                "frequency": self.frequencies,
                "applied": self.applied.replacements,
            }
        )
        settings = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "pretokenizer": self.pretokenizer.describe(),
            "corpus": self.corpus.as_settings(),
            "counts_digest": self.counts_digest,
            "byte_counts": self.applied.byte_counts.tolist(),
            "exhausted": self.exhausted,
        }
        write_table(Path(path), table, settings)

    @classmethod
    def load(cls, path: str | Path) -> MergeTable:
        """Read a table that :meth:`save` wrote.

        Raises:
            FormatError: The file is no such table, or damaged.
        """
        path = Path(path)
        columns = {"left": "uint32", "right": "uint32", "frequency": "int64", "applied": "int64"}
        table, settings = read_table(path, columns, FORMAT, FORMAT_VERSION)
        left, right, frequencies, replacements = (table[name].to_numpy() for name in columns)
        with naming(path):
            return cls(
                pairs=np.stack([left, right], axis=1),
                frequencies=frequencies,
                applied=Applied(np.array(settings["byte_counts"], np.int64), replacements),
                pretokenizer=Pretokenizer.from_settings(settings["pretokenizer"]),
                corpus=CorpusReport.from_settings(settings["corpus"]),
                counts_digest=settings["counts_digest"],
                exhausted=settings["exhausted"],
            )
