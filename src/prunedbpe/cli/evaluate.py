"""``prunedbpe evaluate``: tokenizers on corpora -> lengths, reductions, token usage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.evaluation import CorpusEvaluation, evaluate
from prunedbpe.cli import options
from prunedbpe.cli.terminal import explain, info, print_json, print_line, print_table
from prunedbpe.errors import SettingsError
from prunedbpe.report.evaluation_plots import write_plots
from prunedbpe.tokenizer import Tokenizer

_MOST_SCRIPTS = 6

_HEAD = (
    "corpus", "tokenizer", "segmentation", "vocab", "tokens", "saves", "95 % interval",
    "bytes/token", "fertility", "unused", "<100", "gini", "rényi", "gap",
)  # fmt: skip

_OPTIONAL = (
    "rényi", "gini", "segmentation", "<100", "fertility", "gap", "vocab", "unused", "bytes/token",
    "95 % interval",
)  # fmt: skip
"""Columns that a narrow table leaves out, in this order."""


def command(
    tokenizers: Annotated[
        list[Path],
        typer.Argument(
            metavar="TOKENIZER...",
            help="Tokenizer folders; the others are compared with the first.",
            show_default=False,
        ),
    ],
    corpus: options.NamedCorpora,
    segmentation: options.SegmentationOption = None,
    folders: Annotated[bool, typer.Option(help="Also evaluate each folder of a corpus.")] = True,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Bootstrap samples for the interval; 0 for no interval.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    bound: options.Bound = False,
    plots: Annotated[
        Path | None,
        typer.Option(
            help="Folder for plots as SVG, and as PNG with the extra plot.", show_default=False
        ),
    ] = None,
    text_field: options.TextField = "text",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare tokenizers on corpora: encoded length and token usage.

    Each tokenizer is measured with its own segmentation, or all of them with --segmentation.
    Reductions are against the first tokenizer, with a 95 % bootstrap interval over documents.
    Fertility is tokens per word in scripts written with spaces; the Rényi efficiency has order 2.5;
    the gap is the share of tokens that the shortest segmentation would save. With --bound, also
    says how far each tokenizer is from the shortest possible vocabulary of its size.

    \b
    prunedbpe evaluate standard/ pruned/ --corpus web=web/ --corpus books=books/
    """
    rows = evaluate(
        _load(tokenizers),
        options.open_corpora(corpus, **options.choose_reading(text_field, max_document)),
        segmentation=options.choose_segmentation(segmentation),
        by_folder=folders,
        bootstrap=bootstrap,
        seed=seed,
        bound=bound,
        threads=threads,
        progress=options.choose_progress(progress, quiet=quiet),
    )
    if plots is not None:
        options.prepare_folder(plots)
        write_plots(rows, plots)
        if not quiet:
            info(f"plots written to {plots}")
    if as_json:
        print_json([row.as_settings() for row in rows])
        return
    shown = _show_lengths(rows)
    print_line()
    _show_scripts(rows)
    _show_bounds(rows)
    if not quiet:
        explain(shown)


def _load(folders: Sequence[Path]) -> dict[str, Tokenizer]:
    """Load tokenizers by folder name, or by path if two folders share a name."""
    names = [folder.name or str(folder) for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    if len(set(names)) < len(names):
        raise SettingsError("a tokenizer is given twice", hint="give each folder once")
    return {name: Tokenizer.load(folder) for name, folder in zip(names, folders, strict=True)}


def _show_lengths(rows: Sequence[CorpusEvaluation]) -> list[str]:
    """Show the table; return the columns that fit."""
    table = [_HEAD]
    for row in rows:
        interval = row.reduction_interval
        learned = max(row.spread.learned, 1)
        table.append(
            (
                row.corpus if row.source is None else f"{row.corpus}: {row.source}",
                row.tokenizer,
                row.segmentation,
                f"{row.vocab_size:,}",
                f"{row.tokens:,}",
                f"{row.reduction:.3%}",
                f"{interval[0]:.3%} to {interval[1]:.3%}" if interval else "",
                f"{row.bytes_per_token:.3f}",
                "" if row.fertility is None else f"{row.fertility:.3f}",
                f"{row.spread.seen_under[1] / learned:.2%}",
                f"{row.spread.seen_under[100] / learned:.2%}",
                f"{row.spread.gini:.3f}",
                f"{row.renyi_efficiency:.3f}",
                f"{row.shortest_gap:.3%}",
            )
        )
    optional = [_HEAD.index(name) for name in _OPTIONAL]
    return print_table(table, right=range(3, len(_HEAD)), optional=optional)


def _show_scripts(rows: Sequence[CorpusEvaluation]) -> None:
    whole = [row for row in rows if row.source is None]
    scripts = list(dict.fromkeys(s for row in whole for s in row.characters_per_token))
    shown = scripts[:_MOST_SCRIPTS]
    table = [("characters per token", "", *(script.lower() for script in shown))]
    for row in whole:
        values = [row.characters_per_token.get(script) for script in shown]
        table.append(
            (row.corpus, row.tokenizer, *("" if v is None else f"{v:.3f}" for v in values))
        )
    print_table(table, right=range(2, len(shown) + 2))


def _show_bounds(rows: Sequence[CorpusEvaluation]) -> None:
    bounded = [row for row in rows if row.bounds is not None]
    if bounded:
        print_line()
    for row in bounded:
        assert row.bounds is not None
        print_line(f"{row.corpus}, {row.tokenizer}: {row.bounds.compare(row.tokens)}")
