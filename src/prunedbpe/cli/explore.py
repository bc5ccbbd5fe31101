"""``prunedbpe explore``: a tokenizer -> one HTML page to type into, search and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import info, print_json
from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, SourceCounts, count_by_source
from prunedbpe.errors import RunMismatchError
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.merges import MergeTable
from prunedbpe.merges.run_directory import RunDirectory, load_merges
from prunedbpe.report.explorer import measure, write_explorer


def command(
    tokenizer: Annotated[
        Path,
        typer.Argument(
            metavar="TOKENIZER",
            help="A tokenizer folder, or anything `prunedbpe import` reads.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = Path("explorer.html"),
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="TOKENIZER",
            help="Compare with another tokenizer; by default with Standard BPE of the same size.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN_DIR|MERGES",
            help="Measure on the corpus of the run that made the tokenizer.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Measure on this text. Repeatable.", show_default=False),
    ] = None,
    sources: Annotated[
        options.SourceMode, typer.Option(help="What counts as one source of --corpus.")
    ] = options.SourceMode.FILES,
    text_field: options.TextField = "text",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a page to explore a tokenizer in the browser.

    The page cuts text as you type, searches and sorts tokens, shows how each is built, and compares
    with another tokenizer. It is one file and needs no network. With --run or --corpus it also
    shows exposures, worths, examples and thresholds; the page then holds excerpts of that text.

    \b
    prunedbpe explore tok --run run -o explorer.html
    prunedbpe explore tok --corpus texts/ --against other
    """
    if run is not None and corpus:
        raise typer.BadParameter("give only one of --run and --corpus")
    options.prepare_file(output)
    reporter = options.choose_progress(progress, quiet=quiet)
    tok = import_tokenizer(tokenizer)
    other = None if against is None else import_tokenizer(against)
    merges: MergeTable | None = None
    counted: SourceCounts | None = None
    text_name = ""
    if run is not None:
        merges, counted, text_name = load_merges(run), _counts_of(run), run.resolve().name
        if counted is not None and counted.total.pretokenizer != tok.pretokenizer:
            raise RunMismatchError(
                f"{run} was cut by {counted.total.pretokenizer.name}, the tokenizer cuts by "
                f"{tok.pretokenizer.name}",
                hint="give the run that made the tokenizer, or --corpus",
            )
    elif corpus:
        text_name = ", ".join(Path(path).name or path for path in corpus)
        counted = count_by_source(
            Corpus(corpus, **options.choose_reading(text_field, max_document)),
            sources=sources.value,
            pretokenizer=tok.pretokenizer,
            threads=threads,
            progress=reporter,
        )
    measured = None
    if merges is not None or counted is not None:
        measured = measure(tok, counted, merges=merges, against=other, threads=threads)
    size = write_explorer(
        output,
        tok,
        measured,
        name=tokenizer.resolve().name,
        text_name=text_name,
        against=other,
        against_name="" if against is None else against.resolve().name,
    )
    if not quiet:
        info(f"explorer written to {output} ({size / 1e6:.1f} MB)")
    if as_json:
        print_json({"output": str(output), "bytes": size, "measured_on": text_name or None})


def _counts_of(run: Path) -> SourceCounts | None:
    """Return the counts of a run directory, by source if it has them; a merges file has none."""
    folder = RunDirectory(run)
    known = folder.known_sources()
    if known is None and folder.counts_path.exists():
        known = SourceCounts.single(ChunkCounts.load(folder.counts_path))
    return known
