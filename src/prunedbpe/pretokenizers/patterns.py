r"""The regular expressions that define the built-in pretokenizers named after public encodings.

The native scanners are equal to these patterns, run by the package ``regex``.
"""

from __future__ import annotations

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
"""Defines ``gpt2``: the pattern of the public GPT-2 encoding (also r50k and p50k)."""

CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
r"""Defines ``cl100k``: the pattern of the public encoding cl100k_base.

An older published form lacks ``\s++$``. It cuts white space at the end of a text after the last
line break, where this one keeps it whole. Elsewhere the two are equal.
"""

LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Defines ``llama3``: the pattern of Llama 3, and the older published form of ``cl100k``."""

QWEN2_PATTERN = LLAMA3_PATTERN.replace("{1,3}", "")
"""Defines ``qwen2``: the pattern of Qwen 1.5, 2 and 3, which cuts numbers into single digits."""

O200K_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""Defines ``o200k``: the pattern of the public encoding o200k_base."""

PATTERNS = {
    "gpt2": GPT2_PATTERN,
    "cl100k": CL100K_PATTERN,
    "llama3": LLAMA3_PATTERN,
    "qwen2": QWEN2_PATTERN,
    "o200k": O200K_PATTERN,
}
"""The patterns by the names of their pretokenizers."""
