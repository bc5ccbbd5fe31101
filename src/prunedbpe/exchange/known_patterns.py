r"""Which pretokenizer a published pattern means.

A pattern equal to one of the built-in scanners becomes that scanner. Any other is run by the
package ``regex``, whose syntax covers what byte-level tokenizers use.
"""

from __future__ import annotations

from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.pretokenizers import (
    BUILTIN_PRETOKENIZERS,
    UNICODE_VERSION,
    Pretokenizer,
    find_pretokenizer,
)
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.pretokenizers.patterns import CL100K_PATTERN, GPT2_PATTERN, O200K_PATTERN

_GPT2_SPELLINGS = (
    GPT2_PATTERN,
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
)
_CL100K_SPELLINGS = (
    CL100K_PATTERN,
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s+",
)
BUILT_IN = {
    **dict.fromkeys(_GPT2_SPELLINGS, "gpt2"),
    **dict.fromkeys(_CL100K_SPELLINGS, "cl100k"),
    O200K_PATTERN: "o200k",
}


def cut_of_pattern(
    pattern: str, unicode_version: str, normalization: str | None = None
) -> ForeignCut:
    r"""How a library cuts that runs this pattern.

    >>> cut_of_pattern(r"\p{L}+|\P{L}+", "16.0.0").pretokenizer.name
    'regex'
    >>> cut_of_pattern(O200K_PATTERN, "16.0.0").pretokenizer.name
    'o200k'
    """
    if pattern in BUILT_IN:
        return ForeignCut(Pretokenizer(BUILT_IN[pattern]), unicode_version, normalization)
    for name in BUILTIN_PRETOKENIZERS:
        # Exports of ours name their characters one by one, so no engine's version plays a part.
        if pattern == equivalent_pattern(Pretokenizer(name)):
            return ForeignCut(Pretokenizer(name), UNICODE_VERSION, normalization)
    return ForeignCut(Pretokenizer("regex", pattern), unicode_version, normalization)


def cut_by(pretokenizer: str | Pretokenizer, unicode_version: str) -> ForeignCut:
    """How a library cuts that a user says cuts like this."""
    found = find_pretokenizer(pretokenizer)
    if found.pattern is not None:
        return cut_of_pattern(found.pattern, unicode_version)
    has_classes_of_its_engine = found.name in BUILT_IN.values()
    return ForeignCut(found, unicode_version if has_classes_of_its_engine else UNICODE_VERSION)
