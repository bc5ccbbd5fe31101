"""The whole run, corpus to tokenizer, as a list of steps: the paper's Algorithm 1.

:func:`train` starts from text, :func:`prune_run` from a run directory, :func:`prune` from a merge
table. All three end in the same two steps: :func:`decide` which tokens are visible, then build
the tokenizer. Train once, prune many times.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prunedbpe._support.arguments import wrong_type
from prunedbpe._support.checkpoint import NO_CHECKPOINT, Checkpoint
from prunedbpe._support.memory import machine_memory
from prunedbpe._support.progress import SILENT, Progress, ProgressLike, as_progress
from prunedbpe._support.signatures import takes_options
from prunedbpe._support.sizes import format_size, parse_size
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.counts import ChunkCounts, SourceCounts, count, count_by_source, estimate
from prunedbpe.counts.bounded import LEAST_MEMORY
from prunedbpe.counts.chunk_counts import check_min_chunk_count
from prunedbpe.counts.estimating import SAMPLE_BYTES
from prunedbpe.errors import CorpusError, SettingsError
from prunedbpe.merges import Candidates, Learner, MergeTable, learning_memory
from prunedbpe.merges.merge_table import MAKE_MERGES
from prunedbpe.merges.run_directory import RunDirectory
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.shortest import shortest_lengths
from prunedbpe.types import (
    BYTE_COUNT,
    DEFAULT_SPECIAL_TOKENS,
    BoolArray,
    Segmentation,
    Settings,
)
from prunedbpe.visibility.auto import choose_visibility
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.policy import PolicyChoices, VisibilityPolicy
from prunedbpe.visibility.threshold import Threshold, reallocate, required_tokens
from prunedbpe.vocabulary import Vocabulary, check_special_tokens

if TYPE_CHECKING:
    from typing_extensions import Unpack

_WORTH_SAMPLING = 2_000_000_000
"""Bytes on disk from which on a sample is read before counting."""

_SAMPLED_SHARE = 200
"""One byte of so many is sampled then; it took 1 to 2 % of the time to count 3 GB of text."""

_logger = logging.getLogger("prunedbpe")


@takes_options(VisibilityPolicy)
def train(
    corpus: CorpusInput | Corpus,
    vocab_size: int,
    *,
    policy: VisibilityPolicy | None = None,
    pretokenizer: str | Pretokenizer = "paper",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    min_chunk_count: int = 1,
    threads: int | None = None,
    memory: str | int | None = None,
    run_dir: str | Path | None = None,
    resume: bool = True,
    checkpoint_seconds: float = 30.0,
    checkpoint_at: Collection[int] = (),
    progress: ProgressLike = None,
    **choices: Unpack[PolicyChoices],
) -> Tokenizer:
    """Train a tokenizer.

    Args:
        corpus: Paths, an iterable of texts, Arrow data, or a :class:`~prunedbpe.corpus.Corpus`.
        vocab_size: All a model sees: bytes, visible learned tokens, special tokens.
        policy: How to choose the visible tokens; ``VisibilityPolicy("40%")`` by default.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.
        special_tokens: Reserved tokens, in the order of their ids.
        min_chunk_count: An approximation: drop chunks that occur fewer times before learning; 1 is
            exact.
        threads: One per core by default; the result does not depend on it.
        memory: How much memory the run may take, such as ``4GB``. Counting takes half of the
            machine's by default, and what does not fit goes to disk. Learning needs the counts in
            memory and is refused if they do not fit. The result does not depend on it.
        run_dir: Directory for counts and checkpoints; a run found there is resumed.
        resume: Whether to resume the run, or to start the run directory over.
        checkpoint_seconds: Interval between two checkpoints.
        checkpoint_at: Merge counts at which to write a checkpoint as well.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        **choices: Fields of the policy, for instance ``threshold="auto"``.

    Raises:
        CorpusError: No text was read.
        InsufficientCandidatesError: Too few tokens reach the threshold; checkpoints are kept.
        RunMismatchError: The run directory belongs to another corpus or other settings.
        SettingsError: The memory is too small; the message says how much is needed.

    >>> tok = train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> [tok.token_bytes(i) for i in (256, 257)]
    [b'at', b'th']
    """
    progress = as_progress(progress)
    # 1. Validate all settings before reading the corpus.
    policy = VisibilityPolicy.of(policy, choices)
    special_tokens = check_special_tokens(special_tokens)
    required = required_tokens(vocab_size, special_tokens)
    policy.check(required)
    pretokenizer = find_pretokenizer(pretokenizer)
    corpus = open_corpus(corpus)
    check_min_chunk_count(min_chunk_count, corpus.shard)
    run = None if run_dir is None else RunDirectory(run_dir)
    if run is not None:
        run.claim(corpus, pretokenizer, min_chunk_count=min_chunk_count, resume=resume)

    # 2. Count the chunks, by source if the policy compares sources.
    if min_chunk_count == 1 and (run is None or not run.counts_path.exists()):
        _warn_of_memory(corpus, pretokenizer, required, memory, threads)
    how: Any = {
        "pretokenizer": pretokenizer,
        "min_chunk_count": min_chunk_count,
        "threads": threads,
        "memory": memory,
        "progress": progress,
    }
    sources = None
    if policy.is_auto:
        kind = policy.source_kind
        if run is not None:
            sources = run.sources(corpus, kind, **how)
        else:
            sources = count_by_source(corpus, sources=kind, **how)
        counts = sources.total
    elif run is not None:
        counts = run.counts(corpus, **how)
    else:
        counts = count(corpus, **how)
    if required and not len(counts):
        raise CorpusError(counts.why_empty(), hint="check the inputs and their encoding")
    _check_memory(counts, required, memory, threads)
    validation = _count_validation(policy, pretokenizer, threads, progress)
    policy = policy.counted(sources, validation)

    # 3. Learn merges, as many as the decision asks for: Standard BPE, then reallocation.
    learner = Learner(
        counts,
        None if run is None else run.merges(counts),
        threads=threads,
        progress=progress,
        checkpoints=None if run is None else run.checkpointer(checkpoint_seconds, checkpoint_at),
    )
    decision = decide(
        learner,
        required,
        policy,
        counts=counts,
        threads=threads,
        progress=progress,
        checkpoint=_checkpoint(run, required, policy, checkpoint_seconds),
    )

    # 4. Export: assign token ids, keep internal tokens as merge nodes.
    if run is not None:
        run.remember_size(vocab_size)
    return decision.tokenizer(special_tokens)


@takes_options(VisibilityPolicy)
def prune_run(
    run_dir: str | Path,
    vocab_size: int,
    *,
    policy: VisibilityPolicy | None = None,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    threads: int | None = None,
    checkpoint_seconds: float = 30.0,
    progress: ProgressLike = None,
    **choices: Unpack[PolicyChoices],
) -> Tokenizer:
    """Make a tokenizer out of a run directory; learns only if the run has too few merges.

    Args:
        run_dir: What :func:`train` kept there.
        vocab_size: As for :func:`train`.
        policy: As for :func:`train`. With ``"auto"``, a run that was not counted by source has no
            sources to compare.
        special_tokens: As for :func:`train`.
        threads: As for :func:`train`.
        checkpoint_seconds: As for :func:`train`.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        **choices: Fields of the policy.

    Raises:
        FormatError: The directory holds no run, or one that was stopped while counting.
        InsufficientCandidatesError: Too few tokens reach the threshold; checkpoints are kept.
    """
    progress = as_progress(progress)
    policy = VisibilityPolicy.of(policy, choices)
    special_tokens = check_special_tokens(special_tokens)
    required = required_tokens(vocab_size, special_tokens)
    policy.check(required)
    run = RunDirectory(run_dir)
    run.check_counted()
    counts = ChunkCounts.load(run.counts_path) if policy.segmentation == "shortest" else None
    policy = policy.counted(
        run.known_sources() if policy.is_auto else None,
        _count_validation(policy, run.pretokenizer(), threads, progress),
    )
    learner = Learner(
        counts or (lambda: ChunkCounts.load(run.counts_path)),
        run.merges(),
        threads=threads,
        progress=progress,
        checkpoints=run.checkpointer(checkpoint_seconds),
    )
    decision = decide(
        learner,
        required,
        policy,
        counts=counts,
        threads=threads,
        progress=progress,
        checkpoint=_checkpoint(run, required, policy, checkpoint_seconds),
    )
    return decision.tokenizer(special_tokens)


@takes_options(VisibilityPolicy)
def prune(
    merges: Candidates,
    vocab_size: int,
    *,
    policy: VisibilityPolicy | None = None,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    counts: ChunkCounts | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
    **choices: Unpack[PolicyChoices],
) -> Tokenizer:
    """Make a tokenizer out of learned merges, as :func:`train` would.

    Args:
        merges: Candidates, more than will be visible. If a table ends before the corpus is
            exhausted, the result is that of training with ``max_train_vocab`` there. A
            :class:`~prunedbpe.merges.Learner` learns more as needed.
        vocab_size: All a model sees: bytes, visible learned tokens, special tokens.
        policy: How to choose the visible tokens; ``VisibilityPolicy("40%")`` by default.
        special_tokens: Reserved tokens, in the order of their ids.
        counts: The corpus the merges were learned on. ``threshold="auto"`` with
            ``segmentation="shortest"`` needs it, unless the policy has counted sources.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        **choices: Fields of the policy, for instance ``threshold="auto"``.

    Raises:
        InsufficientCandidatesError: There are too few merges; learn more.
        SettingsError: The shortest segmentation needs the corpus, and it is not given.

    >>> from prunedbpe import ChunkCounts, learn
    >>> merges = learn(ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}), 4)
    >>> pruned = prune(merges, 259, threshold=2, special_tokens=())
    >>> [pruned.vocabulary.strings[rank] for rank in (256, 257, 258, 259)]
    [b'at', b'th', b'the', b'cat']
    >>> pruned.vocabulary.visible[256:].tolist()
    [True, False, True, True]
    """
    progress = as_progress(progress)
    policy = VisibilityPolicy.of(policy, choices)
    special_tokens = check_special_tokens(special_tokens)
    required = required_tokens(vocab_size, special_tokens)
    if not hasattr(merges, "reach"):
        raise wrong_type("merges is a MergeTable or a Learner", merges, MAKE_MERGES)
    decision = decide(merges, required, policy, counts=counts, threads=threads, progress=progress)
    return decision.tokenizer(special_tokens)


@dataclass(frozen=True, eq=False)
class Decision:
    """Which tokens are visible.

    Attributes:
        merges: All merges known by then; the retained ones come first.
        hidden: By rank of the retained merges, bytes first, whether the token is hidden.
        segmentation: How the tokenizer cuts text.
        training: What the tokenizer remembers of its training.
    """

    merges: MergeTable
    hidden: BoolArray
    segmentation: Segmentation
    training: Settings

    @property
    def retained(self) -> int:
        """How many merges the tokenizer keeps."""
        return len(self.hidden) - BYTE_COUNT

    def visible_strings(self) -> list[bytes]:
        """What the visible tokens spell, bytes first."""
        strings = self.merges.token_bytes
        return [strings[rank] for rank in np.flatnonzero(~self.hidden)]

    def tokenizer(self, special_tokens: tuple[str, ...]) -> Tokenizer:
        """Build the tokenizer: token ids for visible tokens, internal ones as merge nodes."""
        pairs = self.merges.pairs[: self.retained].copy()
        vocabulary = Vocabulary(pairs, ~self.hidden, special_tokens)
        return Tokenizer(vocabulary, self.merges.pretokenizer, self.training, self.segmentation)


def decide(
    candidates: Candidates,
    required: int,
    policy: VisibilityPolicy,
    *,
    counts: ChunkCounts | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Decision:
    """Choose the visible tokens, learning more merges as needed.

    Args:
        candidates: A finished merge table, or a learner.
        required: How many learned tokens are to be visible.
        policy: The options; its corpora counted.
        counts: The corpus the merges are learned on, for the shortest segmentation.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        checkpoint: Keeps the state of a long choice.

    Raises:
        InsufficientCandidatesError: Too few tokens qualify.
        SettingsError: The shortest segmentation needs the corpus, and it is not given.
    """
    progress = as_progress(progress)
    decided: Settings = {"threshold": policy.name, "max_train_vocab": policy.max_train_vocab}
    if counts is None and isinstance(policy.sources, SourceCounts):
        counts = policy.sources.total
    if isinstance(policy.threshold, Threshold):
        found = reallocate(candidates, required, policy.threshold, policy.max_train_vocab)
        merges, hidden = found.merges, found.hidden(required)
        decided["min_exposure"] = found.min_exposure
        decided["trained_vocab"] = BYTE_COUNT + len(merges)
    else:
        if counts is not None and not isinstance(policy.sources, SourceCounts):
            policy = policy.counted(SourceCounts.single(counts), None)
        choice = choose_visibility(
            candidates, required, policy, threads=threads, progress=progress, checkpoint=checkpoint
        )
        merges, hidden = candidates.reach(choice.merge_count), choice.hidden
        decided["auto"] = choice.report
    decision = Decision(merges, hidden, policy.segmentation, decided)
    decided |= training_figures(decision, required, counts, threads)
    return decision


def training_figures(
    decision: Decision,
    required: int,
    counts: ChunkCounts | None = None,
    threads: int | None = None,
) -> Settings:
    """What a decision comes to on the training corpus.

    The length in the shortest segmentation needs the counts.
    """
    merges, hidden = decision.merges, decision.hidden
    figures: Settings = {
        "boundary_frequency": int(merges.frequencies[required - 1]) if required else 0,
        "corpus": merges.corpus.as_settings(),
        "min_chunk_count": merges.min_chunk_count,
        "standard_encoded_length": total_tokens(merges.applied, required),
    }
    if decision.segmentation == "rank":
        exposures = exposure(merges.pairs, merges.applied, decision.retained)
        visible_learned = exposures[BYTE_COUNT:][~hidden[BYTE_COUNT:]]
        figures["least_visible_exposure"] = int(visible_learned.min()) if required else 0
        length = encoded_length(merges.pairs, merges.applied, hidden, exposures)
        return {**figures, "encoded_length": length}
    if counts is None:  # the merges alone do not tell
        return figures
    strings = decision.visible_strings()
    return {**figures, "encoded_length": shortest_lengths(strings, counts, threads=threads)}


def _checkpoint(
    run: RunDirectory | None, required: int, policy: VisibilityPolicy, seconds: float
) -> Checkpoint:
    """Where the choice for the shortest segmentation keeps its state: in the run directory."""
    if run is None:
        return NO_CHECKPOINT
    identity = {
        "required": required,
        "rule": asdict(policy.rule),
        "ratio": policy.ratio,
        "max_train_vocab": policy.max_train_vocab,
        "weights": policy.weights(policy.rule).tolist(),
        **policy.describe_sources(),
    }
    return Checkpoint(run.choice_path, identity, every_seconds=seconds)


def memory_to_learn(
    chunks: int, unique_bytes: int, required: int, threads: int | None = None
) -> int:
    """Predict the memory of learning, the counts included, in bytes.

    Args:
        chunks: Unique chunks of the corpus.
        unique_bytes: Their bytes.
        required: How many learned tokens are to be visible; twice as many merges may be learned.
        threads: One per core by default.
    """
    table = unique_bytes + 24 * chunks
    return table + learning_memory(chunks, unique_bytes, 2 * required, threads=threads)


def _warn_of_memory(
    corpus: Corpus,
    pretokenizer: Pretokenizer,
    required: int,
    memory: str | int | None,
    threads: int | None,
) -> None:
    """Warn before a long count if a sample predicts that learning will be refused after it."""
    size = corpus.size
    if size is None or size < _WORTH_SAMPLING or corpus.shard is not None:
        return
    sample_bytes = min(size // _SAMPLED_SHARE, SAMPLE_BYTES)
    try:
        found = estimate(
            corpus,
            pretokenizer=pretokenizer,
            sample_bytes=sample_bytes,
            threads=threads,
            progress=SILENT,
        )
    except CorpusError:  # counting will find it, if it matters
        return
    needed = memory_to_learn(found.unique_chunks, found.unique_bytes, required, threads)
    limit = _learning_limit(memory)
    if needed > limit:
        _logger.warning(
            "a sample predicts about %s unique chunks; learning on them may need %s of "
            "memory, more than %s: %s",
            f"{found.unique_chunks:,}",
            *(format_size(needed), format_size(limit), _memory_remedy(needed)),
        )


def _learning_limit(memory: str | int | None) -> int:
    return max(machine_memory() if memory is None else parse_size(memory, "memory"), LEAST_MEMORY)


def _memory_remedy(needed: int) -> str:
    return (
        f"give --memory {format_size(needed).replace(' ', '')} on a machine that has it; "
        "--min-chunk-count 2 needs less, but is an approximation, bad for text without spaces"
    )


def _check_memory(
    counts: ChunkCounts, required: int, memory: str | int | None, threads: int | None
) -> None:
    """Refuse to learn where that would need more memory than there is; counts are kept."""
    needed = memory_to_learn(len(counts), len(counts.data), required, threads)
    limit = _learning_limit(memory)
    if needed > limit:
        raise SettingsError(
            f"learning on {len(counts):,} unique chunks needs about {format_size(needed)} of "
            f"memory, more than {format_size(limit)}",
            hint=_memory_remedy(needed),
        )


def _count_validation(
    policy: VisibilityPolicy, pretokenizer: Pretokenizer, threads: int | None, progress: Progress
) -> ChunkCounts | None:
    text = policy.validation
    if text is None or isinstance(text, ChunkCounts):
        return None
    return count(text, pretokenizer=pretokenizer, threads=threads, progress=progress)
