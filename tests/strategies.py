"""Hypothesis strategies for the whole suite: small inputs in which rare things are common.

Ties, repeats and overlaps decide whether learning is exact, and hardly occur in random text. Two or
three letters and short chunks make nearly every step of learning a tie.
"""

from __future__ import annotations

from hypothesis import strategies as st

TIE_PRONE_CHUNKS = (b"aa", b"aaa", b"aaaa", b"aaaaaaa", b"abab", b"ababa", b"baab", b"abcabc")
"""Overlaps, odd and even runs, and periods that replacement from the left cuts differently."""

AWKWARD_TEXTS = (
    "",
    " ",
    "\n\n\t \u00a0\u3000",
    "\x00",
    "a\x00b\x00\x00",
    "a" * 300,
    " " * 300,
    "=" * 77 + "-" * 78,
    "e\u0301le\u0300ve",  # letters with combining marks
    "\u0301 starts with a mark",
    "Z\u0351\u036b\u0343a\u0321\u0334l\u034a",
    "中华人民共和国",
    "中文abc123年",
    "日本語テキスト、カタカナ。",
    "한국어 띄어쓰기",
    "ภาษาไทยไม่มีช่องว่าง",
    "हिन्दी में लिखा",
    "العَرَبِيَّة",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽",  # joined by U+200D, with modifiers
    "🇫🇷🇩🇪🇯",
    "\U0010ffff\ufffe\ue000",  # noncharacters and private use
    "\ufeffbyte order mark",
    "don't C'était Node.js GPT-4 user_id 3.14 10-20 C++ C# .js",
    "</div> <a href='x'>......====</a>",
    "<_EOS_><_PAD_>",  # the text of special tokens is ordinary text
    "\u2028line\u2029paragraph\x85\x0b\x0c\r\n",
    "ß ﬁ ŉ ǅ İ ı",
    "١٢٣ Ⅻ ½ ²",
)
"""Texts that have broken tokenizers before, by name."""


def zipf_text(lines: int = 200) -> str:
    """A text, always the same, whose words are as unequally frequent as those of a language."""
    starts, ends = ("th", "c", "人", "str", "wh", "l"), ("t", "ng", "r", "民", "se", "tion", "l")
    words = [start + vowel + end for start in starts for vowel in "aeiou" for end in ends]
    state, text = 1, []
    for _ in range(lines):
        line = []
        for _ in range(8):
            state = state * 48271 % 0x7FFFFFFF
            line.append(words[int(len(words) * (state / 0x7FFFFFFF) ** 3)])
        text.append(" ".join(line))
    return "\n".join(text) + "\n"


def chunks(alphabet: bytes = b"ab", max_size: int = 12) -> st.SearchStrategy[bytes]:
    """Chunks over a tiny alphabet, never empty; repeated patterns are frequent."""
    letter = st.sampled_from(list(alphabet))
    loose = st.lists(letter, min_size=1, max_size=max_size).map(bytes)
    period = st.lists(letter, min_size=1, max_size=3).map(bytes)
    repeated = st.builds(lambda part, times: (part * times)[:max_size], period, st.integers(1, 6))
    named = [c for c in TIE_PRONE_CHUNKS if set(c) <= set(alphabet) and len(c) <= max_size]
    return st.one_of(loose, repeated, *([st.sampled_from(named)] if named else []))


def chunk_counts(
    alphabet: bytes = b"abc", max_chunks: int = 8, max_size: int = 12, max_count: int = 4
) -> st.SearchStrategy[dict[bytes, int]]:
    """Chunk counts in order of first appearance; small counts, so that frequencies tie."""
    return st.dictionaries(
        chunks(alphabet, max_size), st.integers(1, max_count), min_size=1, max_size=max_chunks
    )


def byte_chunk_counts(max_chunks: int = 6) -> st.SearchStrategy[dict[bytes, int]]:
    """Chunk counts over all byte values, UTF-8 or not."""
    return st.dictionaries(
        st.binary(min_size=1, max_size=10), st.integers(1, 5), min_size=1, max_size=max_chunks
    )


def unicode_texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Any valid Unicode text: every code point except surrogates."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)


def awkward_texts() -> st.SearchStrategy[str]:
    """Awkward texts alone, joined, or amid random text."""
    part = st.sampled_from(AWKWARD_TEXTS) | unicode_texts(12)
    return st.lists(part, min_size=1, max_size=4).map("".join)


def texts() -> st.SearchStrategy[str]:
    """What most tests of text should take: any text, often an awkward one."""
    return unicode_texts() | awkward_texts()


def documents(max_documents: int = 8) -> st.SearchStrategy[list[str]]:
    """Small corpora: words that recur beside texts that do not."""
    words = st.lists(st.sampled_from(["the", "that", "hat", "人民", "aaaa", "12"]), max_size=8)
    return st.lists(words.map(" ".join) | texts(), max_size=max_documents)


def hidden_ranks(merge_count: int) -> st.SearchStrategy[set[int]]:
    """Any set of learned tokens to hide."""
    if merge_count == 0:
        return st.just(set())
    return st.sets(st.integers(256, 255 + merge_count))
