"""The choice of merges and hidden tokens that makes text shortest: ``threshold="auto"``.

Given K merges, exactly K - required of their tokens must be hidden. Hiding t costs its flow times
one less than the number of visible tokens it expands into; the cheapest goes first, and makes its
parts dearer (native, :func:`prunedbpe._core.hide_cheapest`). On the corpus itself more merges are
nearly always better, up to about twice the required ones; on other text they are not, because a
corpus over-states whatever its few sources happen to repeat. So by default exposure is discounted
by how far a token is spread over the sources, a token that Standard BPE would not have must be
worth a little more than one it has, and K stays at 1.6 times the required merges. With text to
validate on, K and the discount are chosen by its encoded length instead.

``docs/concepts/automatic-visibility.md`` has the study behind these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prunedbpe import _core
from prunedbpe.arrays import np
from prunedbpe.count import ChunkCounts, SourceCounts
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.learn import Applied, MergeTable, replay
from prunedbpe.types import BYTE_COUNT, BoolArray, FloatArray, Settings
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.prune import Threshold
from prunedbpe.visibility.reallocate import Extend, check_cap, hidden_by_threshold, reallocate
from prunedbpe.visibility.spread import effective_sources, replay_sources

CANDIDATE_RATIO = 1.6
"""Merges retained by default, per required one."""

SPREAD_EXPONENT = 0.35
"""Exposure counts for (effective sources / sources) to this power."""

NEWCOMER_DISCOUNT = 0.15
"""What a token beyond those of Standard BPE is worth less."""

VALIDATED_RATIOS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.75, 2.0, 2.25, 2.5)
"""Merges tried with text to validate on, per required one."""

VALIDATED_MARGIN = 64
"""A small vocabulary needs more than a ratio: at least so many merges beyond the required ones."""

VALIDATED_WORK = 1_000_000
"""The paper's rule is tried as well, with every threshold there is while their number times the
number of merges stays below this, and with evenly spaced ones beyond (16 or more)."""


@dataclass(frozen=True)
class Discount:
    """How much less an exposure counts than it says.

    Attributes:
        spread_exponent: 0 trusts the corpus; higher values prefer tokens of many sources.
        newcomer: What tokens beyond those of Standard BPE are worth less, from 0 to 1.
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
    extend: Extend,
    required: int,
    *,
    sources: SourceCounts | Sequence[Applied] = (),
    validation: ChunkCounts | Applied | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
    discount: Discount | None = None,
    max_train_vocab: int | None = None,
) -> AutoChoice:
    """Choose how many merges to retain and which of their tokens to hide.

    Args:
        extend: Makes merges known, see :mod:`prunedbpe.visibility.reallocate`.
        required: How many learned tokens must be visible.
        sources: The sources of the corpus, counted, or what the merges of ``extend`` do to each.
        validation: Text the user cares about, counted or replayed; its length then decides.
        candidate_ratio: Merges to retain per required one, where nothing is validated.
        discount: How far to distrust the corpus; where validated, both with and without is tried.
        max_train_vocab: Upper bound of bytes and learned tokens.

    Raises:
        InsufficientCandidatesError: Fewer pairs occur twice than tokens must be visible.
    """
    limit = None if max_train_vocab is None else max_train_vocab - BYTE_COUNT
    check_cap(required, max_train_vocab)
    if candidate_ratio < 1:
        raise SettingsError(f"candidate_ratio is {candidate_ratio}", hint="give 1 or more")
    wanted = int(required * candidate_ratio)
    if validation is not None:
        wanted = max(int(required * max(VALIDATED_RATIOS)), required + VALIDATED_MARGIN)
    if limit is not None:
        wanted = min(wanted, limit)
    merges = extend(wanted)
    if len(merges) < required:
        raise InsufficientCandidatesError(
            f"{len(merges)} merges are known, {required} learned tokens must be visible, and "
            + ("no pair is left that occurs twice" if merges.exhausted else "no more were learned"),
            hint="lower the vocabulary size, learn more merges, or use a larger corpus",
        )
    available = min(len(merges), wanted)
    if isinstance(sources, SourceCounts):
        sources = replay_sources(merges.head(available), sources)
    if isinstance(validation, ChunkCounts):
        validation = replay(merges, validation)
    report: Settings = {
        "candidates_learned": len(merges),
        "sources": len(sources),
        "stopped": _why_stopped(merges, available, wanted, limit),
    }
    if validation is None:
        discount = discount or Discount()
        worth = prices(merges, available, required, sources, discount)
        hidden = hide(merges, merges.applied, available, required, worth)
        report |= {"chosen_by": "rule", **_describe(available, required, discount)}
        return AutoChoice(hidden, report)

    tried = list(_validated(merges, available, required, sources, validation, discount))
    by_threshold = list(_thresholds(merges.head(limit or len(merges)), required, validation))
    if by_threshold:  # only the best is worth naming
        tried.append(min(by_threshold, key=lambda choice: choice[:2]))
    length, _, hidden, description = min(tried, key=lambda choice: choice[:2])
    report |= {
        "chosen_by": "validation",
        **description,
        "validation_length": length,
        "validation_standard_length": total_tokens(validation, required),
        "tried": [
            {**description, "validation_length": length} for length, *_, description in tried
        ],
    }
    return AutoChoice(hidden, report)


def _validated(
    merges: MergeTable,
    available: int,
    required: int,
    sources: Sequence[Applied],
    validation: Applied,
    discount: Discount | None,
) -> Iterator[tuple[int, int, BoolArray, Settings]]:
    """Every choice worth trying: length on the text to validate on, merges, hidden, what it is."""
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
    # So many tokens must have the exposure, which is at most what their merges replaced.
    highest = int(np.sort(merges.applied.replacements)[-required])
    most = max(16, VALIDATED_WORK // len(merges))
    for count in np.unique(np.linspace(1, highest, min(most, highest)).astype(int)).tolist():
        try:
            found = reallocate(lambda _: merges, required, Threshold.parse(count))
        except InsufficientCandidatesError:
            continue
        hidden = hidden_by_threshold(found, required)
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
