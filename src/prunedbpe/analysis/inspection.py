"""Inspection of a tokenizer: how a token is built, what it supports, how often it occurs.

In: a tokenizer and, optionally, the exposures on a corpus. Out: small reports, each with a JSON
form. Exposure is not saved with a tokenizer; it comes from the merges of its run, or from any
corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from prunedbpe.analysis.token_uses import UseCounter
from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.merges import MergeTable, check_same_merges, replay
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, Int64Array, Settings
from prunedbpe.visibility.exposure import exposure
from prunedbpe.vocabulary import Vocabulary
from prunedbpe.vocabulary.vocabulary_files import token_repr


@dataclass(frozen=True, eq=False)
class ExposureTable:
    """Exposure of every rank on one corpus.

    Attributes:
        by_rank: Occurrences of each rank: before internal tokens are expanded if the tokenizer
            encodes by rank; none of internal tokens if it takes the fewest tokens.
        merge_count: Merges applied to the corpus, none for the fewest tokens.
    """

    by_rank: Int64Array
    merge_count: int


def exposures_of_run(tokenizer: Tokenizer, merges: MergeTable) -> ExposureTable:
    """Return the exposures that decided the visibility of a tokenizer's tokens.

    Args:
        tokenizer: The tokenizer.
        merges: The merges it was pruned from; more may have been learned since.

    Raises:
        RunMismatchError: The merges belong to another tokenizer.
        SettingsError: The tokenizer does not encode by rank, so a run does not know its exposures.
    """
    if tokenizer.segmentation != "rank":
        raise SettingsError(
            "a run holds exposures by rank, but the tokenizer takes the fewest tokens",
            hint="measure them on text: exposures_on_corpus, or --corpus",
        )
    pairs = tokenizer.vocabulary.pairs
    check_same_merges(pairs, merges.pairs)
    # A threshold compares exposures after all candidates learned by then, discarded ones too;
    # automatic visibility compares those after the retained merges.
    trained = tokenizer.training.get("trained_vocab")
    merge_count = len(pairs) if trained is None else min(len(merges), trained - BYTE_COUNT)
    by_rank = exposure(merges.pairs, merges.applied, merge_count)
    return ExposureTable(by_rank[: BYTE_COUNT + len(pairs)], merge_count)


def exposures_on_corpus(
    tokenizer: Tokenizer, counts: ChunkCounts, *, threads: int | None = None
) -> ExposureTable:
    """Measure exposures on any corpus, with the tokenizer's own segmentation.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> counts = prunedbpe.count(iter(["a hat", "a cat"]))
    >>> exposures_on_corpus(tok, counts).by_rank[256:].tolist()  # "at", "th"
    [2, 0]
    """
    pairs = tokenizer.vocabulary.pairs
    if tokenizer.segmentation == "shortest":
        visible = np.flatnonzero(tokenizer.vocabulary.visible)
        by_rank = np.zeros(len(tokenizer.vocabulary.visible), np.int64)
        uses = UseCounter(tokenizer, threads=threads).uses(counts)
        by_rank[visible] = uses[tokenizer.vocabulary.token_ids[visible]]
        return ExposureTable(by_rank, 0)
    merges = MergeTable.from_pairs(pairs, tokenizer.pretokenizer)
    applied = replay(merges, counts, threads=threads)
    return ExposureTable(exposure(pairs, applied), len(pairs))


@dataclass(frozen=True)
class TokenReport:
    """One token.

    Attributes:
        token_id: Its token id; internal tokens have ids from the vocabulary size on.
        rank: Position in training order; ``None`` for a special token.
        spelled: Its bytes.
        visibility: ``visible``, ``internal`` or ``special``.
        exposure: Occurrences in the corpus as in :class:`ExposureTable`, if known.
        parts: The two ranks it is built from.
        expansion: The visible token ids that stand for it.
        parents: Ranks built directly from it.
        leads_to: Visible ranks built from it at any depth.
    """

    token_id: int
    rank: int | None
    spelled: bytes
    visibility: str
    exposure: int | None
    parts: tuple[int, int] | None
    expansion: list[int]
    parents: list[int]
    leads_to: list[int]


def describe_token(
    tokenizer: Tokenizer, token_id: int, exposures: ExposureTable | None = None
) -> TokenReport:
    """Describe one token.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["hat hat hat"], vocab_size=262, threshold=1)
    >>> report = describe_token(tok, find_token(tok, b"ha"))
    >>> report.rank, report.visibility, report.parts, report.expansion
    (256, 'internal', (104, 97), [104, 97])
    >>> [tok.vocabulary.strings[rank] for rank in report.leads_to]
    [b'hat', b' hat']
    """
    vocabulary = tokenizer.vocabulary
    rank = tokenizer.rank(token_id)
    if rank is None:
        spelled = tokenizer.token_bytes(token_id)
        return TokenReport(token_id, None, spelled, "special", None, None, [token_id], [], [])
    parts = None
    if rank >= BYTE_COUNT:
        left, right = vocabulary.pairs[rank - BYTE_COUNT].tolist()
        parts = (left, right)
    return TokenReport(
        token_id=token_id,
        rank=rank,
        spelled=vocabulary.strings[rank],
        visibility="visible" if vocabulary.visible[rank] else "internal",
        exposure=None if exposures is None else int(exposures.by_rank[rank]),
        parts=parts,
        expansion=tokenizer.expansion(token_id),
        parents=_parents(vocabulary)[rank],
        leads_to=[
            above for above in tokens_built_on(vocabulary, rank) if vocabulary.visible[above]
        ],
    )


def find_token(tokenizer: Tokenizer, spelled: bytes) -> int:
    """Return the token id of a string, also of internal and special tokens.

    Raises:
        PrunedBPEError: No token spells it; the hint shows how it encodes.
    """
    vocabulary = tokenizer.vocabulary
    rank = vocabulary.ranks_by_string.get(spelled)
    if rank is not None:
        return int(vocabulary.token_ids[rank])
    for text, token_id in vocabulary.special_ids.items():
        if text.encode() == spelled:
            return int(token_id)
    hint = None
    try:
        ids = tokenizer.encode(spelled.decode())
    except UnicodeDecodeError:
        pass
    else:
        hint = "it encodes as " + " ".join(token_repr(tokenizer.token_bytes(i)) for i in ids[:20])
    raise PrunedBPEError(f"no token spells {token_repr(spelled)}", hint=hint)


def find_rank(tokenizer: Tokenizer, rank: int) -> int:
    """Return the token id of a rank."""
    count = len(tokenizer.vocabulary.visible)
    if not 0 <= rank < count:
        raise SettingsError(f"the tokenizer has no rank {rank}", hint=f"ranks are 0 to {count - 1}")
    return int(tokenizer.vocabulary.token_ids[rank])


def tokens_built_on(vocabulary: Vocabulary, rank: int) -> list[int]:
    """Return the ranks built from this one, directly or through others, in ascending order."""
    parents = _parents(vocabulary)
    found: set[int] = set()
    stack = [rank]
    while stack:
        above = [parent for parent in parents[stack.pop()] if parent not in found]
        found.update(above)
        stack += above
    return sorted(found)


@lru_cache(maxsize=2)
def _parents(vocabulary: Vocabulary) -> list[list[int]]:
    """Return the ranks built directly from each rank. Cached: lists ask for every token."""
    parents: list[list[int]] = [[] for _ in vocabulary.visible]
    for parent, pair in enumerate(vocabulary.pairs.tolist(), BYTE_COUNT):
        for part in set(pair):
            parents[part].append(parent)
    return parents


def internal_tokens(
    tokenizer: Tokenizer, exposures: ExposureTable | None = None, limit: int | None = None
) -> list[TokenReport]:
    """Describe the internal tokens, the most exposed first; by rank if no exposure is known."""
    ranks = np.flatnonzero(~tokenizer.vocabulary.visible)
    if exposures is not None:
        ranks = ranks[np.argsort(-exposures.by_rank[ranks], kind="stable")]
    ids = tokenizer.vocabulary.token_ids[ranks[:limit]].tolist()
    return [describe_token(tokenizer, token_id, exposures) for token_id in ids]


def visible_tokens(
    tokenizer: Tokenizer, exposures: ExposureTable | None = None, limit: int | None = None
) -> list[Settings]:
    """List the visible learned tokens, the most exposed first; by rank if no exposure is known.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> table = exposures_on_corpus(tok, prunedbpe.count(iter(["that that", "the"])))
    >>> [(token["text"], token["exposure"]) for token in visible_tokens(tok, table)]
    [('th', 3), ('at', 2)]
    """
    ranks = np.flatnonzero(tokenizer.vocabulary.visible)[BYTE_COUNT:]
    if exposures is not None:
        ranks = ranks[np.argsort(-exposures.by_rank[ranks], kind="stable")]
    return [
        {
            **brief(tokenizer, rank),
            "exposure": None if exposures is None else int(exposures.by_rank[rank]),
            "parts": [
                brief(tokenizer, part)
                for part in tokenizer.vocabulary.pairs[rank - BYTE_COUNT].tolist()
            ],
        }
        for rank in ranks[:limit].tolist()
    ]


def token_settings(tokenizer: Tokenizer, report: TokenReport) -> Settings:
    """Return a report as a JSON object, with a summary of every related token."""
    return {
        "token_id": report.token_id,
        "rank": report.rank,
        "text": _text(report.spelled),
        "bytes": report.spelled.hex(" "),
        "visibility": report.visibility,
        "exposure": report.exposure,
        "expansion": [brief_by_id(tokenizer, token_id) for token_id in report.expansion],
        "built_from": None if report.rank is None else build_tree(tokenizer, report.rank),
        "parents": [brief(tokenizer, rank) for rank in report.parents],
        "leads_to": [brief(tokenizer, rank) for rank in report.leads_to],
    }


def brief(tokenizer: Tokenizer, rank: int) -> Settings:
    """Summarize a token."""
    vocabulary = tokenizer.vocabulary
    spelled = vocabulary.strings[rank]
    return {
        "token_id": int(vocabulary.token_ids[rank]),
        "rank": rank,
        "text": _text(spelled),
        "bytes": spelled.hex(" "),
        "visibility": "visible" if vocabulary.visible[rank] else "internal",
    }


def brief_by_id(tokenizer: Tokenizer, token_id: int) -> Settings:
    """Summarize a token, which may be a special one."""
    rank = tokenizer.rank(token_id)
    if rank is not None:
        return brief(tokenizer, rank)
    spelled = tokenizer.token_bytes(token_id)
    return {
        "token_id": token_id,
        "rank": None,
        "text": _text(spelled),
        "bytes": spelled.hex(" "),
        "visibility": "special",
    }


def build_tree(tokenizer: Tokenizer, rank: int) -> Settings:
    """Return how a token is built, down to its bytes: ``parts`` holds two trees or none."""
    # Not recursive: a token of a repeated letter may be built one letter at a time.
    root = brief(tokenizer, rank)
    unfinished = [root]
    while unfinished:
        node = unfinished.pop()
        node["parts"] = []
        if node["rank"] >= BYTE_COUNT:
            pair = tokenizer.vocabulary.pairs[node["rank"] - BYTE_COUNT].tolist()
            node["parts"] = [brief(tokenizer, part) for part in pair]
            unfinished.extend(node["parts"])
    return root


def overview(tokenizer: Tokenizer) -> Settings:
    """Summarize a tokenizer as a JSON object."""
    vocabulary = tokenizer.vocabulary
    visible = np.flatnonzero(vocabulary.visible[BYTE_COUNT:]) + BYTE_COUNT
    lengths = np.array([len(vocabulary.strings[rank]) for rank in visible], np.int64)
    longest = visible[np.argsort(-lengths, kind="stable")[:5]].tolist()
    hidden = np.flatnonzero(~vocabulary.visible)[:10].tolist()
    return {
        "vocab_size": tokenizer.vocab_size,
        "visible_learned": len(visible),
        "special_tokens": {text: int(i) for text, i in tokenizer.special_tokens.items()},
        "internal_tokens": vocabulary.internal_count,
        "unsupported_internal_tokens": len(vocabulary.unsupported_internal()),
        "pretokenizer": tokenizer.pretokenizer.describe(),
        "segmentation": tokenizer.segmentation,
        "mean_token_bytes": round(float(lengths.mean()), 3) if len(lengths) else None,
        "longest": [brief(tokenizer, rank) for rank in longest],
        "first_hidden": [brief(tokenizer, rank) for rank in hidden],
        "training": tokenizer.training,
    }


def _text(spelled: bytes) -> str | None:
    """Return the text of a token, or ``None`` if its bytes are not UTF-8."""
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return None
