"""A study: texts, tokenizers, the runs to make, and where their results go.

In: a configuration and a corpus, and for a comparison of your own two tokenizers. Out: a
:class:`Study`; :meth:`Study.make` makes one run of it.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

import prunedbpe
from prunedbpe import Tokenizer
from prunedbpe._support.digests import digest_json
from prunedbpe.errors import SettingsError
from prunedbpe.types import BoolArray
from studies.language_model import kneser_ney
from studies.language_model.arms import ARMS, REFERENCE, Arm, make_tokenizers
from studies.language_model.course import Course, plan_course
from studies.language_model.measures import HeldOut
from studies.language_model.results import (
    TEXT_FILE,
    Figures,
    RunName,
    all_runs,
    is_current,
    read_result,
    runs_of,
    write_result,
)
from studies.language_model.settings import Settings
from studies.language_model.streams import make_stream, tokenizer_digest
from studies.language_model.texts import Texts, read_texts
from studies.language_model.training import Report, Run


@dataclass(frozen=True, eq=False)
class Study:
    """What is compared, on what, and what is there already.

    Attributes:
        settings: The configuration.
        texts: Both sides of the corpus.
        arms: By name.
        reference: The arm that all others are compared with.
        tokenizers: By size and name.
        runs: All of them, in the order to make them.
        results: Folder of the result files.
        cache: Folder for checkpoints and locks.
    """

    settings: Settings
    texts: Texts
    arms: dict[str, Arm]
    reference: str
    tokenizers: dict[int, dict[str, Tokenizer]]
    runs: Sequence[RunName]
    results: Path
    cache: Path

    @cached_property
    def digests(self) -> dict[int, dict[str, str]]:
        """Hash of each tokenizer."""
        held_out = self.texts.held_out
        return {
            size: {name: tokenizer_digest(found, held_out) for name, found in by_name.items()}
            for size, by_name in self.tokenizers.items()
        }

    def made_with(self, run: RunName) -> Figures:
        """What decides the figures of a run."""
        names = self.digests[run.size]
        return {
            "settings": self.settings.of_run(),
            "context": run.context,
            "seed": run.seed,
            "weights_seed": self._weights_seed(run),
            "texts": self.texts.digests,
            "tokenizer": names[self.arms[run.arm].tokenizer],
            "reference": names[self.arms[self.reference].tokenizer],
        }

    def is_missing(self, run: RunName) -> bool:
        """Whether a run has to be made."""
        return not is_current(read_result(self.results, run), self.made_with(run))

    def missing(self) -> list[RunName]:
        """The runs that are not there, or were made with something else."""
        return [run for run in self.runs if self.is_missing(run)]

    def course(self, run: RunName) -> Course:
        """What the model of a run reads."""
        tokenizers = self.tokenizers[run.size]
        return plan_course(
            self.settings,
            self.texts,
            run.seed,
            run.context,
            tokenizers[self.arms[run.arm].tokenizer],
            tokenizers[self.arms[self.reference].tokenizer],
        )

    def prepare(self, run: RunName) -> Run:
        """Everything that a run needs, before the first step."""
        settings, texts = self.settings, self.texts
        tokenizer = self.tokenizers[run.size][self.arms[run.arm].tokenizer]
        length = settings.context_tokens if run.context == "tokens" else settings.context_bytes
        stream = make_stream(tokenizer, texts.held_out)
        held_out = HeldOut(stream, texts.held_out, run.context, length, settings.rows_at_once)
        return Run(
            settings,
            self.course(run),
            held_out,
            texts.curve_documents(settings.curve_bytes),
            ordinary_tokens(tokenizer),
            self._weights_seed(run),
        )

    def make(self, run: RunName, report: Report) -> Figures:
        """Make one run, or finish it, and write its file."""
        made_with = self.made_with(run)
        checkpoint = self.cache / "checkpoints" / f"{digest_name(made_with)}.pt"
        job = self.prepare(run)
        job.finish(checkpoint, report)
        figures = {
            "made_with": made_with,
            "machine": machine(self.settings.threads),
            "parameters": sum(weights.numel() for weights in job.model.parameters()),
            "vocab_size": job.course.stream.vocab_size - 1,
            **job.found,
        }
        write_result(self.results, run, figures)
        checkpoint.unlink(missing_ok=True)
        return figures

    def _weights_seed(self, run: RunName) -> int:
        return run.seed + self.arms[run.arm].weights

    def write_text_file(self) -> None:
        """Describe the text, once for all runs."""
        held_out = self.texts.held_out
        sides = {"train": self.texts.train, "held_out": held_out}
        figures = {
            "texts": self.texts.digests,
            "arms": {name: arm.title for name, arm in self.arms.items()},
            "reference": self.reference,
            "settings": asdict(self.settings),
            "bytes": {side: by_part(documents) for side, documents in sides.items()},
            "document_bytes": [len(document.data) for document in held_out],
        }
        if read_result(self.results, TEXT_FILE) != figures:
            write_result(self.results, TEXT_FILE, figures)

    def second_opinions(self) -> list[tuple[int, str]]:
        """Size and tokenizer of each 5-gram model that is missing."""
        return [
            (size, name)
            for size, by_name in self.tokenizers.items()
            for name in by_name
            if not is_current(
                read_result(self.results, opinion_file(size, name)), self._opinion_of(size, name)
            )
        ]

    def make_second_opinion(self, size: int, name: str) -> Figures:
        """Count a 5-gram model on the whole training side, measure it, write its file."""
        tokenizer = self.tokenizers[size][name]
        train, measured = (
            make_stream(tokenizer, documents)
            for documents in (self.texts.train, self.texts.held_out)
        )
        figures = {
            "made_with": self._opinion_of(size, name),
            **kneser_ney.bits_per_byte(train, measured),
        }
        write_result(self.results, opinion_file(size, name), figures)
        return figures

    def _opinion_of(self, size: int, name: str) -> Figures:
        return {
            "order": kneser_ney.ORDER,
            "texts": self.texts.digests,
            "tokenizer": self.digests[size][name],
        }


def open_study(
    config: str,
    corpus: Sequence[str],
    results: Path,
    cache: Path,
    pair: tuple[Path, Path] | None = None,
) -> Study:
    """Open the study of the protocol, or a comparison of two tokenizers.

    Args:
        config: Name or path of a configuration.
        corpus: Files and folders of text.
        results: Folder of the result files; each configuration has a folder in it.
        cache: Folder for tokenizers, checkpoints and locks.
        pair: A tokenizer of yours, and what to compare it with.
    """
    settings = Settings.load(config)
    texts = read_texts(corpus)
    if pair is None:
        return arms_study(settings, texts, results, cache)
    return comparison(settings, texts, *pair, results, cache)


def arms_study(settings: Settings, texts: Texts, results: Path, cache: Path) -> Study:
    """The study of the protocol."""
    tokenizers = {size: make_tokenizers(texts, size, cache) for size in settings.sizes}
    runs = list(all_runs(settings))
    folder = results / settings.name
    return Study(settings, texts, ARMS, REFERENCE, tokenizers, runs, folder, cache)


def comparison(
    settings: Settings, texts: Texts, tokenizer: Path, against: Path, results: Path, cache: Path
) -> Study:
    """Two tokenizers of your own, in any format that the library imports."""
    if tokenizer == against:
        raise SettingsError(
            f"{tokenizer} against itself", hint="give two tokenizers, --tokenizer and --against"
        )
    by_name = {
        "against": prunedbpe.import_tokenizer(against),
        "tokenizer": prunedbpe.import_tokenizer(tokenizer),
    }
    arms = {
        "against": Arm(against.name, "against"),
        "tokenizer": Arm(tokenizer.name, "tokenizer"),
    }
    size = by_name["against"].vocab_size
    runs = list(runs_of(settings, size, "tokens", list(arms)))
    folder = results / settings.name
    return Study(settings, texts, arms, "against", {size: by_name}, runs, folder, cache)


def ordinary_tokens(tokenizer: Tokenizer) -> BoolArray:
    """Which rows of the embedding are tokens of text: not special ones, not the separator."""
    found = np.ones(tokenizer.vocab_size + 1, bool)
    found[[*tokenizer.special_tokens.values(), tokenizer.vocab_size]] = False
    return found


def by_part(documents: Sequence[Any]) -> dict[str, int]:
    """Bytes of each part."""
    found: dict[str, int] = {}
    for document in documents:
        found[document.part] = found.get(document.part, 0) + len(document.data)
    return dict(sorted(found.items()))


def opinion_file(size: int, name: str) -> str:
    """The file of a 5-gram model."""
    return f"{size}-kneser-ney/{name}.json"


def digest_name(made_with: Figures) -> str:
    """A file name for what a run is made with."""
    return digest_json(made_with)


def machine(threads: int) -> Figures:
    """What the last digits of a run depend on."""
    on_gpu = torch.cuda.is_available()
    return {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if on_gpu else platform.machine(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "bfloat16": bfloat16_instructions(),
        "threads": threads,
    }


def bfloat16_instructions() -> list[str]:
    """Instructions of the processor for bfloat16; none if torch is too old to tell."""
    known = getattr(torch.cpu, "get_capabilities", dict)()
    return sorted(name for name, is_there in known.items() if name.endswith("bf16") and is_there)
