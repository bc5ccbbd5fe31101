"""The methods of a tiktoken ``Encoding``, so that code written for tiktoken runs on a tokenizer.

:class:`TiktokenMethods` gives :class:`~prunedbpe.tokenizer.Tokenizer` the names tiktoken has and
the tokenizer lacks. Where the two disagree on a default, :class:`TiktokenEncoding`
(``tok.as_tiktoken()``) follows tiktoken to the letter: there, text that spells a special token is
an error unless it is allowed or ``disallowed_special`` says otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.tokenizer.encode_options import EncodeOptions
from prunedbpe.tokenizer.special_tokens import SpecialSet
from prunedbpe.types import TokenId, UInt32Array

if TYPE_CHECKING:
    from typing_extensions import Unpack

END_OF_TEXT_TOKENS = ("<|endoftext|>", "<|end_of_text|>", "<_EOS_>", "</s>", "<eos>")
"""Usual names of the token that ends a text, the likeliest first."""


class TiktokenMethods(ABC):
    """What tiktoken's ``Encoding`` offers beyond the tokenizer's own methods."""

    @abstractmethod
    def encode(self, text: str, **options: Unpack[EncodeOptions]) -> list[int]:
        """Encode a text as visible token ids."""

    @abstractmethod
    def encode_to_numpy(self, text: str, **options: Unpack[EncodeOptions]) -> UInt32Array:
        """Encode a text as an array of visible token ids."""

    @abstractmethod
    def encode_batch(
        self, texts: Iterable[str], *, threads: int | None = None, **options: Unpack[EncodeOptions]
    ) -> list[list[int]]:
        """Encode many texts."""

    @abstractmethod
    def decode_bytes(self, ids: Sequence[int] | UInt32Array) -> bytes:
        """The bytes that token ids spell."""

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """All a model sees."""

    @property
    @abstractmethod
    def special_tokens(self) -> dict[str, TokenId]:
        """Token id of each special token."""

    @abstractmethod
    def vocab_bytes(self) -> list[bytes]:
        """What every visible token id spells, in order of id."""

    def as_tiktoken(self, name: str = "prunedbpe") -> TiktokenEncoding:
        """This tokenizer with tiktoken's exact signatures and defaults."""
        return TiktokenEncoding(self, name)

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        return self.encode(text)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Id of the token, learned or special, that spells exactly this.

        Raises:
            KeyError: There is no such visible token.
        """
        if isinstance(text_or_bytes, str):
            special = self.special_tokens.get(text_or_bytes)
            if special is not None:
                return special
            text_or_bytes = text_or_bytes.encode()
        return self._ids_by_bytes[text_or_bytes]

    def decode_single_token_bytes(self, token: int) -> bytes:
        """What one visible token spells.

        Raises:
            KeyError: No visible token has that id.
        """
        try:
            return self.decode_bytes([token])
        except PrunedBPEError:
            raise KeyError(token) from None

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """What each of the tokens spells."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of tokens, and the character at which each begins.

        A token that begins inside a character counts from that character. The tokens must spell
        valid UTF-8 together.

        >>> import prunedbpe
        >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
        >>> tok.decode_with_offsets(tok.encode("ab é"))
        ('ab é', [0, 2, 3, 3])
        """
        parts = self.decode_tokens_bytes(tokens)
        characters = 0
        offsets = []
        for part in parts:
            begins_inside = len(part) > 0 and 0x80 <= part[0] < 0xC0
            offsets.append(max(0, characters - begins_inside))
            characters += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode(), offsets

    def token_byte_values(self) -> list[bytes]:
        """What every token but the special ones spells, sorted."""
        return sorted(self._ids_by_bytes)

    @property
    def n_vocab(self) -> int:
        """One more than the highest token id: the rows a model's embedding needs."""
        return self.vocab_size

    @property
    def max_token_value(self) -> int:
        """The highest token id."""
        return self.n_vocab - 1

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self.special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether the id is that of a special token."""
        return token in set(self.special_tokens.values())

    @property
    def eot_token(self) -> int:
        """Id of the special token that ends a text, by one of its usual names.

        Raises:
            SettingsError: The tokenizer has none.
        """
        for name in END_OF_TEXT_TOKENS:
            if name in self.special_tokens:
                return self.special_tokens[name]
        raise SettingsError(
            f"no special token ends a text; there are {', '.join(self.special_tokens) or 'none'}",
            hint=f"train with one of {', '.join(END_OF_TEXT_TOKENS)}",
        )

    @cached_property
    def _ids_by_bytes(self) -> dict[bytes, int]:
        special = set(self.special_tokens.values())
        return {
            spelled: token_id
            for token_id, spelled in enumerate(self.vocab_bytes())
            if token_id not in special and spelled
        }


class TiktokenEncoding:
    """A tokenizer behind tiktoken's interface: same names, signatures and defaults.

    Args:
        tokenizer: What encodes and decodes.
        name: The name of the encoding.

    >>> import prunedbpe
    >>> enc = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0).as_tiktoken()
    >>> enc.encode("ab<_EOS_>", allowed_special={"<_EOS_>"})
    [256, 257]
    >>> enc.encode("ab<_EOS_>")
    Traceback (most recent call last):
    ...
    prunedbpe.errors.SpecialTextError: the text spells the special token '<_EOS_>' at character 2
    hint: pass allowed_special={'<_EOS_>'} to encode it as that token, or disallowed_special=() \
to encode it as ordinary text
    """

    def __init__(self, tokenizer: TiktokenMethods, name: str = "prunedbpe") -> None:
        self.tokenizer = tokenizer
        self.name = name

    def __repr__(self) -> str:
        return f"<TiktokenEncoding {self.name!r}>"

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        return self.tokenizer.encode(text, surrogates="replace")

    def encode(
        self,
        text: str,
        *,
        allowed_special: SpecialSet = frozenset(),
        disallowed_special: SpecialSet = "all",
    ) -> list[int]:
        """Encode a text; special tokens in it are an error unless allowed.

        Args:
            text: Any text; surrogates that make a pair are joined, lone ones replaced.
            allowed_special: Special tokens that stand for themselves, or ``"all"``.
            disallowed_special: Special tokens to refuse; ``"all"`` are all that are not allowed.

        Raises:
            SpecialTextError: The text spells a disallowed one; it is a ``ValueError``.
        """
        return self.tokenizer.encode(
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            surrogates="replace",
        )

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: SpecialSet = frozenset(),
        disallowed_special: SpecialSet = "all",
    ) -> UInt32Array:
        """As :meth:`encode`, the ids as a ``uint32`` array."""
        return self.tokenizer.encode_to_numpy(
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            surrogates="replace",
        )

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode many texts in which special tokens are ordinary text."""
        return self.tokenizer.encode_batch(text, surrogates="replace", threads=num_threads)

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: SpecialSet = frozenset(),
        disallowed_special: SpecialSet = "all",
    ) -> list[list[int]]:
        """As :meth:`encode` of each text."""
        return self.tokenizer.encode_batch(
            text,
            threads=num_threads,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            surrogates="replace",
        )

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Id of the token that spells exactly this; ``KeyError`` if there is none."""
        return self.tokenizer.encode_single_token(text_or_bytes)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes that tokens spell; ``KeyError`` for an id that does not exist."""
        try:
            return self.tokenizer.decode_bytes(tokens)
        except PrunedBPEError as error:
            raise KeyError(error.message) from None

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text that tokens spell."""
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """What one token spells; ``KeyError`` for an id that does not exist."""
        return self.tokenizer.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """What each of the tokens spells."""
        return self.tokenizer.decode_tokens_bytes(tokens)

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of tokens, and the character at which each begins."""
        return self.tokenizer.decode_with_offsets(tokens)

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decode many lists of tokens; ``num_threads`` is taken for compatibility."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """The bytes of many lists of tokens; ``num_threads`` is taken for compatibility."""
        return [self.decode_bytes(tokens) for tokens in batch]

    def token_byte_values(self) -> list[bytes]:
        """What every token but the special ones spells, sorted."""
        return self.tokenizer.token_byte_values()

    def is_special_token(self, token: int) -> bool:
        """Whether the id is that of a special token."""
        return self.tokenizer.is_special_token(token)

    @property
    def eot_token(self) -> int:
        """Id of the special token that ends a text."""
        return self.tokenizer.eot_token

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return self.tokenizer.special_tokens_set

    @property
    def n_vocab(self) -> int:
        """One more than the highest token id."""
        return self.tokenizer.n_vocab

    @property
    def max_token_value(self) -> int:
        """The highest token id."""
        return self.tokenizer.max_token_value
