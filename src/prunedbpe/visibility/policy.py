"""The visibility policy: every option that decides which tokens a model sees, in one object.

It travels from the command line to the decision (:func:`prunedbpe.training.decide`). On the way,
the corpora it names are counted: :meth:`VisibilityPolicy.counted` replaces them by their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from prunedbpe.corpus import Corpus, CorpusInput
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.counts.sources import SourceKind
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied
from prunedbpe.visibility.threshold import Threshold, check_cap

CANDIDATE_RATIO = 1.6
"""Merges that ``auto`` retains by default, per visible learned token."""

ThresholdLike = Literal["auto"] | str | int | float | Threshold


class PolicyChoices(TypedDict, total=False):
    """The fields of :class:`VisibilityPolicy`, as keyword arguments of ``train`` and ``prune``."""

    threshold: ThresholdLike
    max_train_vocab: int | None
    candidate_ratio: float
    sources: SourceKind | SourceCounts | Sequence[Applied]
    validation: CorpusInput | Corpus | ChunkCounts | Applied | None


@dataclass(frozen=True)
class VisibilityPolicy:
    """How to choose the visible tokens.

    Attributes:
        threshold: ``"40%"`` of the boundary frequency, a count, 0 for Standard BPE, or ``"auto"``.
        max_train_vocab: Upper bound of bytes and learned tokens.
        candidate_ratio: With ``"auto"``: merges to retain per visible learned token.
        sources: With ``"auto"``: what counts as one source of the corpus; or the sources, counted
            or replayed.
        validation: With ``"auto"``: text whose encoded length decides; a corpus, its counts, or
            what the merges do to it.

    >>> VisibilityPolicy("40%").threshold
    Threshold(text='40%', ratio=Fraction(2, 5), count=None)
    >>> VisibilityPolicy("auto", candidate_ratio=0.5)
    Traceback (most recent call last):
    prunedbpe.errors.SettingsError: candidate_ratio is 0.5
    hint: use 1 or more
    """

    threshold: ThresholdLike = "40%"
    max_train_vocab: int | None = None
    candidate_ratio: float = CANDIDATE_RATIO
    sources: SourceKind | SourceCounts | Sequence[Applied] = "files"
    validation: CorpusInput | Corpus | ChunkCounts | Applied | None = None

    def __post_init__(self) -> None:
        if self.threshold != "auto":
            object.__setattr__(self, "threshold", Threshold.parse(self.threshold))
            if self.validation is not None:
                raise SettingsError(
                    f"validation text is given, but the threshold is {self.name}",
                    hint="use the threshold auto, or leave out the validation text",
                )
        if self.candidate_ratio < 1:
            raise SettingsError(
                f"candidate_ratio is {self.candidate_ratio:g}", hint="use 1 or more"
            )

    @classmethod
    def of(cls, policy: VisibilityPolicy | None, choices: PolicyChoices) -> VisibilityPolicy:
        """Return the policy, or the default one, with single fields replaced."""
        return replace(policy or cls(), **choices)

    @property
    def is_auto(self) -> bool:
        """Whether the choice is automatic, not the paper's threshold."""
        return not isinstance(self.threshold, Threshold)

    @property
    def source_kind(self) -> SourceKind:
        """What counts as one source of a corpus that is still to be counted."""
        if not isinstance(self.sources, str):
            raise SettingsError(
                "the sources are counted already",
                hint="give train the kind of source: 'files', 'folders' or 'corpus'",
            )
        return self.sources

    @property
    def name(self) -> str:
        """The threshold as a user writes it."""
        return self.threshold.text if isinstance(self.threshold, Threshold) else "auto"

    def check(self, required: int) -> None:
        """Validate the policy for a number of visible learned tokens, before any text is read.

        Raises:
            SettingsError: The cap leaves no room for them.
        """
        check_cap(required, self.max_train_vocab)

    def counted(
        self, sources: SourceCounts | None, validation: ChunkCounts | None
    ) -> VisibilityPolicy:
        """Return the policy with its corpora replaced by their counts."""
        return replace(
            self,
            sources=self.sources if sources is None else sources,
            validation=self.validation if validation is None else validation,
        )
