"""The runs of a study, and the JSON file of each.

A run is made once for each tokenizer, seed and budget. Its file names the settings, the texts and
the tokenizer it was made with; a file made with others counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prunedbpe._support.atomic_files import atomic_write
from studies.language_model.arms import ARMS
from studies.language_model.settings import Context, Settings

RESULTS = Path(__file__).parent / "results"

TEXT_FILE = "text.json"
"""Describes the text and the settings of all runs in a folder."""

Figures = dict[str, Any]


@dataclass(frozen=True)
class RunName:
    """Which run: everything but the settings that all runs share.

    Attributes:
        size: Visible vocabulary size of the reference.
        context: What the length of a row counts.
        arm: Name of the arm.
        seed: From 1.
    """

    size: int
    context: Context
    arm: str
    seed: int

    @property
    def file(self) -> str:
        """Its file, below the folder of the configuration."""
        return f"{self.size}-{self.context}/{self.arm}-{self.seed}.json"

    def __str__(self) -> str:
        return self.file.removesuffix(".json")


def all_runs(settings: Settings) -> Iterator[RunName]:
    """Every run, in the order to make them: complete sets of arms first.

    Seed by seed, so that at any time all arms have the same seeds; the main variant of the smallest
    size first.
    """
    for size in settings.sizes:
        yield from runs_of(settings, size, "tokens", list(ARMS))
        if size in settings.byte_context_sizes:
            arms = [name for name, arm in ARMS.items() if arm.byte_context]
            yield from runs_of(settings, size, "bytes", arms)


def runs_of(settings: Settings, size: int, context: Context, arms: list[str]) -> Iterator[RunName]:
    """Every seed of some arms, seed by seed."""
    for seed in range(1, settings.seeds + 1):
        for arm in arms:
            yield RunName(size, context, arm, seed)


def read_result(folder: Path, run: RunName | str) -> Figures | None:
    """What a file holds, if it exists."""
    path = folder / (run if isinstance(run, str) else run.file)
    if not path.is_file():
        return None
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def write_result(folder: Path, run: RunName | str, figures: Figures) -> None:
    """Write a file: one line for each field, so that long lists stay on one."""
    path = folder / (run if isinstance(run, str) else run.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in figures.items()]
    with atomic_write(path) as file:
        file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def is_current(found: Figures | None, made_with: Figures) -> bool:
    """Whether a result was made with these settings, texts and tokenizers."""
    return found is not None and found["made_with"] == json.loads(json.dumps(made_with))
