"""``prunedbpe train``: corpus -> tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe._support.sizes import format_size
from prunedbpe.cli import options
from prunedbpe.cli.saving import check_output, save_tokenizer
from prunedbpe.cli.summary import Clock
from prunedbpe.cli.terminal import on_interrupt
from prunedbpe.corpus import Corpus
from prunedbpe.merges.run_directory import RunDirectory
from prunedbpe.training import train
from prunedbpe.visibility.threshold import required_tokens


def command(
    corpus: options.Inputs,
    output: options.TokenizerOutput,
    vocab_size: options.VocabSize,
    threshold: options.ThresholdText = "40%",
    segmentation: options.TrainedSegmentation = options.SegmentationName.RANK,
    pretokenizer: options.PretokenizerName = "paper",
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    min_chunk_count: options.MinChunkCount = 1,
    validation: options.Validation = None,
    candidate_ratio: options.CandidateRatio = None,
    trust_corpus: options.TrustCorpus = False,
    sources: options.Sources = options.SourceMode.FILES,
    source_field: options.SourceField = None,
    source_weights: options.SourceWeights = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(help="Keep counts and checkpoints here; resume the run found here."),
    ] = None,
    memory: options.Memory = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Resume the run directory, or start over."),
    ] = True,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    checkpoint_at: options.CheckpointAt = None,
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    force: options.Force = False,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a tokenizer on a corpus.

    \b
    prunedbpe train texts/ --vocab-size 16000 --threshold 40% -o tok
    prunedbpe train texts/ --vocab-size 16000 --threshold auto -o tok
    prunedbpe train texts/ --vocab-size 16000 --threshold auto \\
        --segmentation shortest -o tok
    prunedbpe train texts/ --vocab-size 16000 --run-dir run -o tok   # resumable
    """
    reporter = options.choose_progress(progress, quiet=quiet)
    clock = Clock(reporter)
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    options.check_vocab_size(vocab_size, special_tokens)
    cut_by = options.choose_pretokenizer(pretokenizer, nfc=nfc)
    reading = options.choose_reading(text_field, max_document, strict=strict)
    policy = options.choose_policy(
        threshold,
        segmentation,
        max_train_vocab,
        validation=validation,
        candidate_ratio=candidate_ratio,
        sources=sources,
        source_weights=source_weights,
        trust_corpus=trust_corpus,
        **reading,
    )
    if source_field is not None and sources is not options.SourceMode.FILES:
        raise typer.BadParameter("--source-field and --sources exclude each other")
    budget = options.memory_to_count(memory)
    texts = Corpus(
        corpus,
        **reading,
        excluding=[output, run_dir],
        source_field=source_field,
    )
    options.prepare_folder(output)
    if run_dir is not None and resume and RunDirectory(run_dir).counts_path.exists():
        check_output(output, force=force, vocab_size=vocab_size, policy=policy)
    else:
        check_output(output, force=force)
    with on_interrupt(
        "with --run-dir, an interrupted run can be resumed"
        if run_dir is None
        else f"the work so far is kept in {run_dir}: run the same command again to resume"
    ):
        tokenizer = train(
            texts,
            vocab_size,
            policy=policy,
            pretokenizer=cut_by,
            special_tokens=special_tokens,
            min_chunk_count=min_chunk_count,
            threads=threads,
            memory=memory,
            run_dir=run_dir,
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            checkpoint_at=[required_tokens(size, special_tokens) for size in checkpoint_at or ()],
            progress=reporter,
        )
    save_tokenizer(
        tokenizer,
        output,
        force=force,
        quiet=quiet,
        as_json=as_json,
        clock=clock,
        facts=[("memory", f"up to {format_size(budget)} for counting")],
        run=run_dir,
    )
