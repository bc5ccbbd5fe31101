"""A tour on text that every machine has: the sources of the Python standard library.

Count it, learn merges once, make three tokenizers of the same size (Standard BPE, Pruned BPE, and
tokens chosen for the shortest text), show what changed, and encode a sentence. Results are saved in
``demo-output/``. Run by ``make demo``.
"""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import prunedbpe
from prunedbpe._support.progress import default_progress
from prunedbpe.visibility.exposure import exposure
from prunedbpe.vocabulary.vocabulary_files import token_repr

OUTPUT = Path("demo-output")
VOCAB_SIZE = 4_000
THRESHOLD = "40%"
CANDIDATES = 10_000
CORPUS_BYTES = 6_000_000
SENTENCE = "Each section may register an alias for its events: naïve, but it works — 中文 too."


def main() -> None:
    """Train, compare, encode."""
    console = Console()
    progress = default_progress()
    started = time.perf_counter()

    # 1. Count, then learn more merges than any vocabulary will show.
    corpus = prunedbpe.Corpus(standard_library_files())
    counts = prunedbpe.count(corpus, progress=progress)
    merges = prunedbpe.learn(counts, CANDIDATES, progress=progress)
    learned = time.perf_counter()
    counts.save(OUTPUT / "counts.parquet")
    merges.save(OUTPUT / "merges.parquet")
    console.print(
        f"Learned {len(merges):,} merges from {corpus.report.files} files of the Python standard "
        f"library, {corpus.report.bytes / 1e6:.1f} MB, in {learned - started:.1f} s."
    )

    # 2. Prune the same merges three times.
    tokenizers = {
        "Standard": prunedbpe.prune(merges, VOCAB_SIZE, threshold=0),
        f"Pruned, {THRESHOLD}": prunedbpe.prune(merges, VOCAB_SIZE, threshold=THRESHOLD),
        "Shortest": prunedbpe.prune(
            merges, VOCAB_SIZE, threshold="auto", segmentation="shortest", counts=counts
        ),
    }
    pruning = time.perf_counter() - learned
    standard, pruned, shortest = tokenizers.values()
    standard.save(OUTPUT / "standard")
    pruned.save(OUTPUT / "pruned")
    shortest.save(OUTPUT / "shortest")
    console.print(f"Pruned them three times, in {pruning:.1f} s.\n")

    console.print(comparison(tokenizers))
    console.print(exchanged(merges, standard, pruned))
    show_sentence(console, tokenizers)
    console.print(f"\nSaved in [bold]{OUTPUT}/[/]:")
    for path in sorted(OUTPUT.rglob("*")):
        if path.is_file():
            console.print(f"  {path}  [dim]{path.stat().st_size / 1024:,.0f} KiB[/]")


def standard_library_files() -> list[Path]:
    """Return a few megabytes of modules of the standard library, sorted."""
    root = Path(sysconfig.get_path("stdlib"))
    chosen: list[Path] = []
    size = 0
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        if {"site-packages", "dist-packages", "test", "tests", "encodings"} & set(inside):
            continue
        size += path.stat().st_size
        if size > CORPUS_BYTES:
            break
        chosen.append(path)
    return chosen


def comparison(tokenizers: dict[str, prunedbpe.Tokenizer]) -> Table:
    """Compare the tokenizers on the corpus they were learned on."""
    table = Table(title=f"Three tokenizers of {VOCAB_SIZE:,} tokens each")
    table.add_column("")
    for name in tokenizers:
        table.add_column(name, justify="right")
    all_three = list(tokenizers.values())
    rows = {
        "Vocabulary a model sees": [tok.vocab_size for tok in all_three],
        "Merges": [len(tok.vocabulary.pairs) for tok in all_three],
        "Internal tokens": [tok.vocabulary.internal_count for tok in all_three],
        "Encoded length, tokens": [int(tok.training["encoded_length"]) for tok in all_three],
    }
    for name, figures in rows.items():
        table.add_row(name, *(f"{figure:,}" for figure in figures))
    before, *others = rows["Encoded length, tokens"]
    shorter = (f"[bold green]{1 - length / before:.2%}[/]" for length in others)
    table.add_row("Shorter than Standard by", "", *shorter)
    return table


def exchanged(
    merges: prunedbpe.MergeTable, standard: prunedbpe.Tokenizer, pruned: prunedbpe.Tokenizer
) -> Table:
    """List the rarest hidden tokens and the most frequent tokens that took their slots."""
    retained = len(pruned.vocabulary.pairs)
    exposures = exposure(merges.pairs, merges.applied, retained)
    strings = pruned.vocabulary.strings
    visible = pruned.vocabulary.visible
    hidden = [int(rank) for rank in np.flatnonzero(~visible)]
    newcomers = [
        rank for rank in range(len(standard.vocabulary.strings), len(strings)) if visible[rank]
    ]
    hidden.sort(key=lambda rank: (exposures[rank], -len(strings[rank])))
    newcomers.sort(key=lambda rank: -exposures[rank])
    table = Table(title="Hidden tokens and their replacements (E: exposure)")
    for title in ("hidden", "needed for", "E", "new", "E"):
        table.add_column(title, justify="right" if title == "E" else "left")
    for lost, gained in list(zip(hidden, newcomers, strict=False))[:8]:
        parents = pruned.vocabulary.parents(lost)
        table.add_row(
            escape(token_repr(strings[lost])),
            escape(token_repr(strings[parents[0]])) if parents else "",
            f"{exposures[lost]:,}",
            escape(token_repr(strings[gained])),
            f"{exposures[gained]:,}",
        )
    return table


def show_sentence(console: Console, tokenizers: dict[str, prunedbpe.Tokenizer]) -> None:
    """Encode a sentence with every tokenizer, show the tokens, and decode it again."""
    console.print(f"\nA sentence: {SENTENCE}", highlight=False)
    for name, tok in tokenizers.items():
        ids = tok.encode(SENTENCE)
        assert tok.decode(ids) == SENTENCE
        pieces = "[dim]|[/]".join(
            escape(tok.token_bytes(token_id).decode("utf-8", "backslashreplace"))
            for token_id in ids
        )
        console.print(f"{name:>11}, {len(ids)} tokens: {pieces}", highlight=False)
    console.print("All decode to the original sentence.")


if __name__ == "__main__":
    main()
