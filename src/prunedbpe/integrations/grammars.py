"""The vocabulary of a tokenizer for libraries that constrain generation: xgrammar and llguidance.

In: a :class:`~prunedbpe.integrations.transformers.PrunedBPETokenizer`. Out: the tokenizer object of
the library. Both libraries need the bytes of every id and the ids that are special; llguidance also
encodes text. Their own functions accept stock classes only, so these take their place. Needs the
extra ``grammars``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from prunedbpe.errors import MissingExtraError
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.integrations.transformers import PrunedBPETokenizer


def special_ids(tokenizer: PrunedBPETokenizer) -> list[int]:
    """Return the ids of special tokens, later additions included, in ascending order."""
    marked = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    return sorted(marked.union(tokenizer.all_special_ids))


def xgrammar_tokenizer_info(
    tokenizer: PrunedBPETokenizer,
    *,
    vocab_size: int | None = None,
    stop_token_ids: int | Sequence[int] | None = None,
    special_tokens_as_text: bool = False,
) -> Any:
    """Return an ``xgrammar.TokenizerInfo``; the first arguments are those of its constructor.

    Args:
        tokenizer: The tokenizer.
        vocab_size: Rows of the model's output layer, by default the size of the vocabulary.
        stop_token_ids: Ids that end the output, by default the end-of-text token.
        special_tokens_as_text: Let a grammar emit a special token wherever it allows its text.
            Structural tags need that; JSON must not have it.
    """
    try:
        import xgrammar
    except ImportError as error:
        raise MissingExtraError("xgrammar", "grammars", "xgrammar_tokenizer_info") from error

    spelled = tokenizer.token_bytes()
    if not special_tokens_as_text:
        for token_id in special_ids(tokenizer):
            spelled[token_id] = b""
    if stop_token_ids is None and tokenizer.eos_token_id is not None:
        stop_token_ids = tokenizer.eos_token_id
    if stop_token_ids is not None and not isinstance(stop_token_ids, int):
        stop_token_ids = list(stop_token_ids)
    size = len(spelled) if vocab_size is None else vocab_size
    return xgrammar.TokenizerInfo(
        [to_byte_alphabet(string) for string in spelled[:size]],
        xgrammar.VocabType.BYTE_LEVEL,
        vocab_size=size,
        stop_token_ids=stop_token_ids,
    )


def register_with_xgrammar() -> None:
    """Let ``xgrammar.TokenizerInfo.from_huggingface`` accept these tokenizers.

    For programs that call it themselves and cannot be given a ``TokenizerInfo``, such as vLLM.
    Other tokenizers go to the original function.
    """
    try:
        from xgrammar import TokenizerInfo
    except ImportError as error:
        raise MissingExtraError("xgrammar", "grammars", "register_with_xgrammar") from error

    original = TokenizerInfo.from_huggingface
    if getattr(original, "accepts_prunedbpe", False):
        return

    def from_huggingface(tokenizer: Any, **options: Any) -> Any:
        if isinstance(tokenizer, PrunedBPETokenizer):
            return xgrammar_tokenizer_info(tokenizer, special_tokens_as_text=True, **options)
        return original(tokenizer, **options)

    from_huggingface.accepts_prunedbpe = True  # type: ignore[attr-defined]
    TokenizerInfo.from_huggingface = staticmethod(from_huggingface)


def register_with_servers() -> None:
    """Do what a plugin of an inference server does in each of its processes.

    Importing this module has registered the tokenizer with ``AutoTokenizer``. A server may run
    without xgrammar.
    """
    with suppress(MissingExtraError):
        register_with_xgrammar()


class _Encoder:
    """What ``llguidance.TokenizerWrapper`` reads from a tokenizer."""

    def __init__(self, tokenizer: PrunedBPETokenizer, rows: int) -> None:
        self._tokenizer = tokenizer
        self.tokens = tokenizer.token_bytes()
        self.tokens += [b""] * (rows - len(self.tokens))  # a wrapper's size is that of this list
        self.special_token_ids = special_ids(tokenizer)
        self.bos_token_id = tokenizer.bos_token_id
        self.eos_token_id = tokenizer.eos_token_id

    def __call__(self, text: str | bytes) -> list[int]:
        """Encode text as ordinary text; llguidance finds special tokens itself."""
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        ids: list[int] = self._tokenizer.tokenizer.encode(text)
        return ids


def llguidance_tokenizer(
    tokenizer: PrunedBPETokenizer,
    *,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
) -> Any:
    """Return an ``llguidance.LLTokenizer``, with the arguments of ``llguidance.hf.from_tokenizer``.

    Args:
        tokenizer: The tokenizer; it needs an end-of-text token.
        n_vocab: Rows of the model's output layer if it has more than the vocabulary.
        eos_token: Ids that end the output, by default the end-of-text token.
    """
    try:
        from llguidance import LLTokenizer, TokenizerWrapper
    except ImportError as error:
        raise MissingExtraError("llguidance", "grammars", "llguidance_tokenizer") from error

    if eos_token is not None and not isinstance(eos_token, int):
        eos_token = list(eos_token)
    return LLTokenizer(TokenizerWrapper(_Encoder(tokenizer, n_vocab or 0)), eos_token=eos_token)
