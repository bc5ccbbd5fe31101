"""Texts with surrogates, which have no UTF-8: joined, replaced, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from prunedbpe.errors import PrunedBPEError, SettingsError

Surrogates = Literal["strict", "replace"]
Encoded = TypeVar("Encoded")


def with_repair(
    encode: Callable[[list[str]], Encoded], texts: list[str], surrogates: Surrogates
) -> Encoded:
    """Encode a batch; the texts are looked at only if one of them has no UTF-8."""
    try:
        return encode(texts)
    except UnicodeEncodeError:
        return encode([repair(text, surrogates) for text in texts])


def repair(text: str, surrogates: Surrogates) -> str:
    """Join surrogates that make a pair; replace lone ones, or refuse them."""
    if surrogates == "replace":
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if surrogates != "strict":
        raise SettingsError(f"surrogates={surrogates!r}", hint="give 'strict' or 'replace'")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PrunedBPEError(
            f"the text holds a lone surrogate, U+{ord(text[error.start]):04X}, "
            f"at character {error.start}",
            hint="encode with surrogates='replace', or repair the text",
        ) from None
    return text
