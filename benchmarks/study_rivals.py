"""Compare vocabularies of the same size by how many tokens they need, on the same chunks.

    pip install 'prunedbpe[study]'
    python benchmarks/study_rivals.py A multi --sizes 8000 16000 --out rivals.json
    python benchmarks/study_rivals.py multi-even --unseen multi-odd --out unseen.json

Each corpus is a file or a folder with one file per source. For every method and size, the figures
are the tokens of the corpus as the method itself encodes, and in the fewest tokens of its
vocabulary; the gain of both in per cent against Standard BPE by rank of the same size; seconds to
choose the vocabulary, and the peak memory. ``--unseen`` texts are measured with every vocabulary
too. ``METHODS`` holds the methods; a new one is a function and a line there.

Counting and learning merges are done once, before any clock starts. Every choice runs in a process
of its own; its peak memory includes the counts and merges it loads.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import Row, describe, measure, run_child, show

import prunedbpe
from prunedbpe import ChunkCounts, MergeTable, SourceCounts
from prunedbpe.baselines import learn_greedtok, learn_picky, learn_unigram, scaffold
from prunedbpe.baselines.picky import PickyBPE
from prunedbpe.merges import replay
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.types import BYTE_COUNT, DEFAULT_SPECIAL_TOKENS, BoolArray
from prunedbpe.visibility.exposure import encoded_length

GROWTH = 2000
MERGES_PER_TOKEN = 4
"""Merges learned before the clock starts, per token of the largest size."""
LIMIT = 3600.0
"""Seconds after which a method is given up."""
BYTES = [bytes([byte]) for byte in range(BYTE_COUNT)]


@dataclass(frozen=True)
class Task:
    """What a method may use.

    Attributes:
        sources: The corpus, counted by source.
        merges: More merges than any method needs.
        size: The visible vocabulary, with bytes and special tokens.
    """

    sources: SourceCounts
    merges: MergeTable
    size: int

    @property
    def counts(self) -> ChunkCounts:
        return self.sources.total

    @property
    def required(self) -> int:
        return self.size - BYTE_COUNT - len(DEFAULT_SPECIAL_TOKENS)


@dataclass(frozen=True)
class Choice:
    """A vocabulary.

    Attributes:
        strings: The visible strings, bytes first.
        length: The tokens of a corpus as the method encodes it; None stands for the fewest tokens.
    """

    strings: list[bytes]
    length: Callable[[ChunkCounts], int] | None


def of_merges(merges: MergeTable, hidden: BoolArray, *, by_rank: bool = True) -> Choice:
    """Visible strings among the merges, encoded by rank or in the fewest tokens."""

    def length(counts: ChunkCounts) -> int:
        return encoded_length(merges.pairs, replay(merges, counts), hidden)

    strings = merges.token_bytes
    visible = [strings[rank] for rank in range(len(hidden)) if not hidden[rank]]
    return Choice(visible, length if by_rank else None)


def standard(task: Task, extra: int = 0) -> Choice:
    tokenizer = prunedbpe.prune(task.merges, task.size + extra, threshold=0)
    return of_merges(task.merges, ~tokenizer.vocabulary.visible)


def pruned(task: Task) -> Choice:
    tokenizer = prunedbpe.prune(task.merges, task.size, threshold="40%")
    return of_merges(task.merges, ~tokenizer.vocabulary.visible)


def auto(task: Task) -> Choice:
    tokenizer = prunedbpe.prune(task.merges, task.size, threshold="auto", sources=task.sources)
    return of_merges(task.merges, ~tokenizer.vocabulary.visible)


def chosen(task: Task, *, trust_corpus: bool = False, ratio: float | None = None) -> Choice:
    tokenizer = prunedbpe.prune(
        task.merges,
        task.size,
        threshold="auto",
        segmentation="shortest",
        sources=task.sources,
        counts=task.counts,
        trust_corpus=trust_corpus,
        candidate_ratio=ratio,
    )
    return of_merges(task.merges, ~tokenizer.vocabulary.visible, by_rank=False)


def scaffold_bpe(task: Task) -> Choice:
    return of_merges(task.merges, scaffold(task.merges, task.required).hidden)


def picky_bpe(task: Task) -> Choice:
    learned = learn_picky(task.counts, task.required, "0.7")
    events = learned.prefix(task.required)

    def length(counts: ChunkCounts) -> int:
        return counts.total_bytes + int(learned.changes_on(counts)[:events].sum())

    return Choice(PickyBPE(learned, task.required).strings, length)


def unigram(task: Task) -> Choice:
    model = learn_unigram(task.counts, task.required)
    return Choice([*BYTES, *model.tokens], model.length)


def greedtok(task: Task) -> Choice:
    learned = learn_greedtok(task.counts, task.required)

    def length(counts: ChunkCounts) -> int:
        return counts.total_bytes - int(learned.saved_on(counts).sum())

    return Choice([*BYTES, *learned.tokens], length)


STANDARD = "Standard BPE"
METHODS: dict[str, Callable[[Task], Choice]] = {
    STANDARD: standard,
    f"Standard BPE, {GROWTH:,} more tokens": lambda task: standard(task, GROWTH),
    "pruned, r = 0.40": pruned,
    "auto, by rank": auto,
    "Scaffold-BPE": scaffold_bpe,
    "Picky BPE, T = 0.7": picky_bpe,
    "Unigram": unigram,
    "GreedTok": greedtok,
    "chosen for shortest": chosen,
    "chosen for shortest, trusting, K = 2N": lambda task: chosen(task, trust_corpus=True, ratio=2),
    "chosen for shortest, trusting, K = 4N": lambda task: chosen(task, trust_corpus=True, ratio=4),
}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        answer_to = os.dup(1)  # libraries print progress; only the answer may reach the parent
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(answer_to, json.dumps(run_method(json.loads(sys.argv[2]))).encode())
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", type=Path, nargs="+", help="files or folders to learn on")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 16000])
    parser.add_argument("--unseen", type=Path, nargs="+", default=[], help="measure on these too")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--out", type=Path, required=True, help="write the figures there, as JSON")
    arguments = parser.parse_args()
    about = describe([])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        unseen = {}
        for text in arguments.unseen:
            unseen[text.name] = str(Path(folder) / f"unseen-{text.name}.parquet")
            prunedbpe.count(text).save(unseen[text.name])
        for corpus in arguments.corpora:
            prepared = prepare(corpus, max(arguments.sizes), Path(folder) / corpus.name)
            for size in arguments.sizes:
                for method in dict.fromkeys([STANDARD, *arguments.methods]):
                    task = {"corpus": corpus.name, "size": size, "method": method}
                    row = run_child({**task, "path": str(prepared), "unseen": unseen}, limit=LIMIT)
                    rows.append(show({k: v for k, v in row.items() if k not in ("path", "unseen")}))
            about.setdefault("corpora", {})[corpus.name] = facts(prepared)
    add_gains(rows)
    arguments.out.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", "utf-8")
    show_tables(rows)


def prepare(corpus: Path, size: int, folder: Path) -> Path:
    """Count a corpus and learn its merges; the children load them."""
    sources = prunedbpe.count_by_source(corpus)
    folder.mkdir()
    sources.save(folder / "sources")
    prunedbpe.learn(sources.total, MERGES_PER_TOKEN * size).save(folder / "merges.parquet")
    return folder


def facts(prepared: Path) -> Row:
    counts = SourceCounts.load(prepared / "sources")
    total = counts.total
    return {
        "bytes": total.total_bytes,
        "sources": len(counts),
        "unique_chunks": len(total),
        "unique_bytes": len(total.data),
    }


def run_method(row: Row) -> Row:
    """Choose a vocabulary, measured, and encode all texts with it."""
    folder = Path(row["path"])
    sources = SourceCounts.load(folder / "sources")
    task = Task(sources, MergeTable.load(folder / "merges.parquet"), row["size"])
    _ = task.counts, task.merges.token_bytes  # made when first asked for: not part of the choice
    cost, choice = measure(lambda: METHODS[row["method"]](task))
    texts = {row["corpus"]: task.counts}
    texts |= {name: ChunkCounts.load(path) for name, path in row["unseen"].items()}
    segmenter = ShortestSegmenter(choice.strings, task.counts.pretokenizer)
    tokens = {}
    for name, counts in texts.items():
        fewest = segmenter.total_length(counts)
        own = fewest if choice.length is None else choice.length(counts)
        tokens[name] = {"own": own, "fewest": fewest}
    return {**cost, "learned": len(choice.strings) - BYTE_COUNT, "tokens": tokens}


def add_gains(rows: Sequence[Row]) -> None:
    """Per cent fewer tokens than Standard BPE by rank of the same size."""
    base = {
        (row["corpus"], row["size"], text): tokens["own"]
        for row in rows
        if row["method"] == STANDARD
        for text, tokens in row["tokens"].items()
    }
    for row in rows:
        for text, tokens in row.get("tokens", {}).items():
            standard_tokens = base[row["corpus"], row["size"], text]
            for kind in ("own", "fewest"):
                tokens[f"{kind}_gain"] = 100 * (1 - tokens[kind] / standard_tokens)


def show_tables(rows: Sequence[Row]) -> None:
    """A Markdown table for each corpus and size: gains by own segmentation / in fewest tokens."""
    for corpus, size in dict.fromkeys((row["corpus"], row["size"]) for row in rows):
        here = [row for row in rows if (row["corpus"], row["size"]) == (corpus, size)]
        texts = list(here[0]["tokens"])
        print(f"\n{corpus}, {size:,} tokens\n")
        print("| method | " + " | ".join(texts) + " | CPU s | MB |")
        print("| --- |" + " ---: |" * (len(texts) + 2))
        for row in here:
            if "error" in row:
                print(f"| {row['method']} | {row['error']} |" + " |" * (len(texts) + 1))
                continue
            gains = [
                f"{t['own_gain']:.2f} / {t['fewest_gain']:.2f}" for t in row["tokens"].values()
            ]
            cells = [row["method"], *gains, f"{row['cpu']:.1f}", f"{row['rss_mb']:.0f}"]
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
