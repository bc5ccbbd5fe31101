"""``prunedbpe prune``: learned merges -> tokenizer, of any size and threshold, for any domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.retargeting import id_map, retarget
from prunedbpe.cli import options
from prunedbpe.cli.exits import InterruptedWork
from prunedbpe.cli.messages import say
from prunedbpe.cli.summary import show_tokenizer
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count
from prunedbpe.errors import SettingsError
from prunedbpe.merges import MergeTable
from prunedbpe.merges.run_directory import load_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.training import prune, prune_run
from prunedbpe.visibility.policy import CANDIDATE_RATIO, VisibilityPolicy

ID_MAP_FILE = "id_map.json"


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
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="PATH",
            help="Choose what is visible for this text instead, out of the merges there are; "
            "repeat for more.",
            show_default=False,
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            metavar="TOKENIZER",
            help="With --for: write id_map.json from this tokenizer's ids; Standard BPE of the "
            "same size by default.",
            show_default=False,
        ),
    ] = None,
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    max_train_vocab: options.MaxTrainVocab = None,
    validation: options.Validation = None,
    candidate_ratio: options.CandidateRatio = CANDIDATE_RATIO,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a tokenizer of any size out of learned merges.

    \b
    prunedbpe prune run --vocab-size 8000 --threshold auto -o tok-8000
    prunedbpe prune merges.parquet --vocab-size 8000 --threshold 0 -o standard
    prunedbpe prune run --for medical/ --vocab-size 8000 --base tok-8000 -o tok-medical
    """
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
    options.prepare_folder(output)
    watch = options.choose_progress(progress, quiet=quiet)
    policy = VisibilityPolicy(
        threshold,
        max_train_vocab,
        candidate_ratio,
        validation=Corpus(validation) if validation else None,
    )
    if domain:
        if validation or max_train_vocab is not None:
            raise SettingsError(
                "--for chooses by the domain, out of the merges there are",
                hint="leave out --validation and --max-train-vocab",
            )
        tokenizer = _retarget(merges, domain, base, output, vocab_size, special_tokens, threads)
    elif base is not None:
        raise SettingsError("--base is given without --for", hint="leave it out, or name a domain")
    elif merges.is_dir():
        try:
            tokenizer = prune_run(
                merges,
                vocab_size,
                policy=policy,
                special_tokens=special_tokens,
                threads=threads,
                checkpoint_seconds=checkpoint_seconds,
                progress=watch,
            )
        except KeyboardInterrupt:
            raise InterruptedWork(
                f"the merges so far are kept in {merges}: run the same command again to resume"
            ) from None
    else:
        table = MergeTable.load(merges)
        counted = None
        if policy.validation is not None:
            counted = count(
                Corpus(validation), pretokenizer=table.pretokenizer, threads=threads, progress=watch
            )
        policy = policy.counted(None, counted)
        tokenizer = prune(table, vocab_size, policy=policy, special_tokens=special_tokens)
    tokenizer.save(output)
    show_tokenizer(tokenizer, output, quiet=quiet, as_json=as_json)
    if threshold == "auto" and not domain and not tokenizer.training["auto"]["sources"]:
        say(
            "hint",
            "the sources of the corpus are unknown here, so tokens of few sources are not "
            "discounted: train with --threshold auto --run-dir to keep them",
        )


def _retarget(
    merges: Path,
    domain: list[str],
    base: Path | None,
    output: Path,
    vocab_size: int,
    special_tokens: tuple[str, ...],
    threads: int | None,
) -> Tokenizer:
    table = load_merges(merges)
    counts = count(Corpus(domain), pretokenizer=table.pretokenizer, threads=threads)
    tokenizer = retarget(table, counts, vocab_size, special_tokens=special_tokens)
    if base is None:
        reference = prune(table, vocab_size, threshold=0, special_tokens=special_tokens)
    else:
        reference = Tokenizer.load(base)
    id_map(reference, tokenizer).save(output / ID_MAP_FILE)
    return tokenizer
