"""Automatic visibility for encoding by merge rank: hide what is cheapest.

In: merges, what they do to every source of the corpus, a budget. Out: which tokens to hide. Hiding
t costs its flow times one less than the number of visible tokens it expands into. The cheapest is
hidden first, which makes its parts more expensive (native: :func:`prunedbpe._core.hide_cheapest`).
Lengths come from the algebra, so a choice takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prunedbpe import _core
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.merges import Applied, MergeTable, replay, replay_by_source
from prunedbpe.types import BYTE_COUNT, BoolArray, FloatArray, Int64Array
from prunedbpe.visibility.choice import AutoChoice, best_on_validation, describe_rule
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.source_values import (
    CAUTIOUS,
    TRUSTING,
    ValueRule,
    describe_gains,
    harm_nobody,
)
from prunedbpe.visibility.threshold import Threshold, reallocate

VALIDATED_RATIOS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.75, 2.0, 2.25, 2.5)
"""Merges tried with validation text, per required one."""

VALIDATED_MARGIN = 64
"""A small vocabulary needs more than a ratio: at least this many merges beyond the required."""

VALIDATED_WORK = 1_000_000
"""The paper's rule is tried as well: with every threshold while their number times the number of
merges stays below this, with evenly spaced ones (16 or more) beyond."""


@dataclass(frozen=True, eq=False)
class RankChoice:
    """Hidden tokens for encoding by rank.

    Attributes:
        hidden: By rank, bytes first.
        lengths: Encoded length of every source.
    """

    hidden: BoolArray
    lengths: Int64Array


def hide(
    merges: MergeTable,
    sources: Sequence[Applied],
    merge_count: int,
    required: int,
    rule: ValueRule = TRUSTING,
    weights: FloatArray | None = None,
) -> BoolArray:
    """Hide all but ``required`` of the first ``merge_count`` learned tokens, the cheapest first.

    Args:
        merges: The merges.
        sources: What they do to each source of the corpus whose length counts.
        merge_count: How many merges to retain.
        required: How many of their tokens to leave visible.
        rule: What an occurrence is worth; all the same by default.
        weights: What the sources weigh; all the same by default.

    Returns:
        By rank, bytes first, whether the token is hidden.
    """
    exposures = [exposure(merges.pairs, source, merge_count) for source in sources]
    order = _core.hide_cheapest(
        merges.pairs[:merge_count],
        np.stack(exposures, axis=1).ravel(),
        np.ones(len(sources)) if weights is None else weights,
        rule.exponent,
        rule.prices(merge_count, required),
        merge_count - required,
    )
    hidden = np.zeros(BYTE_COUNT + merge_count, bool)
    hidden[order] = True
    return hidden


def choose_by_rank(
    merges: MergeTable,
    sources: Sequence[Applied],
    merge_count: int,
    required: int,
    rule: ValueRule,
    weights: FloatArray,
) -> tuple[RankChoice, FloatArray]:
    """Hide the cheapest tokens so that no source gets longer than under Standard BPE.

    Args:
        merges: The merges.
        sources: What they do to each source of their corpus.
        merge_count: How many merges to retain.
        required: How many of their tokens to leave visible.
        rule: What an occurrence is worth.
        weights: What the sources weigh.

    Returns:
        The choice, and the weights that led to it.
    """

    def choose(weights: FloatArray) -> RankChoice:
        hidden = hide(merges, sources, merge_count, required, rule, weights)
        lengths = [encoded_length(merges.pairs, source, hidden) for source in sources]
        return RankChoice(hidden, np.array(lengths))

    standard = np.array([total_tokens(source, required) for source in sources])
    return harm_nobody(choose, standard, weights)


class RankChooser:
    """Automatic visibility for encoding by rank.

    Args:
        merges: The candidates: as many merges as may be retained.
        required: How many learned tokens must be visible.
        policy: The options; its corpora counted.
        threads: One per core by default.
    """

    def __init__(
        self,
        merges: MergeTable,
        required: int,
        policy: VisibilityPolicy,
        threads: int | None = None,
    ) -> None:
        self._merges, self._required, self._policy = merges, required, policy
        self._sources = [merges.applied]
        if isinstance(policy.sources, SourceCounts) and len(policy.sources) > 1:
            self._sources = replay_by_source(merges, policy.sources, threads=threads)
        self._threads = threads

    def choose(self) -> AutoChoice:
        """Choose by the rule of the policy."""
        return self._choose(len(self._merges), self._policy.rule)

    def _choose(self, merge_count: int, rule: ValueRule) -> AutoChoice:
        weights = self._policy.weights(rule)
        choice, raised = choose_by_rank(
            self._merges, self._sources, merge_count, self._required, rule, weights
        )
        standard = np.array([total_tokens(source, self._required) for source in self._sources])
        report = {
            **describe_rule(merge_count, self._required, rule),
            **describe_gains(self._policy.source_names, choice.lengths, standard, raised > weights),
        }
        return AutoChoice(choice.hidden, report, int(choice.lengths.sum()))

    def choose_validated(self, validation: ChunkCounts) -> AutoChoice:
        """Choose what makes the validation text shortest, of everything worth trying."""
        applied = replay(self._merges, validation, threads=self._threads)
        tried = [*self._rules(applied)]
        by_threshold = list(self._thresholds(applied))
        if by_threshold:  # only the best is worth naming
            tried.append(min(by_threshold, key=lambda choice: choice[:2]))
        return best_on_validation(tried, total_tokens(applied, self._required))

    def _rules(self, validation: Applied) -> Iterator[tuple[int, int, AutoChoice]]:
        """Every rule and number of merges: validation length, merges, choice."""
        required, available = self._required, len(self._merges)
        counts = {min(int(required * ratio), available) for ratio in VALIDATED_RATIOS}
        if available <= required + VALIDATED_MARGIN:  # steps of a ratio would be too coarse
            counts = set(range(required, available + 1))
        for merge_count in sorted(counts):
            for rule in (TRUSTING, CAUTIOUS["rank"]):
                choice = self._choose(merge_count, rule)
                length = encoded_length(self._merges.pairs, validation, choice.hidden)
                yield length, merge_count, choice

    def _thresholds(self, validation: Applied) -> Iterator[tuple[int, int, AutoChoice]]:
        """The paper's rule: greedy hiding nearly always beats it, but nothing says that it must."""
        merges, required = self._merges, self._required
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
            report = {"candidates": merge_count, "min_exposure": count}
            choice = AutoChoice(
                hidden, report, encoded_length(merges.pairs, merges.applied, hidden)
            )
            yield encoded_length(merges.pairs, validation, hidden), merge_count, choice
