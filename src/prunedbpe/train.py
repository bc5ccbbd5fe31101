"""The whole run: corpus -> counts -> merges -> visibility -> tokenizer; and its second half."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.count import ChunkCounts, count
from prunedbpe.learn.checkpoint import Checkpointer, RunDirectory, describe_run
from prunedbpe.learn.learner import Learner
from prunedbpe.learn.merges import MergeTable
from prunedbpe.pretokenize import Pretokenizer, find_pretokenizer
from prunedbpe.progress import SILENT, Progress
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, DEFAULT_SPECIAL_TOKENS, Settings, Visibility
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.prune import Threshold, decide_visibility, required_tokens
from prunedbpe.visibility.reallocate import Extend, reallocate
from prunedbpe.vocabulary import Vocabulary, check_special_tokens

ThresholdLike = str | int | float | Threshold


def train(
    corpus: CorpusInput | Corpus,
    vocab_size: int,
    *,
    threshold: ThresholdLike = "40%",
    pretokenizer: str | Pretokenizer = "paper",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
    threads: int | None = None,
    run_dir: str | Path | None = None,
    resume: bool = True,
    checkpoint_seconds: float = 30.0,
    checkpoint_at: Collection[int] = (),
    progress: Progress = SILENT,
) -> Tokenizer:
    """Train a tokenizer.

    Args:
        corpus: Paths, an iterable of texts, or a :class:`~prunedbpe.corpus.Corpus`.
        vocab_size: All a model sees: bytes, visible learned tokens, special tokens.
        threshold: ``"40%"`` of the boundary frequency, a count, or 0 for Standard BPE.
        pretokenizer: A built-in name or a regular expression.
        special_tokens: Reserved tokens, in the order of their ids.
        max_train_vocab: Upper bound of bytes and learned tokens.
        threads: One per core by default; the result does not depend on it.
        run_dir: Keeps counts and checkpoints there, and goes on from what is there.
        resume: Whether to go on, or to start the run directory over.
        checkpoint_seconds: Interval between two checkpoints.
        checkpoint_at: Merge counts at which to write one as well.
        progress: Who watches.

    Raises:
        InsufficientCandidatesError: Too few tokens reach the threshold; checkpoints are kept.
        RunMismatchError: The run directory belongs to another corpus or other settings.

    >>> tok = train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> [tok.token_bytes(i) for i in (256, 257)]
    [b'at', b'th']
    """
    # Settings that make no sense are told before the corpus is read.
    special_tokens = tuple(special_tokens)
    check_special_tokens(special_tokens)
    required_tokens(vocab_size, special_tokens)
    threshold = Threshold.parse(threshold)
    cut = find_pretokenizer(pretokenizer)
    opened = open_corpus(corpus)

    run = None if run_dir is None else RunDirectory(run_dir)
    counts, merges = _counts_of(opened, cut, run, resume, threads, progress)
    checkpointer = None
    if run is not None:
        checkpointer = Checkpointer(run, every_seconds=checkpoint_seconds, at=checkpoint_at)
    extend = extend_by_learning(
        counts, merges, threads=threads, progress=progress, checkpointer=checkpointer
    )
    return _prune(extend, vocab_size, threshold, special_tokens, max_train_vocab)


def prune(
    merges: MergeTable,
    vocab_size: int,
    *,
    threshold: ThresholdLike = "40%",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
) -> Tokenizer:
    """Make a tokenizer out of learned merges, as :func:`train` would: train once, prune often.

    Args:
        merges: Candidates, more than the vocabulary will show.
        vocab_size: As for :func:`train`.
        threshold: As for :func:`train`.
        special_tokens: As for :func:`train`.
        max_train_vocab: As for :func:`train`.

    Raises:
        InsufficientCandidatesError: There are too few merges; learn more.
    """
    return _prune(
        lambda merge_count: merges,
        vocab_size,
        Threshold.parse(threshold),
        tuple(special_tokens),
        max_train_vocab,
    )


def extend_by_learning(
    counts: ChunkCounts,
    merges: MergeTable | None,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
    checkpointer: Checkpointer | None = None,
) -> Extend:
    """A function that makes merges known: from those given, else by learning on.

    The learner is built only when it is needed: a run that has enough merges never lays out the
    corpus again.
    """
    known = merges
    learner: Learner | None = None

    def extend(merge_count: int) -> MergeTable:
        nonlocal known, learner
        if known is not None and (len(known) >= merge_count or known.exhausted):
            return known
        if learner is None:
            learner = Learner(
                counts, known, threads=threads, progress=progress, after_step=checkpointer
            )
        learner.reach(merge_count)
        known = learner.merges
        if checkpointer is not None:
            checkpointer.save(known)
        return known

    return extend


def _counts_of(
    corpus: Corpus,
    cut: Pretokenizer,
    run: RunDirectory | None,
    resume: bool,
    threads: int | None,
    progress: Progress,
) -> tuple[ChunkCounts, MergeTable | None]:
    def count_corpus() -> ChunkCounts:
        return count(corpus, pretokenizer=cut, threads=threads, progress=progress)

    if run is None:
        return count_corpus(), None
    if not resume:
        run.clear()
    run.claim(describe_run(corpus, cut))
    if corpus.size is None:  # no way to know whether it is the same text but to count it
        counts = count_corpus()
        run.accept(counts)
    else:
        counts = run.counts(count_corpus)
    return counts, run.merges()


def _prune(
    extend: Extend,
    vocab_size: int,
    threshold: Threshold,
    special_tokens: tuple[str, ...],
    max_train_vocab: int | None,
) -> Tokenizer:
    required = required_tokens(vocab_size, special_tokens)
    merges, min_exposure = reallocate(extend, required, threshold, max_train_vocab)
    exposures = exposure(merges.pairs, merges.applied)
    decided = decide_visibility(exposures[BYTE_COUNT:], required, min_exposure)
    retained = int((decided != Visibility.DISCARDED).sum())
    visible = np.ones(BYTE_COUNT + retained, bool)
    visible[BYTE_COUNT:] = decided[:retained] == Visibility.VISIBLE
    vocabulary = Vocabulary(merges.pairs[:retained].copy(), visible, special_tokens)
    training: Settings = {
        "threshold": threshold.text,
        "min_exposure": min_exposure,
        "boundary_frequency": int(merges.frequencies[required - 1]) if required else 0,
        "trained_vocab": BYTE_COUNT + len(merges),
        "max_train_vocab": max_train_vocab,
        "corpus": merges.corpus.as_settings(),
        "encoded_length": encoded_length(merges.pairs, merges.applied, ~visible),
        "standard_encoded_length": total_tokens(merges.applied, required),
    }
    return Tokenizer(vocabulary, merges.pretokenizer, training)
