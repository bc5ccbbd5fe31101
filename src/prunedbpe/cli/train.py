"""``prunedbpe train``: corpus -> tokenizer; and the summary that ``prune`` shares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe._support.input_files import read_json
from prunedbpe._support.memory import memory_budget
from prunedbpe._support.sizes import format_size
from prunedbpe.cli import options
from prunedbpe.cli.terminal import align, info, info_table, on_interrupt, print_json, warning
from prunedbpe.corpus import Corpus, CorpusReport
from prunedbpe.counts.bounded import LEAST_MEMORY
from prunedbpe.pretokenizers import find_pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.training import train
from prunedbpe.types import Settings
from prunedbpe.visibility.threshold import required_tokens

Facts = list[tuple[str, str]]
"""Rows of a summary: name and value."""

_MOST_GAINS = 10
"""Sources that a summary lists; --json has all of them."""


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
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a tokenizer on a corpus.

    \b
    prunedbpe train texts/ --vocab-size 16000 --threshold 40% -o tok
    prunedbpe train texts/ --vocab-size 16000 --threshold auto -o tok
    prunedbpe train texts/ --vocab-size 16000 --threshold auto --segmentation shortest -o tok
    prunedbpe train texts/ --vocab-size 16000 --run-dir run -o tok   # resumable
    """
    special_tokens = options.choose_special_tokens(special_token, none=no_special_tokens)
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
    texts = Corpus(
        corpus,
        **reading,
        excluding=[output, run_dir],
        source_field=source_field,
    )
    options.prepare_folder(output)
    with on_interrupt(
        "with --run-dir, an interrupted run can be resumed"
        if run_dir is None
        else f"the work so far is kept in {run_dir}: run the same command again to resume"
    ):
        tokenizer = train(
            texts,
            vocab_size,
            policy=policy,
            pretokenizer=find_pretokenizer(pretokenizer, "NFC" if nfc else None),
            special_tokens=special_tokens,
            min_chunk_count=min_chunk_count,
            threads=threads,
            memory=memory,
            run_dir=run_dir,
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            checkpoint_at=[required_tokens(size, special_tokens) for size in checkpoint_at or ()],
            progress=options.choose_progress(progress, quiet=quiet),
        )
    budget = format_size(memory_budget(memory, LEAST_MEMORY))
    facts = [("memory", f"up to {budget} for counting")]
    save_tokenizer(tokenizer, output, quiet=quiet, as_json=as_json, facts=facts)


def save_tokenizer(
    tokenizer: Tokenizer, folder: Path, *, quiet: bool, as_json: bool, facts: Facts | None = None
) -> None:
    """Save a tokenizer and summarize how it was trained, with more facts of this run."""
    tokenizer.save(folder)
    training = tokenizer.training
    if not quiet:
        info_table(
            [
                *corpus_facts(CorpusReport.from_settings(training["corpus"])),
                *approximation_facts(training["min_chunk_count"]),
                ("vocabulary", f"{tokenizer.vocab_size:,}"),
                *visibility_facts(training),
                ("internal tokens", f"{tokenizer.vocabulary.internal_count:,}"),
                ("segmentation", tokenizer.segmentation),
                *length_facts(training),
                *(facts or []),
            ]
        )
        show_gains(training)
        info(f"tokenizer written to {folder}")
    if as_json:
        print_json(read_json(folder / SETTINGS_FILE))


def corpus_facts(corpus: CorpusReport) -> Facts:
    """What was read, and what was skipped."""
    skipped = ", first ".join([f"{corpus.skipped_documents:,}", *corpus.skipped[:1]])
    facts = [
        ("documents", f"{corpus.documents:,}"),
        ("bytes", f"{corpus.bytes:,}"),
        ("skipped documents", skipped),
    ]
    if corpus.replaced_documents:
        facts.append(("repaired documents", f"{corpus.replaced_documents:,}"))
    return facts


def memory_fact(limit: int, *, spilled: bool) -> str:
    """How much memory counting was allowed, and whether that was enough."""
    return f"up to {format_size(limit)}, {'the rest on disk' if spilled else 'nothing on disk'}"


def approximation_facts(min_chunk_count: int) -> Facts:
    """Which chunks were dropped; nothing if the counts are exact."""
    if min_chunk_count == 1:
        return []
    return [("min chunk count", f"{min_chunk_count:,}; chunks that occur less often are dropped")]


def length_facts(training: Settings) -> Facts:
    """Encoded length of the training corpus, if it is known."""
    if "encoded_length" not in training:
        return []
    length, standard = training["encoded_length"], training["standard_encoded_length"]
    return [("encoded length", _length(length, standard))]


def show_gains(training: Settings) -> None:
    """List what each source gains, the worst first, and warn of sources that lose."""
    gains = training.get("auto", {}).get("gains", [])
    if len(gains) < 2:
        return
    shown = gains[:_MOST_GAINS]
    info(f"\n{len(gains)} sources against Standard BPE, the smallest gain first:")
    for line in align([(row["source"], f"{row['gain']:+.3%}") for row in shown], right=[1]):
        info(f"  {line}")
    if len(gains) > len(shown):
        info(f"  ... and {len(gains) - len(shown)} more, up to {gains[-1]['gain']:+.3%}")
    for row in gains:
        if row["source"] in training["auto"]["harmed"]:
            warning(f"{row['source']} gets {-row['gain']:.3%} longer than with Standard BPE")


def visibility_facts(training: Settings) -> Facts:
    """How the visible tokens were chosen."""
    facts = [("boundary frequency", f"{training['boundary_frequency']:,}")]
    if "retargeted" in training:
        domain = training["retargeted"]
        length = _length(domain["domain_length"], domain["domain_standard_length"])
        return [
            *facts,
            ("merges retained", f"{domain['candidates']:,}, chosen by the domain's length"),
            ("domain length", length),
        ]
    if "auto" not in training:
        text = f"{training['min_exposure']:,} (threshold {training['threshold']})"
        return [*facts, ("min exposure", text)]
    auto = training["auto"]
    if auto["chosen_by"] == "validation":
        change = _change(auto["validation_length"], auto["validation_standard_length"])
        chosen = f"shortest of {len(auto['tried'])} on the validation text, {change}"
    else:
        chosen = (
            f"saving in each of {max(auto['sources'], 1):,} sources to the power "
            f"{auto['exponent']:g}"
        )
    learned = f"{auto['candidates_learned']:,} learned"
    facts += [
        ("chosen from", f"{auto['candidates']:,} of {learned} merges ({auto['stopped']})"),
        ("chosen by", chosen),
    ]
    if "least_visible_exposure" in training:
        least = f"{training['least_visible_exposure']:,} of a visible token"
        facts.append(("least exposure", least))
    if auto["source_note"]:
        facts.append(("sources", auto["source_note"]))
    if auto.get("protected"):
        facts.append(("sources protected", f"{len(auto['protected'])}, given more weight"))
    return facts


def _length(length: int, standard: int) -> str:
    change = _change(length, standard)
    return f"{length:,} tokens, {change} against Standard BPE ({standard:,})"


def _change(length: int, standard: int) -> str:
    return f"{(length - standard) / max(standard, 1):+.3%}"
