"""The whole run: corpus -> counts -> merges -> visibility -> tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from prunedbpe.arrays import import_meanwhile
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.count import ChunkCounts, SourceCounts, count, count_by_source
from prunedbpe.count.sources import SourceKind
from prunedbpe.learn.checkpoint import Checkpointer, RunDirectory, describe_run
from prunedbpe.learn.learner import Learner
from prunedbpe.learn.merges import MergeTable
from prunedbpe.pretokenize import Pretokenizer, find_pretokenizer
from prunedbpe.progress import SILENT, Progress
from prunedbpe.pruning import ThresholdLike, tokenizer_of
from prunedbpe.threads import thread_count
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import DEFAULT_SPECIAL_TOKENS
from prunedbpe.visibility.auto import CANDIDATE_RATIO
from prunedbpe.visibility.prune import Threshold, required_tokens
from prunedbpe.visibility.reallocate import Extend, check_cap
from prunedbpe.vocabulary import check_special_tokens


def train(
    corpus: CorpusInput | Corpus,
    vocab_size: int,
    *,
    threshold: ThresholdLike = "40%",
    pretokenizer: str | Pretokenizer = "paper",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
    sources: SourceKind = "files",
    validation: CorpusInput | Corpus | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
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
        threshold: ``"40%"`` of the boundary frequency, a count, 0 for Standard BPE, or ``"auto"``.
        pretokenizer: A built-in name or a regular expression.
        special_tokens: Reserved tokens, in the order of their ids.
        max_train_vocab: Upper bound of bytes and learned tokens.
        sources: With ``"auto"``: what counts as one source of the corpus.
        validation: With ``"auto"``: text whose encoded length decides.
        candidate_ratio: With ``"auto"``: merges to retain per visible learned token.
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
    special_tokens = check_special_tokens(special_tokens)
    check_cap(required_tokens(vocab_size, special_tokens), max_train_vocab)
    if threshold != "auto":
        threshold = Threshold.parse(threshold)
    thread_count(threads)
    cut = find_pretokenizer(pretokenizer)
    opened = open_corpus(corpus)

    def count_corpus() -> ChunkCounts:
        return count(opened, pretokenizer=cut, threads=threads, progress=progress)

    def count_sources() -> SourceCounts:
        return count_by_source(
            opened, sources=sources, pretokenizer=cut, threads=threads, progress=progress
        )

    by_source: SourceCounts | None = None
    merges = checkpointer = None
    if run_dir is None:
        by_source = count_sources() if threshold == "auto" else None
        counts = by_source.total if by_source else count_corpus()
    else:
        run = RunDirectory(run_dir)
        if not resume:
            run.clear()
        run.claim(describe_run(opened, cut))
        # Text of unknown size, such as an iterable, is only known to be the same once counted.
        if threshold == "auto":
            by_source = (
                count_sources() if opened.size is None else run.sources(sources, count_sources)
            )
            counts = by_source.total
            run.accept(counts)
        elif opened.size is None:
            counts = count_corpus()
            run.accept(counts)
        else:
            counts = run.counts(count_corpus)
        merges = run.merges(counts)
        checkpointer = Checkpointer(
            run.save_merges, every_seconds=checkpoint_seconds, at=checkpoint_at
        )
    validation_counts = None
    if validation is not None:
        validation_counts = count(validation, pretokenizer=cut, threads=threads, progress=progress)
    return tokenizer_of(
        extend_by_learning(
            counts, merges, threads=threads, progress=progress, checkpointer=checkpointer
        ),
        vocab_size,
        threshold=threshold,
        special_tokens=special_tokens,
        max_train_vocab=max_train_vocab,
        sources=by_source or (),
        validation=validation_counts,
        candidate_ratio=candidate_ratio,
    )


def prune_run(
    run_dir: str | Path,
    vocab_size: int,
    *,
    threshold: ThresholdLike = "40%",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
    validation: CorpusInput | Corpus | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
    threads: int | None = None,
    checkpoint_seconds: float = 30.0,
    progress: Progress = SILENT,
) -> Tokenizer:
    """Make a tokenizer out of a run directory, learning on only if the run has too few merges.

    Args:
        run_dir: What :func:`train` kept there.
        vocab_size: As for :func:`train`, and so are the others.
        threshold: As for :func:`train`. With ``"auto"``, a run that was not counted by source
            tells nothing of how far tokens are spread.
        special_tokens: As for :func:`train`.
        max_train_vocab: As for :func:`train`.
        validation: As for :func:`train`.
        candidate_ratio: As for :func:`train`.
        threads: As for :func:`train`.
        checkpoint_seconds: As for :func:`train`.
        progress: Who watches.

    Raises:
        FormatError: The directory holds no run, or one that was stopped while it was counting.
        InsufficientCandidatesError: Too few tokens reach the threshold; checkpoints are kept.
    """
    run = RunDirectory(run_dir)
    run.check_counted()
    validation_counts = None
    if validation is not None:
        validation_counts = count(
            validation, pretokenizer=run.pretokenizer(), threads=threads, progress=progress
        )
    return tokenizer_of(
        extend_by_learning(
            lambda: ChunkCounts.load(run.counts_path),
            run.merges(),
            threads=threads,
            progress=progress,
            checkpointer=Checkpointer(run.save_merges, every_seconds=checkpoint_seconds),
        ),
        vocab_size,
        threshold=threshold,
        special_tokens=special_tokens,
        max_train_vocab=max_train_vocab,
        sources=run.known_sources() if threshold == "auto" else (),
        validation=validation_counts,
        candidate_ratio=candidate_ratio,
    )


def extend_by_learning(
    counts: ChunkCounts | Callable[[], ChunkCounts],
    merges: MergeTable | None,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
    checkpointer: Checkpointer | None = None,
) -> Extend:
    """A function that makes merges known: from those given, else by learning on.

    The learner is built only when it is needed: a run that has enough merges never lays out the
    corpus again, and need not even load its counts.
    """
    known = merges
    learner: Learner | None = None

    def extend(merge_count: int) -> MergeTable:
        nonlocal known, learner
        if known is not None and (len(known) >= merge_count or known.exhausted):
            return known
        if learner is None:
            if thread_count(threads) != 1:
                import_meanwhile()  # for whoever looks at the merges
            table = counts() if callable(counts) else counts
            learner = Learner(
                table,
                known,
                threads=threads,
                progress=progress,
                after_step=checkpointer,
                stop_at=checkpointer.at if checkpointer else (),
            )
        try:
            learner.reach(merge_count)
        except KeyboardInterrupt:
            if checkpointer is not None:  # what was learned since the last checkpoint counts too
                checkpointer.save(learner.merges)
            raise
        known = learner.merges
        if checkpointer is not None:
            checkpointer.save(known)
        return known

    return extend
