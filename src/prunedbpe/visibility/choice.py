"""What automatic visibility chose, and why; and the choice between several by validation text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from prunedbpe.types import BYTE_COUNT, BoolArray, Settings
from prunedbpe.visibility.source_values import GAIN_FIELDS, ValueRule


@dataclass(frozen=True, eq=False)
class AutoChoice:
    """What automatic visibility chose, and why.

    Attributes:
        hidden: By rank, bytes first, of the retained merges.
        report: The choice as a JSON object, for settings files and messages.
        length: Tokens of the training corpus.
    """

    hidden: BoolArray
    report: Settings
    length: int

    @property
    def merge_count(self) -> int:
        """Merges retained."""
        return len(self.hidden) - BYTE_COUNT

    def reported(self, more: Settings) -> AutoChoice:
        """Return the choice with more to report."""
        return replace(self, report={**more, **self.report})


def best_on_validation(tried: list[tuple[int, int, AutoChoice]], standard: int) -> AutoChoice:
    """Return the choice that makes the validation text shortest; of equals, with fewest merges.

    Args:
        tried: Validation length, merges and choice of every attempt.
        standard: Tokens of the validation text under Standard BPE.
    """
    length, _, best = min(tried, key=lambda choice: choice[:2])
    rules = [
        {name: value for name, value in choice.report.items() if name not in GAIN_FIELDS}
        for _, _, choice in tried
    ]
    validated = {
        "validation_length": length,
        "validation_standard_length": standard,
        "tried": [
            {**rule, "validation_length": length}
            for rule, (length, _, _) in zip(rules, tried, strict=True)
        ],
    }
    return best.reported(validated)


def describe_rule(merge_count: int, required: int, rule: ValueRule) -> Settings:
    """How tokens were valued, as JSON."""
    return {
        "candidates": merge_count,
        "candidate_ratio": round(merge_count / required, 4) if required else 1.0,
        "exponent": rule.exponent,
        "newcomer_discount": rule.newcomer_discount,
    }
