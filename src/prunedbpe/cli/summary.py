"""Summaries: what a run read, chose and took, as rows of a name and a value.

``train``, ``prune``, ``count``, ``learn`` and ``inspect`` show them.
"""

from __future__ import annotations

import time

from prunedbpe._support.memory import peak_memory
from prunedbpe._support.progress_stages import RecordedProgress, format_seconds
from prunedbpe._support.sizes import format_size
from prunedbpe.cli.terminal import align, info, warning
from prunedbpe.corpus import CorpusReport
from prunedbpe.corpus.documents import counted
from prunedbpe.counts.sources import short_names
from prunedbpe.types import Settings

Facts = list[tuple[str, str]]
"""Rows of a summary: name and value."""

_MOST_GAINS = 10
"""Sources that a summary lists; --json has all of them."""


class Clock:
    """How long a command takes, and its stages.

    Args:
        progress: What the stages report to.
    """

    def __init__(self, progress: RecordedProgress) -> None:
        self._stages = progress.stages
        self._started = time.monotonic()

    def settings(self) -> Settings:
        """Return the times in seconds, and the memory in bytes, as JSON."""
        return {
            "seconds": round(time.monotonic() - self._started, 3),
            "stages": {
                stage.name.lower(): round(stage.elapsed, 3) for stage in self._stages.values()
            },
            "peak_memory": peak_memory(),
        }

    def facts(self) -> Facts:
        """Say how long each stage took, and how much memory was held at most."""
        total = time.monotonic() - self._started
        rest = total - sum(stage.elapsed for stage in self._stages.values())
        parts = [
            f"{stage.name.lower()} {format_seconds(stage.elapsed)}"
            for stage in self._stages.values()
        ]
        if parts:
            parts.append(f"the rest {format_seconds(max(rest, 0))}")
        times = f"{format_seconds(total)}{': ' if parts else ''}{', '.join(parts)}"
        return [("time", times), ("peak memory", format_size(peak_memory()))]


def corpus_facts(corpus: CorpusReport) -> Facts:
    """What was read, and what was skipped."""
    read = [counted(corpus.files, "file")] if corpus.files else []
    read += [counted(corpus.documents, "document"), f"{format_size(corpus.bytes)} of text"]
    facts = [("read", ", ".join(read))]
    skipped = ", first ".join([counted(corpus.skipped_documents, "document"), *corpus.skipped[:1]])
    facts.append(("skipped", skipped if corpus.skipped_documents else "nothing"))
    if corpus.replaced_documents:
        facts.append(("repaired", counted(corpus.replaced_documents, "document")))
    return facts


def memory_fact(limit: int, *, spilled: bool) -> str:
    """How much memory counting was allowed, and whether that was enough."""
    return f"up to {format_size(limit)}, {'the rest on disk' if spilled else 'nothing on disk'}"


def approximation_facts(min_chunk_count: int) -> Facts:
    """Which chunks were dropped; nothing if the counts are exact."""
    if min_chunk_count == 1:
        return []
    return [("min chunk count", f"{min_chunk_count:,}; chunks that occur less often are dropped")]


def length_facts(training: Settings) -> Facts:
    """Encoded length of the training corpus, if it is known."""
    if "encoded_length" not in training:
        return []
    length, standard = training["encoded_length"], training["standard_encoded_length"]
    return [("encoded length", _length(length, standard))]


def show_gains(training: Settings) -> None:
    """List what each source gains, the worst first, and warn of sources that lose."""
    gains = training.get("auto", {}).get("gains", [])
    if len(gains) < 2:
        return
    shown = gains[:_MOST_GAINS]
    names = short_names([row["source"] for row in gains])
    info(f"\nwhat {len(gains)} sources save against Standard BPE, the least first:")
    for line in align(
        [(name, f"{row['gain']:.3%}") for name, row in zip(names, shown, strict=False)], right=[1]
    ):
        info(f"  {line}")
    if len(gains) > len(shown):
        info(f"  ... and {len(gains) - len(shown)} more, up to {gains[-1]['gain']:.3%}")
    for row in gains:
        if row["source"] in training["auto"]["harmed"]:
            warning(f"{row['source']} gets {-row['gain']:.3%} longer than with Standard BPE")


def visibility_facts(training: Settings) -> Facts:
    """How the visible tokens were chosen."""
    facts = [("boundary frequency", f"{training['boundary_frequency']:,}")]
    if "retargeted" in training:
        domain = training["retargeted"]
        length = _length(domain["domain_length"], domain["domain_standard_length"])
        return [
            *facts,
            ("merges retained", f"{domain['candidates']:,}, chosen by the domain's length"),
            ("domain length", length),
        ]
    if "auto" not in training:
        text = f"{training['min_exposure']:,} (threshold {training['threshold']})"
        return [*facts, ("min exposure", text)]
    auto = training["auto"]
    if auto["chosen_by"] == "validation":
        change = _change(auto["validation_length"], auto["validation_standard_length"])
        chosen = f"shortest of {len(auto['tried'])} on the validation text, {change} tokens"
    else:
        chosen = (
            f"saving in each of {max(auto['sources'], 1):,} sources to the power "
            f"{auto['exponent']:g}"
        )
    learned = f"{auto['candidates_learned']:,} learned"
    facts += [
        ("chosen from", f"{auto['candidates']:,} of {learned} merges ({auto['stopped']})"),
        ("chosen by", chosen),
    ]
    if "least_visible_exposure" in training:
        least = f"{training['least_visible_exposure']:,} of a visible token"
        facts.append(("least exposure", least))
    if auto["source_note"]:
        facts.append(("sources", auto["source_note"]))
    if auto.get("protected"):
        facts.append(("sources protected", f"{len(auto['protected'])}, given more weight"))
    return facts


def _length(length: int, standard: int) -> str:
    return f"{length:,} tokens, {_change(length, standard)} than Standard BPE ({standard:,})"


def _change(length: int, standard: int) -> str:
    """Return how much shorter or longer, as ``1.149% fewer``."""
    share = abs(length - standard) / max(standard, 1)
    return f"{share:.3%} {'more' if length > standard else 'fewer'}"
