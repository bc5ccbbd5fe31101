"""What the JSON files of a study say: differences, intervals, readings.

In: the folder of a configuration. Out: :class:`Comparison`, one for each arm; a table on standard
output. The page of the results is made of the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from prunedbpe.errors import CorpusError
from studies.language_model.intervals import Interval, document_interval, reading, seed_interval
from studies.language_model.results import TEXT_FILE, Figures, read_result

Budget = str
BUDGETS = ("equal_text", "equal_compute")


@dataclass(frozen=True)
class Comparison:
    """One arm beside the reference, over the seeds that both have.

    Attributes:
        arm: Its name.
        seeds: Which.
        runs: What the files of the arm hold, by seed.
        reference_runs: The same of the reference.
        document_bytes: Of each held-out document.
    """

    arm: str
    seeds: list[int]
    runs: list[Figures]
    reference_runs: list[Figures]
    document_bytes: list[int]

    def bits(self, budget: Budget = "equal_text", part: str = "all") -> list[float]:
        """Bits per byte of the arm, by seed."""
        return [run[budget]["bits_per_byte"][part] for run in self.runs]

    def differences(self, budget: Budget = "equal_text", part: str = "all") -> list[float]:
        """Bits per byte minus those of the reference, by seed."""
        others = [run[budget]["bits_per_byte"][part] for run in self.reference_runs]
        pairs = zip(self.bits(budget, part), others, strict=True)
        return [own - other for own, other in pairs]

    def difference(self, budget: Budget = "equal_text", part: str = "all") -> float:
        """The mean of the differences."""
        return mean(self.differences(budget, part))

    def over_seeds(self, budget: Budget = "equal_text", part: str = "all") -> Interval:
        """The t interval over seeds."""
        return seed_interval(self.differences(budget, part))

    def over_documents(self) -> Interval:
        """The bootstrap interval over documents, at equal text."""
        nats, others = (
            np.mean([run["document_nats"] for run in runs], axis=0)
            for runs in (self.runs, self.reference_runs)
        )
        return document_interval(nats, others, np.array(self.document_bytes))

    def reading(self) -> str:
        """What the protocol concludes, at equal text."""
        return reading(self.over_seeds() | self.over_documents())


def read_text_file(folder: Path) -> Figures:
    """The description of a study's text.

    Raises:
        CorpusError: Nothing was run yet.
    """
    found = read_result(folder, TEXT_FILE)
    if found is None:
        raise CorpusError(f"{folder}: no results", hint="python -m studies.language_model --help")
    return found


def variants(folder: Path) -> list[tuple[int, str]]:
    """Sizes and contexts that have results."""
    found = [path.name.split("-", 1) for path in folder.iterdir() if path.is_dir()]
    kept = [(int(size), context) for size, context in found if context in ("tokens", "bytes")]
    return sorted(kept, key=lambda variant: (variant[0], variant[1] != "tokens"))


def comparisons(folder: Path, size: int, context: str) -> Iterator[Comparison]:
    """Every arm that has runs, the reference first."""
    about = read_text_file(folder)
    by_arm: dict[str, dict[int, Figures]] = {}
    for arm in about["arms"]:
        for seed in range(1, about["settings"]["seeds"] + 1):
            found = read_result(folder, f"{size}-{context}/{arm}-{seed}.json")
            if found is not None and is_of(found, about):
                by_arm.setdefault(arm, {})[seed] = found
    reference = by_arm.get(about["reference"], {})
    for arm, runs in by_arm.items():
        seeds = sorted(runs.keys() & reference.keys())
        if seeds:
            yield Comparison(
                arm,
                seeds,
                [runs[seed] for seed in seeds],
                [reference[seed] for seed in seeds],
                about["document_bytes"],
            )


def is_of(found: Figures, about: Figures) -> bool:
    """Whether a run was made with the text and the settings that the folder describes."""
    made_with, settings = found["made_with"], about["settings"]
    same = all(settings[name] == value for name, value in made_with["settings"].items())
    return bool(same and made_with["texts"] == about["texts"])


def show_summary(folder: Path) -> None:
    """Print a table for each variant."""
    about = read_text_file(folder)
    for size, context in variants(folder):
        print(f"\n{size:,} visible tokens, rows of {context}, bits per byte of held-out text\n")
        print("| tokenizer | seeds | bits per byte | difference | 95 % interval | reading |")
        print("| --- | ---: | ---: | ---: | ---: | --- |")
        for found in comparisons(folder, size, context):
            cells = [about["arms"][found.arm], str(len(found.seeds)), f"{mean(found.bits()):.4f}"]
            if found.arm == about["reference"]:
                cells += ["", "", ""]
            elif len(found.seeds) < about["settings"]["seeds"]:
                cells += [f"{found.difference():+.4f}", "", "unfinished"]
            else:
                whole = found.over_seeds() | found.over_documents()
                interval = f"{whole.low:+.4f} to {whole.high:+.4f}"
                cells += [f"{found.difference():+.4f}", interval, found.reading()]
            print("| " + " | ".join(cells) + " |")
