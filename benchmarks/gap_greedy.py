"""How far greedy hiding is from the best hidden set, by brute force on small random instances.

    python benchmarks/gap_greedy.py [--instances 400] [--merges 16] [--required 10]

An instance is a corpus of random words over syllables. With all of its merges retained, every
choice of ``merges - required`` tokens to hide is tried. Printed: how often greedy finds the best,
and by how much its encoded length is longer where it does not.
"""

from __future__ import annotations

import argparse
import random
from itertools import combinations

import numpy as np

from prunedbpe import ChunkCounts, MergeTable, learn
from prunedbpe.types import BYTE_COUNT, BoolArray, Int64Array
from prunedbpe.visibility.by_rank import hide
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=400)
    parser.add_argument("--merges", type=int, default=16)
    parser.add_argument("--required", type=int, default=10)
    arguments = parser.parse_args()
    gaps, recovered = [], []
    for seed in range(arguments.instances):
        merges = learn(random_counts(seed), arguments.merges)
        if len(merges) < arguments.merges:
            continue
        greedy, best = compare(merges, arguments.required)
        gaps.append(greedy / best - 1)
        nothing_hidden = total_tokens(merges.applied)
        if best > nothing_hidden:
            recovered.append((greedy - nothing_hidden) / (best - nothing_hidden) - 1)
    found = np.array(gaps)
    print(f"{len(found)} instances, {arguments.merges} merges, {arguments.required} visible")
    print(f"greedy is best in {100 * (found == 0).mean():.1f} %")
    print(f"encoded length above the best: mean {100 * found.mean():.4f} %, worst", end=" ")
    print(f"{100 * found.max():.3f} %")
    costs = np.array(recovered)
    print(f"cost of hiding above the least: mean {100 * costs.mean():.2f} %, worst", end=" ")
    print(f"{100 * costs.max():.1f} %")


def random_counts(seed: int) -> ChunkCounts:
    source = random.Random(seed)
    syllables = [a + b for a in "bdkm" for b in ("a", "en", "io")]
    lexicon = ["".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(40)]
    weights = [1 / (place + 1) for place in range(len(lexicon))]
    counts: dict[bytes, int] = {}
    for word in source.choices(lexicon, weights, k=400):
        counts[word.encode()] = counts.get(word.encode(), 0) + 1
    return ChunkCounts.from_mapping(counts)


def compare(merges: MergeTable, required: int) -> tuple[int, int]:
    """Encoded length by greedy hiding, and by the best of all hidden sets of the same size."""
    hidden = hide(merges, [merges.applied], len(merges), required)
    greedy = encoded_length(merges.pairs, merges.applied, hidden)
    return greedy, int(all_lengths(merges, len(merges) - required).min())


def all_lengths(merges: MergeTable, hidden_count: int) -> Int64Array:
    """Encoded length with every set of ``hidden_count`` tokens hidden, all sets at once."""
    chosen = np.array(list(combinations(range(len(merges)), hidden_count)))
    hidden: BoolArray = np.zeros((len(chosen), len(merges)), bool)
    np.put_along_axis(hidden, chosen, True, axis=1)
    exposures = exposure(merges.pairs, merges.applied)
    flows = np.repeat(exposures[None, :], len(chosen), axis=0)
    for i in range(len(merges) - 1, -1, -1):  # parents before their parts
        for part in merges.pairs[i].tolist():
            flows[:, part] += np.where(hidden[:, i], flows[:, BYTE_COUNT + i], 0)
    spent: Int64Array = np.where(hidden, flows[:, BYTE_COUNT:], 0).sum(axis=1)
    return total_tokens(merges.applied) + spent


if __name__ == "__main__":
    main()
