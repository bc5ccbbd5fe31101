"""``prunedbpe sweep``: vocabulary sizes x thresholds x corpora, from one run."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.bounding import Bounds, bound_lengths
from prunedbpe.analysis.sweeping import (
    TRAINING_CORPUS,
    SizeAdvice,
    SweepCell,
    advise_sizes,
    sweep,
)
from prunedbpe.cli import options
from prunedbpe.cli.terminal import explain, info, print_json, print_line, print_table
from prunedbpe.counts import ChunkCounts, SourceCounts, count
from prunedbpe.errors import SettingsError
from prunedbpe.merges.run_directory import RunDirectory, load_merges
from prunedbpe.report.sweep_plot import draw_sweep
from prunedbpe.types import Segmentation
from prunedbpe.visibility.threshold import required_tokens

DEFAULT_THRESHOLDS = ("0", "20%", "30%", "40%", "auto")

_OPTIONAL = ("internal share", "least exposure", "+2K Standard", "bytes/token", "internal")
"""Columns that a narrow table leaves out, in this order."""


def command(
    run: options.Merges,
    vocab_size: Annotated[
        list[int] | None,
        typer.Option(
            metavar="SIZE",
            help="A vocabulary size. Repeatable; by default, the size that was trained and sizes "
            "where growth flattens.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="THRESHOLD",
            help="A threshold. Repeatable; 0, 20%, 30%, 40% and auto by default.",
            show_default=False,
        ),
    ] = None,
    segmentation: options.TrainedSegmentation = options.SegmentationName.RANK,
    corpus: options.NamedCorpora = [],  # noqa: B006 - typer copies it
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    bound: options.Bound = False,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write the cells as CSV.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also plot the curves as .png or .svg."),
    ] = None,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare vocabulary sizes and thresholds from one run.

    Measures on the training corpus and on every --corpus. With --bound, also says how far the best
    vocabulary of every size is from the shortest possible one, on the training corpus.

    \b
    prunedbpe sweep run
    prunedbpe sweep run --segmentation shortest --vocab-size 16000
    prunedbpe sweep run --vocab-size 8000 --vocab-size 16000 --threshold 40% \\
        --threshold auto --corpus news=news/ --csv cells.csv --plot curves.png
    """
    reporter = options.choose_progress(progress, quiet=quiet)
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    thresholds = [options.check_threshold(text) for text in threshold or DEFAULT_THRESHOLDS]
    texts = options.open_corpora(corpus)
    merges = load_merges(run)
    counts = _counts_of(run) if bound else None
    corpora = {
        name: count(text, pretokenizer=merges.pretokenizer, threads=threads, progress=reporter)
        for name, text in texts.items()
    }
    advice = advise_sizes(merges.applied, len(special_tokens))
    trained = RunDirectory(run).trained_sizes() if run.is_dir() else []
    reached = [s for s in trained if required_tokens(s, special_tokens) <= len(merges)]
    sizes = vocab_size or sorted({*advice.suggested, *reached})
    if not sizes:
        raise SettingsError(
            f"{len(merges):,} merges are too few to find where growth flattens",
            hint="give --vocab-size, or learn more merges",
        )
    cells = sweep(
        merges,
        sizes,
        thresholds,
        segmentation=segmentation.value,
        corpora=corpora,
        sources=_training_corpus(run, thresholds, segmentation.value),
        special_tokens=special_tokens,
        max_train_vocab=max_train_vocab,
        threads=threads,
        progress=reporter,
    )
    bounds: dict[int, Bounds] = {}
    if counts is not None:
        for size in sizes:
            required = required_tokens(size, special_tokens)
            bounds[size] = bound_lengths(
                counts, merges, required, threads=threads, progress=reporter
            )
    if csv_file is not None:
        options.prepare_file(csv_file)
        with csv_file.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(cells[0].as_row()))
            writer.writeheader()
            writer.writerows(cell.as_row() for cell in cells)
    if plot is not None:
        options.prepare_file(plot)
        draw_sweep(cells, advice, plot, trained)
    if as_json:
        print_json(
            {
                "cells": [cell.as_row() for cell in cells],
                "growth": dict(zip(map(str, advice.sizes), advice.reductions, strict=True)),
                "suggested_sizes": advice.suggested,
                "trained_sizes": trained,
                "bounds": {str(size): asdict(found) for size, found in bounds.items()},
            }
        )
        return
    _show_cells(cells, quiet=quiet)
    _show_bounds(cells, bounds)
    if trained and not quiet:
        info(f"trained size: {', '.join(f'{size:,}' for size in trained)}")
    if advice.sizes and not quiet:
        _show_advice(advice)


def _training_corpus(
    run: Path, thresholds: list[str], segmentation: Segmentation
) -> SourceCounts | None:
    """Load the counts of a run, if a cell needs them; by source, if the run has sources."""
    by_rank = segmentation == "rank"
    if by_rank and "auto" not in thresholds:
        return None
    if not run.is_dir():
        if by_rank:
            return None
        raise SettingsError(
            f"{run}: the shortest segmentation needs the corpus, not only merges",
            hint="give the run directory of `train --run-dir`",
        )
    directory = RunDirectory(run)
    known = directory.known_sources()
    if known is not None or by_rank:
        return known
    return SourceCounts.single(ChunkCounts.load(directory.counts_path))


def _counts_of(run: Path) -> ChunkCounts:
    """Load the chunk counts of the training corpus, for a bound."""
    if not run.is_dir():
        raise SettingsError(
            f"{run}: a bound needs the corpus, not only merges",
            hint="give the run directory of `train --run-dir`",
        )
    return ChunkCounts.load(RunDirectory(run).counts_path)


def _show_cells(cells: list[SweepCell], *, quiet: bool) -> None:
    head = (
        "corpus", "size", "threshold", "encoded length", "reduction", "internal", "internal share",
        "least exposure", "bytes/token", "+2K Standard",
    )  # fmt: skip
    rows = [head]
    for cell in cells:
        rows.append(
            (
                cell.corpus,
                f"{cell.vocab_size:,}",
                cell.threshold,
                _show(cell.encoded_length, ","),
                _show(cell.reduction, ".3%"),
                _show(cell.internal, ","),
                _show(cell.internal_share, ".1%"),
                _show(cell.least_exposure, ","),
                _show(cell.bytes_per_token, ".3f"),
                _show(cell.growth_reduction, ".2%"),
            )
        )
    optional = [head.index(name) for name in _OPTIONAL]
    shown = print_table(rows, right=range(1, len(head)), optional=optional)
    if not quiet:
        explain(shown)
    for note in dict.fromkeys(
        f"{cell.vocab_size:,} at {cell.threshold}: {cell.note}" for cell in cells if cell.note
    ):
        info(note)


def _show_bounds(cells: list[SweepCell], bounds: dict[int, Bounds]) -> None:
    """Compare the shortest vocabulary of every size with what is possible."""
    for size, found in bounds.items():
        reached = [
            (cell.encoded_length, cell.threshold)
            for cell in cells
            if cell.corpus == TRAINING_CORPUS
            and cell.vocab_size == size
            and cell.encoded_length is not None
        ]
        if reached:
            length, threshold = min(reached)
            print_line(f"{size:,} at {threshold}: {found.compare(length)}")


def _show_advice(advice: SizeAdvice) -> None:
    info("")
    info("Reduction of Standard BPE by 2,000 more tokens (* marks the knee):")
    for size, reduction in zip(advice.sizes, advice.reductions, strict=True):
        mark = "*" if size == advice.knee else " "
        info(f"  {size:>9,} {mark} {reduction:>7.2%}  {'#' * round(400 * reduction)}")
    sizes = ", ".join(f"{size:,}" for size in advice.suggested)
    info(f"suggested sizes: {sizes or 'none, learn more merges'}")


def _show(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
