"""How far chosen vocabularies are from the best possible ones: a table of certified gaps.

    python benchmarks/study_bound.py FOLDER [--sizes 8000 16000] [--ratio 4]

For every size: the tokens of the corpus under the visible set that elimination and refinement
choose from ``ratio`` times as many merges, without any weighting of sources; the lower bound for
any choice from these merges; the lower bound for any vocabulary at all; and the two gaps.
``docs/concepts/lower-bound.md`` explains the bounds. ``benchmarks/make_multilingual.py`` makes the
corpus of 58 languages.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import prunedbpe
from prunedbpe import ChunkCounts, MergeTable, SourceCounts, replay
from prunedbpe.visibility.exposure import total_tokens
from prunedbpe.visibility.fewest import Chooser, FewestCorpus
from prunedbpe.visibility.lower_bound import lower_bound, lower_bound_of_any_vocabulary
from prunedbpe.visibility.source_values import TRUSTING

SPECIAL_TOKENS = 4
Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 16000])
    parser.add_argument("--ratio", type=float, default=4.0)
    arguments = parser.parse_args()
    counts = prunedbpe.count(arguments.folder)
    most = max(arguments.sizes) - 256 - SPECIAL_TOKENS
    learned = prunedbpe.learn(counts, int(most * arguments.ratio))
    print(
        "| visible | tokens | bound, these merges | gap | bound, any vocabulary | gap | seconds |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in arguments.sizes:
        required = size - 256 - SPECIAL_TOKENS
        merges = learned.head(int(required * arguments.ratio))
        length, choosing = timed(choose, counts, merges, required)
        chosen, bounding = timed(lower_bound, counts, merges, required)
        every, bounding_any = timed(lower_bound_of_any_vocabulary, counts, merges, required)
        print(
            f"| {size:,} | {length:,} | {chosen.tokens:,} | {chosen.gap(length):.2%} | "
            f"{every.tokens:,} | {every.gap(length):.2%} | "
            f"{choosing:.0f} + {bounding:.0f} + {bounding_any:.0f} |",
            flush=True,
        )


def choose(counts: ChunkCounts, merges: MergeTable, required: int) -> int:
    """Tokens of the corpus under the best choice that the library finds, all sources as one."""
    corpus = FewestCorpus(merges, SourceCounts.single(counts))
    standard = replay(merges.head(required), counts)
    length = np.array([total_tokens(standard)])
    found, _ = Chooser(corpus, required, TRUSTING).choose(length, np.ones(1))
    return int(found.lengths.sum())


def timed(
    work: Callable[[ChunkCounts, MergeTable, int], Result],
    counts: ChunkCounts,
    merges: MergeTable,
    required: int,
) -> tuple[Result, float]:
    started = time.perf_counter()
    return work(counts, merges, required), time.perf_counter() - started


if __name__ == "__main__":
    main()
