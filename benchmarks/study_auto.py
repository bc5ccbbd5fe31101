"""What automatic visibility gains on own, unseen and foreign text, and what the worst source gets.

    python benchmarks/study_auto.py FOLDER --sizes 16000 --out docs/concepts/visibility.json

FOLDER holds one text file per source, in sub-folders by kind. Every policy is measured three times,
always against Standard BPE by rank, of the same visible size, learned on the same text:

``own``      learned and measured on all of it; with the gain of the worst source
``unseen``   learned on every other document of each source, measured on those in between
``foreign``  six folds, each source unseen in one of them (kinds spread over the folds); lengths of
             the unseen sources are added up over the folds

``docs/concepts/visibility.md`` reads the figures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, Learner, SourceCounts
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.training import decide
from prunedbpe.visibility import fewest, policy, source_values
from prunedbpe.visibility.exposure import encoded_length, total_tokens

SPECIAL_TOKENS = 4
FOLDS = 6
GROWTH = 2000

# Threshold, segmentation, exponent, newcomer discount, merges per visible token.
Rule = tuple[str, str, float, float, float]
RULES: dict[str, Rule] = {
    "r = 0.40": ("40%", "rank", 1.0, 0.0, 0.0),
    "r = 0.40, shortest": ("40%", "shortest", 1.0, 0.0, 0.0),
    "Standard, shortest": ("0", "shortest", 1.0, 0.0, 0.0),
}
CHOICES = {
    "rank": (
        (1.0, 0.0, 1.6), (1.0, 0.0, 2.0), (0.9, 0.15, 1.8), (0.83, 0.0, 1.8), (0.83, 0.15, 1.6),
        (0.83, 0.15, 1.8), (0.83, 0.15, 2.0), (0.83, 0.3, 1.8), (0.75, 0.15, 1.6), (0.7, 0.15, 1.6),
    ),
    "shortest": (
        (1.0, 0.0, 2.0), (1.0, 0.0, 4.0), (0.9, 0.2, 2.5), (0.8, 0.0, 2.5), (0.8, 0.15, 2.0),
        (0.8, 0.2, 2.5), (0.8, 0.25, 3.0), (0.8, 0.15, 3.0), (0.75, 0.2, 2.5),
    ),
}  # fmt: skip
for segmentation, choices in CHOICES.items():
    for exponent, discount, ratio in choices:
        name = f"auto, {segmentation}, exponent {exponent:g}, newcomers {discount:g}, K = {ratio:g}"
        RULES[name] = ("auto", segmentation, exponent, discount, ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 16000])
    parser.add_argument("--out", type=Path, help="write the figures there, as JSON")
    parser.add_argument("--only", nargs="+", default=["own", "unseen", "foreign"])
    parser.add_argument(
        "--rules", help="only rules whose name holds one of these, separated by semicolons"
    )
    parser.add_argument("--no-refinement", action="store_true")
    arguments = parser.parse_args()
    if arguments.no_refinement:
        fewest.SWAPPED_FIRST = 0.0
    rules = {
        name: rule
        for name, rule in RULES.items()
        if not arguments.rules or any(part in name for part in arguments.rules.split(";"))
    }
    tables = count_halves(arguments.folder)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for setting in arguments.only:
        for size in arguments.sizes:
            measure(setting, size, rules, tables, results)
    show(results)
    if arguments.out:
        total = sum(table.total_bytes for halves in tables.values() for table in halves)
        report = {"sources": len(tables), "bytes": total, "gain_percent": results}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def count_halves(folder: Path) -> dict[str, list[ChunkCounts]]:
    """Of every source two tables: documents 0, 2, 4, ... and 1, 3, 5, ..."""
    tables = {}
    for name in Corpus(folder).sources:
        texts = [
            document.decode() for batch in Corpus(name).batches() for document in batch.documents()
        ]
        tables[str(Path(name).relative_to(folder))] = [
            prunedbpe.count(islice(texts, half, None, 2)) for half in (0, 1)
        ]
    return tables


def measure(
    setting: str,
    size: int,
    rules: dict[str, Rule],
    tables: dict[str, list[ChunkCounts]],
    results: dict[str, dict[str, dict[str, float]]],
) -> None:
    required = size - 256 - SPECIAL_TOKENS
    standard = grown = 0
    lengths = dict.fromkeys(rules, 0)
    worst = dict.fromkeys(rules, 0.0)
    column = f"{setting} {size}"
    for known, measured in splits(setting, tables):
        learner = Learner(known.total)
        merges = learner.reach(required + GROWTH)
        applied = prunedbpe.replay(merges, measured)
        standard += total_tokens(applied, required)
        grown += total_tokens(applied, required + GROWTH)
        for name, rule in rules.items():
            started = time.time()
            decision = by_rule(learner, required, rule, known)
            if decision.segmentation == "rank":
                applied = prunedbpe.replay(decision.merges, measured)
                length = encoded_length(decision.merges.pairs, applied, decision.hidden)
            else:
                length = ShortestSegmenter(decision.visible_strings()).total_length(measured)
            lengths[name] += length
            gains = decision.training.get("auto", {}).get("gains")
            if gains:
                worst[name] = min(worst[name] or 100.0, 100 * gains[0]["gain"])
            print(f"{column}: {name}: {time.time() - started:.1f} s", file=sys.stderr)
    results.setdefault("2,000 more Standard tokens", {})[column] = percent(grown, standard)
    for name, length in lengths.items():
        results.setdefault(name, {})[column] = percent(length, standard)
        if setting == "own" and name.startswith("auto"):
            results[name][f"worst source {size}"] = round(worst[name], 3)


def by_rule(learner: Learner, required: int, rule: Rule, known: SourceCounts) -> object:
    threshold, segmentation, exponent, discount, ratio = rule
    if threshold != "auto":
        chosen = policy.VisibilityPolicy(threshold, segmentation=segmentation)
        return decide(learner, required, chosen)
    # The default rule stands for whichever is measured.
    policy.CAUTIOUS[segmentation] = source_values.ValueRule(exponent, discount)
    chosen = policy.VisibilityPolicy(
        "auto", segmentation=segmentation, candidate_ratio=ratio, sources=known
    )
    return decide(learner, required, chosen)


def splits(
    setting: str, tables: dict[str, list[ChunkCounts]]
) -> Iterator[tuple[SourceCounts, ChunkCounts]]:
    """What to learn on, by source, and what to measure on."""
    if setting == "own":
        known = joined(tables, list(tables), (0, 1))
        yield known, known.total
    elif setting == "unseen":
        yield joined(tables, list(tables), (0,)), joined(tables, list(tables), (1,)).total
    else:
        for foreign in make_folds(list(tables)):
            home = [name for name in tables if name not in foreign]
            yield joined(tables, home, (0, 1)), joined(tables, foreign, (0, 1)).total


def joined(
    tables: dict[str, list[ChunkCounts]], names: Sequence[str], halves: Sequence[int]
) -> SourceCounts:
    return SourceCounts.from_tables(
        [name for name in names for _ in halves],
        [tables[name][half] for name in names for half in halves],
    )


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


def percent(length: int, standard: int) -> float:
    return round(100 * (1 - length / standard), 4)


def show(results: dict[str, dict[str, float]]) -> None:
    """A Markdown table: gain in percent."""
    columns = list(dict.fromkeys(column for gains in results.values() for column in gains))
    print("| policy | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for name, gains in results.items():
        cells = [f"{gains[column]:.3f}" if column in gains else "" for column in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
