"""The visible set that cuts text into the fewest tokens: ``auto`` with ``segmentation="shortest"``.

In: K candidates and the counted corpus. Out: which K - required of them to hide. Encoding by merge
rank is not the best use of a vocabulary, and a set chosen for it is not the best set. Here every
chunk is cut into the fewest visible tokens, and a token is worth what the corpus loses without it.
All candidates start visible; those worth least are hidden, a few at a time, until the budget is
met. A second step swaps hidden for visible tokens as long as that helps.

Native code measures losses and gains (:class:`prunedbpe._core.FewestTokens`); what to do about them
is decided here. Plain Python: :mod:`prunedbpe.reference.fewest_tokens`. ``docs/concepts/fewest.md``
explains the method and what was measured.
"""

from __future__ import annotations

import base64
import itertools
from dataclasses import asdict, dataclass

import numpy as np

from prunedbpe import _core
from prunedbpe._support.checkpoint import NO_CHECKPOINT, Checkpoint
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import thread_count
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import SettingsError
from prunedbpe.merges import MergeTable, replay, replay_by_source
from prunedbpe.types import BYTE_COUNT, BoolArray, FloatArray, Int64Array, Settings
from prunedbpe.visibility.choice import AutoChoice, best_on_validation, describe_rule
from prunedbpe.visibility.exposure import total_tokens
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.source_values import (
    CAUTIOUS,
    TRUSTING,
    ValueRule,
    describe_gains,
    harm_nobody,
    is_harmed,
)

HIDDEN_AT_ONCE = 0.02
"""Share of the tokens still to be hidden that are hidden before losses are measured again. Hiding
two tokens at once is wrong where one could stand in for the other. On 57 MB at 16,000 tokens, 15 %
costs 0.04 percentage points of the gain, 5 % 0.01, and 2 % 0.002."""

LEAST_AT_ONCE = 1 / 1000
"""The same as a share of the visible tokens, for the last rounds."""

SWAPPED_FOR_GUARD = 0.05
"""Share of the visible tokens that are swapped when a source weighs more than before."""

SWAPPED_FIRST, SWAPPED_LAST = 0.1, 0.015
"""Shares of the visible tokens that refinement swaps: the first attempt, and when to stop."""

WORTH_REPEATING = 5e-5
"""Refinement repeats a swap that shortens the corpus by at least this share."""

_STEP_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class FewestChoice:
    """Visible tokens for the shortest segmentation.

    Attributes:
        visible: By rank, bytes first.
        lengths: Fewest tokens of every source.
    """

    visible: BoolArray
    lengths: Int64Array


class FewestCorpus:
    """A corpus cut into the fewest visible tokens, and what each token is worth to it.

    Args:
        merges: The candidates; all are hidden at first.
        sources: The corpus.
        threads: One per core by default. No number depends on it.

    >>> from prunedbpe import ChunkCounts
    >>> merges = MergeTable.from_pairs([(97, 98), (256, 99)])  # ab, abc
    >>> counts = ChunkCounts.from_mapping({b"abc": 2, b"abab": 1})
    >>> corpus = FewestCorpus(merges, SourceCounts.single(counts))
    >>> corpus.flip([256, 257])
    >>> corpus.lengths.tolist()  # abc, abc, ab ab
    [4]
    >>> corpus.losses[256:].tolist()  # without ab: a b a b; without abc: ab c, ab c
    [[2], [2]]
    """

    def __init__(
        self, merges: MergeTable, sources: SourceCounts, *, threads: int | None = None
    ) -> None:
        strings = merges.token_bytes
        self.visible: BoolArray = np.arange(len(strings)) < BYTE_COUNT
        self._source_count = len(sources)
        self._native = _core.FewestTokens(
            *sources.total.columns[:3],
            sources.offsets,
            sources.sources,
            sources.counts,
            len(sources),
            np.frombuffer(b"".join(strings), np.uint8),
            np.cumsum([0, *map(len, strings)], dtype=np.int64),
            thread_count(threads),
        )

    def flip(self, ranks: Int64Array | list[int]) -> None:
        """Hide the visible ones among some candidates, and show the hidden ones."""
        self._native.flip(np.asarray(ranks, np.uint32))
        while not self._native.settle(_STEP_SECONDS):
            pass  # back in Python, so that Ctrl-C acts
        self.visible[ranks] ^= True

    def show(self, visible: BoolArray) -> None:
        """Make just these tokens visible."""
        self.flip(np.flatnonzero(self.visible != visible))

    @property
    def losses(self) -> Int64Array:
        """By rank and source: how many more tokens it has without a visible token."""
        return self._native.losses().reshape(-1, self._source_count)

    def loss_values(self, rule: ValueRule, weights: FloatArray) -> FloatArray:
        """By rank: what its losses are worth; as ``rule.values(losses, weights)``, but faster."""
        return self._native.loss_values(weights, rule.exponent)

    @property
    def gains(self) -> Int64Array:
        """By rank and source: how many fewer tokens it has with a hidden token."""
        return self._native.gains().reshape(-1, self._source_count)

    @property
    def lengths(self) -> Int64Array:
        """Fewest tokens of every source."""
        return self._native.lengths()

    @property
    def memory(self) -> int:
        """Bytes held by the native structures."""
        return int(self._native.memory)


class Chooser:
    """Chooses visible tokens for the shortest segmentation of one corpus.

    Args:
        corpus: The corpus, with all candidates.
        required: How many of them are to be visible.
        rule: What a saving is worth.
        progress: Progress reporter; silent by default.
        checkpoint: Keeps the state of a long choice.
    """

    def __init__(
        self,
        corpus: FewestCorpus,
        required: int,
        rule: ValueRule,
        *,
        progress: Progress = SILENT,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        self._corpus = corpus
        self._required = required
        self._rule = rule
        self._prices = rule.prices(len(corpus.visible) - BYTE_COUNT, required)
        self._progress = progress
        self._checkpoint = checkpoint

    def choose(self, standard: Int64Array, weights: FloatArray) -> tuple[FewestChoice, FloatArray]:
        """Choose so that no source is longer than under Standard BPE, then refine.

        Args:
            standard: Tokens of every source under Standard BPE of the same size, by rank.
            weights: What the sources weigh.

        Returns:
            The choice, and the weights that led to it.
        """
        corpus = self._corpus
        state = self._checkpoint.load()
        if state is None or state["rule"] != asdict(self._rule):
            start = np.ones(len(corpus.visible), bool)
        else:
            packed = np.frombuffer(base64.b64decode(state["visible"]), np.uint8)
            start = np.unpackbits(packed, count=len(corpus.visible)).astype(bool)
        corpus.show(start)
        self.eliminate(weights, self._checkpoint)
        attempts = itertools.count()

        def attempt(weights: FloatArray) -> FewestChoice:
            if next(attempts):
                self.swap(int(self._required * SWAPPED_FOR_GUARD), weights)
            return FewestChoice(corpus.visible.copy(), corpus.lengths)

        found, weights = harm_nobody(attempt, standard, weights)
        return self.refine(found, standard, weights), weights

    def eliminate(self, weights: FloatArray, checkpoint: Checkpoint = NO_CHECKPOINT) -> None:
        """Hide the tokens of least value, a few at a time, until the required number is left."""
        corpus = self._corpus
        surplus = int(corpus.visible.sum()) - BYTE_COUNT - self._required
        least = int(self._required * LEAST_AT_ONCE)

        def state() -> Settings:
            packed = base64.b64encode(np.packbits(corpus.visible).tobytes()).decode()
            return {"visible": packed, "rule": asdict(self._rule)}

        with (
            checkpoint.on_interrupt(state),
            self._progress.task("Choosing", total=surplus, unit="tokens") as task,
        ):
            while surplus:
                count = min(surplus, max(1, least, int(surplus * HIDDEN_AT_ONCE)))
                values = self._prices * corpus.loss_values(self._rule, weights)
                ranks = np.flatnonzero(corpus.visible[BYTE_COUNT:]) + BYTE_COUNT
                corpus.flip(ranks[_least(values[ranks], count)])
                surplus -= count
                task.advance(count)
                checkpoint.save(state)

    def swap(self, count: int, weights: FloatArray) -> None:
        """Show the hidden tokens of greatest value, up to a number, and hide as many others."""
        corpus = self._corpus
        values = self._prices * self._rule.values(corpus.gains, weights)
        useful = np.flatnonzero(values > 0)
        corpus.flip(useful[np.lexsort((useful, -values[useful]))[:count]])
        self.eliminate(weights)

    def refine(
        self, found: FewestChoice, standard: Int64Array, weights: FloatArray
    ) -> FewestChoice:
        """Swap hidden for visible tokens as long as that makes the corpus shorter."""
        corpus = self._corpus
        swapped = int(self._required * SWAPPED_FIRST)
        while swapped and swapped >= self._required * SWAPPED_LAST:
            self.swap(swapped, weights)
            before, now = float(found.lengths @ weights), float(corpus.lengths @ weights)
            harms = is_harmed(corpus.lengths, np.maximum(standard, found.lengths), weights).any()
            if now < before and not harms:
                found = FewestChoice(corpus.visible.copy(), corpus.lengths)
            else:
                corpus.show(found.visible)
            if now > before * (1 - WORTH_REPEATING) or harms:
                swapped //= 3
        return found


class FewestChooser:
    """Automatic visibility for the shortest segmentation.

    Args:
        merges: The candidates.
        required: How many learned tokens must be visible.
        policy: The options; its corpora counted.
        threads: One per core by default.
        progress: Progress reporter; silent by default.
        checkpoint: Keeps the state of a long choice.

    Raises:
        SettingsError: The policy has no counted corpus.
    """

    def __init__(
        self,
        merges: MergeTable,
        required: int,
        policy: VisibilityPolicy,
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        self._merges, self._required, self._policy = merges, required, policy
        self._threads, self._progress, self._checkpoint = threads, progress, checkpoint
        sources = policy.sources
        if not isinstance(sources, SourceCounts):
            raise SettingsError(
                "choosing tokens for the shortest segmentation needs the corpus, not only merges",
                hint="give its chunk counts: counts=... in Python, --counts on the command line, "
                "or a run directory",
            )
        self._corpus = FewestCorpus(merges, sources, threads=threads)
        standard = replay_by_source(merges.head(required), sources, threads=threads)
        self._standard = np.array([total_tokens(applied) for applied in standard])

    def choose(self) -> AutoChoice:
        """Choose by the rule of the policy."""
        choice = self._choose(self._policy.rule)
        self._checkpoint.clear()
        return choice

    def choose_validated(self, validation: ChunkCounts) -> AutoChoice:
        """Choose by every rule, and take what makes the validation text shortest."""
        validated = FewestCorpus(
            self._merges, SourceCounts.single(validation), threads=self._threads
        )
        tried = []
        for rule in (CAUTIOUS["shortest"], TRUSTING):
            choice = self._choose(rule)
            self._checkpoint.clear()
            validated.show(_padded(~choice.hidden, len(validated.visible)))
            tried.append((int(validated.lengths.sum()), choice.merge_count, choice))
        standard = replay(self._merges.head(self._required), validation, threads=self._threads)
        return best_on_validation(tried, total_tokens(standard))

    def _choose(self, rule: ValueRule) -> AutoChoice:
        weights = self._policy.weights(rule)
        chooser = Chooser(
            self._corpus,
            self._required,
            rule,
            progress=self._progress,
            checkpoint=self._checkpoint,
        )
        found, raised = chooser.choose(self._standard, weights)
        report = {
            **describe_rule(len(self._merges), self._required, rule),
            **describe_gains(
                self._policy.source_names, found.lengths, self._standard, raised > weights
            ),
        }
        retained = np.flatnonzero(found.visible)[-1] + 1  # nothing is built on a later token
        return AutoChoice(~found.visible[:retained], report, int(found.lengths.sum()))


def _least(values: FloatArray, count: int) -> Int64Array:
    """Where the least values are; of equal ones, the last.

    >>> _least(np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist()
    [1, 3]
    """
    largest = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < largest)
    ties = np.flatnonzero(values == largest)
    return np.concatenate([below, ties[len(ties) - (count - len(below)) :]])


def _padded(visible: BoolArray, size: int) -> BoolArray:
    return np.pad(visible, (0, size - len(visible)))
