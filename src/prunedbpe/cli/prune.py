"""``prunedbpe prune``: learned merges -> tokenizer, of any size and threshold, for any domain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.retargeting import id_map, retarget
from prunedbpe.cli import options
from prunedbpe.cli.saving import check_output, save_tokenizer
from prunedbpe.cli.summary import Clock
from prunedbpe.cli.terminal import hint, on_interrupt
from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, count
from prunedbpe.errors import SettingsError
from prunedbpe.merges import MergeTable
from prunedbpe.merges.run_directory import load_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.training import prune, prune_run

ID_MAP_FILE = "id_map.json"


def command(
    merges: options.Merges,
    output: options.TokenizerOutput,
    vocab_size: options.VocabSize,
    threshold: options.ThresholdText = "40%",
    segmentation: options.TrainedSegmentation = options.SegmentationName.RANK,
    counts_file: Annotated[
        Path | None,
        typer.Option(
            "--counts",
            metavar="COUNTS",
            help="With a file of merges, auto and shortest: the chunk counts they were learned on, "
            "as written by `count`.",
            show_default=False,
        ),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="PATH",
            help="Choose the visible tokens for this text, from the existing merges. Repeatable.",
            show_default=False,
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            metavar="TOKENIZER",
            help="With --for: map the ids of this tokenizer in id_map.json; Standard BPE of the "
            "same size by default.",
            show_default=False,
        ),
    ] = None,
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    validation: options.Validation = None,
    candidate_ratio: options.CandidateRatio = None,
    trust_corpus: options.TrustCorpus = False,
    source_weights: options.SourceWeights = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    force: options.Force = False,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a tokenizer of any size from learned merges.

    A run directory learns more merges if it has too few.

    \b
    prunedbpe prune run --vocab-size 8000 --threshold auto -o tok-8000
    prunedbpe prune run --vocab-size 8000 --threshold auto \\
        --segmentation shortest -o tok-8000
    prunedbpe prune merges.parquet --vocab-size 8000 --threshold 0 -o standard
    prunedbpe prune run --for medical/ --vocab-size 8000 \\
        --base tok-8000 -o tok-medical
    """
    reporter = options.choose_progress(progress, quiet=quiet)
    clock = Clock(reporter)
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    options.check_vocab_size(vocab_size, special_tokens)
    policy = options.choose_policy(
        threshold,
        segmentation,
        max_train_vocab,
        validation=validation,
        candidate_ratio=candidate_ratio,
        source_weights=source_weights,
        trust_corpus=trust_corpus,
    )
    options.prepare_folder(output)
    if domain is None:
        check_output(output, force=force, vocab_size=vocab_size, policy=policy)
    ids = None
    if domain:
        if validation or max_train_vocab is not None:
            raise SettingsError(
                "--for chooses by the domain, from the existing merges",
                hint="leave out --validation and --max-train-vocab",
            )
        table = load_merges(merges)
        counts = count(
            Corpus(domain), pretokenizer=table.pretokenizer, threads=threads, progress=reporter
        )
        tokenizer = retarget(
            table,
            counts,
            vocab_size,
            segmentation=policy.segmentation,
            special_tokens=special_tokens,
            threads=threads,
            progress=reporter,
        )
        reference = (
            prune(table, vocab_size, threshold=0, special_tokens=special_tokens)
            if base is None
            else Tokenizer.load(base)
        )
        ids = id_map(reference, tokenizer)
    elif base is not None:
        raise SettingsError("--base is given without --for", hint="leave it out, or give a domain")
    elif merges.is_dir():
        with on_interrupt(
            f"the merges so far are kept in {merges}: run the same command again to resume"
        ):
            tokenizer = prune_run(
                merges,
                vocab_size,
                policy=policy,
                special_tokens=special_tokens,
                threads=threads,
                checkpoint_seconds=checkpoint_seconds,
                progress=reporter,
            )
    else:
        table = MergeTable.load(merges)
        if validation:
            counts = count(
                Corpus(validation),
                pretokenizer=table.pretokenizer,
                threads=threads,
                progress=reporter,
            )
            policy = replace(policy, validation=counts)
        tokenizer = prune(
            table,
            vocab_size,
            policy=policy,
            special_tokens=special_tokens,
            counts=None if counts_file is None else _load_counts(counts_file, table),
            threads=threads,
            progress=reporter,
        )
    facts = []
    if ids is not None:
        of = "Standard BPE of the same size" if base is None else str(base)
        moved = f"{len(ids.kept):,} kept, {len(ids.new):,} new, {len(ids.dropped):,} dropped"
        facts.append(("id map", f"{output / ID_MAP_FILE}, from the ids of {of}: {moved}"))
    save_tokenizer(
        tokenizer,
        output,
        force=force,
        quiet=quiet,
        as_json=as_json,
        clock=clock,
        facts=facts,
    )
    if ids is not None:
        ids.save(output / ID_MAP_FILE)
    if policy.is_auto and not domain and not tokenizer.training["auto"]["sources"]:
        hint(
            "the sources of the corpus are unknown, so auto cannot compare them; train with "
            "--threshold auto --run-dir to keep them"
        )


def _load_counts(path: Path, merges: MergeTable) -> ChunkCounts:
    counts = ChunkCounts.load(path)
    if counts.digest != merges.counts_digest:
        raise SettingsError(
            f"{path}: the merges were learned on other chunk counts",
            hint="give the counts that `prunedbpe learn` was given",
        )
    return counts
