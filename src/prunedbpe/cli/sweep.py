"""``prunedbpe sweep``: sizes x thresholds x corpora, out of one run."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.sweeping import SizeAdvice, SweepCell, advise_sizes, sweep
from prunedbpe.cli import options
from prunedbpe.cli.messages import aligned, put, put_json, tell
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, replay
from prunedbpe.merges.run_directory import RunDirectory, load_merges
from prunedbpe.visibility.spread import replay_sources


def command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR|MERGES",
            help="What `train --run-dir` kept, or what `learn` wrote.",
            show_default=False,
        ),
    ],
    vocab_size: Annotated[
        list[int] | None,
        typer.Option(
            metavar="SIZE",
            help="A size to try; repeat for more. Sizes where growth flattens by default.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="THRESHOLD",
            help="A threshold to try; repeat for more. 0, 20%, 30%, 40% and auto by default.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="Other text to measure on; repeat for more, the same name for more paths.",
            show_default=False,
        ),
    ] = None,
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the cells as CSV too.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the curves into a .png or .svg file too."),
    ] = None,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare sizes and thresholds on corpora, out of one run.

    \b
    prunedbpe sweep run
    prunedbpe sweep run --vocab-size 8000 --vocab-size 16000 --threshold 40% --threshold auto \\
        --corpus news=news/ --csv cells.csv --plot curves.png
    """
    watch = options.choose_progress(progress, quiet=quiet)
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    merges = load_merges(run)
    by_source = RunDirectory(run).known_sources() if run.is_dir() else None
    thresholds = threshold or ["0", "20%", "30%", "40%", "auto"]
    sources: list[Applied] = []
    if by_source and "auto" in thresholds:
        sources = replay_sources(merges, by_source, threads=threads)
    corpora: dict[str, Applied] = {}
    for name, paths in _named_paths(corpus or []).items():
        counts = count(
            Corpus(paths), pretokenizer=merges.pretokenizer, threads=threads, progress=watch
        )
        corpora[name] = replay(merges, counts, threads=threads)
    advice = advise_sizes(merges.applied, len(special_tokens))
    sizes = vocab_size or advice.suggested
    if not sizes:
        raise SettingsError(
            f"{len(merges):,} merges are too few to tell where growth flattens",
            hint="give --vocab-size, or learn more merges",
        )
    cells = sweep(
        merges,
        sizes,
        thresholds,
        corpora=corpora,
        sources=sources,
        special_tokens=special_tokens,
        max_train_vocab=max_train_vocab,
    )
    if csv_file is not None:
        options.prepare_file(csv_file)
        with csv_file.open("w", encoding="utf-8", newline="") as file:
            _write_csv(cells, file)
    if plot is not None:
        from prunedbpe.report.sweep_plot import draw_sweep

        options.prepare_file(plot)
        draw_sweep(cells, advice, plot)
    if as_json:
        put_json(
            {
                "cells": [cell.as_row() for cell in cells],
                "growth": dict(zip(map(str, advice.sizes), advice.reductions, strict=True)),
                "suggested_sizes": advice.suggested,
            }
        )
        return
    _show(cells)
    if not quiet:
        _tell_advice(advice)


def _named_paths(texts: list[str]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    for text in texts:
        name, given, path = text.partition("=")
        if not given:
            raise SettingsError(f"--corpus {text!r} has no name", hint="write it as NAME=PATH")
        named.setdefault(name, []).append(path)
    return named


def _write_csv(cells: list[SweepCell], file: object) -> None:
    writer = csv.DictWriter(file or sys.stdout, fieldnames=list(cells[0].as_row()))  # type: ignore[arg-type]
    writer.writeheader()
    writer.writerows(cell.as_row() for cell in cells)


def _show(cells: list[SweepCell]) -> None:
    rows = [
        (
            "corpus",
            "size",
            "threshold",
            "encoded length",
            "reduction",
            "internal",
            "share",
            "least exposure",
            "bytes/token",
            "+2K Standard",
        )
    ]
    for cell in cells:
        rows.append(
            (
                cell.corpus,
                f"{cell.vocab_size:,}",
                cell.threshold,
                _number(cell.encoded_length),
                _percent(cell.reduction, 3),
                _number(cell.internal),
                _percent(cell.internal_share, 1),
                _number(cell.least_exposure),
                "-" if cell.bytes_per_token is None else f"{cell.bytes_per_token:.3f}",
                _percent(cell.growth_reduction, 2),
            )
        )
    for line in aligned(rows, right=range(1, 10)):
        put(line)
    for note in dict.fromkeys(
        f"{cell.vocab_size:,} at {cell.threshold}: {cell.note}" for cell in cells if cell.note
    ):
        tell(note)


def _tell_advice(advice: SizeAdvice) -> None:
    if not advice.sizes:
        return
    tell("")
    tell("Standard BPE by 2,000 more tokens (* where the curve bends most):")
    for size, reduction in zip(advice.sizes, advice.reductions, strict=True):
        mark = "*" if size == advice.knee else " "
        tell(f"  {size:>9,} {mark} {_percent(reduction, 2):>7}  {'#' * round(400 * reduction)}")
    named = ", ".join(f"{size:,}" for size in advice.suggested)
    tell(f"sizes worth trying: {named or 'more merges are needed to tell'}")


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _percent(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}%"
