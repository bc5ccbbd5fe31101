"""``prunedbpe prune``: learned merges -> tokenizer, of any size and threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.exits import InterruptedWork
from prunedbpe.cli.summary import show_tokenizer
from prunedbpe.learn import MergeTable
from prunedbpe.pruning import prune
from prunedbpe.train import prune_run


def command(
    merges: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR|MERGES",
            help="What `train --run-dir` kept, which is learned on if needed; or what `learn` "
            "wrote.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the tokenizer.", show_default=False)
    ],
    vocab_size: options.VocabSize,
    threshold: options.ThresholdText = "40%",
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a tokenizer out of learned merges: any size, any threshold.

    \b
    prunedbpe prune run --vocab-size 8000 --threshold 20% -o tok-8000
    prunedbpe prune merges.parquet --vocab-size 8000 --threshold 0 -o standard
    """
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    options.prepare_folder(output)
    if merges.is_dir():
        try:
            tokenizer = prune_run(
                merges,
                vocab_size,
                threshold=threshold,
                special_tokens=special_tokens,
                max_train_vocab=max_train_vocab,
                threads=threads,
                checkpoint_seconds=checkpoint_seconds,
                progress=options.choose_progress(progress, quiet=quiet),
            )
        except KeyboardInterrupt:
            raise InterruptedWork(
                f"what was learned is kept in {merges}: run the same command again to go on"
            ) from None
    else:
        tokenizer = prune(
            MergeTable.load(merges),
            vocab_size,
            threshold=threshold,
            special_tokens=special_tokens,
            max_train_vocab=max_train_vocab,
        )
    tokenizer.save(output)
    show_tokenizer(tokenizer, output, quiet=quiet, as_json=as_json)
