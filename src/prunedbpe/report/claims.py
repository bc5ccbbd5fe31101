"""The paper's claims, each checked on the results of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from prunedbpe.report.results import STANDARD, StudyResults

_NAMED = 4


@dataclass(frozen=True)
class Claim:
    """A claim and the comparisons that check it.

    Attributes:
        text: The claim.
        checked: Number of comparisons.
        failures: The comparisons that fail.
    """

    text: str
    checked: int
    failures: list[str]

    @property
    def held(self) -> int:
        """Number of comparisons that hold."""
        return self.checked - len(self.failures)

    @property
    def verdict(self) -> str:
        """``held in all cells``, ``held in 89 % of cells``, or ``nothing to check``.

        Percentages are rounded down, so that 100 % never hides an exception.
        """
        if not self.checked:
            return "nothing to check"
        if not self.failures:
            return "held in all cells"
        return f"held in {100 * self.held // self.checked} % of cells"

    @property
    def evidence(self) -> str:
        """How many comparisons hold, and which do not."""
        text = f"{self.held:,} of {self.checked:,}"
        if self.failures:
            more = len(self.failures) - _NAMED
            named = "; ".join(self.failures[:_NAMED])
            text += f"; not: {named}" + (f"; and {more} more" if more > 0 else "")
        return text


def check_claims(results: StudyResults) -> list[Claim]:
    """Check the paper's claims, and similar ones about automatic visibility."""
    thresholds = results.thresholds
    claims = [
        _claim(
            "Pruning shortens text.",
            _gains(results, thresholds),
        ),
        _claim("A larger threshold gives a larger gain.", _monotone(results)),
        _claim(
            "Tokens that are internal at a smaller threshold are internal at a larger one.",
            _nested(results),
        ),
        _claim("A larger vocabulary does not have fewer internal tokens.", _growing(results)),
        _claim(
            "The minimum-token segmentation is shorter than encoding by rank.",
            _shortest_shorter(results, [STANDARD, *thresholds]),
        ),
        _claim(
            "Pruning still shortens text when both sides use the minimum-token segmentation.",
            _shortest_gains(results, thresholds),
        ),
    ]
    extra = [p for p in results.policies if p not in (STANDARD, *thresholds)]
    for policy in extra:
        claims += [
            _claim(
                f"Beyond the paper: {policy} shortens text.",
                _gains(results, [policy]),
            ),
            _claim(
                f"Beyond the paper: {policy} gains more than every threshold.",
                _beats(results, policy),
            ),
            _claim(
                f"Beyond the paper: {policy} still shortens text in the minimum-token "
                "segmentation.",
                _shortest_gains(results, [policy]),
            ),
        ]
    return claims


Check = tuple[str, bool]
Place = tuple[str, int, str, str]
"""Training corpus, size, policy and encoded corpus: the arguments of ``StudyResults.cell``."""


def _claim(text: str, checks: Iterator[Check]) -> Claim:
    done = list(checks)
    return Claim(text, len(done), [place for place, good in done if not good])


def _places(results: StudyResults, policies: Sequence[str]) -> Iterator[Place]:
    for training in results.trainings:
        for size in results.sizes:
            for corpus in results.trainings:
                for policy in policies:
                    yield training, size, policy, corpus


def _name(place: Place, policy: str | None = None) -> str:
    training, size, own, corpus = place
    return f"{training} → {corpus}, {size:,}, {policy or own}"


def _gains(results: StudyResults, policies: Sequence[str]) -> Iterator[Check]:
    for place in _places(results, policies):
        yield _name(place), results.reduction(*place) > 0


def _monotone(results: StudyResults) -> Iterator[Check]:
    for place in _places(results, [STANDARD]):
        training, size, _, corpus = place
        for smaller, larger in pairwise(results.thresholds):
            gains = [results.reduction(training, size, t, corpus) for t in (smaller, larger)]
            yield _name(place, f"{smaller} to {larger}"), gains[1] > gains[0]


def _nested(results: StudyResults) -> Iterator[Check]:
    for fact in results.facts:
        if fact.holds_smaller is not None:
            yield f"{fact.training}, {fact.vocab_size:,}, {fact.policy}", fact.holds_smaller


def _growing(results: StudyResults) -> Iterator[Check]:
    for training in results.trainings:
        for policy in results.thresholds:
            for smaller, larger in pairwise(results.sizes):
                before = results.fact(training, smaller, policy).internal
                after = results.fact(training, larger, policy).internal
                yield f"{training}, {policy}, {smaller:,} to {larger:,}", after >= before


def _shortest_shorter(results: StudyResults, policies: Sequence[str]) -> Iterator[Check]:
    for place in _places(results, policies):
        cell = results.cell(*place)
        if cell.shortest is not None:
            yield _name(place), cell.shortest < cell.length


def _shortest_gains(results: StudyResults, policies: Sequence[str]) -> Iterator[Check]:
    for place in _places(results, policies):
        if results.cell(*place).shortest is not None:
            yield _name(place), results.shortest_reduction(*place) > 0


def _beats(results: StudyResults, policy: str) -> Iterator[Check]:
    for place in _places(results, [policy]):
        training, size, _, corpus = place
        best = max(results.reduction(training, size, t, corpus) for t in results.thresholds)
        yield _name(place), results.reduction(*place) > best
