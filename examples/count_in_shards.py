"""Count a corpus in shards, as several machines would, and reduce the tables to that of the whole.

Every machine sees the same files and makes the same plan; they need not communicate. The reduced
table equals the one counted in a single run, first positions included, so learning gives the same
merges.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import prunedbpe

SHARD_COUNT = 3


def count_shard(corpus: list[Path], index: int, folder: Path) -> Path:
    """The work of one machine: count its shard and save the table where all can read it."""
    shard = prunedbpe.Shard(index, SHARD_COUNT)
    counts = prunedbpe.count(prunedbpe.Corpus(corpus, shard=shard))
    path = folder / f"counts-{index}-of-{SHARD_COUNT}.parquet"
    counts.save(path)
    return path


def main() -> None:
    """Count in shards, reduce, and compare with counting everything at once."""
    package = Path(prunedbpe.__file__).parent
    corpus = sorted(package.rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [count_shard(corpus, index, Path(folder)) for index in range(SHARD_COUNT)]
        # A table knows its shard, so the order in which they are given does not matter.
        tables = [prunedbpe.ChunkCounts.load(path) for path in reversed(paths)]
    whole = prunedbpe.reduce_counts(tables)
    for table in tables:
        print(f"shard {table.shard}: {table.corpus.bytes:,} bytes, {len(table):,} chunks")
    print(f"reduced: {whole.corpus.bytes:,} bytes, {len(whole):,} unique chunks")
    assert whole == prunedbpe.count(corpus)
    print("equal to the table counted at once")


if __name__ == "__main__":
    main()
