"""``prunedbpe count``: corpus -> chunk counts or an estimate; counts of shards -> their sum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe._support.sizes import parse_size
from prunedbpe.cli import options
from prunedbpe.cli.count_estimate import show_estimate
from prunedbpe.cli.summary import Clock, approximation_facts, corpus_facts, memory_fact
from prunedbpe.cli.terminal import explain, info, info_table, on_interrupt, print_json, warning
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count_to_file, estimate
from prunedbpe.counts.counting import parts_folder
from prunedbpe.counts.estimating import SAMPLE_BYTES


def command(
    corpus: options.Inputs,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Parquet file to write; required without --estimate.",
            show_default=False,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="INDEX/COUNT", help="Count one shard; 8 shards are 0/8 to 7/8."),
    ] = None,
    reduce: Annotated[
        bool,
        typer.Option("--reduce", help="Add up the tables of all shards, given in any order."),
    ] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="With --reduce: some shards may be missing for now."),
    ] = False,
    only_estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Count a sample only; predict unique chunks, memory and time for the whole.",
        ),
    ] = False,
    sample_bytes: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="With --estimate: how much to read; 64MB by default."),
    ] = None,
    memory: options.Memory = None,
    checkpoint_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds after which to save what is counted so far.")
    ] = 300.0,
    min_chunk_count: options.MinChunkCount = 1,
    pretokenizer: options.PretokenizerName = "paper",
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    engine: options.Engine = None,
    address: options.Address = None,
    parts_dir: Annotated[
        str | None,
        typer.Option(
            help="With --engine: folder or URL that all nodes see, for the counts of parts. It is "
            "kept, and a stopped count goes on there. By default OUTPUT.parts, which is removed.",
            show_default=False,
        ),
    ] = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Count the chunks of a corpus or of one shard.

    \b
    prunedbpe count texts/ -o counts.parquet          # resumes if killed
    prunedbpe count texts/ -o counts.parquet --memory 4GB
    prunedbpe count texts/ --estimate                 # how large, how long?
    prunedbpe count texts/ --shard 0/2 -o a.parquet    # on one machine
    prunedbpe count texts/ --shard 1/2 -o b.parquet    # on another
    prunedbpe count --reduce a.parquet b.parquet -o counts.parquet
    prunedbpe count texts/ --engine ray --parts-dir /shared/parts \\
        -o counts.parquet
    """
    if engine is None and (address or parts_dir) is not None:
        raise typer.BadParameter("--address and --parts-dir need --engine")
    if engine is not None and (reduce or shard is not None):
        raise typer.BadParameter("--engine divides the corpus itself: no --shard or --reduce")
    shown = options.choose_progress(progress, quiet=quiet)
    clock = Clock(shown)
    reading = options.choose_reading(text_field, max_document, strict=strict)
    cut_by = options.choose_pretokenizer(pretokenizer, nfc=nfc)
    if only_estimate:
        _refuse_with_estimate(
            {
                "--output": output is not None,
                "--shard": shard is not None,
                "--reduce": reduce,
                "--partial": partial,
                "--engine": engine is not None,
                "--memory": memory is not None,
                "--min-chunk-count": min_chunk_count > 1,
            }
        )
        with options.wrong_usage("--sample-bytes"):
            most = parse_size(sample_bytes or SAMPLE_BYTES, "the size of the sample")
        found = estimate(
            Corpus(corpus, **reading),
            pretokenizer=cut_by,
            sample_bytes=most,
            threads=threads,
            progress=shown,
        )
        show_estimate(found, threads=threads, as_json=as_json)
        return
    if sample_bytes is not None:
        raise typer.BadParameter("--sample-bytes needs --estimate")
    if output is None:
        raise typer.BadParameter("--output is missing; only --estimate writes no file")
    options.memory_to_count(memory)
    options.prepare_file(output)
    if partial and not reduce:
        raise typer.BadParameter("--partial needs --reduce")
    if reduce:
        if shard is not None:
            raise typer.BadParameter("--shard and --reduce exclude each other")
        from prunedbpe.counts.reducing_files import reduce_files  # Arrow is slow to import

        counted = reduce_files(
            corpus,
            output,
            partial=partial,
            min_chunk_count=min_chunk_count,
            threads=threads,
            memory=memory,
            progress=shown,
        )
    else:
        texts = Corpus(
            corpus,
            **reading,
            shard=None if shard is None else options.parse_shard(shard),
            excluding=[parts_folder(output), parts_dir],
        )
        kept_in = parts_dir or parts_folder(output)
        with on_interrupt(
            f"what is counted so far is in {kept_in}: run the same command to resume"
        ):
            if engine is not None:
                from prunedbpe.counts.engines import ray

                counted = ray.count_to_file(
                    texts,
                    output,
                    pretokenizer=cut_by,
                    min_chunk_count=min_chunk_count,
                    address=address,
                    folder=parts_dir,
                    cpus_per_task=threads or 1,
                    memory=memory,
                    progress=shown,
                )
            else:
                counted = count_to_file(
                    texts,
                    output,
                    pretokenizer=cut_by,
                    min_chunk_count=min_chunk_count,
                    threads=threads,
                    memory=memory,
                    checkpoint_seconds=checkpoint_seconds,
                    progress=shown,
                )
    if not quiet:
        facts = [
            *corpus_facts(counted.corpus),
            *approximation_facts(counted.header.min_chunk_count),
            ("unique chunks", f"{counted.chunks:,}"),
            ("memory", memory_fact(counted.memory, spilled=counted.spilled)),
            *clock.facts(),
        ]
        info_table(facts)
        explain(name for name, _ in facts)
        if not counted.chunks:
            warning(counted.header.why_empty())
        info(f"counts written to {output}")
    if as_json:
        shard_of = counted.header.shard
        print_json(
            {
                "chunks": counted.chunks,
                "digest": counted.digest,
                "pretokenizer": counted.header.pretokenizer.describe(),
                "shard": None if shard_of is None else [shard_of.index, shard_of.count],
                "corpus": counted.corpus.as_settings(),
                "memory": counted.memory,
                "spilled": counted.spilled,
                "min_chunk_count": counted.header.min_chunk_count,
                "run": clock.settings(),
            }
        )


def _refuse_with_estimate(given: dict[str, bool]) -> None:
    """Refuse options that an estimate has no use for."""
    for name, is_given in given.items():
        if is_given:
            raise typer.BadParameter(f"--estimate and {name} exclude each other")
