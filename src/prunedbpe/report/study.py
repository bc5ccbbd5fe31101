"""The paper's study on two corpora: learn on I, on II and on both, prune, measure, compare.

In: two corpora and the sizes, or none to have them suggested. Out: :class:`StudyResults`. Long
parts show their progress and are kept in a cache, so that a killed run goes on where it was.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prunedbpe._support.progress import SILENT, Progress
from prunedbpe.analysis.comparison import compare
from prunedbpe.analysis.sweeping import GROWTH, advise_sizes
from prunedbpe.corpus import Corpus
from prunedbpe.counts import SourceCounts, count_by_source, reduce_counts
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer, find_pretokenizer
from prunedbpe.report.cache import StudyCache
from prunedbpe.report.results import (
    STANDARD,
    CorpusFacts,
    QualitativeRow,
    SpotCheck,
    StudyResults,
)
from prunedbpe.report.trained import AUTO, BASELINES, Training
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import DEFAULT_SPECIAL_TOKENS
from prunedbpe.visibility.threshold import Threshold, required_tokens

PAPER_THRESHOLDS = ("20%", "30%", "40%")

_ADVICE_MERGES = 24_000
"""Merges learned to suggest sizes where none are given."""

_TOKENS_PER_GROUP = 4


@dataclass(frozen=True)
class StudyPlan:
    """What to study.

    Attributes:
        corpora: Two corpora by name.
        sizes: Vocabulary sizes; none to have them suggested by the marginal-reduction rule.
        thresholds: The paper's thresholds, rising.
        auto: Whether automatic visibility takes part.
        baselines: Whether the baselines take part.
        pretokenizer: What cuts both corpora.
        special_tokens: Reserved tokens.
        threads: One per core by default.
        spot_check: Whether lengths are found again by exporting, loading and really encoding.
    """

    corpora: Mapping[str, Corpus]
    sizes: Sequence[int] = ()
    thresholds: Sequence[str] = PAPER_THRESHOLDS
    auto: bool = True
    baselines: bool = True
    pretokenizer: str | Pretokenizer = "paper"
    special_tokens: tuple[str, ...] = DEFAULT_SPECIAL_TOKENS
    threads: int | None = None
    spot_check: bool = True

    def __post_init__(self) -> None:
        for name in self.corpora:
            if "+" in name or "/" in name:
                raise SettingsError(f"a corpus cannot be named {name!r}", hint="leave out + and /")
        if len(self.corpora) != 2:
            raise SettingsError(
                f"the study compares two corpora, {len(self.corpora)} given",
                hint="give --corpus I=DIR and --corpus II=DIR",
            )
        if not self.thresholds:
            raise SettingsError("no threshold is given", hint="the paper has 20%, 30% and 40%")
        ratios = [Threshold.parse(text).ratio for text in self.thresholds]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios) or known != sorted(set(known)):
            raise SettingsError(
                f"the thresholds {', '.join(self.thresholds)} are not rising ratios",
                hint="give for instance 20% 30% 40%",
            )
        for size in self.sizes:
            required_tokens(size, self.special_tokens)


@dataclass
class _Clock:
    """Seconds of each part of the study."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self.seconds[name] = round(self.seconds.get(name, 0.0) + spent, 2)


def run_study(
    plan: StudyPlan,
    *,
    cache: Path | None = None,
    export: Path | None = None,
    progress: Progress = SILENT,
) -> StudyResults:
    """Run the whole study.

    Args:
        plan: What to study.
        cache: Folder for merges and numbers that another run may use.
        export: Folder for the tokenizers, one in each training, size and policy.
        progress: Who watches.
    """
    clock = _Clock()
    kept = StudyCache(cache)
    # 1. Count both corpora, by source; both together are their sum.
    with clock.part("count"):
        counted = {
            name: count_by_source(
                corpus,
                pretokenizer=plan.pretokenizer,
                threads=plan.threads,
                progress=progress,
            )
            for name, corpus in plan.corpora.items()
        }
        trainings = _trainings(counted, plan, kept, progress)
    # 2. Sizes, as given or suggested.
    with clock.part("learn"):
        sizes, reason = _sizes(plan, trainings)
    # 3. Learn, prune and measure on each corpus.
    policies = [STANDARD, *plan.thresholds, *([AUTO] if plan.auto else [])]
    results = StudyResults(
        corpora=[
            CorpusFacts(
                training.name,
                training.counts.corpus.documents,
                training.counts.total_bytes,
                len(training.counts),
                len(training.counts.data),
            )
            for training in trainings
        ],
        sizes=sizes,
        sizes_reason=reason,
        thresholds=list(plan.thresholds),
        policies=policies,
        baselines=BASELINES if plan.baselines else [],
        cells=[],
        facts=[],
        growth=[],
        growth_tokens=GROWTH,
        qualitative=[],
        qualitative_of=f"{trainings[-1].name}, {sizes[-1]:,}, {plan.thresholds[-1]}",
        settings=_settings(plan),
        seconds=clock.seconds,
    )
    for training in trainings:
        _study_training(training, plan, results, clock, export)
    results.qualitative.extend(_qualitative(trainings[-1], sizes[-1], plan.thresholds[-1]))
    # 4. Look whether the exported tokenizers really give these lengths.
    if plan.spot_check and export is not None:
        with clock.part("spot check"):
            for training in trainings:
                results.spot_checks.extend(_spot_check(training, plan, results, export, progress))
    return results


def _trainings(
    counted: Mapping[str, SourceCounts], plan: StudyPlan, cache: StudyCache, progress: Progress
) -> list[Training]:
    parts = {name: sources.total for name, sources in counted.items()}
    whole = "+".join(parts)
    tables = {**parts, whole: reduce_counts(list(parts.values()))}
    sources = {name: list(source.tables) for name, source in counted.items()}
    sources[whole] = [table for part in parts for table in sources[part]]
    return [
        Training(
            name,
            table,
            parts,
            whole,
            sources=sources[name],
            cache=cache,
            special_tokens=plan.special_tokens,
            threads=plan.threads,
            progress=progress,
        )
        for name, table in tables.items()
    ]


def _sizes(plan: StudyPlan, trainings: Sequence[Training]) -> tuple[list[int], str]:
    if plan.sizes:
        return sorted(set(plan.sizes)), "given"
    whole = trainings[-1]
    whole.learn(_ADVICE_MERGES)
    advice = advise_sizes(whole.merges.applied, len(plan.special_tokens))
    # A size must be there in the smaller corpus too.
    suggested = [
        size
        for size in advice.suggested
        if all(training.fills(size, plan.thresholds[-1]) for training in trainings)
    ]
    if not suggested:
        raise SettingsError(
            "the corpora are too small to suggest sizes by what 2,000 more tokens would bring",
            hint="give the sizes, for instance --sizes 1000,2000",
        )
    return suggested, (
        f"suggested on {whole.name}: where the gain of {GROWTH:,} more Standard tokens bends, "
        "falls below 3 % and below 2 %, as far as each corpus has so many tokens"
    )


def _study_training(
    training: Training, plan: StudyPlan, results: StudyResults, clock: _Clock, export: Path | None
) -> None:
    sizes, policies = results.sizes, results.policies
    with clock.part("learn"):
        training.learn_for(sizes, policies)
    with clock.part("prune"):
        training.choose(sizes, policies)
    with clock.part("replay"):
        training.replay()
    if export is not None:
        with clock.part("export"):
            for (size, policy), tokenizer in training.tokenizers.items():
                tokenizer.save(export / tokenizer_folder(training.name, size, policy))
    with clock.part("shortest"):
        results.cells.extend(training.cells(sizes, policies))
    results.growth.extend(training.growth(sizes))
    results.facts.extend(training.facts(sizes, policies, plan.thresholds))
    if plan.baselines:
        with clock.part("baselines"):
            cells, facts = training.baselines(sizes, plan.thresholds)
        results.cells.extend(cells)
        results.facts.extend(facts)


def tokenizer_folder(training: str, size: int, policy: str) -> str:
    """Name of the folder of an exported tokenizer.

    >>> tokenizer_folder("I+II", 8000, "40%")
    'I+II-8000-40'
    """
    return f"{training}-{size}-{policy.lower().rstrip('%')}"


def _qualitative(training: Training, size: int, threshold: str) -> list[QualitativeRow]:
    """Of each group, the tokens that matter most on either side."""
    change = compare(
        training.tokenizers[size, STANDARD],
        training.tokenizers[size, threshold],
        training.merges.applied,
    )
    rows = []
    for what, tokens in (("became internal", change.hidden), ("became visible", change.shown)):
        shown: dict[str, int] = {}
        # The rungs least used on their own tell the story; so do the newcomers most used.
        least_first = tokens is change.hidden
        ordered = sorted(tokens, key=lambda token: token.exposure, reverse=not least_first)
        for token in ordered:
            if shown.setdefault(token.group, 0) == _TOKENS_PER_GROUP:
                continue
            shown[token.group] += 1
            rows.append(
                QualitativeRow(
                    what,
                    token.group,
                    token.text,
                    token.exposure,
                    " · ".join(token.expands_to),
                    token.supports[0] if token.supports else "",
                )
            )
    return sorted(rows, key=lambda row: (row.change, row.group))


def _spot_check(
    training: Training, plan: StudyPlan, results: StudyResults, export: Path, progress: Progress
) -> Iterator[SpotCheck]:
    """Encode both corpora with the exported tokenizer of the largest size and threshold."""
    size, policy = results.sizes[-1], plan.thresholds[-1]
    tokenizer = Tokenizer.load(export / tokenizer_folder(training.name, size, policy))
    for name, corpus in plan.corpora.items():
        encoded = 0
        with progress.task(
            f"{training.name}: encoding {name}", total=corpus.size, unit="bytes"
        ) as task:
            for batch in corpus.batches(task):
                texts = [document.decode() for document in batch.documents()]
                ids, _ = tokenizer.encode_batch_to_numpy(texts, threads=plan.threads)
                encoded += len(ids)
        expected = results.cell(training.name, size, policy, name).length
        yield SpotCheck(training.name, size, policy, name, expected, encoded)


def _settings(plan: StudyPlan) -> dict[str, Any]:
    from prunedbpe import __version__

    return {
        "pretokenizer": find_pretokenizer(plan.pretokenizer).describe(),
        "special_tokens": list(plan.special_tokens),
        "prunedbpe": __version__,
        "python": platform.python_version(),
        "unicode": UNICODE_VERSION,
        "machine": _machine(),
        "threads": plan.threads or os.cpu_count(),
    }


def _machine() -> str:
    """Processor and number of cores, as far as the system tells."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text(errors="replace").splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"
