"""The options that all encoding methods share, checked once for a whole batch.

UTF-8 cannot express surrogates: pairs are joined, lone ones replaced or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypedDict, TypeVar, get_args

from prunedbpe._support.arguments import check_text, to_whole_number, wrong_type
from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.tokenizer.special_tokens import SpecialSet
from prunedbpe.types import Segmentation, check_segmentation

Surrogates = Literal["strict", "replace"]
Encoded = TypeVar("Encoded")

SEED_MASK = 0xFFFFFFFFFFFFFFFF
"""Native code takes seeds of 64 bits."""


class EncodeOptions(TypedDict, total=False):
    """Keyword arguments of all encoding methods; see ``Tokenizer.encode``."""

    allowed_special: SpecialSet
    disallowed_special: SpecialSet
    surrogates: Surrogates
    dropout: float
    seed: int
    segmentation: Segmentation | None


@dataclass(frozen=True)
class EncodePlan:
    """The same options with their defaults, validated; the segmentation is never ``None``."""

    allowed_special: SpecialSet = ()
    disallowed_special: SpecialSet = ()
    surrogates: Surrogates = "strict"
    dropout: float = 0.0
    seed: int = 0
    segmentation: Segmentation = "rank"

    def __post_init__(self) -> None:
        if self.surrogates not in get_args(Surrogates):
            raise SettingsError(f"surrogates={self.surrogates!r}", hint="use 'strict' or 'replace'")
        if not isinstance(self.dropout, Real):
            raise wrong_type("dropout is a probability, 0 to 1", self.dropout)
        to_whole_number("seed", self.seed)
        for name in ("allowed_special", "disallowed_special"):
            if not isinstance(getattr(self, name), Collection):
                raise wrong_type(f"{name} is 'all' or a collection of texts", getattr(self, name))
        if not 0.0 <= self.dropout <= 1.0:
            raise SettingsError(f"dropout is {self.dropout}", hint="use a probability, 0 to 1")
        check_segmentation(self.segmentation)
        if self.segmentation == "shortest" and self.dropout:
            raise SettingsError(
                "dropout leaves out merges, and the shortest segmentation applies none",
                hint="encode without dropout, or with segmentation='rank'",
            )

    @property
    def is_ordinary(self) -> bool:
        """Whether no text needs a look at special tokens or a random choice."""
        return not (self.allowed_special or self.disallowed_special or self.dropout)


def with_repair(
    encode: Callable[[list[str]], Encoded], texts: list[str], surrogates: Surrogates
) -> Encoded:
    """Encode texts; look for surrogates and wrong types only if native code refuses them."""
    try:
        return encode(texts)
    except UnicodeEncodeError:
        return encode([repair(text, surrogates) for text in texts])
    except (TypeError, AttributeError):
        for text in texts:
            check_text(text)
        raise


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
