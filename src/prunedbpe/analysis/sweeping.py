"""Sweeps: vocabulary sizes x thresholds x corpora from one merge list, and suggested sizes.

In: merges, and the counts of each corpus. Out: one row for each cell. By rank, the merges are
replayed once on each corpus, and a hundred cells take about a second. The shortest segmentation
measures each cell on the chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from prunedbpe._support.arguments import check_type, wrong_type
from prunedbpe._support.notebook_view import Share, view, view_table
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe._support.result_tables import ResultRows
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.merges import Applied, MergeTable, replay
from prunedbpe.merges.merge_table import MAKE_MERGES
from prunedbpe.tokenizer.shortest import shortest_lengths
from prunedbpe.training import Decision, decide
from prunedbpe.types import BYTE_COUNT, DEFAULT_SPECIAL_TOKENS, Segmentation, check_segmentation
from prunedbpe.visibility.exposure import encoded_length, lengths_by_prefix, total_tokens
from prunedbpe.visibility.policy import ThresholdLike, VisibilityPolicy
from prunedbpe.visibility.threshold import required_tokens, too_few_merges
from prunedbpe.vocabulary import check_special_tokens

TRAINING_CORPUS = "training"
"""Name of the corpus the merges were learned on."""

GROWTH = 2000
"""Step of the marginal reduction: the gain of this many more Standard tokens."""


@dataclass(frozen=True)
class SweepCell:
    """One vocabulary on one corpus.

    Attributes:
        corpus: Name of the corpus.
        vocab_size: All a model sees.
        threshold: The threshold as the user wrote it.
        segmentation: How the vocabulary cuts text.
        encoded_length: Tokens of the corpus; ``None`` if the threshold cannot be met.
        standard_length: Tokens of the corpus with Standard BPE of the same size, by rank.
        reduction: Share of tokens saved against Standard BPE.
        internal: Number of internal tokens.
        internal_share: Their share of all retained learned tokens.
        least_exposure: By rank: the least exposure of a visible learned token, on the training
            corpus.
        bytes_per_token: Bytes per token.
        growth_reduction: R_std: share saved by 2,000 more Standard tokens; ``None`` if too few
            merges were learned.
        note: Why the length is missing.
    """

    corpus: str
    vocab_size: int
    threshold: str
    segmentation: Segmentation
    encoded_length: int | None = None
    standard_length: int = 0
    reduction: float | None = None
    internal: int | None = None
    internal_share: float | None = None
    least_exposure: int | None = None
    bytes_per_token: float | None = None
    growth_reduction: float | None = None
    note: str = ""

    def as_row(self) -> dict[str, Any]:
        """Return the cell as a flat mapping, for CSV and JSON."""
        return asdict(self)


class SweepResult(ResultRows[SweepCell]):
    """The cells of a sweep: a list, an Arrow table, and a table in a notebook."""

    ARROW_COLUMNS: ClassVar = {
        "corpus": "string",
        "vocab_size": "int64",
        "threshold": "string",
        "segmentation": "string",
        "encoded_length": "int64",
        "standard_length": "int64",
        "reduction": "double",
        "internal": "int64",
        "internal_share": "double",
        "least_exposure": "int64",
        "bytes_per_token": "double",
        "growth_reduction": "double",
        "note": "string",
    }

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the cells as flat mappings."""
        return [cell.as_row() for cell in self]

    def _facts(self) -> dict[str, int]:
        return {
            "cells": len(self),
            "sizes": len({cell.vocab_size for cell in self}),
            "thresholds": len({cell.threshold for cell in self}),
            "corpora": len({cell.corpus for cell in self}),
        }

    def __repr__(self) -> str:
        return f"SweepResult({', '.join(f'{name}={n}' for name, n in self._facts().items())})"

    def _repr_html_(self) -> str:
        rows = [
            [
                cell.corpus,
                cell.vocab_size,
                cell.threshold,
                cell.note or cell.encoded_length,
                None if cell.reduction is None else Share(cell.reduction),
                cell.internal,
                None if cell.growth_reduction is None else Share(cell.growth_reduction),
            ]
            for cell in self
        ]
        columns = ["corpus", "vocab size", "threshold", "tokens"]
        columns += ["fewer than Standard BPE", "internal", f"{GROWTH:,} more tokens save"]
        return view("Sweep", self._facts(), view_table("", columns, rows))


def sweep(
    merges: MergeTable,
    sizes: Sequence[int],
    thresholds: Sequence[ThresholdLike],
    *,
    segmentation: Segmentation = "rank",
    corpora: Mapping[str, ChunkCounts | Applied] | None = None,
    sources: SourceCounts | None = None,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> SweepResult:
    """Compare vocabularies of every size and threshold on every corpus.

    Args:
        merges: Candidates; a threshold that needs more gives a cell with a note.
        sizes: Vocabulary sizes.
        thresholds: Thresholds; ``"auto"`` is allowed.
        segmentation: How the vocabularies cut text.
        corpora: Other corpora by name, counted; for encoding by rank, what the merges do to them is
            enough. The training corpus comes first.
        sources: The training corpus, counted by source: for ``"auto"``, and for the shortest
            segmentation.
        special_tokens: Reserved tokens.
        max_train_vocab: Upper bound of bytes and learned tokens.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        SettingsError: The shortest segmentation needs the counts of a corpus.

    >>> from prunedbpe import ChunkCounts, learn
    >>> merges = learn(ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}), 4)
    >>> cells = sweep(merges, [259], [0, 2], special_tokens=())
    >>> [(cell.threshold, cell.encoded_length, cell.internal) for cell in cells]
    [('0', 10, 0), ('2', 9, 1)]
    """
    progress = as_progress(progress)
    check_type("merges", merges, MergeTable, MAKE_MERGES)
    for name, values in (("sizes", sizes), ("thresholds", thresholds)):
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise wrong_type(f"{name} is a list", values)
    check_segmentation(segmentation)
    training = merges.applied if sources is None else sources.total
    counted = {TRAINING_CORPUS: training, **(corpora or {})}
    if segmentation == "shortest":
        for name, counts in counted.items():
            if not isinstance(counts, ChunkCounts):
                raise SettingsError(
                    f"the shortest segmentation needs the chunk counts of corpus {name!r}",
                    hint="give sources=count_by_source(...) for the training corpus, "
                    "and count(...) for others",
                )
    replayed = {
        name: replay(merges, counts, threads=threads) if isinstance(counts, ChunkCounts) else counts
        for name, counts in counted.items()
        if name != TRAINING_CORPUS
    }
    replayed = {TRAINING_CORPUS: merges.applied, **replayed}
    special_tokens = check_special_tokens(special_tokens)
    cells = SweepResult()
    for vocab_size in sizes:
        required = required_tokens(vocab_size, special_tokens)
        if required > len(merges):
            raise too_few_merges(merges, required)
        for threshold in thresholds:
            policy = VisibilityPolicy(threshold, max_train_vocab, segmentation)
            if policy.is_auto and sources is not None:
                policy = replace(policy, sources=sources)
            decision, note = None, ""
            try:
                decision = decide(merges, required, policy, threads=threads, progress=progress)
            except InsufficientCandidatesError as error:
                note = error.message
            for corpus, applied in replayed.items():
                cell = SweepCell(
                    corpus=corpus,
                    vocab_size=vocab_size,
                    threshold=str(getattr(threshold, "text", threshold)),
                    segmentation=segmentation,
                    standard_length=total_tokens(applied, required),
                    growth_reduction=growth_reduction(applied, required),
                    note=note,
                )
                if decision is not None:
                    length = _length(decision, applied, counted[corpus], threads)
                    cell = _measured(cell, decision, length, applied.total_bytes)
                cells.append(cell)
    return cells


def _length(
    decision: Decision, applied: Applied, counts: ChunkCounts | Applied, threads: int | None
) -> int:
    if decision.segmentation == "rank":
        return encoded_length(decision.merges.pairs, applied, decision.hidden)
    assert isinstance(counts, ChunkCounts)
    return shortest_lengths(decision.visible_strings(), counts, threads=threads)


def _measured(cell: SweepCell, decision: Decision, length: int, text_bytes: int) -> SweepCell:
    standard, internal = cell.standard_length, int(decision.hidden.sum())
    return replace(
        cell,
        encoded_length=length,
        reduction=(standard - length) / max(standard, 1),
        internal=internal,
        internal_share=internal / max(decision.retained, 1),
        least_exposure=decision.training.get("least_visible_exposure"),
        bytes_per_token=text_bytes / length if length else None,
    )


def growth_reduction(applied: Applied, required: int, growth: int = GROWTH) -> float | None:
    """Return R_std: the share of tokens that ``growth`` more Standard tokens save.

    Returns:
        ``None`` if too few merges were learned.
    """
    if required + growth > len(applied):
        return None
    now, then = total_tokens(applied, required), total_tokens(applied, required + growth)
    return (now - then) / now if now else 0.0


@dataclass(frozen=True)
class SizeAdvice:
    """The marginal-reduction curve, and sizes where it flattens.

    Attributes:
        sizes: Vocabulary sizes, 2,000 apart.
        reductions: R_std at each size.
        knee: The size where the curve bends most.
        suggested: Sizes worth trying: the knee, and where R_std falls below 3 % and below 2 %.
    """

    sizes: list[int]
    reductions: list[float]
    knee: int | None
    suggested: list[int]


def advise_sizes(
    applied: Applied, special_count: int = len(DEFAULT_SPECIAL_TOKENS), step: int = GROWTH
) -> SizeAdvice:
    """Find where a larger vocabulary stops paying: the paper's heuristic for choosing sizes.

    Args:
        applied: The merges replayed on the corpus.
        special_count: Number of special tokens.
        step: Distance between two sizes.
    """
    lengths = lengths_by_prefix(applied)
    base = BYTE_COUNT + special_count
    # Standard BPE of size N has N - base merges; sizes are multiples of the step.
    sizes = [n for n in range(step, base + len(applied) + 1, step) if n > base]
    sizes = [n for n in sizes if n + step - base <= len(applied)]
    reductions = [
        float(1 - lengths[n + step - base] / lengths[n - base]) if lengths[n - base] else 0.0
        for n in sizes
    ]
    knee = _knee(sizes, reductions)
    under = [
        next((n for n, r in zip(sizes, reductions, strict=True) if r < limit), None)
        for limit in (0.03, 0.02)
    ]
    suggested = sorted({n for n in [knee, *under] if n is not None})
    return SizeAdvice(sizes, reductions, knee, suggested)


def _knee(sizes: Sequence[int], reductions: Sequence[float]) -> int | None:
    """Return the point of a falling curve farthest below the line between its ends."""
    if len(sizes) < 3:
        return None
    first, last = (sizes[0], reductions[0]), (sizes[-1], reductions[-1])
    slope = (last[1] - first[1]) / (last[0] - first[0])
    below = [first[1] + slope * (n - first[0]) - r for n, r in zip(sizes, reductions, strict=True)]
    return sizes[max(range(len(sizes)), key=below.__getitem__)]
