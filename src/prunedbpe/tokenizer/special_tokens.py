"""Special tokens in text: which may stand for themselves, which are refused, where they are."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Literal

from prunedbpe.errors import SettingsError, SpecialTextError

SpecialSet = Literal["all"] | Collection[str]
"""Special tokens by their text, or all of them."""


@lru_cache(maxsize=64)
def special_pattern(specials: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern that captures any of the texts, the longest first if one begins another."""
    longest_first = sorted(specials, key=len, reverse=True)
    return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")


def check_allowed(allowed: SpecialSet, known: Collection[str]) -> tuple[str, ...]:
    """Return the allowed special tokens by name, in a fixed order.

    Raises:
        SettingsError: One of them is not a special token of the tokenizer.
    """
    if allowed == "all":
        return tuple(known)
    names = [allowed] if isinstance(allowed, str) else allowed
    for name in names:
        if name not in known:
            raise SettingsError(
                f"{name!r} is not a special token",
                hint=f"the special tokens are {', '.join(known) or 'none'}",
            )
    return tuple(sorted(names))


def refuse_special_text(
    text: str, known: Collection[str], allowed: SpecialSet, disallowed: SpecialSet
) -> None:
    """Refuse a text that spells a disallowed special token.

    Args:
        text: The text.
        known: All special tokens.
        allowed: Those that may stand for themselves; never refused.
        disallowed: Those to refuse; ``"all"`` means all that are not allowed.

    Raises:
        SpecialTextError: The text holds one of them.

    >>> refuse_special_text("a<_EOS_>", ["<_EOS_>"], "all", "all")
    >>> refuse_special_text("a<_EOS_>", ["<_EOS_>"], (), ())
    """
    if disallowed == "all":
        allowed = known if allowed == "all" else allowed
        disallowed = [name for name in known if name not in allowed]
    elif isinstance(disallowed, str):
        disallowed = [disallowed]
    found = special_pattern(tuple(sorted(disallowed))).search(text) if disallowed else None
    if found:
        name = found.group()
        raise SpecialTextError(
            f"the text spells the special token {name!r} at character {found.start()}",
            hint=f"pass allowed_special={{{name!r}}} to encode it as that token, or "
            "disallowed_special=() to encode it as ordinary text",
        )
