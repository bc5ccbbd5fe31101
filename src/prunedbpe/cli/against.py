"""The comparison behind ``prunedbpe inspect A --against B``."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from prunedbpe.analysis.comparison import ComparedToken, compare
from prunedbpe.cli.messages import aligned, put, put_json
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, MergeTable, check_same_merges, replay
from prunedbpe.merges.run_directory import load_merges
from prunedbpe.tokenizer import Tokenizer


def show_comparison(
    before: Tokenizer,
    after: Tokenizer,
    run: Path | None,
    corpus: list[str] | None,
    limit: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Show what changes from one tokenizer to another, on the text of a run or of a corpus."""
    comparison = compare(before, after, _applied(before, after, run, corpus, threads))
    if as_json:
        put_json(comparison.as_settings())
        return
    length, now = comparison.length_before, comparison.length_after
    put(f"{length:,} tokens -> {now:,} tokens ({100 * (now - length) / max(length, 1):+.3f}%)")
    for title, tokens in (
        ("became internal, or has no token any more", comparison.hidden),
        ("took the place", comparison.shown),
    ):
        put("")
        put(f"{title}: {len(tokens):,}")
        by_group = sorted(tokens, key=lambda token: token.group)
        for group, members in groupby(by_group, key=lambda token: token.group):
            _show_group(group, list(members), limit)
    if comparison.others:
        put("")
        put(f"tokens internal in both now stand for {comparison.others:+,} tokens")


def _show_group(group: str, tokens: list[ComparedToken], limit: int | None) -> None:
    worth = sum(token.worth for token in tokens)
    put("")
    put(f"  {group}: {len(tokens):,}, worth {worth:,} tokens")
    rows = [("token", "rank", "exposure", "worth", "otherwise", "supports")]
    rows += [
        (
            repr(token.text),
            str(token.rank),
            f"{token.exposure:,}",
            f"{token.worth:,}",
            " ".join(map(repr, token.expands_to)),
            " ".join(map(repr, token.supports)),
        )
        for token in tokens[:limit]
    ]
    for line in aligned(rows, right=(1, 2, 3)):
        put(f"    {line}")


def _applied(
    before: Tokenizer,
    after: Tokenizer,
    run: Path | None,
    corpus: list[str] | None,
    threads: int | None,
) -> Applied:
    """What the longer of the two merge lists does to the text asked for."""
    longer = max(before, after, key=lambda tokenizer: len(tokenizer.vocabulary.pairs))
    if corpus:
        counts = count(Corpus(corpus), pretokenizer=longer.pretokenizer, threads=threads)
        merges = MergeTable.from_pairs(longer.vocabulary.pairs, longer.pretokenizer)
        return replay(merges, counts, threads=threads)
    if run is None:
        raise SettingsError(
            "a comparison needs text to weigh the difference on", hint="give --corpus or --run"
        )
    merges = load_merges(run)
    check_same_merges(longer.vocabulary.pairs, merges.pairs)
    return merges.applied
