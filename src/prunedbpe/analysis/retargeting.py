"""Retargeting: another visible vocabulary from the same merges, and a map between token ids.

In: merges learned once, and the counts of a domain. Out: the visibility that makes the domain's
text shortest at a given size, and a map from the base tokenizer's visible ids. With the map, a
model's embedding matrix can be sliced and its new rows initialised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prunedbpe._support.arguments import check_type
from prunedbpe._support.atomic_files import write_json
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe.analysis.comparison import expand_into
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.counts.chunk_counts import MAKE_COUNTS
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, MergeTable, check_same_merges, replay
from prunedbpe.merges.merge_table import MAKE_MERGES
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.training import Decision, training_figures
from prunedbpe.types import (
    BYTE_COUNT,
    DEFAULT_SPECIAL_TOKENS,
    BoolArray,
    Segmentation,
    Settings,
    check_segmentation,
)
from prunedbpe.visibility.auto import choose_visibility
from prunedbpe.visibility.by_rank import VALIDATED_RATIOS, hide
from prunedbpe.visibility.exposure import encoded_length, total_tokens
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.threshold import required_tokens, too_few_merges
from prunedbpe.vocabulary import check_special_tokens

CANDIDATE_RATIOS = (*VALIDATED_RATIOS, 3.0, 3.5, 4.0)
"""Merges tried per visible learned token, for encoding by rank."""

FEWEST_RATIO = 4.0
"""Merges to choose from per visible learned token, for the shortest segmentation."""


@dataclass(frozen=True)
class IdMap:
    """How the visible ids of a retargeted tokenizer relate to those of its base.

    Attributes:
        kept: New id -> base id, for tokens that both tokenizers show.
        new: New id -> the base ids that spell the token, from which to initialise its row.
        dropped: Base ids without a new id.
    """

    kept: dict[int, int]
    new: dict[int, list[int]]
    dropped: list[int]

    def __repr__(self) -> str:
        return f"IdMap(kept={len(self.kept)}, new={len(self.new)}, dropped={len(self.dropped)})"

    def as_settings(self) -> Settings:
        """Return the map as a JSON object; its keys are strings."""
        return {
            "kept": {str(i): base for i, base in self.kept.items()},
            "new": {str(i): base for i, base in self.new.items()},
            "dropped": self.dropped,
        }

    def save(self, path: str | Path) -> None:
        """Write the map as JSON."""
        write_json(path, self.as_settings())

    @classmethod
    def load(cls, path: str | Path) -> IdMap:
        """Read what :meth:`save` wrote.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     IdMap({0: 1}, {1: [0, 1]}, [0]).save(Path(folder, "id_map.json"))
        ...     IdMap.load(Path(folder, "id_map.json")).new
        {1: [0, 1]}

        Raises:
            FormatError: The file is missing or damaged.
        """
        found = read_json(path)
        with naming(path):
            kept = {int(token_id): int(base) for token_id, base in found["kept"].items()}
            new = {int(i): [int(base) for base in parts] for i, parts in found["new"].items()}
            dropped = [int(base) for base in found["dropped"]]
            size = len(kept) + len(dropped)
            if sorted([*kept, *new]) != list(range(len(kept) + len(new))):
                raise ValueError("new ids with gaps")
            if sorted([*kept.values(), *dropped]) != list(range(size)):
                raise ValueError("base ids with gaps")
            if any(not parts or not 0 <= min(parts) <= max(parts) < size for parts in new.values()):
                raise ValueError("a token of unknown base ids")
        return cls(kept, new, dropped)


def retarget(
    merges: MergeTable,
    domain: ChunkCounts | Applied,
    vocab_size: int,
    *,
    segmentation: Segmentation = "rank",
    special_tokens: Sequence[str] = DEFAULT_SPECIAL_TOKENS,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Tokenizer:
    """Choose the visible vocabulary that makes a domain's text shortest.

    Args:
        merges: Candidates learned on any corpus; two to four times as many as will be visible.
        domain: The domain's text, counted; for encoding by rank, what the merges do to it is
            enough.
        vocab_size: All a model sees.
        segmentation: How the tokenizer will cut text; the tokens are chosen for it.
        special_tokens: Reserved tokens, in the order of their ids.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        InsufficientCandidatesError: There are fewer merges than visible learned tokens.
        SettingsError: The shortest segmentation needs the domain's counts.
    """
    progress = as_progress(progress)
    check_type("merges", merges, MergeTable, MAKE_MERGES)
    check_type("domain", domain, (ChunkCounts, Applied), MAKE_COUNTS)
    special_tokens = check_special_tokens(special_tokens)
    required = required_tokens(vocab_size, special_tokens)
    if required > len(merges):
        raise too_few_merges(merges, required)
    if check_segmentation(segmentation) == "rank":
        applied = replay(merges, domain) if isinstance(domain, ChunkCounts) else domain
        hidden, length = _choose_by_rank(merges, applied, required)
    elif isinstance(domain, ChunkCounts):
        applied = replay(merges, domain, threads=threads)
        policy = VisibilityPolicy(
            "auto",
            segmentation=segmentation,
            candidate_ratio=FEWEST_RATIO,
            sources=SourceCounts.single(domain),
            trust_corpus=True,
        )
        choice = choose_visibility(merges, required, policy, threads=threads, progress=progress)
        hidden, length = choice.hidden, choice.length
    else:
        raise SettingsError(
            "the shortest segmentation needs the domain's chunk counts", hint="give count(domain)"
        )
    retained = len(hidden) - BYTE_COUNT
    training: Settings = {
        "threshold": "auto",
        "retargeted": {
            "candidates": retained,
            "candidate_ratio": round(retained / required, 4) if required else 1.0,
            "domain_bytes": applied.total_bytes,
            "domain_length": length,
            "domain_standard_length": total_tokens(applied, required),
        },
    }
    decision = Decision(merges, hidden, segmentation, training)
    training |= training_figures(decision, required)
    return decision.tokenizer(special_tokens)


def _choose_by_rank(merges: MergeTable, applied: Applied, required: int) -> tuple[BoolArray, int]:
    counts = sorted({min(int(required * ratio), len(merges)) for ratio in CANDIDATE_RATIOS})
    choices = [hide(merges, [applied], merge_count, required) for merge_count in counts]
    lengths = [encoded_length(merges.pairs, applied, hidden) for hidden in choices]
    length = min(lengths)
    return choices[lengths.index(length)], length  # of equal lengths, the one with fewest merges


def id_map(base: Tokenizer, retargeted: Tokenizer) -> IdMap:
    """Relate the visible ids of two tokenizers that share a merge list.

    Args:
        base: The tokenizer a model was trained with.
        retargeted: The tokenizer it will use.

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
    for name, tokenizer in (("base", base), ("retargeted", retargeted)):
        check_type(name, tokenizer, Tokenizer, "load it with Tokenizer.load(folder)")
    check_same_merges(*sorted((base.vocabulary.pairs, retargeted.vocabulary.pairs), key=len))
    base_ids = base.vocabulary.token_ids
    kept: dict[int, int] = {}
    new: dict[int, list[int]] = {}
    for token_id in range(retargeted.vocab_size):
        rank = retargeted.rank(token_id)
        if rank is None:
            text = retargeted.token_bytes(token_id).decode()
            # One base id may spell the text without being this special token: that is a new one.
            is_kept = text in base.special_tokens
            expansion = [int(base.special_tokens[text])] if is_kept else base.encode(text)
        else:
            expansion = base_ids[expand_into(rank, retargeted.vocabulary, base.vocabulary)].tolist()
            is_kept = len(expansion) == 1
        if is_kept:
            kept[token_id] = expansion[0]
        else:
            new[token_id] = expansion
    used = set(kept.values())
    return IdMap(kept, new, [i for i in range(base.vocab_size) if i not in used])
