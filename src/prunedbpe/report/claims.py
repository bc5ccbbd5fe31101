"""The paper's claims, each checked on the results of a study: held, or not held and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from prunedbpe.report.results import STANDARD, StudyResults

_NAMED = 4


@dataclass(frozen=True)
class Claim:
    """A statement about every cell it names.

    Attributes:
        text: The statement.
        checked: How many comparisons it makes.
        failures: Where it fails.
    """

    text: str
    checked: int
    failures: list[str]

    @property
    def verdict(self) -> str:
        """``held``, ``not held``, or ``nothing to check``."""
        if not self.checked:
            return "nothing to check"
        return "not held" if self.failures else "held"

    @property
    def evidence(self) -> str:
        """In how many comparisons it holds, and where it does not."""
        good = self.checked - len(self.failures)
        told = f"{good} of {self.checked}"
        if self.failures:
            more = len(self.failures) - _NAMED
            named = "; ".join(self.failures[:_NAMED])
            told += f"; not: {named}" + (f"; and {more} more" if more > 0 else "")
        return told


def check_claims(results: StudyResults) -> list[Claim]:
    """Check every claim of the paper's text, and the same of automatic visibility."""
    thresholds = results.thresholds
    claims = [
        _claim(
            "Pruning shortens text in every cell: each training, size, threshold and corpus.",
            _gains(results, thresholds),
        ),
        _claim("A larger threshold gives a larger gain in every cell.", _monotone(results)),
        _claim(
            "The internal tokens of a smaller threshold are internal at a larger one too.",
            _nested(results),
        ),
        _claim("Internal tokens do not become fewer when the vocabulary grows.", _growing(results)),
        _claim(
            "The minimum-token segmentation is shorter than the native one in every cell.",
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
                f"Beyond the paper: {policy} shortens text in every cell.",
                _gains(results, [policy]),
            ),
            _claim(
                f"Beyond the paper: {policy} gains more than every threshold in every cell.",
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


def _claim(text: str, checks: Iterator[Check]) -> Claim:
    done = list(checks)
    return Claim(text, len(done), [place for place, good in done if not good])


def _everywhere(
    results: StudyResults, check: Callable[[str, int, str], Iterator[Check]]
) -> Iterator[Check]:
    for training in results.trainings:
        for size in results.sizes:
            for corpus in results.trainings:
                yield from check(training, size, corpus)


def _place(training: str, size: int, corpus: str, policy: str) -> str:
    return f"{training} → {corpus}, {size:,}, {policy}"


def _gains(results: StudyResults, policies: list[str]) -> Iterator[Check]:
    def check(training: str, size: int, corpus: str) -> Iterator[Check]:
        for policy in policies:
            good = results.reduction(training, size, policy, corpus) > 0
            yield _place(training, size, corpus, policy), good

    return _everywhere(results, check)


def _monotone(results: StudyResults) -> Iterator[Check]:
    def check(training: str, size: int, corpus: str) -> Iterator[Check]:
        for smaller, larger in pairwise(results.thresholds):
            good = results.reduction(training, size, larger, corpus) > results.reduction(
                training, size, smaller, corpus
            )
            yield _place(training, size, corpus, f"{smaller} to {larger}"), good

    return _everywhere(results, check)


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


def _shortest_shorter(results: StudyResults, policies: list[str]) -> Iterator[Check]:
    def check(training: str, size: int, corpus: str) -> Iterator[Check]:
        for policy in policies:
            cell = results.cell(training, size, policy, corpus)
            if cell.shortest is not None:
                yield _place(training, size, corpus, policy), cell.shortest < cell.length

    return _everywhere(results, check)


def _shortest_gains(results: StudyResults, policies: list[str]) -> Iterator[Check]:
    def check(training: str, size: int, corpus: str) -> Iterator[Check]:
        for policy in policies:
            if results.cell(training, size, policy, corpus).shortest is not None:
                good = results.shortest_reduction(training, size, policy, corpus) > 0
                yield _place(training, size, corpus, policy), good

    return _everywhere(results, check)


def _beats(results: StudyResults, policy: str) -> Iterator[Check]:
    def check(training: str, size: int, corpus: str) -> Iterator[Check]:
        best = max(
            (results.reduction(training, size, t, corpus) for t in results.thresholds), default=None
        )
        if best is not None:
            good = results.reduction(training, size, policy, corpus) > best
            yield _place(training, size, corpus, policy), good

    return _everywhere(results, check)
