"""Surrogates, which UTF-8 cannot express: pairs are joined, lone ones replaced or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from prunedbpe.errors import PrunedBPEError

Surrogates = Literal["strict", "replace"]
Encoded = TypeVar("Encoded")


def with_repair(
    encode: Callable[[list[str]], Encoded], texts: list[str], surrogates: Surrogates
) -> Encoded:
    """Encode texts; look for surrogates only if one of them has no UTF-8."""
    try:
        return encode(texts)
    except UnicodeEncodeError:
        return encode([repair(text, surrogates) for text in texts])


def repair(text: str, surrogates: Surrogates) -> str:
    r"""Join surrogate pairs; replace lone surrogates by U+FFFD, or refuse them.

    >>> repair("a\ud800b", "replace")
    'a�b'
    """
    if surrogates == "replace":
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PrunedBPEError(
            f"the text holds a lone surrogate, U+{ord(text[error.start]):04X}, "
            f"at character {error.start}",
            hint="encode with surrogates='replace', or repair the text",
        ) from None
    return text
