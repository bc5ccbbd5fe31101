"""Two vocabularies compared: which tokens were hidden, which replaced them, and the gain of each.

Groups follow the paper's qualitative analysis: word fragments, Chinese characters and phrases,
partial UTF-8, structured text.
"""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from prunedbpe._support.notebook_view import Share, view, view_table
from prunedbpe._support.result_tables import ArrowExport, rows_to_arrow
from prunedbpe.analysis.inspection import tokens_built_on
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, check_same_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, Int64Array
from prunedbpe.visibility.exposure import encoded_length, exposure
from prunedbpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

Group = Literal[
    "word", "word fragment", "Chinese character", "Chinese phrase", "partial UTF-8", "structured"
]

_COLUMNS = {
    "change": "string",
    "text": "string",
    "rank": "int64",
    "group": "string",
    "exposure": "int64",
    "worth": "int64",
    "expands_to": "string",
    "supports": "string",
}


def group_of(string: bytes) -> Group:
    r"""Return a token's group in the paper's qualitative analysis.

    A word begins with a space, as it does inside text; letters without one are a fragment.

    >>> [group_of(s) for s in (b" environment", b"vironment", "国".encode(), "人民".encode())]
    ['word', 'word fragment', 'Chinese character', 'Chinese phrase']
    >>> [group_of(s) for s in (b"\xe4\xb8", b"</div>", b"    ")]
    ['partial UTF-8', 'structured', 'structured']
    """
    try:
        text = string.decode()
    except UnicodeDecodeError:
        return "partial UTF-8"
    if all(unicodedata.name(character, "").startswith("CJK UNIFIED") for character in text):
        return "Chinese character" if len(text) == 1 else "Chinese phrase"
    letters = text[1:] if text[0].isspace() else text
    # In many scripts vowels are marks.
    if letters and all(unicodedata.category(character)[0] in "LM" for character in letters):
        return "word" if text[0].isspace() else "word fragment"
    return "structured"


@dataclass(frozen=True)
class ComparedToken:
    """A token that is visible in only one of two vocabularies.

    Attributes:
        text: Its text, readable.
        rank: Its training rank.
        group: Its group.
        exposure: Its occurrences in the corpus after all merges of the longer list, before
            expansion.
        worth: Tokens it saves on the corpus: exposure * (tokens that replace it - 1).
        expands_to: The tokens that replace it in the other vocabulary.
        supports: Up to five visible tokens built on it, the most exposed first.
    """

    text: str
    rank: int
    group: Group
    exposure: int
    worth: int
    expands_to: list[str]
    supports: list[str]

    def as_row(self) -> dict[str, Any]:
        """Return the token as a flat mapping, for CSV and JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison(ArrowExport):
    """What changes from one vocabulary to another.

    ``length_after - length_before = worth of hidden - worth of shown + others``

    Attributes:
        hidden: Tokens visible only in the first, the most valuable first.
        shown: Tokens visible only in the second, the most valuable first.
        length_before: Encoded length of the corpus with the first.
        length_after: Encoded length with the second.
        others: Change in the expansions of tokens that are visible in neither.
    """

    hidden: list[ComparedToken]
    shown: list[ComparedToken]
    length_before: int
    length_after: int
    others: int

    def __repr__(self) -> str:
        return (
            f"Comparison(hidden={len(self.hidden)}, shown={len(self.shown)}, "
            f"length_before={self.length_before}, length_after={self.length_after})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "tokens before": self.length_before,
            "after": self.length_after,
            "fewer": Share(1 - self.length_after / max(self.length_before, 1)),
            "hidden": len(self.hidden),
            "shown": len(self.shown),
        }
        tables = [
            view_table(
                f"Most valuable tokens {name}",
                ["token", "exposure", "worth", "in its place", "part of"],
                [
                    [
                        token.text,
                        token.exposure,
                        token.worth,
                        " | ".join(token.expands_to),
                        token.supports[0] if token.supports else "",
                    ]
                    for token in tokens[:10]
                ],
            )
            for name, tokens in (("hidden", self.hidden), ("shown", self.shown))
        ]
        return view("Comparison", facts, *tables)

    def to_arrow(self) -> pa.Table:
        """Return one row for each token; ``change`` is ``hidden`` or ``shown``."""
        rows = [
            {**token.as_row(), "change": change}
            for change, tokens in (("hidden", self.hidden), ("shown", self.shown))
            for token in tokens
        ]
        for row in rows:
            row["expands_to"] = " | ".join(row["expands_to"])
            row["supports"] = " | ".join(row["supports"])
        return rows_to_arrow(rows, _COLUMNS)

    def as_settings(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return asdict(self)


def compare(before: Tokenizer, after: Tokenizer, applied: Applied) -> Comparison:
    """Compare two tokenizers that share a merge list on a corpus. Both encode by rank.

    Args:
        before: The first, for instance Standard BPE.
        after: The second, for instance pruned.
        applied: The longer merge list of the two, replayed on the corpus
            (:func:`prunedbpe.replay`).

    Raises:
        RunMismatchError: Their merges differ.
        SettingsError: One of them does not encode by rank. Then a token has no worth of its own:
            without it, other visible tokens take over wherever they fit.
    """
    for name, tokenizer in (("first", before), ("second", after)):
        if tokenizer.segmentation != "rank":
            raise SettingsError(
                f"the {name} tokenizer has the segmentation {tokenizer.segmentation!r}; only "
                "tokenizers that encode by rank can be compared token by token",
                hint="compare their lengths with `prunedbpe evaluate`",
            )
    first, second = before.vocabulary, after.vocabulary
    shorter, longer = sorted((first, second), key=lambda vocabulary: len(vocabulary.pairs))
    check_same_merges(shorter.pairs, longer.pairs)
    # The shorter list is a prefix of the longer one, so both segmentations are expansions of the
    # longer list's tokens, and both lengths are sums over the same exposures.
    exposures = exposure(longer.pairs, applied, len(longer.pairs))
    hidden = _only_in(first, second, longer, exposures)
    shown = _only_in(second, first, longer, exposures)
    length_before = encoded_length(first.pairs, applied, ~first.visible)
    length_after = encoded_length(second.pairs, applied, ~second.visible)
    worth = sum(token.worth for token in hidden) - sum(token.worth for token in shown)
    return Comparison(
        hidden, shown, length_before, length_after, length_after - length_before - worth
    )


def _only_in(
    shows: Vocabulary, other: Vocabulary, longer: Vocabulary, exposures: Int64Array
) -> list[ComparedToken]:
    """Return the tokens visible in ``shows`` but not in ``other``, the most valuable first."""
    missing = [
        rank
        for rank in np.flatnonzero(shows.visible).tolist()
        if rank >= BYTE_COUNT and not (rank < len(other.visible) and other.visible[rank])
    ]
    tokens = []
    for rank in missing:
        pieces = expand_into(rank, shows, other)
        supported = [above for above in tokens_built_on(longer, rank) if longer.visible[above]]
        supported.sort(key=lambda above: (-int(exposures[above]), above))
        tokens.append(
            ComparedToken(
                text=readable(shows.strings[rank]),
                rank=rank,
                group=group_of(shows.strings[rank]),
                exposure=int(exposures[rank]),
                worth=int(exposures[rank]) * (len(pieces) - 1),
                expands_to=[readable(shows.strings[piece]) for piece in pieces],
                supports=[readable(longer.strings[above]) for above in supported[:5]],
            )
        )
    return sorted(tokens, key=lambda token: (-token.worth, token.rank))


def expand_into(rank: int, vocabulary: Vocabulary, other: Vocabulary) -> list[int]:
    """Expand a rank of ``vocabulary`` into ranks visible in ``other``, which shares its merges."""
    expansion: list[int] = []
    stack = [rank]  # not recursive: a long token may be built one byte at a time
    while stack:
        part = stack.pop()
        if part < len(other.visible) and other.visible[part]:
            expansion.append(part)
        else:
            stack += reversed(vocabulary.pairs[part - BYTE_COUNT].tolist())
    return expansion


def readable(string: bytes) -> str:
    r"""Return a token as text, or its bytes in angle brackets if they are not UTF-8.

    >>> readable(b" the"), readable(b"\xe4\xb8"), readable(b"\n")
    (' the', '<E4 B8>', '\\n')
    """
    try:
        text = string.decode()
    except UnicodeDecodeError:
        return f"<{string.hex(' ').upper()}>"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
