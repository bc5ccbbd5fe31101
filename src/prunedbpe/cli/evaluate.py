"""``prunedbpe evaluate``: tokenizers on corpora -> lengths, reductions, how tokens are used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.messages import aligned, put, put_json, tell
from prunedbpe.cli.paper import parse_corpora
from prunedbpe.errors import SettingsError

if TYPE_CHECKING:
    from prunedbpe.analysis.evaluation import CorpusEvaluation
    from prunedbpe.tokenizer import Tokenizer

_MOST_SCRIPTS = 6


def command(
    tokenizers: Annotated[
        list[Path],
        typer.Argument(
            metavar="TOKENIZER...",
            help="Folders of tokenizers; the first is what the others are compared with.",
            show_default=False,
        ),
    ],
    corpus: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=PATH[,PATH...]",
            help="A corpus: its name, and files or folders; repeat for more.",
            show_default=False,
        ),
    ],
    folders: Annotated[bool, typer.Option(help="Evaluate each folder of a corpus too.")] = True,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Samples for the interval of a reduction; 0 for none.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    plots: Annotated[
        Path | None,
        typer.Option(help="Folder for plots as SVG, one of each kind.", show_default=False),
    ] = None,
    text_field: options.TextField = "text",
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare tokenizers on corpora: lengths, and how tokens are used.

    Reductions are against the first tokenizer, with a 95 % bootstrap interval over documents.
    Fertility is tokens per word in scripts written with spaces; the Rényi efficiency has order 2.5;
    the gap is how much of the length the minimum-token segmentation would save.

    \b
    prunedbpe evaluate standard/ pruned/ --corpus web=web/ --corpus books=books/
    """
    from prunedbpe.analysis.evaluation import evaluate
    from prunedbpe.corpus import Corpus

    rows = evaluate(
        _load(tokenizers),
        {
            name: Corpus(paths, text_field=text_field)
            for name, paths in parse_corpora(corpus).items()
        },
        by_folder=folders,
        bootstrap=bootstrap,
        seed=seed,
        threads=threads,
        progress=options.choose_progress(progress, quiet=quiet),
    )
    if plots is not None:
        options.prepare_folder(plots)
        _write_plots(rows, plots)
        if not quiet:
            tell(f"plots written to {plots}")
    if as_json:
        put_json([row.as_settings() for row in rows])
        return
    for line in _lengths(rows):
        put(line)
    put("")
    for line in _scripts(rows):
        put(line)


def _load(folders: Sequence[Path]) -> dict[str, Tokenizer]:
    """Tokenizers by the name of their folder, or by its path where names meet."""
    from prunedbpe.tokenizer import Tokenizer

    names = [folder.name or str(folder) for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    if len(set(names)) < len(names):
        raise SettingsError("a tokenizer is given twice", hint="give each folder once")
    return {name: Tokenizer.load(folder) for name, folder in zip(names, folders, strict=True)}


def _lengths(rows: Sequence[CorpusEvaluation]) -> list[str]:
    head = (
        "corpus", "tokenizer", "vocab", "tokens", "saves", "95 % interval", "bytes/token",
        "fertility", "unused", "<100", "gini", "rényi", "gap",
    )  # fmt: skip
    table = [head]
    for row in rows:
        interval = row.reduction_interval
        learned = max(row.spread.learned, 1)
        table.append(
            (
                row.corpus if row.source is None else f"{row.corpus}: {row.source}",
                row.tokenizer,
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
    return aligned(table, right=range(2, len(head)))


def _scripts(rows: Sequence[CorpusEvaluation]) -> list[str]:
    whole = [row for row in rows if row.source is None]
    scripts = list(dict.fromkeys(s for row in whole for s in row.characters_per_token))
    shown = scripts[:_MOST_SCRIPTS]
    table = [("characters per token", "", *(script.lower() for script in shown))]
    for row in whole:
        values = [row.characters_per_token.get(script) for script in shown]
        table.append(
            (row.corpus, row.tokenizer, *("" if v is None else f"{v:.3f}" for v in values))
        )
    return aligned(table, right=range(2, len(shown) + 2))


def _write_plots(rows: Sequence[CorpusEvaluation], folder: Path) -> None:
    """Reductions, and the share of tokens seen rarely, for the corpora as wholes."""
    from prunedbpe._support.atomic_files import atomic_write
    from prunedbpe.analysis.metrics import SEEN_UNDER
    from prunedbpe.report.figures import Series, as_svg_file, draw_bars

    whole = [row for row in rows if row.source is None]
    corpora = list(dict.fromkeys(row.corpus for row in whole))
    names = list(dict.fromkeys(row.tokenizer for row in whole))
    cells = {(row.tokenizer, row.corpus): row for row in whole}

    def write(file_name: str, title: str, places: list[str], series: list[Series], y: str) -> None:
        figure = draw_bars("plot", title, places, series, "", y)
        with atomic_write(folder / file_name) as file:
            file.write(as_svg_file(figure).encode())

    saved = []
    for name in names[1:]:
        reductions = [100 * cells[name, corpus].reduction for corpus in corpora]
        labels = [f"{name}, {c}: {r:.3f} %" for c, r in zip(corpora, reductions, strict=True)]
        saved.append(Series(name, reductions, labels))
    if saved:
        title = f"How much shorter than {names[0]}"
        write("reduction.svg", title, corpora, saved, "shorter by, %")
    for number, corpus in enumerate(corpora, 1):
        rare = []
        for name in names:
            spread = cells[name, corpus].spread
            shares = [100 * n / max(spread.learned, 1) for n in spread.seen_under.values()]
            labels = [
                f"{name}, under {limit}: {share:.2f} %"
                for limit, share in zip(SEEN_UNDER, shares, strict=True)
            ]
            rare.append(Series(name, shares, labels))
        places = [f"under {limit:,}" for limit in SEEN_UNDER]
        title = f"Visible learned tokens seen rarely in {corpus}"
        write(f"exposure-{number}.svg", title, places, rare, "% of tokens")
