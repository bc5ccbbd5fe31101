"""Counting a corpus larger than this machine: what moves, what must fit, how long it takes.

    python benchmarks/simulate_reduce.py --gigabytes 1 100 1000 10000 --cores 64

Every part of the corpus becomes a partial table; the tables are joined bucket by bucket and merged
by first position. The rates are measured on one machine (``bench_memory.py``). The number of unique
chunks follows a growth curve, chunks = a * bytes ^ b, as ``prunedbpe count --estimate`` measures
it. The rest is arithmetic, except for the sizes of buckets: chunks are thrown into buckets at
random, as the hash does. Everything beyond the sizes that were measured is an extrapolation.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np

BUCKETS = 256
MOST_JOINED = 128


@dataclass(frozen=True)
class Rates:
    """What one core does, and what a row takes.

    Attributes:
        count: Bytes of text counted in a second.
        join: Rows of partial tables joined in a second.
        merge: Rows of the result merged and written in a second; one process does it.
        row_bytes: Bytes of a row of a partial table.
        learn_bytes: Bytes of memory to learn, for each unique chunk.
        price: Of one core for one hour.
    """

    count: float
    join: float
    merge: float
    row_bytes: float
    learn_bytes: float
    price: float


@dataclass(frozen=True)
class Growth:
    """Unique chunks in so many bytes of text."""

    chunks: float
    at_bytes: float
    exponent: float

    def at(self, size: float) -> float:
        return self.chunks * (size / self.at_bytes) ** self.exponent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1, 100, 1_000, 10_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 16, 64, 256])
    parser.add_argument("--part-gigabytes", type=float, default=1.0)
    parser.add_argument("--chunks-per-gigabyte", type=float, default=4.5e6)
    parser.add_argument("--exponent", type=float, default=0.76)
    parser.add_argument("--count", type=float, default=130e6, help="bytes in a second and core")
    parser.add_argument("--join", type=float, default=5e6, help="rows in a second and core")
    parser.add_argument("--merge", type=float, default=3e6, help="rows in a second")
    parser.add_argument("--row-bytes", type=float, default=36)
    parser.add_argument("--learn-bytes", type=float, default=180, help="memory for each chunk")
    parser.add_argument("--price", type=float, default=0.05, help="of a core for an hour")
    given = parser.parse_args()
    rates = Rates(
        given.count, given.join, given.merge, given.row_bytes, given.learn_bytes, given.price
    )
    growth = Growth(given.chunks_per_gigabyte, 1e9, given.exponent)
    names = (
        *("text", "cores", "parts", "unique chunks", "partial tables", "moved"),
        *("largest bucket", "hours to count", "to reduce", "to merge", "cost", "memory to learn"),
    )
    print("|", " | ".join(names), "|")
    print("|", " | ".join("---:" for _ in names), "|")
    for size, cores in zip(given.gigabytes, given.cores, strict=False):
        row = simulate(size * 1e9, cores, given.part_gigabytes * 1e9, growth, rates)
        print("|", " | ".join(row), "|")


def simulate(size: float, cores: int, part: float, growth: Growth, rates: Rates) -> list[str]:
    """Return the row of one corpus."""
    parts = math.ceil(size / part)
    chunks = growth.at(size)
    # Every level of joins reads all rows of the level below it.
    rows_read, tables, covered = 0.0, parts, min(part, size)
    written = parts * growth.at(covered)
    while tables > 1:
        rows_read += tables * growth.at(covered)
        tables = math.ceil(tables / MOST_JOINED)
        covered = min(covered * MOST_JOINED, size)
    bucket = np.random.default_rng(1).multinomial(int(chunks), np.full(BUCKETS, 1 / BUCKETS)).max()
    count_hours = size / rates.count / cores / 3600
    join_hours = rows_read / rates.join / min(cores, BUCKETS) / 3600
    merge_hours = chunks / rates.merge / 3600
    cost = ((count_hours + join_hours) * cores + merge_hours) * rates.price
    return [
        f"{size / 1e9:,.0f} GB",
        f"{cores}",
        f"{parts:,}",
        f"{chunks / 1e6:,.0f} million",
        f"{written * rates.row_bytes / 1e9:,.1f} GB",
        f"{rows_read * rates.row_bytes / 1e9:,.1f} GB",
        f"{bucket * rates.row_bytes / 1e6:,.0f} MB",
        f"{count_hours:.2f}",
        f"{join_hours:.2f}",
        f"{merge_hours:.2f}",
        f"${cost:,.2f}",
        f"{chunks * rates.learn_bytes / 1e9:,.0f} GB",
    ]


if __name__ == "__main__":
    main()
