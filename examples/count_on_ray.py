"""Count a corpus on a Ray cluster; here on one that is started on this machine.

On a real cluster, name its address, and a folder that all nodes see.

Needs: ray
"""

from __future__ import annotations

from pathlib import Path

import prunedbpe
from prunedbpe.counts.engines.ray import count_to_file


def main() -> None:
    """Count the sources of the package in four parts; the table is that of one process."""
    corpus = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    found = count_to_file(corpus, "counts.parquet", parts=4, address=None, folder="parts")
    print(f"{found.corpus.bytes:,} bytes of text, {found.chunks:,} unique chunks")
    assert prunedbpe.ChunkCounts.load("counts.parquet") == prunedbpe.count(corpus)


if __name__ == "__main__":
    main()
