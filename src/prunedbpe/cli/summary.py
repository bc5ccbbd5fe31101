"""What ``train`` and ``prune`` tell when they are done."""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import read_json
from prunedbpe.cli.messages import put_json, tell, tell_facts
from prunedbpe.corpus import CorpusReport
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.types import Settings


def show_tokenizer(tokenizer: Tokenizer, folder: Path, *, quiet: bool, as_json: bool) -> None:
    """Tell how a tokenizer came out, and print its settings where a program reads them."""
    corpus = CorpusReport.from_settings(tokenizer.training["corpus"])
    if not quiet:
        tell_facts([*corpus_facts(corpus), *_tokenizer_facts(tokenizer)])
        tell(f"tokenizer written to {folder}")
    if as_json:
        put_json(read_json(folder / SETTINGS_FILE))


def corpus_facts(corpus: CorpusReport) -> list[tuple[str, str]]:
    """The figures of a corpus, for a summary."""
    facts = [
        ("documents", f"{corpus.documents:,}"),
        ("bytes", f"{corpus.bytes:,}"),
        (
            "skipped documents",
            ", first ".join([f"{corpus.skipped_documents:,}", *corpus.skipped[:1]]),
        ),
    ]
    if corpus.replaced_documents:
        facts.append(("repaired documents", f"{corpus.replaced_documents:,}"))
    return facts


def compare_lengths(training: Settings) -> str:
    """Encoded length against Standard BPE, in words."""
    length, standard = training["encoded_length"], training["standard_encoded_length"]
    if not standard:
        return f"{length:,} tokens"
    percent = 100 * (length - standard) / standard
    return f"{length:,} tokens, {percent:+.3f}% against Standard BPE ({standard:,})"


def _tokenizer_facts(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    training = tokenizer.training
    return [
        ("vocabulary", f"{tokenizer.vocab_size:,}"),
        ("boundary frequency", f"{training['boundary_frequency']:,}"),
        *visibility_facts(training),
        ("internal tokens", f"{tokenizer.vocabulary.internal_count:,}"),
        ("encoded length", compare_lengths(training)),
    ]


def visibility_facts(training: Settings) -> list[tuple[str, str]]:
    """How it was decided what is visible, for a summary."""
    if "retargeted" in training:
        domain = training["retargeted"]
        length, standard = domain["domain_length"], domain["domain_standard_length"]
        return [
            ("merges retained", f"{domain['candidates']:,}, chosen by the domain's length"),
            (
                "domain length",
                f"{length:,} tokens, {100 * (length - standard) / max(standard, 1):+.3f}% against "
                f"Standard BPE ({standard:,})",
            ),
        ]
    if "auto" in training:
        auto = training["auto"]
        how = f"{auto['candidates']:,} of {auto['candidates_learned']:,} learned"
        if auto["chosen_by"] == "validation":
            length, standard = auto["validation_length"], auto["validation_standard_length"]
            percent = 100 * (length - standard) / max(standard, 1)
            chosen = f"shortest of {len(auto['tried'])} on the validation text, {percent:+.3f}%"
        else:
            chosen = (
                f"{auto['candidate_ratio']:g} times the visible ones; spread over "
                f"{auto['sources']:,} sources to the power {auto['spread_exponent']:g}"
            )
        return [
            ("merges retained", f"{how} ({auto['stopped']})"),
            ("chosen by", chosen),
            ("least exposure", f"{training['least_visible_exposure']:,} of a visible token"),
        ]
    return [("min exposure", f"{training['min_exposure']:,} (threshold {training['threshold']})")]
