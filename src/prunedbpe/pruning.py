"""From merges to a tokenizer: the second half of training, and as often as wanted after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from prunedbpe.count import ChunkCounts, SourceCounts
from prunedbpe.learn import Applied, MergeTable
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import (
    BYTE_COUNT,
    DEFAULT_SPECIAL_TOKENS,
    BoolArray,
    Settings,
)
from prunedbpe.visibility.auto import CANDIDATE_RATIO, choose_visibility
from prunedbpe.visibility.exposure import encoded_length, exposure, total_tokens
from prunedbpe.visibility.prune import Threshold, required_tokens
from prunedbpe.visibility.reallocate import Extend, hidden_by_threshold, reallocate
from prunedbpe.vocabulary import Vocabulary, check_special_tokens

ThresholdLike = Literal["auto"] | str | int | float | Threshold


def prune(
    merges: MergeTable,
    vocab_size: int,
    *,
    threshold: ThresholdLike = "40%",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
    sources: SourceCounts | Sequence[Applied] = (),
    validation: ChunkCounts | Applied | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
) -> Tokenizer:
    """Make a tokenizer out of learned merges, as :func:`prunedbpe.train` would: learn once.

    Args:
        merges: Candidates, more than the vocabulary will show. Where they end before no pair is
            left that occurs twice, the result is that of training with ``max_train_vocab`` there.
        vocab_size: All a model sees: bytes, visible learned tokens, special tokens.
        threshold: ``"40%"`` of the boundary frequency, a count, 0 for Standard BPE, or ``"auto"``.
        special_tokens: Reserved tokens, in the order of their ids.
        max_train_vocab: Upper bound of bytes and learned tokens.
        sources: With ``"auto"``: the sources of the corpus, for how far tokens are spread.
        validation: With ``"auto"``: text whose encoded length decides.
        candidate_ratio: With ``"auto"``: merges to retain per visible learned token.

    Raises:
        InsufficientCandidatesError: There are too few merges; learn more.

    >>> from prunedbpe import ChunkCounts, learn
    >>> merges = learn(ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}), 4)
    >>> pruned = prune(merges, 259, threshold=2, special_tokens=())
    >>> [pruned.vocabulary.strings[rank] for rank in (256, 257, 258, 259)]
    [b'at', b'th', b'the', b'cat']
    >>> pruned.vocabulary.visible[256:].tolist()
    [True, False, True, True]
    """
    return tokenizer_of(
        lambda merge_count: merges,
        vocab_size,
        threshold=threshold,
        special_tokens=special_tokens,
        max_train_vocab=max_train_vocab,
        sources=sources,
        validation=validation,
        candidate_ratio=candidate_ratio,
    )


def tokenizer_of(
    extend: Extend,
    vocab_size: int,
    *,
    threshold: ThresholdLike,
    special_tokens: Sequence[str],
    max_train_vocab: int | None = None,
    sources: SourceCounts | Sequence[Applied] = (),
    validation: ChunkCounts | Applied | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
) -> Tokenizer:
    """As :func:`prune`, learning on where more candidates are needed.

    Args:
        extend: Makes merges known, see :mod:`prunedbpe.visibility.reallocate`.
        vocab_size: As for :func:`prune`, and so are the others.
        threshold: As for :func:`prune`.
        special_tokens: As for :func:`prune`.
        max_train_vocab: As for :func:`prune`.
        sources: As for :func:`prune`.
        validation: As for :func:`prune`.
        candidate_ratio: As for :func:`prune`.
    """
    special_tokens = check_special_tokens(special_tokens)
    merges, hidden, training = decide(
        extend,
        required_tokens(vocab_size, special_tokens),
        threshold=threshold,
        max_train_vocab=max_train_vocab,
        sources=sources,
        validation=validation,
        candidate_ratio=candidate_ratio,
    )
    retained = len(hidden) - BYTE_COUNT
    vocabulary = Vocabulary(merges.pairs[:retained].copy(), ~hidden, special_tokens)
    return Tokenizer(vocabulary, merges.pretokenizer, training)


def decide(
    extend: Extend,
    required: int,
    *,
    threshold: ThresholdLike,
    max_train_vocab: int | None = None,
    sources: SourceCounts | Sequence[Applied] = (),
    validation: ChunkCounts | Applied | None = None,
    candidate_ratio: float = CANDIDATE_RATIO,
) -> tuple[MergeTable, BoolArray, Settings]:
    """All of :func:`tokenizer_of` but the tokenizer, which takes most of the time.

    Args:
        extend: As for :func:`tokenizer_of`.
        required: How many learned tokens are to be visible.
        threshold: As for :func:`prune`, and so are the others.
        max_train_vocab: As for :func:`prune`.
        sources: As for :func:`prune`.
        validation: As for :func:`prune`.
        candidate_ratio: As for :func:`prune`.

    Returns:
        The merges; by rank of those retained, bytes first, whether the token is hidden; and what
        the tokenizer remembers of its training.
    """
    if threshold == "auto":
        choice = choose_visibility(
            extend,
            required,
            sources=sources,
            validation=validation,
            candidate_ratio=candidate_ratio,
            max_train_vocab=max_train_vocab,
        )
        merges, hidden = extend(choice.merge_count), choice.hidden
        decided: Settings = {"threshold": "auto", "auto": choice.report}
    else:
        merges, hidden, decided = _by_threshold(
            extend, required, Threshold.parse(threshold), max_train_vocab
        )
    retained = len(hidden) - BYTE_COUNT
    exposures = exposure(merges.pairs, merges.applied, retained)
    visible_learned = exposures[BYTE_COUNT:][~hidden[BYTE_COUNT:]]
    training: Settings = {
        **decided,
        "boundary_frequency": int(merges.frequencies[required - 1]) if required else 0,
        "least_visible_exposure": int(visible_learned.min()) if required else 0,
        "max_train_vocab": max_train_vocab,
        "corpus": merges.corpus.as_settings(),
        "encoded_length": encoded_length(merges.pairs, merges.applied, hidden, exposures),
        "standard_encoded_length": total_tokens(merges.applied, required),
    }
    return merges, hidden, training


def _by_threshold(
    extend: Extend, required: int, threshold: Threshold, max_train_vocab: int | None
) -> tuple[MergeTable, BoolArray, Settings]:
    found = reallocate(extend, required, threshold, max_train_vocab)
    return (
        found.merges,
        hidden_by_threshold(found, required),
        {
            "threshold": threshold.text,
            "min_exposure": found.min_exposure,
            "trained_vocab": BYTE_COUNT + len(found.merges),
        },
    )
