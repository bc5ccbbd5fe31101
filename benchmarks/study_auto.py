"""How far automatic visibility over-fits: policies on own, unseen and foreign text.

    python benchmarks/study_auto.py FOLDER --out docs/concepts/visibility.json

FOLDER holds one text file per source, in sub-folders by kind. Every policy is measured three times,
always against Standard BPE of the same visible size learned on the same text:

``own``      learned and measured on all of it
``unseen``   learned on every other document of each source, measured on those in between
``foreign``  six folds, each source unseen in one of them (kinds spread over the folds); lengths of
             the unseen sources are added up over the folds

``docs/concepts/visibility.md`` explains the policies and reads the figures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

import prunedbpe
from prunedbpe import Applied, ChunkCounts, Corpus, MergeTable
from prunedbpe.types import BoolArray
from prunedbpe.visibility.auto import Discount, hide, prices
from prunedbpe.visibility.exposure import encoded_length, exposure
from prunedbpe.visibility.spread import FloatArray, effective_sources

SIZES = (8000, 16000)
SPECIAL_TOKENS = 4
FOLDS = 6
QUARTERS = 4
VALIDATED_RATIOS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0)
MOST_MERGES = int(max(SIZES) * max(VALIDATED_RATIOS))


@dataclass
class Experiment:
    """Merges learned on some text, and what they do to it and to the text to measure on."""

    merges: MergeTable
    sources: list[Applied]  # of the text learned on
    measured: Applied
    # The same once more with a part of that text held out, to choose K by.
    fitted: MergeTable
    held_out: Applied
    chosen_ratio: dict[int, float] = field(default_factory=dict)


Policy = Callable[[Experiment, int], BoolArray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="write the figures there, as JSON")
    parser.add_argument("--only", nargs="+", default=["own", "unseen", "foreign"])
    arguments = parser.parse_args()
    tables = count_quarters(arguments.folder)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for setting in arguments.only:
        started = time.time()
        lengths: dict[tuple[str, int], int] = {}
        for experiment in experiments(setting, tables):
            for name, policy in policies().items():
                for size in SIZES:
                    required = size - 256 - SPECIAL_TOKENS
                    hidden = policy(experiment, required)
                    length = encoded_length(experiment.merges.pairs, experiment.measured, hidden)
                    lengths[name, size] = lengths.get((name, size), 0) + length
        for (name, size), length in lengths.items():
            gain = 1 - length / lengths["Standard BPE", size]
            results.setdefault(name, {}).setdefault(setting, {})[str(size)] = round(100 * gain, 4)
        print(f"{setting}: {time.time() - started:.0f} s", file=sys.stderr)
    show(results, arguments.only)
    if arguments.out:
        sizes = {name: sum(t.total_bytes for t in quarters) for name, quarters in tables.items()}
        report = {"sources": len(tables), "bytes": sum(sizes.values()), "gain_percent": results}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def count_quarters(folder: Path) -> dict[str, list[ChunkCounts]]:
    """Of every source four tables: documents 0, 4, 8, ...; 1, 5, 9, ...; and so on."""
    tables = {}
    for name in Corpus(folder).sources:
        texts = [
            document.decode() for batch in Corpus(name).batches() for document in batch.documents()
        ]
        tables[str(Path(name).relative_to(folder))] = [
            prunedbpe.count(islice(texts, quarter, None, QUARTERS)) for quarter in range(QUARTERS)
        ]
    return tables


def experiments(setting: str, tables: dict[str, list[ChunkCounts]]) -> Iterator[Experiment]:
    everything = list(tables.values())
    if setting == "own":
        yield prepare(everything, [0, 1, 2, 3], everything, [0, 1, 2, 3], held_out=[3])
    elif setting == "unseen":
        yield prepare(everything, [0, 2], everything, [1, 3], held_out=[2])
    else:
        for foreign in make_folds(list(tables)):
            known = [quarters for name, quarters in tables.items() if name not in foreign]
            unknown = [tables[name] for name in foreign]
            yield prepare(known, [0, 1, 2, 3], unknown, [0, 1, 2, 3], held_out=[3])


def make_folds(names: Sequence[str]) -> list[list[str]]:
    """Deal the sources out, folder by folder, so that no fold takes a whole kind away."""
    dealer = random.Random(7)
    folds: list[list[str]] = [[] for _ in range(FOLDS)]
    place = 0
    for kind in sorted({str(Path(name).parent) for name in names}):
        of_kind = sorted(name for name in names if str(Path(name).parent) == kind)
        dealer.shuffle(of_kind)
        for name in of_kind:
            folds[place % FOLDS].append(name)
            place += 1
    return [fold for fold in folds if fold]


def prepare(
    known: list[list[ChunkCounts]],
    parts: list[int],
    measured: list[list[ChunkCounts]],
    measured_parts: list[int],
    held_out: list[int],
) -> Experiment:
    def added(sources: list[list[ChunkCounts]], quarters: Sequence[int]) -> ChunkCounts:
        return prunedbpe.reduce_counts([source[i] for source in sources for i in quarters])

    merges = prunedbpe.learn(added(known, parts), MOST_MERGES)
    fit = [i for i in parts if i not in held_out]
    fitted = prunedbpe.learn(added(known, fit), MOST_MERGES)
    return Experiment(
        merges,
        [prunedbpe.replay(merges, added([source], parts)) for source in known],
        prunedbpe.replay(merges, added(measured, measured_parts)),
        fitted,
        prunedbpe.replay(fitted, added(known, held_out)),
    )


def policies() -> dict[str, Policy]:
    chosen: dict[str, Policy] = {
        "Standard BPE": lambda _, required: np.zeros(256 + required, bool),
        "r = 0.40": lambda e, required: by_threshold(e, required, "40%"),
        "r = 0.80": lambda e, required: by_threshold(e, required, "80%"),
    }
    for ratio in (1.3, 1.5, 1.6, 2.0):
        chosen[f"plain greedy, K = {ratio}"] = discounted(ratio, Discount(0.0, 0.0))
    chosen["plain greedy, K by held-out documents"] = by_held_out
    for exponent, newcomer in (
        (0.25, 0.0),
        (0.35, 0.0),
        (0.0, 0.15),
        (0.35, 0.15),
        (0.25, 0.3),
        (0.35, 0.3),
        (0.5, 0.15),
    ):
        for ratio in (1.3, 1.5, 1.6, 2.0):
            name = f"spread {exponent:g}, newcomer {newcomer:g}, K = {ratio}"
            chosen[name] = discounted(ratio, Discount(exponent, newcomer))
    # What did not help; see the page.
    chosen["spread by share of source size 0.35, K = 1.6"] = priced(by_rate)
    chosen["largest share 0.35, K = 1.6"] = priced(by_largest_share)
    chosen["spread 0.35 x exposure per use 0.25, K = 1.6"] = priced(by_rung)
    return chosen


def by_threshold(experiment: Experiment, required: int, threshold: str) -> BoolArray:
    size = 256 + required + SPECIAL_TOKENS
    return ~prunedbpe.prune(experiment.merges, size, threshold=threshold).vocabulary.visible


def discounted(ratio: float, discount: Discount) -> Policy:
    def policy(experiment: Experiment, required: int) -> BoolArray:
        merges, merge_count = experiment.merges, int(required * ratio)
        worth = prices(merges, merge_count, required, experiment.sources, discount)
        return hide(merges, merges.applied, merge_count, required, worth)

    return policy


def by_held_out(experiment: Experiment, required: int) -> BoolArray:
    """Learn without the held-out documents, take the K that makes those shortest."""
    if required not in experiment.chosen_ratio:
        lengths = {}
        for ratio in VALIDATED_RATIOS:
            fitted = experiment.fitted
            hidden = hide(fitted, fitted.applied, int(required * ratio), required)
            lengths[ratio] = encoded_length(fitted.pairs, experiment.held_out, hidden)
        experiment.chosen_ratio[required] = min(lengths, key=lengths.__getitem__)
    return discounted(experiment.chosen_ratio[required], Discount(0.0, 0.0))(experiment, required)


def priced(price: Callable[[Experiment, int], FloatArray]) -> Policy:
    def policy(experiment: Experiment, required: int) -> BoolArray:
        merge_count = int(required * 1.6)
        worth = price(experiment, merge_count)
        worth[256 + required :] *= 0.85
        return hide(experiment.merges, experiment.merges.applied, merge_count, required, worth)

    return policy


def exposures_by_source(experiment: Experiment, merge_count: int) -> FloatArray:
    pairs = experiment.merges.pairs
    rows = [exposure(pairs, source, merge_count) for source in experiment.sources]
    return np.stack(rows).astype(np.float64)


def by_rate(experiment: Experiment, merge_count: int) -> FloatArray:
    """Shares of occurrences per byte of the source, so that small sources speak as loudly."""
    sizes = np.array([source.total_bytes for source in experiment.sources], np.float64)
    rates = exposures_by_source(experiment, merge_count) / sizes[:, None]
    squares = (rates**2).sum(axis=0)
    at_home = np.divide(
        rates.sum(axis=0) ** 2, squares, out=np.ones_like(squares), where=squares > 0
    )
    return (at_home / len(rates)) ** 0.35


def by_largest_share(experiment: Experiment, merge_count: int) -> FloatArray:
    """What is left of the exposure without the source that has most of it."""
    rows = exposures_by_source(experiment, merge_count)
    left = 1 - rows.max(axis=0) / np.maximum(rows.sum(axis=0), 1)
    return np.maximum(left, 0.02) ** 0.35


def by_rung(experiment: Experiment, merge_count: int) -> FloatArray:
    """Cheaper the smaller the share of a token's uses that is left when learning is done."""
    merges = experiment.merges
    at_home = effective_sources(merges.pairs, experiment.sources, merge_count)
    made = np.concatenate(
        [merges.applied.byte_counts, merges.applied.replacements[:merge_count]]
    ).astype(np.float64)
    left = exposure(merges.pairs, merges.applied, merge_count)
    rung = ((left + 1) / (made + 1)) ** 0.25
    return (at_home / len(experiment.sources)) ** 0.35 * rung


def show(results: dict[str, dict[str, dict[str, float]]], settings: Sequence[str]) -> None:
    """A Markdown table: gain in percent, and how many times that of r = 0.40."""
    columns = [(setting, str(size)) for setting in settings for size in SIZES]
    print("| policy | " + " | ".join(f"{name} {size}" for name, size in columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for policy, gains in results.items():
        cells = [
            f"{gains[name][size]:.3f} ({gains[name][size] / base:.2f})"
            for name, size in columns
            if (base := results["r = 0.40"][name][size])
        ]
        print(f"| {policy} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
