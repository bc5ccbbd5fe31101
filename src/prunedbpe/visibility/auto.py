"""The choice of merges and hidden tokens that makes text shortest: ``threshold="auto"``.

In: merges that can be extended, the counted sources of their corpus, a budget. Out: how many merges
K to retain, and which K - required of their tokens to hide, for encoding by rank
(:mod:`prunedbpe.visibility.by_rank`) or into the fewest tokens
(:mod:`prunedbpe.visibility.fewest`).

A corpus overstates whatever its few sources happen to repeat. So a token is worth more the more
sources share it, a token beyond those of Standard BPE must be worth a little more than one within,
and no source may get longer than under Standard BPE (:mod:`prunedbpe.visibility.source_values`).
With validation text, its encoded length decides how far to trust the corpus.

``docs/concepts/visibility.md`` has the study that led to the numbers.
"""

from __future__ import annotations

from prunedbpe._support.checkpoint import NO_CHECKPOINT, Checkpoint
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Candidates, MergeTable
from prunedbpe.types import BYTE_COUNT, Settings
from prunedbpe.visibility.by_rank import VALIDATED_MARGIN, VALIDATED_RATIOS, RankChooser
from prunedbpe.visibility.choice import AutoChoice
from prunedbpe.visibility.fewest import FewestChooser
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.threshold import check_cap, too_few_merges


def choose_visibility(
    candidates: Candidates,
    required: int,
    policy: VisibilityPolicy,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> AutoChoice:
    """Choose how many merges to retain and which of their tokens to hide.

    Args:
        candidates: A finished merge table, or a learner.
        required: How many learned tokens must be visible.
        policy: The options; its corpora counted.
        threads: One per core by default.
        progress: Progress reporter; silent by default.
        checkpoint: Keeps the state of a choice for the shortest segmentation.

    Raises:
        InsufficientCandidatesError: Fewer pairs occur twice than tokens must be visible.
        SettingsError: The shortest segmentation needs the corpus, and it is not given.
    """
    check_cap(required, policy.max_train_vocab)
    wanted = _wanted_merges(required, policy)
    known = candidates.reach(wanted)
    if len(known) < required:
        raise too_few_merges(known, required)
    merges = known.head(wanted)
    chooser: RankChooser | FewestChooser
    if policy.segmentation == "rank":
        chooser = RankChooser(merges, required, policy, threads=threads)
    else:
        chooser = FewestChooser(
            merges, required, policy, threads=threads, progress=progress, checkpoint=checkpoint
        )
    report: Settings = {
        "segmentation": policy.segmentation,
        "chosen_by": "rule" if policy.validation is None else "validation",
        "candidates_learned": len(known),
        "stopped": _why_stopped(merges, wanted, policy),
        **policy.describe_sources(),
    }
    if isinstance(chooser, FewestChooser):  # it reports its own progress
        return _choose(chooser, policy).reported(report)
    with progress.task("Choosing", total=None, unit="tokens") as task:
        choice = _choose(chooser, policy)
        task.advance(required)
    return choice.reported(report)


def _choose(chooser: RankChooser | FewestChooser, policy: VisibilityPolicy) -> AutoChoice:
    if policy.validation is None:
        return chooser.choose()
    if not isinstance(policy.validation, ChunkCounts):
        raise SettingsError(
            "the validation text is not counted", hint="give validation=prunedbpe.count(text)"
        )
    return chooser.choose_validated(policy.validation)


def _wanted_merges(required: int, policy: VisibilityPolicy) -> int:
    wanted = int(required * policy.ratio)
    if policy.validation is not None and policy.segmentation == "rank":
        wanted = max(int(required * max(VALIDATED_RATIOS)), required + VALIDATED_MARGIN)
    limit = policy.max_train_vocab
    return wanted if limit is None else min(wanted, limit - BYTE_COUNT)


def _why_stopped(merges: MergeTable, wanted: int, policy: VisibilityPolicy) -> str:
    if len(merges) < wanted:
        return "no pair is left that occurs twice" if merges.exhausted else "no more merges given"
    at_limit = BYTE_COUNT + wanted == policy.max_train_vocab
    return "max_train_vocab reached" if at_limit else "enough candidates"
