"""Retargeting: another visible vocabulary out of the same merges, and the way from ids to ids.

In: merges learned once, and a domain's counts. Out: the visibility that makes the domain's text
shortest at a given size, and a map from the base tokenizer's visible ids, so that the embedding
matrix of a model can be sliced and its new rows initialised. The family keeps one merge list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges import Applied, MergeTable, check_same_merges, replay
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, DEFAULT_SPECIAL_TOKENS, Settings
from prunedbpe.visibility.auto import NO_DISCOUNT, VALIDATED_RATIOS, hide
from prunedbpe.visibility.exposure import encoded_length, total_tokens
from prunedbpe.visibility.threshold import required_tokens, too_few_merges
from prunedbpe.vocabulary import Vocabulary


@dataclass(frozen=True)
class IdMap:
    """How the visible ids of a retargeted tokenizer relate to those of its base.

    Attributes:
        kept: Base id of every new-tokenizer id whose token the base shows as well.
        new: For every other id, the base ids that spell it: what to initialise its row from.
        dropped: Base ids that the new tokenizer has no id for.
    """

    kept: dict[int, int]
    new: dict[int, list[int]]
    dropped: list[int]

    def as_settings(self) -> Settings:
        """The map as a JSON object; JSON keys are strings."""
        return {
            "kept": {str(i): base for i, base in self.kept.items()},
            "new": {str(i): base for i, base in self.new.items()},
            "dropped": self.dropped,
        }

    def save(self, path: str | Path) -> None:
        """Write the map as JSON."""
        write_json(path, self.as_settings())


def retarget(
    merges: MergeTable,
    domain: ChunkCounts | Applied,
    vocab_size: int,
    *,
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
) -> Tokenizer:
    """Choose the visible vocabulary that makes a domain's text shortest.

    Args:
        merges: Candidates, learned on any corpus; two to three times as many as will be visible.
        domain: The domain's text, counted or replayed.
        vocab_size: All a model sees.
        special_tokens: Reserved tokens, in the order of their ids.

    Raises:
        InsufficientCandidatesError: There are fewer merges than tokens must be visible.
    """
    special_tokens = tuple(special_tokens)
    required = required_tokens(vocab_size, special_tokens)
    if required > len(merges):
        raise too_few_merges(merges, required)
    applied = replay(merges, domain) if isinstance(domain, ChunkCounts) else domain
    ratios = {*VALIDATED_RATIOS, 3.0, 3.5, 4.0}
    counts = sorted({min(int(required * ratio), len(merges)) for ratio in ratios})
    choices = [hide(merges, applied, merge_count, required) for merge_count in counts]
    lengths = [encoded_length(merges.pairs, applied, hidden) for hidden in choices]
    # The first of equals has the fewest merges to keep.
    length = min(lengths)
    hidden = choices[lengths.index(length)]
    retained = len(hidden) - BYTE_COUNT
    training: Settings = {
        "threshold": "auto",
        "retargeted": {
            "candidates": retained,
            "candidate_ratio": round(retained / required, 4) if required else 1.0,
            "spread_exponent": NO_DISCOUNT.spread_exponent,
            "domain_bytes": applied.total_bytes,
            "domain_length": length,
            "domain_standard_length": total_tokens(applied, required),
        },
        "boundary_frequency": int(merges.frequencies[required - 1]) if required else 0,
        "corpus": merges.corpus.as_settings(),
        "encoded_length": encoded_length(merges.pairs, merges.applied, hidden),
        "standard_encoded_length": total_tokens(merges.applied, required),
    }
    vocabulary = Vocabulary(merges.pairs[:retained].copy(), ~hidden, special_tokens)
    return Tokenizer(vocabulary, merges.pretokenizer, training)


def id_map(base: Tokenizer, retargeted: Tokenizer) -> IdMap:
    """Relate the visible ids of two tokenizers over one merge list.

    Args:
        base: What a model was trained with.
        retargeted: What it is to use.

    Raises:
        RunMismatchError: Their merges differ; the message names the first difference.

    >>> from prunedbpe import ChunkCounts, learn, prune
    >>> merges = learn(ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}), 4)
    >>> base = prune(merges, 259, threshold=0, special_tokens=())  # at, th, the
    >>> other = prune(merges, 259, threshold=2, special_tokens=())  # at, the, cat
    >>> found = id_map(base, other)
    >>> found.new, found.dropped
    ({258: [99, 256]}, [257])
    """
    check_same_merges(*sorted((base.vocabulary.pairs, retargeted.vocabulary.pairs), key=len))
    base_ranks = {rank: i for i, rank in enumerate(base.vocabulary.ranks_by_id.tolist())}
    kept: dict[int, int] = {}
    new: dict[int, list[int]] = {}
    for token_id in range(retargeted.vocab_size):
        rank = retargeted.rank(token_id)
        if rank is None:
            text = retargeted.vocabulary.special_tokens[
                token_id - retargeted.vocabulary.visible_count
            ]
            if text in base.special_tokens:
                kept[token_id] = base.special_tokens[text]
            else:
                new[token_id] = base.encode(text)
            continue
        expansion = _base_expansion(rank, retargeted.vocabulary, base, base_ranks)
        if len(expansion) == 1:
            kept[token_id] = expansion[0]
        else:
            new[token_id] = expansion
    used = set(kept.values())
    return IdMap(kept, new, [i for i in range(base.vocab_size) if i not in used])


def _base_expansion(
    rank: int, vocabulary: Vocabulary, base: Tokenizer, base_ranks: dict[int, int]
) -> list[int]:
    """Visible base ids that spell a rank, which the base may never have retained."""
    if rank in base_ranks:
        return base.vocabulary.expansion(rank)
    left, right = vocabulary.pairs[rank - BYTE_COUNT].tolist()
    return [
        *_base_expansion(left, vocabulary, base, base_ranks),
        *_base_expansion(right, vocabulary, base, base_ranks),
    ]
