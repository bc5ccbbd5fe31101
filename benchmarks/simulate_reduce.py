"""Counting a corpus larger than this machine: what moves, what must fit, how long it takes.

    python benchmarks/simulate_reduce.py large.txt --chunks 835673 --in-bytes 56e6 --exponent 0.76

1. Measure. The text is counted in parts, which are joined, reduced and merged by the functions that
   run as tasks on a cluster, with one thread. Rates are per second of CPU time, so other processes
   hardly change them.
2. Simulate. Every part of a corpus becomes a partial table; the tables are joined in groups,
   reduced bucket by bucket and merged in order of first position. The number of unique chunks
   follows a growth curve, chunks = a * bytes ^ b, as ``prunedbpe count --estimate`` measures it.
   Chunks are thrown into buckets at random, as the hash does. The rest is arithmetic: everything
   beyond the size of the text is an extrapolation.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe import ChunkCounts, Corpus, Shard
from prunedbpe.counts.engines.part_folder import PartFolder
from prunedbpe.counts.engines.ray import PART_BYTES
from prunedbpe.counts.partial_tables import BUCKETS, MOST_JOINED
from prunedbpe.pretokenizers import find_pretokenizer
from prunedbpe.training import memory_to_learn


@dataclass(frozen=True)
class Rates:
    """What one core does in a second, and what a chunk takes.

    Attributes:
        count: Bytes of text counted, and their partial table written.
        join: Rows of partial tables joined, and the joined table written.
        reduce: The same for reducing.
        merge: Rows of the result merged and written; one process does it.
        row_bytes: Bytes of a row of a partial table.
        learn_bytes: Bytes of memory to learn, counts included, for each unique chunk.
    """

    count: float
    join: float
    reduce: float
    merge: float
    row_bytes: float
    learn_bytes: float


@dataclass(frozen=True)
class Growth:
    """How many unique chunks so much text has."""

    chunks: float
    in_bytes: float
    exponent: float

    def at(self, size: float) -> float:
        return self.chunks * (size / self.in_bytes) ** self.exponent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, help="to measure the rates; some hundred megabytes")
    parser.add_argument("--parts", type=int, default=8, help="into which the text is divided")
    parser.add_argument("--chunks", type=float, required=True, help="unique chunks of a corpus")
    parser.add_argument("--in-bytes", type=float, required=True, help="bytes of that corpus")
    parser.add_argument("--exponent", type=float, required=True, help="of their growth")
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1, 100, 1_000, 10_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 16, 128, 512])
    parser.add_argument("--price", type=float, default=0.05, help="of a core for an hour")
    given = parser.parse_args()
    rates = measure(given.text, given.parts)
    for name, rate in asdict(rates).items():
        print(f"{name:12}{rate:16,.1f}")
    growth = Growth(given.chunks, given.in_bytes, given.exponent)
    names = (
        *("text", "cores", "parts", "unique chunks", "partial tables", "read again"),
        *("largest bucket", "count", "join", "merge", "cost", "memory to learn"),
    )
    print("|", " | ".join(names), "|")
    print("|", " | ".join("---:" for _ in names), "|")
    for gigabytes, cores in zip(given.gigabytes, given.cores, strict=True):
        row = simulate(gigabytes * 1e9, cores, growth, rates, given.price)
        print("|", " | ".join(row), "|")


def measure(text: Path, parts: int) -> Rates:
    """Count a text in parts, and put the parts together, as the tasks of a cluster do."""
    corpus = Corpus(text)
    with tempfile.TemporaryDirectory(dir=text.parent) as folder:
        job = PartFolder(folder, find_pretokenizer("paper"))
        shards = [Shard(i, parts) for i in range(parts)]
        paths = [job.part_path(shard) for shard in shards]
        output, joined = Path(folder, "counts.parquet"), f"{folder}/joined.arrow"
        count = cpu_seconds(lambda: [job.count_part(corpus.part(s), s) for s in shards])
        join = cpu_seconds(lambda: job.join(joined, paths))
        reduce = cpu_seconds(lambda: job.reduce(paths, range(BUCKETS)))
        merge = cpu_seconds(lambda: job.write(paths, output, 1))
        counts = ChunkCounts.load(output)
        rows = table_rows(paths)
        size = sum(Path(path).stat().st_size for path in paths)
    to_learn = memory_to_learn(len(counts), len(counts.data), 64_000, threads=2)
    return Rates(
        count=corpus.size / count if corpus.size else 0.0,
        join=rows / join,
        reduce=rows / reduce,
        merge=len(counts) / merge,
        row_bytes=size / rows,
        learn_bytes=to_learn / len(counts),
    )


def table_rows(paths: list[str]) -> int:
    import pyarrow.ipc

    return sum(
        batch.num_rows
        for path in paths
        for table in [pyarrow.ipc.open_file(path)]
        for batch in map(table.get_batch, range(table.num_record_batches))
    )


def cpu_seconds(job: Callable[[], Any]) -> float:
    begin = time.process_time()
    job()
    return time.process_time() - begin


def simulate(size: float, cores: int, growth: Growth, rates: Rates, price: float) -> list[str]:
    """Return the row of one corpus."""
    parts = max(math.ceil(size / PART_BYTES), min(4 * cores, int(size / 1e6)))
    part = covered = size / parts
    chunks = growth.at(size)
    # Every level of joins reads all rows of the level below it.
    tables, joined_rows = parts, 0.0
    while tables > MOST_JOINED:
        joined_rows += tables * growth.at(covered)
        tables = math.ceil(tables / MOST_JOINED)
        covered = min(covered * MOST_JOINED, size)
    reduced_rows = tables * growth.at(covered)
    bucket = np.random.default_rng(1).multinomial(int(chunks), np.full(BUCKETS, 1 / BUCKETS)).max()
    count_hours = size / rates.count / cores / 3600
    join_hours = joined_rows / rates.join / min(cores, math.ceil(parts / MOST_JOINED)) / 3600
    join_hours += reduced_rows / rates.reduce / min(cores, BUCKETS) / 3600
    merge_hours = chunks / rates.merge / 3600
    cost = (count_hours + join_hours + merge_hours) * cores * price  # idle cores cost, too
    return [
        f"{size / 1e9:,.0f} GB",
        f"{cores}",
        f"{parts:,}",
        f"{chunks / 1e6:,.0f} million",
        f"{parts * growth.at(part) * rates.row_bytes / 1e9:,.1f} GB",
        f"{(joined_rows + reduced_rows) * rates.row_bytes / 1e9:,.1f} GB",
        f"{bucket * rates.row_bytes / 1e6:,.0f} MB",
        *map(_duration, (count_hours, join_hours, merge_hours)),
        f"${cost:,.2f}",
        f"{chunks * rates.learn_bytes / 1e9:,.0f} GB",
    ]


def _duration(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else f"{hours * 60:,.1f} min"


if __name__ == "__main__":
    main()
