"""Which learned tokens a model sees: exposure, threshold, reallocation, export (steps 2-5).

In: chunk counts and budgets. Out: a `PrunedVocabulary`: the retained merges, each visible or
internal, and the token id of every retained rank.

Exposure, flow and encoded length are measured on the merged corpus, token by token. The library
computes the same numbers from ``applied`` alone; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.reference.learn import Learned, Pair, SegmentedCorpus, learn, segment
from prunedbpe.types import BYTE_COUNT, DEFAULT_SPECIAL_TOKENS

SMALLEST_BATCH = 25


@dataclass(frozen=True)
class PrunedVocabulary:
    """The result of pruning.

    Attributes:
        merges: The retained merges, visible and internal, by training rank. Tokens learned after
            the last visible one are discarded.
        visible: Ranks of the visible learned tokens, ascending.
        internal: Ranks of the internal tokens, ascending.
        token_ids: Token id of every retained rank: bytes 0-255, visible learned tokens from 256
            on, then (after the special tokens) internal ones from ``vocab_size`` on.
        special_tokens: The reserved tokens; they take the last ids below ``vocab_size``.
        min_exposure: The threshold as a count.
    """

    merges: list[Pair]
    visible: list[int]
    internal: list[int]
    token_ids: dict[int, int]
    special_tokens: tuple[str, ...]
    min_exposure: int

    @property
    def vocab_size(self) -> int:
        """Number of tokens that a model sees: bytes, visible learned and special tokens."""
        return BYTE_COUNT + len(self.visible) + len(self.special_tokens)

    @property
    def special_ids(self) -> dict[str, int]:
        """Token id of each special token."""
        first = BYTE_COUNT + len(self.visible)
        return {text: first + place for place, text in enumerate(self.special_tokens)}


def exposure(corpus: SegmentedCorpus, merge_count: int) -> list[int]:
    """Count the occurrences of each rank in the merged corpus (step 2).

    >>> merges = [(97, 116), (99, 256)]  # "at", "cat"
    >>> exposure(segment(merges, {b"cat": 2, b"hat": 1}), 2)[256:]
    [1, 2]
    """
    exposures = [0] * (BYTE_COUNT + merge_count)
    for ranks, count in corpus:
        for rank in ranks:
            exposures[rank] += count
    return exposures


def threshold_count(threshold: str | int | float, boundary_frequency: int) -> int:
    """Turn a threshold into the minimum exposure of a visible token (step 3).

    A ratio (``"40%"``, or a float) is multiplied by F(t_b), the frequency of the last token of
    Standard BPE, and rounded up; a whole number (``750``, ``"750"``) is the count itself. Ratios
    are decimals, not binary floats, whose rounding error could push a whole result up by one.

    >>> threshold_count("30%", 40), threshold_count(0.3, 41), threshold_count(750, 40)
    (12, 13, 750)
    """
    text = str(threshold).strip()
    is_ratio = text.endswith("%") or isinstance(threshold, float)
    try:
        value = Fraction(text.removesuffix("%")) if is_ratio else Fraction(int(text))
    except ValueError as error:
        raise SettingsError(
            f"threshold {threshold!r} is neither a ratio nor a count",
            hint='write a share such as "40%" or a count such as 750',
        ) from error
    if value < 0:
        raise SettingsError(f"threshold {threshold!r} is negative", hint="0 keeps every token")
    if not is_ratio:
        return int(value)
    return ceil((value / 100 if text.endswith("%") else value) * boundary_frequency)


def reallocation_batch(missing: int) -> int:
    """Return the number of merges to learn before measuring exposure again (step 4).

    >>> [reallocation_batch(missing) for missing in (1, 22, 23, 50, 100)]
    [25, 25, 26, 56, 111]
    """
    # In binary floats, as in the released implementation: 1.1 * 50 is 55.00000000000001, so 56.
    return max(SMALLEST_BATCH, ceil(1.1 * missing))


def reallocate(
    counts: Mapping[bytes, int],
    learned: Learned,
    required: int,
    min_exposure: int,
    max_train_vocab: int | None = None,
) -> Learned:
    """Learn until ``required`` tokens have the minimum exposure (step 4).

    Exposure is measured first, then after every batch, over all merges learned so far. The cap
    ``max_train_vocab`` (bytes + learned tokens) may cut the last batch short.

    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> standard = learn(counts, 3)  # "at", "th", "the"; "th" is left with exposure 1
    >>> len(reallocate(counts, standard, required=3, min_exposure=2).merges)
    4

    Raises:
        InsufficientCandidatesError: Tokens are missing, and no merge is left or allowed.
    """
    while True:
        merge_count = len(learned.merges)
        exposures = exposure(segment(learned.merges, counts), merge_count)
        eligible = sum(count >= min_exposure for count in exposures[BYTE_COUNT:])
        if eligible >= required:
            return learned
        wanted = merge_count + reallocation_batch(required - eligible)
        if max_train_vocab is not None:
            wanted = min(wanted, max_train_vocab - BYTE_COUNT)
        if wanted <= merge_count:
            raise _insufficient(
                eligible, required, min_exposure, f"max_train_vocab={max_train_vocab} is reached"
            )
        learned = learn(counts, wanted, learned.merges)
        if len(learned.merges) == merge_count:
            raise _insufficient(eligible, required, min_exposure, "no pair occurs twice")


def prune(
    merges: Sequence[Pair],
    exposures: Sequence[int],
    required: int,
    min_exposure: int,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
) -> PrunedVocabulary:
    """Decide visibility in merge order and assign token ids (step 5).

    Args:
        merges: All merges learned.
        exposures: Exposure of every rank after all of them.
        required: Number of visible learned tokens.
        min_exposure: The minimum exposure of a visible token.
        special_tokens: Reserved tokens, in the order of their ids.

    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> merges = learn(counts, 4).merges
    >>> exposures = exposure(segment(merges, counts), 4)
    >>> vocabulary = prune(merges, exposures, required=3, min_exposure=2, special_tokens=["<eos>"])
    >>> vocabulary.visible, vocabulary.internal
    ([256, 258, 259], [257])
    >>> [vocabulary.token_ids[rank] for rank in (256, 257, 258, 259)]
    [256, 260, 257, 258]
    """
    visible: list[int] = []
    internal: list[int] = []
    for rank in range(BYTE_COUNT, BYTE_COUNT + len(merges)):
        if len(visible) == required:
            break  # discard the rest
        # An internal token stays even if no retained merge uses it.
        (visible if exposures[rank] >= min_exposure else internal).append(rank)
    if len(visible) < required:
        raise _insufficient(len(visible), required, min_exposure, f"{len(merges)} merges given")

    vocab_size = BYTE_COUNT + required + len(special_tokens)
    token_ids = {byte: byte for byte in range(BYTE_COUNT)}
    token_ids.update((rank, BYTE_COUNT + place) for place, rank in enumerate(visible))
    token_ids.update((rank, vocab_size + place) for place, rank in enumerate(internal))
    retained = list(merges[: len(visible) + len(internal)])
    return PrunedVocabulary(
        retained, visible, internal, token_ids, tuple(special_tokens), min_exposure
    )


def train(
    counts: Mapping[bytes, int],
    vocab_size: int,
    threshold: str | int | float,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    max_train_vocab: int | None = None,
) -> PrunedVocabulary:
    """Run steps 1-5: Standard BPE, threshold, reallocation, export.

    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> train(counts, 260, "100%", special_tokens=["<eos>"]).internal  # "th"
    [257]
    >>> train(counts, 260, 0, special_tokens=["<eos>"]).internal  # Standard BPE
    []
    """
    required = vocab_size - BYTE_COUNT - len(special_tokens)
    if required < 0:
        raise SettingsError(
            f"vocab_size={vocab_size} has no room for {BYTE_COUNT} bytes and "
            f"{len(special_tokens)} special tokens",
            hint=f"use at least {BYTE_COUNT + len(special_tokens)}",
        )
    if max_train_vocab is not None and max_train_vocab < BYTE_COUNT + required:
        raise SettingsError(
            f"max_train_vocab={max_train_vocab} is below the {BYTE_COUNT + required} bytes and "
            f"learned tokens that vocab_size={vocab_size} needs",
            hint=f"raise max_train_vocab to {BYTE_COUNT + required} or more",
        )
    learned = learn(counts, required)
    if len(learned.merges) < required:
        raise _insufficient(len(learned.merges), required, 0, "no pair occurs twice")
    boundary_frequency = learned.frequencies[-1] if required else 0
    min_exposure = threshold_count(threshold, boundary_frequency)
    learned = reallocate(counts, learned, required, min_exposure, max_train_vocab)
    exposures = exposure(segment(learned.merges, counts), len(learned.merges))
    return prune(learned.merges, exposures, required, min_exposure, special_tokens)


def flow(corpus: SegmentedCorpus, merges: Sequence[Pair], hidden: Set[int]) -> list[int]:
    """Count how often each rank occurs while hidden tokens are expanded.

    For a hidden token this is the number of its expansions, for any other token its count in the
    encoded corpus.

    >>> merges = [(116, 104), (256, 101)]  # "th", "the"
    >>> flow(segment(merges, {b"the": 2, b"that": 1}), merges, hidden={256, 257})[256:]
    [3, 2]
    """
    flows = [0] * (BYTE_COUNT + len(merges))
    for ranks, count in corpus:
        for rank in ranks:
            for met in _meet(rank, merges, hidden):
                flows[met] += count
    return flows


def encoded_length(corpus: SegmentedCorpus, merges: Sequence[Pair], hidden: Set[int]) -> int:
    """Count the tokens of the corpus after expanding all hidden ones.

    >>> merges = [(116, 104), (256, 101)]
    >>> encoded_length(segment(merges, {b"the": 2, b"that": 1}), merges, hidden={256})
    6
    """
    return sum(
        count
        for ranks, count in corpus
        for rank in ranks
        for met in _meet(rank, merges, hidden)
        if met not in hidden
    )


def hide_cheapest(
    merges: Sequence[Pair],
    exposures: Sequence[Sequence[int]],
    count: int,
    *,
    weights: Sequence[float] = (1.0,),
    exponent: float = 1.0,
    prices: Sequence[float] | None = None,
) -> list[int]:
    """Hide learned tokens one by one, always the currently cheapest.

    Hiding t replaces each of its occurrences, those inside hidden tokens included, by the tokens
    that its two parts expand to. That costs flow * (tokens - 1) in each source, and all sources
    together price * the sum of weight * cost ** exponent. The newest of tied tokens goes first.

    Args:
        merges: All merges.
        exposures: Exposure of every rank in each source, after all of them.
        count: Number of tokens to hide.
        weights: What the sources weigh.
        exponent: Below 1, a cost that many sources share counts for more.
        prices: What a unit of cost of each rank counts; 1 by default.

    Returns:
        The hidden ranks, in the order they were hidden.

    >>> merges = [(116, 104), (256, 101), (97, 116)]  # "th", "the", "at"
    >>> exposures = [[0]] * 256 + [[1], [2], [3]]
    >>> hide_cheapest(merges, exposures, 2)  # once "th" is hidden, "the" expands to t, h, e
    [256, 258]
    """
    hidden: list[int] = []

    def expand(rank: int) -> list[int]:
        return [met for met in _meet(rank, merges, set(hidden)) if met not in hidden]

    def flow(rank: int, source: int) -> int:
        flow = exposures[rank][source]
        for newer in range(rank + 1, BYTE_COUNT + len(merges)):
            if newer in hidden:
                below = _meet(newer, merges, {*hidden} - {rank})
                flow += exposures[newer][source] * list(below).count(rank)
        return flow

    def cost(rank: int) -> float:
        left, right = merges[rank - BYTE_COUNT]
        more = len(expand(left)) + len(expand(right)) - 1
        worth = sum(
            weight * flow(rank, source) ** exponent for source, weight in enumerate(weights)
        )
        return float((1.0 if prices is None else prices[rank]) * worth * more**exponent)

    while len(hidden) < count:
        left_over = set(range(BYTE_COUNT, BYTE_COUNT + len(merges))) - set(hidden)
        hidden.append(min(left_over, key=lambda rank: (cost(rank), -rank)))
    return hidden


def _meet(rank: int, merges: Sequence[Pair], hidden: Set[int]) -> Iterator[int]:
    """Yield a token, then, if it is hidden, the expansion of its parts."""
    yield rank
    if rank in hidden:
        left, right = merges[rank - BYTE_COUNT]
        yield from _meet(left, merges, hidden)
        yield from _meet(right, merges, hidden)


def _insufficient(
    eligible: int, required: int, min_exposure: int, reason: str
) -> InsufficientCandidatesError:
    return InsufficientCandidatesError(
        f"{eligible} learned tokens have exposure {min_exposure} or more; "
        f"this vocabulary needs {required}, and {reason}",
        hint="lower threshold or vocab_size, raise max_train_vocab, or use a larger corpus",
    )
