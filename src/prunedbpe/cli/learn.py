"""``prunedbpe learn``: chunk counts -> merges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.summary import Clock, approximation_facts
from prunedbpe.cli.terminal import info, info_table, on_interrupt, print_json
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges.run_directory import learn_to_file


def command(
    counts: Annotated[
        Path,
        typer.Argument(
            metavar="COUNTS",
            help="The output of `count`, or any Parquet file of chunk, count and first_position.",
            show_default=False,
        ),
    ],
    merges: Annotated[int, typer.Option(min=0, help="Total number of merges.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Parquet file to write.", show_default=False)
    ],
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Continue the output file, or start over."),
    ] = True,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Learn merges from chunk counts.

    The output file is always a valid checkpoint: run the command again to resume, or with a larger
    --merges to learn more.

    \b
    prunedbpe learn counts.parquet --merges 40000 -o merges.parquet
    """
    reporter = options.choose_progress(progress, quiet=quiet)
    clock = Clock(reporter)
    options.prepare_file(output)
    with on_interrupt(
        f"the merges so far are kept in {output}: run the same command again to resume"
    ):
        learned = learn_to_file(
            ChunkCounts.load(counts),
            merges,
            output,
            resume=resume,
            threads=threads,
            every_seconds=checkpoint_seconds,
            progress=reporter,
        )
    if not quiet:
        info_table([*approximation_facts(learned.min_chunk_count), *clock.facts()])
        end = "; no further pair occurs twice" if learned.exhausted else ""
        info(f"{output} holds {len(learned):,} merges{end}")
    if as_json:
        print_json(
            {
                "merges": len(learned),
                "exhausted": learned.exhausted,
                "last_frequency": int(learned.frequencies[-1]) if len(learned) else None,
                "counts_digest": learned.counts_digest,
                "pretokenizer": learned.pretokenizer.describe(),
                "corpus": learned.corpus.as_settings(),
                "min_chunk_count": learned.min_chunk_count,
                "run": clock.settings(),
            }
        )
