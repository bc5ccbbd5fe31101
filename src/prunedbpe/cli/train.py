"""``prunedbpe train``: corpus -> tokenizer."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.exits import InterruptedWork
from prunedbpe.cli.summary import show_tokenizer
from prunedbpe.corpus import Corpus
from prunedbpe.pretokenizers import find_pretokenizer
from prunedbpe.training import train
from prunedbpe.visibility.policy import CANDIDATE_RATIO, VisibilityPolicy
from prunedbpe.visibility.threshold import required_tokens


class SourceMode(str, Enum):
    """What counts as one source of the corpus."""

    FILES = "files"
    FOLDERS = "folders"
    CORPUS = "corpus"


def command(
    corpus: options.Inputs,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the tokenizer.", show_default=False)
    ],
    vocab_size: options.VocabSize,
    threshold: options.ThresholdText = "40%",
    pretokenizer: options.PretokenizerName = "paper",
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    validation: options.Validation = None,
    candidate_ratio: options.CandidateRatio = CANDIDATE_RATIO,
    sources: Annotated[
        SourceMode,
        typer.Option(help="With auto: what counts as one source, for how far tokens are spread."),
    ] = SourceMode.FILES,
    run_dir: Annotated[
        Path | None,
        typer.Option(help="Keep counts and checkpoints here, and go on from what is there."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Go on in the run directory, or start it over."),
    ] = True,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    checkpoint_at: options.CheckpointAt = None,
    text_field: options.TextField = "text",
    nfc: options.Nfc = False,
    strict: options.Strict = False,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a tokenizer: corpus to tokenizer, in one go.

    \b
    prunedbpe train texts/ --vocab-size 16000 --threshold 40% -o tok
    prunedbpe train texts/ --vocab-size 16000 --threshold auto -o tok
    prunedbpe train texts/ --vocab-size 16000 --run-dir run -o tok   # can be stopped and resumed
    """
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    policy = VisibilityPolicy(
        threshold,
        max_train_vocab,
        candidate_ratio,
        sources.value,
        Corpus(validation, text_field=text_field, strict=strict) if validation else None,
    )
    texts = Corpus(corpus, text_field=text_field, strict=strict, excluding=[output, run_dir])
    options.prepare_folder(output)
    try:
        tokenizer = train(
            texts,
            vocab_size,
            policy=policy,
            pretokenizer=find_pretokenizer(pretokenizer, "NFC" if nfc else None),
            special_tokens=special_tokens,
            threads=threads,
            run_dir=run_dir,
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            checkpoint_at=[required_tokens(size, special_tokens) for size in checkpoint_at or ()],
            progress=options.choose_progress(progress, quiet=quiet),
        )
    except KeyboardInterrupt:
        if run_dir is None:
            raise InterruptedWork("with --run-dir a run can be interrupted and resumed") from None
        raise InterruptedWork(
            f"the work so far is kept in {run_dir}: run the same command again to resume"
        ) from None
    tokenizer.save(output)
    show_tokenizer(tokenizer, output, quiet=quiet, as_json=as_json)
