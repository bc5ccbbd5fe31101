"""The paper's study on two corpora: learn on I, on II and on both; prune, measure, compare.

In: two corpora and vocabulary sizes; without sizes, the study suggests some. Out:
:class:`StudyResults`. Long steps report progress and are cached, so a killed run can be resumed.
"""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prunedbpe import __version__
from prunedbpe._support.progress import Progress, ProgressLike, as_progress
from prunedbpe.analysis.comparison import compare
from prunedbpe.analysis.sweeping import GROWTH, advise_sizes
from prunedbpe.corpus import Corpus
from prunedbpe.counts import SourceCounts, count_by_source
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer, find_pretokenizer
from prunedbpe.report.cache import StudyCache
from prunedbpe.report.experiment import BASELINES, Experiment
from prunedbpe.report.results import (
    AUTO,
    CHOSEN,
    STANDARD,
    CorpusFacts,
    QualitativeRow,
    SpotCheck,
    StudyResults,
)
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import DEFAULT_SPECIAL_TOKENS
from prunedbpe.visibility.threshold import Threshold, required_tokens

PAPER_THRESHOLDS = ("20%", "30%", "40%")

_ADVICE_MERGES = 24_000
"""Merges learned to suggest sizes."""

_TOKENS_PER_GROUP = 4


@dataclass(frozen=True)
class StudyPlan:
    """What to study.

    Attributes:
        corpora: Two corpora by name.
        sizes: Vocabulary sizes; if empty, suggested by the marginal-reduction rule.
        thresholds: Ratio thresholds, in ascending order.
        auto: Include automatic visibility, by rank and for the shortest segmentation.
        baselines: Include the baselines.
        pretokenizer: The pretokenizer for both corpora.
        special_tokens: Reserved tokens.
        threads: One per core by default.
        spot_check: Verify some lengths by loading the exported tokenizer and encoding.
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
            raise SettingsError("no threshold is given", hint="the paper uses 20%, 30% and 40%")
        ratios = [Threshold.parse(text).ratio for text in self.thresholds]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios) or known != sorted(set(known)):
            raise SettingsError(
                f"the thresholds {', '.join(self.thresholds)} are not ascending ratios",
                hint="for instance 20%,30%,40%",
            )
        for size in self.sizes:
            required_tokens(size, self.special_tokens)


@dataclass
class _Clock:
    """Seconds spent in each part of the study."""

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
    progress: ProgressLike = None,
) -> StudyResults:
    """Run the whole study.

    Args:
        plan: What to study.
        cache: Folder for results that another run can reuse.
        export: Folder for the tokenizers, one for each training corpus, size and policy.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
    """
    progress = as_progress(progress)
    clock = _Clock()
    kept = StudyCache(cache)
    # 1. Count both corpora by source; their union is the sum of their counts.
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
        experiments = _experiments(counted, plan, kept, progress)
    # 2. Choose the sizes.
    with clock.part("learn"):
        sizes, reason = _sizes(plan, experiments)
    # 3. Learn on each corpus, prune and measure.
    policies = [STANDARD, *plan.thresholds, *([AUTO] if plan.auto else [])]
    results = StudyResults(
        corpora=[
            CorpusFacts(
                experiment.name,
                experiment.counts.corpus.documents,
                experiment.counts.total_bytes,
                len(experiment.counts),
                len(experiment.counts.data),
            )
            for experiment in experiments
        ],
        sizes=sizes,
        sizes_reason=reason,
        thresholds=list(plan.thresholds),
        policies=policies,
        baselines=[*(BASELINES if plan.baselines else []), *([CHOSEN] if plan.auto else [])],
        cells=[],
        facts=[],
        growth=[],
        growth_tokens=GROWTH,
        qualitative=[],
        qualitative_of=f"{experiments[-1].name}, {sizes[-1]:,}, {plan.thresholds[-1]}",
        settings=_settings(plan),
        seconds=clock.seconds,
    )
    for experiment in experiments:
        _run_experiment(experiment, plan, results, clock, export)
    results.qualitative.extend(_qualitative(experiments[-1], sizes[-1], plan.thresholds[-1]))
    # 4. Verify some lengths with the exported tokenizers.
    if plan.spot_check and export is not None:
        with clock.part("spot check"):
            for experiment in experiments:
                results.spot_checks.extend(_spot_check(experiment, plan, results, export, progress))
    return results


def _experiments(
    counted: Mapping[str, SourceCounts], plan: StudyPlan, cache: StudyCache, progress: Progress
) -> list[Experiment]:
    parts = {name: sources.total for name, sources in counted.items()}
    whole = "+".join(parts)
    sources = {**counted, whole: SourceCounts.of_parts(list(counted.values()))}
    tables = {**parts, whole: sources[whole].total}
    return [
        Experiment(
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


def _sizes(plan: StudyPlan, experiments: Sequence[Experiment]) -> tuple[list[int], str]:
    if plan.sizes:
        return sorted(set(plan.sizes)), "given"
    whole = experiments[-1]
    whole.learn(_ADVICE_MERGES)
    advice = advise_sizes(whole.merges.applied, len(plan.special_tokens))
    # The smaller corpus must support the size too.
    suggested = [
        size
        for size in advice.suggested
        if all(experiment.fills(size, plan.thresholds[-1]) for experiment in experiments)
    ]
    if not suggested:
        raise SettingsError(
            "the corpora are too small to suggest sizes",
            hint="give the sizes, for instance --sizes 1000,2000",
        )
    return suggested, (
        f"suggested on {whole.name}: the knee of the gain of {GROWTH:,} more Standard tokens, and "
        "where the gain falls below 3 % and below 2 %, if both corpora support the size"
    )


def _run_experiment(
    experiment: Experiment,
    plan: StudyPlan,
    results: StudyResults,
    clock: _Clock,
    export: Path | None,
) -> None:
    sizes, policies = results.sizes, results.policies
    with clock.part("learn"):
        experiment.learn_for(sizes, policies)
    with clock.part("prune"):
        experiment.choose(sizes, policies)
    with clock.part("replay"):
        experiment.replay()
    if export is not None:
        with clock.part("export"):
            for (size, policy), tokenizer in experiment.tokenizers.items():
                tokenizer.save(export / tokenizer_folder(experiment.name, size, policy))
    with clock.part("shortest"):
        results.cells.extend(experiment.cells(sizes, policies))
    if plan.auto:
        with clock.part("choose for shortest"):
            cells, facts = experiment.chosen(sizes)
        results.cells.extend(cells)
        results.facts.extend(facts)
    results.growth.extend(experiment.growth(sizes))
    results.facts.extend(experiment.facts(sizes, policies, plan.thresholds))
    if plan.baselines:
        with clock.part("baselines"):
            cells, facts = experiment.baselines(sizes, plan.thresholds)
        results.cells.extend(cells)
        results.facts.extend(facts)


def tokenizer_folder(training: str, size: int, policy: str) -> str:
    """Return the folder name of an exported tokenizer.

    >>> tokenizer_folder("I+II", 8000, "40%")
    'I+II-8000-40'
    """
    return f"{training}-{size}-{policy.lower().rstrip('%')}"


def _qualitative(experiment: Experiment, size: int, threshold: str) -> list[QualitativeRow]:
    """Pick examples of each group from the hidden and the newly visible tokens."""
    change = compare(
        experiment.tokenizers[size, STANDARD],
        experiment.tokenizers[size, threshold],
        experiment.merges.applied,
    )
    rows = []
    # The clearest examples: hidden tokens with the least exposure, visible ones with the most.
    for what, tokens, sign in (
        ("became internal", change.hidden, 1),
        ("became visible", change.shown, -1),
    ):
        shown: Counter[str] = Counter()
        for token in sorted(tokens, key=lambda token: sign * token.exposure):
            shown[token.group] += 1
            if shown[token.group] > _TOKENS_PER_GROUP:
                continue
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
    experiment: Experiment, plan: StudyPlan, results: StudyResults, export: Path, progress: Progress
) -> Iterator[SpotCheck]:
    """Encode both corpora with the exported tokenizer of the largest size and threshold."""
    size, policy = results.sizes[-1], plan.thresholds[-1]
    tokenizer = Tokenizer.load(export / tokenizer_folder(experiment.name, size, policy))
    for name, corpus in plan.corpora.items():
        encoded = 0
        with progress.task(
            f"{experiment.name}: encoding {name}", total=corpus.size, unit="bytes"
        ) as task:
            for batch in corpus.batches(task):
                ids, _ = tokenizer.encode_documents(batch.data, batch.spans, threads=plan.threads)
                encoded += len(ids)
        expected = results.cell(experiment.name, size, policy, name).length
        yield SpotCheck(experiment.name, size, policy, name, expected, encoded)


def _settings(plan: StudyPlan) -> dict[str, Any]:
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
    """Return the CPU model, the number of cores and the system."""
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
