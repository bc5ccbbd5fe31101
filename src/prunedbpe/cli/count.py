"""``prunedbpe count``: corpus -> chunk counts; or the counts of all shards -> their sum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import info, info_table, print_json, warning
from prunedbpe.cli.train import corpus_facts
from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, count, reduce_counts
from prunedbpe.pretokenizers import find_pretokenizer


def command(
    corpus: options.Inputs,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Parquet file to write.", show_default=False)
    ],
    shard: Annotated[
        str | None,
        typer.Option(metavar="INDEX/COUNT", help="Count one shard; 8 shards are 0/8 to 7/8."),
    ] = None,
    reduce: Annotated[
        bool,
        typer.Option("--reduce", help="Add up the tables of all shards, given in any order."),
    ] = False,
    pretokenizer: options.PretokenizerName = "paper",
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Count the chunks of a corpus or of one shard.

    \b
    prunedbpe count texts/ -o counts.parquet
    prunedbpe count texts/ --shard 0/2 -o a.parquet    # on one machine
    prunedbpe count texts/ --shard 1/2 -o b.parquet    # on another
    prunedbpe count --reduce a.parquet b.parquet -o counts.parquet
    """
    options.prepare_file(output)
    if reduce:
        if shard is not None:
            raise typer.BadParameter("--shard and --reduce exclude each other")
        counts = reduce_counts([ChunkCounts.load(path) for path in corpus])
    else:
        counts = count(
            Corpus(
                corpus,
                **options.choose_reading(text_field, max_document, strict=strict),
                shard=None if shard is None else options.parse_shard(shard),
            ),
            pretokenizer=find_pretokenizer(pretokenizer, "NFC" if nfc else None),
            threads=threads,
            progress=options.choose_progress(progress, quiet=quiet),
        )
    counts.save(output)
    if not quiet:
        info_table([*corpus_facts(counts.corpus), ("unique chunks", f"{len(counts):,}")])
        if not len(counts):
            warning(counts.corpus.why_empty())
        info(f"counts written to {output}")
    if as_json:
        print_json(
            {
                "chunks": len(counts),
                "digest": counts.digest,
                "pretokenizer": counts.pretokenizer.describe(),
                "shard": [counts.shard.index, counts.shard.count] if counts.shard else None,
                "corpus": counts.corpus.as_settings(),
            }
        )
