"""The choice of merges and hidden tokens that makes text shortest: ``threshold="auto"``.

Of K merges, exactly K - required tokens must be hidden. Hiding t costs its flow times one less than
the number of visible tokens it expands into. The cheapest is hidden first, which makes its parts
more expensive (native: :func:`prunedbpe._core.hide_cheapest`). On the corpus itself more merges are
nearly always better, up to about twice the required ones. On other text they are not, because a
corpus overstates whatever its few sources happen to repeat. So by default exposure is discounted by
how far a token is spread over the sources, a token beyond those of Standard BPE must be worth a
little more than one within, and K is 1.6 times the required merges. With validation text, its
encoded length chooses K and the discount instead.

``docs/concepts/visibility.md`` has the study that led to these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prunedbpe import _core
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.merges import Applied, Candidates, MergeTable, replay
from prunedbpe.types import BYTE_COUNT, BoolArray, FloatArray, Settings
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.spread import effective_sources, replay_sources
from prunedbpe.visibility.threshold import Threshold, check_cap, reallocate, too_few_merges

SPREAD_EXPONENT = 0.35
"""Exposure counts for (effective sources / sources) to this power."""

NEWCOMER_DISCOUNT = 0.15
"""How much less a token beyond those of Standard BPE is worth."""

VALIDATED_RATIOS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.75, 2.0, 2.25, 2.5)
"""Merges tried with validation text, per required one."""

VALIDATED_MARGIN = 64
"""A small vocabulary needs more than a ratio: at least this many merges beyond the required."""

VALIDATED_WORK = 1_000_000
"""The paper's rule is tried as well: with every threshold while their number times the number of
merges stays below this, with evenly spaced ones (16 or more) beyond."""


@dataclass(frozen=True)
class Discount:
    """How much less an exposure counts than it says.

    Attributes:
        spread_exponent: 0 trusts the corpus; higher values prefer tokens of many sources.
        newcomer: How much less tokens beyond those of Standard BPE are worth, from 0 to 1.
    """

    spread_exponent: float = SPREAD_EXPONENT
    newcomer: float = NEWCOMER_DISCOUNT


NO_DISCOUNT = Discount(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class AutoChoice:
    """What automatic visibility chose, and why.

    Attributes:
        hidden: By rank, bytes first, of the retained merges.
        report: The choice as a JSON object, for settings files and messages.
    """

    hidden: BoolArray
    report: Settings

    @property
    def merge_count(self) -> int:
        """Merges retained."""
        return len(self.hidden) - BYTE_COUNT


def prices(
    merges: MergeTable,
    merge_count: int,
    required: int,
    sources: Sequence[Applied],
    discount: Discount,
) -> FloatArray:
    """What one occurrence of each rank is worth, by rank."""
    worth = np.ones(BYTE_COUNT + merge_count)
    if discount.spread_exponent and len(sources) > 1:
        at_home = effective_sources(merges.pairs, sources, merge_count)
        worth = (at_home / len(sources)) ** discount.spread_exponent
    worth[BYTE_COUNT + required :] *= 1.0 - discount.newcomer
    return worth


def hide(
    merges: MergeTable,
    applied: Applied,
    merge_count: int,
    required: int,
    worth: FloatArray | None = None,
) -> BoolArray:
    """Hide all but ``required`` of the first ``merge_count`` learned tokens, the cheapest first.

    Args:
        merges: The merges.
        applied: The corpus whose length counts.
        merge_count: How many merges to retain.
        required: How many of their tokens to leave visible.
        worth: What one occurrence of each rank is worth; the same for all by default.

    Returns:
        By rank, bytes first, whether the token is hidden.
    """
    exposures = exposure(merges.pairs, applied, merge_count).astype(np.float64)
    if worth is None:
        worth = np.ones_like(exposures)
    order = _core.hide_cheapest(
        merges.pairs[:merge_count], exposures, worth, merge_count - required
    )
    hidden = np.zeros(BYTE_COUNT + merge_count, bool)
    hidden[order] = True
    return hidden


def choose_visibility(
    candidates: Candidates,
    required: int,
    policy: VisibilityPolicy,
    discount: Discount | None = None,
) -> AutoChoice:
    """Choose how many merges to retain and which of their tokens to hide.

    Args:
        candidates: A finished merge table, or a learner.
        required: How many learned tokens must be visible.
        policy: The options; its corpora counted or replayed.
        discount: How far to distrust the corpus; with validation text, both with and without is
            tried.

    Raises:
        InsufficientCandidatesError: Fewer pairs occur twice than tokens must be visible.
    """
    check_cap(required, policy.max_train_vocab)
    limit = None if policy.max_train_vocab is None else policy.max_train_vocab - BYTE_COUNT
    wanted = int(required * policy.candidate_ratio)
    if policy.validation is not None:
        wanted = max(int(required * max(VALIDATED_RATIOS)), required + VALIDATED_MARGIN)
    if limit is not None:
        wanted = min(wanted, limit)
    merges = candidates.reach(wanted)
    if len(merges) < required:
        raise too_few_merges(merges, required)
    available = min(len(merges), wanted)
    sources = _replayed_sources(policy, merges.head(available))
    report: Settings = {
        "candidates_learned": len(merges),
        "sources": len(sources),
        "stopped": _why_stopped(merges, available, wanted, limit),
    }
    validation = policy.validation
    if validation is None:
        discount = discount or Discount()
        worth = prices(merges, available, required, sources, discount)
        hidden = hide(merges, merges.applied, available, required, worth)
        report |= {"chosen_by": "rule", **_describe(available, required, discount)}
        return AutoChoice(hidden, report)

    applied = replay(merges, validation) if isinstance(validation, ChunkCounts) else validation
    assert isinstance(applied, Applied), "the validation text was not counted"
    tried = list(_validated(merges, available, required, sources, applied, discount))
    by_threshold = list(_thresholds(merges.head(limit or len(merges)), required, applied))
    if by_threshold:  # only the best is worth naming
        tried.append(min(by_threshold, key=lambda choice: choice[:2]))
    length, _, hidden, description = min(tried, key=lambda choice: choice[:2])
    report |= {
        "chosen_by": "validation",
        **description,
        "validation_length": length,
        "validation_standard_length": total_tokens(applied, required),
        "tried": [
            {**description, "validation_length": length} for length, *_, description in tried
        ],
    }
    return AutoChoice(hidden, report)


def _replayed_sources(policy: VisibilityPolicy, merges: MergeTable) -> Sequence[Applied]:
    if isinstance(policy.sources, SourceCounts):
        return replay_sources(merges, policy.sources)
    # A mere kind of source means that nothing was counted by source.
    return () if isinstance(policy.sources, str) else policy.sources


def _validated(
    merges: MergeTable,
    available: int,
    required: int,
    sources: Sequence[Applied],
    validation: Applied,
    discount: Discount | None,
) -> Iterator[tuple[int, int, BoolArray, Settings]]:
    """Every choice worth trying: validation length, merges, hidden tokens, description."""
    counts = {min(int(required * ratio), available) for ratio in VALIDATED_RATIOS}
    if available <= required + VALIDATED_MARGIN:  # steps of a ratio would be too coarse
        counts = set(range(required, available + 1))
    for merge_count in sorted(counts):
        for tried in [NO_DISCOUNT, discount or Discount()]:
            worth = prices(merges, merge_count, required, sources, tried)
            hidden = hide(merges, merges.applied, merge_count, required, worth)
            length = encoded_length(merges.pairs, validation, hidden)
            yield length, merge_count, hidden, _describe(merge_count, required, tried)


def _thresholds(
    merges: MergeTable, required: int, validation: Applied
) -> Iterator[tuple[int, int, BoolArray, Settings]]:
    """The paper's rule: greedy hiding nearly always beats it, but nothing says that it must."""
    if not required:
        return
    # `required` tokens need the exposure, which is at most what their merges replaced.
    highest = int(np.sort(merges.applied.replacements)[-required])
    most = max(16, VALIDATED_WORK // len(merges))
    for count in np.unique(np.linspace(1, highest, min(most, highest)).astype(int)).tolist():
        try:
            hidden = reallocate(merges, required, Threshold.parse(count)).hidden(required)
        except InsufficientCandidatesError:
            continue
        merge_count = len(hidden) - BYTE_COUNT
        length = encoded_length(merges.pairs, validation, hidden)
        yield length, merge_count, hidden, {"candidates": merge_count, "min_exposure": count}


def _describe(merge_count: int, required: int, discount: Discount) -> Settings:
    return {
        "candidates": merge_count,
        "candidate_ratio": round(merge_count / required, 4) if required else 1.0,
        "spread_exponent": discount.spread_exponent,
        "newcomer_discount": discount.newcomer,
    }


def _why_stopped(merges: MergeTable, available: int, wanted: int, limit: int | None) -> str:
    if available < wanted:
        return "no pair is left that occurs twice" if merges.exhausted else "no more merges given"
    return "max_train_vocab reached" if available == limit else "enough candidates"
