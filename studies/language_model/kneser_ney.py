"""The second opinion: bits per byte of an interpolated Kneser-Ney 5-gram model over tokens.

In: the stream to count and the stream to measure. Out: bits per byte. No training, no seed.

With c the count of an n-gram (in the highest order how often it occurs, in the others how many
different tokens stand before it) and one discount D for each order:

    P(w | h) = max(c(hw) - D, 0) / c(h) + D · N(h) / c(h) · P(w | shorter h)
    c(h) = Σ_w c(hw),   N(h) = how many different w follow h,   D = n1 / (n1 + 2 n2)

The lowest order falls back to equal probabilities (Kneser and Ney 1995; Chen and Goodman 1999).
n-grams are numbered: one of n tokens is a pair of its first n - 1 tokens and its last. So each
order is one sorted array of pairs, and looking up is a binary search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from prunedbpe.types import BoolArray, FloatArray, Int64Array
from studies.language_model.streams import Stream

ORDER = 5


@dataclass(frozen=True, eq=False)
class NGrams:
    """All n-grams of one order.

    Attributes:
        pairs: The number of the first n - 1 tokens times the vocabulary, plus the last; sorted.
        counts: Of each, as Kneser and Ney count.
        followed: ``c(h)``, by the number of the first n - 1 tokens.
        different: ``N(h)``, likewise.
        discount: Of this order.
    """

    pairs: Int64Array
    counts: Int64Array
    followed: Int64Array
    different: Int64Array
    discount: float


class KneserNey:
    """A model over token ids.

    Args:
        ids: The text to count; what precedes it is the separator.
        vocab_size: One more than the largest id.
        separator: Stands before the text.
        order: The longest n-gram.
    """

    def __init__(
        self, ids: Int64Array, vocab_size: int, separator: int, order: int = ORDER
    ) -> None:
        self.vocab_size = vocab_size
        self.separator = separator
        self.order = order
        self.levels = count_all(self._padded(ids), vocab_size, order)

    def _padded(self, ids: Int64Array) -> Int64Array:
        before = np.full(self.order - 1, self.separator, np.int64)
        return np.concatenate([before, ids])

    def probabilities(self, ids: Int64Array) -> FloatArray:
        """The probability of each token after those before it."""
        text = self._padded(ids)
        skipped = self.order - 1
        found = np.full(len(ids), 1 / self.vocab_size)
        # The number of the n-gram that ends at each place, -1 if it was never counted.
        prefixes = np.zeros(len(text), np.int64)
        for level in self.levels:
            known = prefixes >= 0
            numbers = look_up(level.pairs, prefixes * self.vocab_size + text, known)
            prefix, number = prefixes[skipped:], numbers[skipped:]
            has_context = prefix >= 0
            context = np.where(has_context, prefix, 0)
            total = np.maximum(level.followed[context], 1)
            count = np.where(number >= 0, level.counts[np.maximum(number, 0)], 0)
            rest = level.discount * level.different[context] / total
            with_context = np.maximum(count - level.discount, 0) / total + rest * found
            usable = has_context & (level.followed[context] > 0)
            found = np.where(usable, with_context, found)
            prefixes = np.concatenate([[-1], numbers[:-1]])
        return found


def count_all(text: Int64Array, vocab_size: int, order: int) -> list[NGrams]:
    """Number and count the n-grams of every order, shortest first."""
    tables = []
    prefixes = np.zeros(len(text), np.int64)  # of one token: the empty one
    begin = 0
    for n in range(1, order + 1):
        keys = prefixes[begin:] * vocab_size + text[begin:]
        pairs, firsts, numbers, often = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        shorter = prefixes[begin:][firsts]
        numbered = np.full(len(text), -1)
        numbered[begin:] = numbers
        tables.append((pairs, shorter, firsts + begin, numbered, often))
        prefixes = np.concatenate([[-1], numbered[:-1]])
        begin = n
    levels = []
    for n, (pairs, shorter, _, numbered, often) in enumerate(tables, start=1):
        counts = often
        if n < order:  # how many different tokens stand before it: longer n-grams that end in it
            longer_places = tables[n][2]
            counts = np.bincount(numbered[longer_places], minlength=len(pairs))
        contexts = int(shorter.max()) + 1 if n == 1 else len(tables[n - 2][0])
        followed = np.bincount(shorter, counts, contexts).astype(np.int64)
        different = np.bincount(shorter[counts > 0], minlength=contexts)
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        discount = once / (once + 2 * twice) if once else 0.0
        levels.append(NGrams(pairs, counts, followed, different, discount))
    return levels


def look_up(pairs: Int64Array, wanted: Int64Array, known: BoolArray) -> Int64Array:
    """Numbers of n-grams, -1 where one was never counted or its beginning is unknown."""
    places = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return np.where(known & (pairs[places] == wanted), places, -1)


def bits_per_byte(train: Stream, measured: Stream) -> dict[str, float]:
    """Bits per byte of the documents of a stream; separators are masked.

    Args:
        train: What is counted.
        measured: Documents of the same tokenizer.
    """
    model = KneserNey(train.ids, train.vocab_size, train.separator)
    counted = measured.is_text
    nats = -np.log(model.probabilities(measured.ids)[counted])
    size = int(measured.sizes.sum())
    return {
        "bits_per_byte": round(float(nats.sum()) / size / math.log(2), 6),
        "train_tokens": int(train.is_text.sum()),
        "tokens": int(counted.sum()),
        "bytes": size,
    }
