"""What dropping rare chunks changes: the merges, the encoded length, the size of the table.

    python benchmarks/study_min_chunk_count.py PATH [PATH ...] [--merges 32000] [--least 2 3 5]

Each path is a corpus of its own. For every least count: the first merge that differs from the exact
list; how many exact merges are missing from the approximate list of the same length, by what they
spell; the tokens of the whole corpus under the approximate merges, against the exact ones; and how
much of the table is left: unique chunks, their bytes, and the memory of the learner.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import prunedbpe
from prunedbpe import ChunkCounts, MergeTable, replay
from prunedbpe.visibility.exposure import total_tokens

HEAD = (
    "corpus",
    "N",
    "merges",
    "first difference",
    "missing merges",
    "tokens",
    "chunks",
    "unique bytes",
    "learner memory",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--merges", type=int, default=32_000)
    parser.add_argument("--least", type=int, nargs="+", default=[2, 3, 5])
    parser.add_argument("--pretokenizer", default="paper")
    arguments = parser.parse_args()
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join("---" for _ in HEAD), "|")
    for path in arguments.paths:
        whole = prunedbpe.count(path, pretokenizer=arguments.pretokenizer)
        exact, memory = learn(whole, arguments.merges)
        length = total_tokens(exact.applied)
        row(path.name, 1, f"{len(exact):,}", "", "", f"{length:,}", *sizes(whole, memory))
        for least in arguments.least:
            kept = whole.at_least(least)
            merges, less = learn(kept, arguments.merges)
            change = total_tokens(replay(merges, whole)) / length - 1
            row(
                path.name,
                least,
                f"{len(merges):,}",
                first_difference(exact, merges),
                f"{missing(exact, merges):,}",
                f"{change:+.2%}",
                f"{len(kept) / len(whole):.1%}",
                f"{len(kept.data) / len(whole.data):.1%}",
                f"{less / memory:.1%}",
            )


def learn(counts: ChunkCounts, merge_count: int) -> tuple[MergeTable, int]:
    """The merges, and the memory of the learner that has learned them."""
    learner = prunedbpe.Learner(counts)
    return learner.reach(merge_count).head(merge_count), learner.memory


def sizes(counts: ChunkCounts, memory: int) -> tuple[str, str, str]:
    return f"{len(counts):,}", f"{len(counts.data):,}", f"{memory / 1e6:.1f} MB"


def first_difference(exact: MergeTable, other: MergeTable) -> str:
    """The number of the first merge that differs, from 1 on."""
    common = min(len(exact), len(other))
    differs = (exact.pairs[:common] != other.pairs[:common]).any(axis=1)
    if differs.any():
        return f"{int(np.argmax(differs)) + 1:,}"
    return "none" if len(exact) == len(other) else f"{common + 1:,}"


def missing(exact: MergeTable, other: MergeTable) -> int:
    """How many tokens of the exact list the other lacks."""
    return len(set(exact.token_bytes) - set(other.token_bytes))


def row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


if __name__ == "__main__":
    main()
