"""Offsets and words of encoded text, as transformers expects them from a fast tokenizer.

:class:`TextEncoding` has the methods of ``tokenizers.Encoding`` that ``BatchEncoding`` calls.
Offsets and words are computed on first use, so encoding for training does not pay for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from prunedbpe.integrations.token_spans import LocatedTokens, Span


@dataclass
class EncodedText:
    """One encoded text, before special tokens, truncation and padding.

    Attributes:
        ids: Its token ids.
        locate: Returns where the tokens are; called once, on first use.
    """

    ids: list[int]
    locate: Callable[[], LocatedTokens]

    @cached_property
    def located(self) -> LocatedTokens:
        """Where the tokens are. The word of each is its chunk, or the one that the caller gave."""
        return self.locate()


@dataclass
class TextEncoding:
    """One row of a batch.

    Attributes:
        ids: The token ids of the row, and its padding after :meth:`pad`.
        sources: The sequence and the token index of every id; ``None`` for special tokens and
            padding.
        sequences: The texts of the row: one, or a pair.
        token_text: Returns the tokens of ids as strings.
        type_ids: The token type of every id.
        trim: Trims the span of a token, see :meth:`OriginalRules.trim`; ``None`` leaves it as it
            is.
    """

    ids: list[int]
    sources: list[tuple[int, int] | None]
    sequences: list[EncodedText]
    token_text: Callable[[list[int]], list[str]]
    type_ids: list[int] = field(default_factory=list)
    trim: Callable[[Span, tuple[int, int], bool], Span] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def pad(self, length: int, side: str, pad_id: int) -> None:
        """Pad to ``length`` on the left or the right."""
        missing = length - len(self.ids)
        if missing <= 0:
            return
        ids, nothing = [pad_id] * missing, [None] * missing
        if side == "left":
            self.ids, self.sources = ids + self.ids, [*nothing, *self.sources]
        else:
            self.ids, self.sources = self.ids + ids, [*self.sources, *nothing]

    @property
    def n_sequences(self) -> int:
        """Number of texts in the row."""
        return len(self.sequences)

    @property
    def tokens(self) -> list[str]:
        """The tokens as strings."""
        return self.token_text(self.ids)

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text that each token belongs to."""
        return [source[0] if source else None for source in self.sources]

    @property
    def offsets(self) -> list[Span]:
        """Characters that each token covers; ``(0, 0)`` for special tokens and padding."""
        return [self._span(source) or (0, 0) for source in self.sources]

    @property
    def word_ids(self) -> list[int | None]:
        """The word that each token belongs to."""
        return [
            self.sequences[source[0]].located.words[source[1]] if source else None
            for source in self.sources
        ]

    @property
    def words(self) -> list[int | None]:
        """The same as :attr:`word_ids`."""
        return self.word_ids

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text a token belongs to."""
        return self.sequence_ids[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The word a token belongs to."""
        return self.word_ids[token_index]

    def token_to_chars(self, token_index: int) -> Span | None:
        """The characters a token covers."""
        return self._span(self.sources[token_index])

    def char_to_token(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The first token that covers a character."""
        for place, source in enumerate(self.sources):
            span = self._span(source)
            if source and span and source[0] == sequence_index and span[0] <= char_index < span[1]:
                return place
        return None

    def char_to_word(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The word a character belongs to."""
        token = self.char_to_token(char_index, sequence_index)
        return None if token is None else self.word_ids[token]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The first token of a word, and one past its last."""
        places = [
            place
            for place, source in enumerate(self.sources)
            if source
            and source[0] == sequence_index
            and self.sequences[sequence_index].located.words[source[1]] == word_index
        ]
        return (places[0], places[-1] + 1) if places else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The characters of a word."""
        places = self.word_to_tokens(word_index, sequence_index)
        if places is None:
            return None
        return self.offsets[places[0]][0], self.offsets[places[1] - 1][1]

    def _span(self, source: tuple[int, int] | None) -> Span | None:
        if source is None:
            return None
        sequence, place = source
        located = self.sequences[sequence].located
        if self.trim is None:
            return located.spans[place]
        is_first = place == self._first_places[sequence]
        return self.trim(located.spans[place], located.spaces[place], is_first)

    @cached_property
    def _first_places(self) -> dict[int, int]:
        """The first token of each text that truncation left."""
        return dict(source for source in reversed(self.sources) if source)


class LazyEncodings(Sequence[TextEncoding]):
    """The encodings of a batch, each built when asked for; most callers ask for none.

    Args:
        count: Number of rows.
        build: Returns the encoding of a row.
    """

    def __init__(self, count: int, build: Callable[[int], TextEncoding]) -> None:
        self._build = build
        self._built: list[TextEncoding | None] = [None] * count

    def __len__(self) -> int:
        return len(self._built)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        built = self._built[row]
        if built is None:
            built = self._build(range(len(self))[row])
            self._built[row] = built
        return built
