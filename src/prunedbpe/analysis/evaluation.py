"""Tokenizers compared on corpora: how much shorter the text gets, and how well tokens are used.

In: tokenizers and corpora, by name. Out: one :class:`CorpusEvaluation` for each tokenizer and
corpus, and for each tokenizer and source folder. Lengths and uses come from the chunk counts
(:mod:`prunedbpe.analysis.token_uses`); only the bootstrap over documents encodes text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from prunedbpe._support.notebook_view import Share, view, view_table
from prunedbpe._support.progress import Progress, ProgressLike, as_progress
from prunedbpe._support.result_tables import ResultRows
from prunedbpe.analysis.bounding import Bounds, bound_lengths
from prunedbpe.analysis.metrics import (
    SEEN_UNDER,
    ExposureSpread,
    bootstrap_reductions,
    renyi_efficiency,
)
from prunedbpe.analysis.scripts import UNSPACED, characters, split_by_script
from prunedbpe.analysis.token_uses import UseCounter
from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, count_by_source
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Int64Array, Segmentation

BOOTSTRAP_SAMPLES = 1000

_NESTED = ("spread", "characters_per_token", "reduction_interval", "bounds")
"""Fields of an evaluation that are no single value."""


@dataclass(frozen=True)
class CorpusEvaluation:
    """One tokenizer on one corpus, or on one source folder of it.

    Attributes:
        tokenizer: Name of the tokenizer.
        corpus: Name of the corpus.
        source: The folder, or ``None`` for the whole corpus.
        segmentation: How chunks are cut into tokens; decides all figures but ``shortest``.
        vocab_size: All a model sees.
        bytes: Bytes of the text.
        tokens: Encoded length of the text.
        reduction: Share of tokens saved against the first tokenizer.
        bytes_per_token: Bytes per token.
        used: Visible tokens that occur, bytes included.
        renyi_efficiency: Rényi efficiency of order 2.5 over all visible tokens but special ones.
        shortest: The fewest visible tokens for the text: ``tokens`` if the segmentation is that.
        shortest_gap: Share of tokens that the shortest segmentation would save.
        spread: How the visible learned tokens are used.
        characters_per_token: Characters per token, by script of the chunk.
        fertility: Tokens per word. A word is a chunk with a letter of a script written with spaces;
            ``None`` if there are none, or if chunks are whole documents.
        reduction_interval: 95 % bootstrap interval of the reduction over documents.
        bounds: What no vocabulary of as many learned tokens can undercut; whole corpora only. The
            candidates are all tokens of the tokenizer, internal ones included.
    """

    tokenizer: str
    corpus: str
    source: str | None
    segmentation: Segmentation
    vocab_size: int
    bytes: int
    tokens: int
    reduction: float
    bytes_per_token: float
    used: int
    renyi_efficiency: float
    shortest: int
    shortest_gap: float
    spread: ExposureSpread
    characters_per_token: dict[str, float] = field(default_factory=dict)
    fertility: float | None = None
    reduction_interval: tuple[float, float] | None = None
    bounds: Bounds | None = None

    def as_settings(self) -> dict[str, Any]:
        """Return the evaluation as a JSON object."""
        return asdict(self)

    def as_row(self) -> dict[str, Any]:
        """Return the evaluation as a flat mapping, without the figures by script."""
        low, high = self.reduction_interval or (None, None)
        bounds = self.bounds
        return {
            **{name: value for name, value in vars(self).items() if name not in _NESTED},
            "learned": self.spread.learned,
            **{f"seen_under_{limit}": n for limit, n in self.spread.seen_under.items()},
            "gini": self.spread.gini,
            "reduction_low": low,
            "reduction_high": high,
            "bound_of_candidates": None if bounds is None else bounds.of_candidates.tokens,
            "bound_of_any": None if bounds is None else bounds.of_any.tokens,
        }


class EvaluationResult(ResultRows[CorpusEvaluation]):
    """The rows of an evaluation: a list, an Arrow table, and a table in a notebook.

    The table has the fields of :class:`CorpusEvaluation`, those of ``spread``, the ends of the
    interval and the tokens of both bounds, but not ``characters_per_token``.
    """

    ARROW_COLUMNS: ClassVar = {
        "tokenizer": "string",
        "corpus": "string",
        "source": "string",
        "segmentation": "string",
        "vocab_size": "int64",
        "bytes": "int64",
        "tokens": "int64",
        "reduction": "double",
        "reduction_low": "double",
        "reduction_high": "double",
        "bytes_per_token": "double",
        "used": "int64",
        "renyi_efficiency": "double",
        "shortest": "int64",
        "shortest_gap": "double",
        "fertility": "double",
        "learned": "int64",
        **{f"seen_under_{limit}": "int64" for limit in SEEN_UNDER},
        "gini": "double",
        "bound_of_candidates": "int64",
        "bound_of_any": "int64",
    }

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the evaluations as flat mappings."""
        return [row.as_row() for row in self]

    def _facts(self) -> dict[str, int]:
        return {
            "rows": len(self),
            "tokenizers": len({row.tokenizer for row in self}),
            "corpora": len({row.corpus for row in self}),
        }

    def __repr__(self) -> str:
        return f"EvaluationResult({', '.join(f'{name}={n}' for name, n in self._facts().items())})"

    def _repr_html_(self) -> str:
        rows = [
            [
                row.corpus,
                row.source,
                row.tokenizer,
                row.vocab_size,
                row.tokens,
                Share(row.reduction),
                row.bytes_per_token,
                row.used,
                Share(row.shortest_gap),
            ]
            for row in self
        ]
        columns = ["corpus", "source", "tokenizer", "vocab size", "tokens", "fewer than the first"]
        columns += ["bytes per token", "tokens used", "above the fewest"]
        return view("Evaluation", self._facts(), view_table("", columns, rows))


def evaluate(
    tokenizers: Mapping[str, Tokenizer],
    corpora: Mapping[str, Corpus],
    *,
    segmentation: Segmentation | None = None,
    by_folder: bool = True,
    bootstrap: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    bound: bool = False,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> EvaluationResult:
    """Compare tokenizers on corpora.

    Args:
        tokenizers: Tokenizers by name; the others are compared with the first.
        corpora: Corpora by name.
        segmentation: Measure all tokenizers with this one; by default each with its own.
        by_folder: Also evaluate each folder of a corpus that has more than one.
        bootstrap: Bootstrap samples for the interval of a reduction; 0 for no interval.
        seed: Seed of the bootstrap.
        bound: Also bound from below what any vocabulary can reach, which takes minutes for a large
            corpus.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Returns:
        Rows by corpus, the whole before its folders, then by tokenizer.

    >>> import prunedbpe
    >>> texts = ["the cat in the hat", "that hat"]
    >>> tok = prunedbpe.train(texts, vocab_size=264, threshold=0)
    >>> [row] = evaluate({"tok": tok}, {"both": Corpus.from_texts(texts)}, bootstrap=0)
    >>> row.tokens == sum(len(tok.encode(text)) for text in texts), row.fertility
    (True, 2.142857142857143)
    """
    progress = as_progress(progress)
    if not tokenizers:
        raise SettingsError("no tokenizer is given")
    rows: list[CorpusEvaluation] = []
    cutters = {str(tok.pretokenizer.describe()): tok.pretokenizer for tok in tokenizers.values()}
    for corpus_name, corpus in corpora.items():
        counted = {
            key: count_by_source(
                corpus, sources="folders", pretokenizer=cut, threads=threads, progress=progress
            )
            for key, cut in cutters.items()
        }
        whole: list[CorpusEvaluation] = []
        for name, tokenizer in tokenizers.items():
            sources = counted[str(tokenizer.pretokenizer.describe())]
            counter = UseCounter(tokenizer, segmentation, threads=threads)
            evaluator = _Evaluator(name, tokenizer, corpus_name, counter)
            row = evaluator.evaluate(sources.total, None)
            if bound:
                found = evaluator.bound(sources.total, threads, progress)
                row = replace(row, bounds=found)
            whole.append(row)
            if by_folder and len(sources) > 1:
                folders = enumerate(sources.names)
                rows.extend(evaluator.evaluate(sources.table(i), name) for i, name in folders)
        intervals: list[tuple[float, float] | None] = [None] * len(whole)
        if bootstrap:
            lengths = _document_lengths(
                list(tokenizers.values()), corpus, segmentation, threads, progress
            )
            intervals = list(bootstrap_reductions(lengths, samples=bootstrap, seed=seed))
        rows.extend(
            replace(row, reduction_interval=interval)
            for row, interval in zip(whole, intervals, strict=True)
        )
    return EvaluationResult(_against_first(rows, list(tokenizers), list(corpora)))


class _Evaluator:
    """Evaluates one tokenizer on tables of chunk counts."""

    def __init__(self, name: str, tokenizer: Tokenizer, corpus: str, counter: UseCounter) -> None:
        self._name, self._tokenizer, self._corpus = name, tokenizer, corpus
        self._counter = counter
        strings, self._ids = tokenizer.vocabulary.visible_strings
        self._learned = np.array([len(string) > 1 for string in strings])

    def evaluate(self, counts: ChunkCounts, source: str | None) -> CorpusEvaluation:
        uses = self._counter.uses(counts)[self._ids]
        tokens = int(uses.sum())
        shortest = self._counter.fewest(counts)
        per_script, fertility = self._by_script(counts)
        return CorpusEvaluation(
            tokenizer=self._name,
            corpus=self._corpus,
            source=source,
            segmentation=self._counter.segmentation,
            vocab_size=self._tokenizer.vocab_size,
            bytes=counts.total_bytes,
            tokens=tokens,
            reduction=0.0,
            bytes_per_token=counts.total_bytes / max(tokens, 1),
            used=int((uses > 0).sum()),
            renyi_efficiency=renyi_efficiency(uses),
            shortest=shortest,
            shortest_gap=(tokens - shortest) / max(tokens, 1),
            spread=ExposureSpread.of(uses[self._learned]),
            characters_per_token=per_script,
            fertility=fertility,
        )

    def bound(self, counts: ChunkCounts, threads: int | None, progress: Progress) -> Bounds:
        candidates, required = self._tokenizer.vocabulary.strings, int(self._learned.sum())
        return bound_lengths(counts, candidates, required, threads=threads, progress=progress)

    def _by_script(self, counts: ChunkCounts) -> tuple[dict[str, float], float | None]:
        per_script: dict[str, float] = {}
        words = word_tokens = 0
        for script, table in split_by_script(counts).items():
            tokens = self._counter.length(table)
            per_script[script] = characters(table) / max(tokens, 1)
            if script not in UNSPACED:
                words += int(table.counts.sum())
                word_tokens += tokens
        has_words = words and self._tokenizer.pretokenizer.name != "none"
        return per_script, word_tokens / words if has_words else None


def _document_lengths(
    tokenizers: list[Tokenizer],
    corpus: Corpus,
    segmentation: Segmentation | None,
    threads: int | None,
    progress: Progress,
) -> list[Int64Array]:
    """Encode every document with each tokenizer, and return its number of tokens."""
    lengths: list[list[Int64Array]] = [[] for _ in tokenizers]
    with progress.task("Encoding", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task):
            for found, tokenizer in zip(lengths, tokenizers, strict=True):
                _, offsets = tokenizer.encode_documents(
                    batch.data, batch.spans, threads=threads, segmentation=segmentation
                )
                found.append(np.diff(offsets))
    return [np.concatenate([np.zeros(0, np.int64), *found]) for found in lengths]


def _against_first(
    rows: list[CorpusEvaluation], tokenizers: list[str], corpora: list[str]
) -> list[CorpusEvaluation]:
    """Fill in the reductions, and sort the rows."""
    first = {(row.corpus, row.source): row.tokens for row in rows if row.tokenizer == tokenizers[0]}
    compared = [
        replace(row, reduction=1 - row.tokens / max(first[row.corpus, row.source], 1))
        for row in rows
    ]
    return sorted(
        compared,
        key=lambda row: (
            corpora.index(row.corpus),
            row.source is not None,
            row.source or "",
            tokenizers.index(row.tokenizer),
        ),
    )
