"""Which token covers which characters: what transformers asks of a fast tokenizer's encodings.

Has the methods of ``tokenizers.Encoding`` that ``BatchEncoding`` calls. Offsets and words are
worked out when first asked for, so encoding for training pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Span = tuple[int, int]


@dataclass
class EncodedText:
    """One encoded text, before special tokens, truncation and padding.

    Attributes:
        ids: Its token ids.
        locate: Gives the character span and the word of every token.
    """

    ids: list[int]
    locate: Callable[[], tuple[list[Span], list[int]]]
    _located: tuple[list[Span], list[int]] | None = None

    @property
    def spans(self) -> list[Span]:
        """Characters each token covers."""
        return self._locations()[0]

    @property
    def words(self) -> list[int]:
        """Word (chunk, or given word) each token belongs to."""
        return self._locations()[1]

    def _locations(self) -> tuple[list[Span], list[int]]:
        if self._located is None:
            self._located = self.locate()
        return self._located


@dataclass
class TextEncoding:
    """One row of a batch.

    Attributes:
        ids: The token ids of the row, padding included once :meth:`pad` was called.
        sources: For every id, which sequence and which of its tokens it is; ``None`` for special
            tokens and padding.
        sequences: The texts of the row: one, or a pair.
        token_text: Gives the text of a token id.
    """

    ids: list[int]
    sources: list[tuple[int, int] | None]
    sequences: list[EncodedText]
    token_text: Callable[[list[int]], list[str]]
    type_ids: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def pad(self, length: int, side: str, pad_id: int) -> None:
        """Fill up to ``length`` on the left or the right."""
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
        """How many texts the row has."""
        return len(self.sequences)

    @property
    def tokens(self) -> list[str]:
        """The tokens as strings."""
        return self.token_text(self.ids)

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each token belongs to."""
        return [source[0] if source else None for source in self.sources]

    @property
    def offsets(self) -> list[Span]:
        """Characters each token covers; ``(0, 0)`` for special tokens and padding."""
        return [self._span(source) or (0, 0) for source in self.sources]

    @property
    def word_ids(self) -> list[int | None]:
        """The word each token belongs to."""
        return [self.sequences[source[0]].words[source[1]] if source else None
                for source in self.sources]  # fmt: skip

    @property
    def words(self) -> list[int | None]:
        """As :attr:`word_ids`."""
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
            if source and source[0] == sequence_index:
                begin, end = self.sequences[sequence_index].spans[source[1]]
                if begin <= char_index < end:
                    return place
        return None

    def char_to_word(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The word a character belongs to."""
        token = self.char_to_token(char_index, sequence_index)
        return None if token is None else self.word_ids[token]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """First token of a word, and one behind its last."""
        places = [
            place
            for place, source in enumerate(self.sources)
            if source
            and source[0] == sequence_index
            and self.sequences[sequence_index].words[source[1]] == word_index
        ]
        return (places[0], places[-1] + 1) if places else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The characters of a word."""
        places = self.word_to_tokens(word_index, sequence_index)
        if places is None:
            return None
        return self.offsets[places[0]][0], self.offsets[places[1] - 1][1]

    def _span(self, source: tuple[int, int] | None) -> Span | None:
        return self.sequences[source[0]].spans[source[1]] if source else None
