"""``prunedbpe learn``: chunk counts -> merges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.exits import InterruptedWork
from prunedbpe.cli.messages import put_json, tell
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges.run_directory import learn_to_file


def command(
    counts: Annotated[
        Path,
        typer.Argument(metavar="COUNTS", help="What `count` wrote.", show_default=False),
    ],
    merges: Annotated[int, typer.Option(min=0, help="How many merges in all.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Parquet file to write.", show_default=False)
    ],
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Go on in the output file, or start it over."),
    ] = True,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Learn merges from chunk counts.

    The output file is a checkpoint at any moment: run the command again to go on, or with more
    merges to learn more.

    \b
    prunedbpe learn counts.parquet --merges 40000 -o merges.parquet
    """
    options.prepare_file(output)
    try:
        learned = learn_to_file(
            ChunkCounts.load(counts),
            merges,
            output,
            resume=resume,
            threads=threads,
            every_seconds=checkpoint_seconds,
            progress=options.choose_progress(progress, quiet=quiet),
        )
    except KeyboardInterrupt:
        raise InterruptedWork(
            f"what was learned is kept in {output}: run the same command again to go on"
        ) from None
    if not quiet:
        end = ", and no pair is left that occurs twice" if learned.exhausted else ""
        tell(f"{output} holds {len(learned):,} merges{end}")
    if as_json:
        put_json(
            {
                "merges": len(learned),
                "exhausted": learned.exhausted,
                "last_frequency": int(learned.frequencies[-1]) if len(learned) else None,
                "counts_digest": learned.counts_digest,
                "pretokenizer": learned.pretokenizer.describe(),
                "corpus": learned.corpus.as_settings(),
            }
        )
