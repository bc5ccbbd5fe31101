"""``prunedbpe inspect``: a tokenizer, one of its tokens, a list of them, or a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis import inspection
from prunedbpe.analysis.comparison import ComparedToken, compare
from prunedbpe.analysis.inspection import ExposureTable, TokenReport
from prunedbpe.cli import options
from prunedbpe.cli.summary import approximation_facts, corpus_facts, length_facts, visibility_facts
from prunedbpe.cli.terminal import explain, hint, print_facts, print_json, print_line, print_table
from prunedbpe.corpus import Corpus, CorpusReport
from prunedbpe.counts import count
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, MergeTable, check_same_merges, replay
from prunedbpe.merges.run_directory import load_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, Settings
from prunedbpe.vocabulary.vocabulary_files import token_repr


def command(
    tokenizer: options.TokenizerFolder,
    token: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Show the token with this text.")
    ] = None,
    hex_: Annotated[
        str | None,
        typer.Option("--hex", metavar="BYTES", help="Show the token with these bytes: 'e4 b8'."),
    ] = None,
    token_id: Annotated[
        int | None, typer.Option("--id", help="Show the token with this id.")
    ] = None,
    rank: Annotated[int | None, typer.Option(help="Show the token with this rank.")] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="List internal tokens, the most exposed first.")
    ] = False,
    visible: Annotated[
        bool,
        typer.Option("--visible", help="List visible learned tokens, the most exposed first."),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="TOKENIZER",
            help="Compare with another tokenizer of the same merges: which tokens it hides, which "
            "it shows instead, and how many tokens that saves on --corpus or --run.",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN_DIR|MERGES", help="Take exposures from the run that made the tokenizer."
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Measure exposures on this text. Repeatable.", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Length of a list; 0 for no limit.")] = 20,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a tokenizer, one of its tokens, or its internal tokens.

    \b
    prunedbpe inspect tok
    prunedbpe inspect tok --token " the" --run run
    prunedbpe inspect tok --internal --corpus texts/ --limit 50
    prunedbpe inspect tok --visible --run run --limit 0 --json
    prunedbpe inspect standard --against tok --corpus texts/
    """
    if sum(given is not None for given in (token, hex_, token_id, rank)) > 1:
        raise typer.BadParameter("give only one of --token, --hex, --id and --rank")
    if internal and visible:
        raise typer.BadParameter("give only one of --internal and --visible")
    if run is not None and corpus:
        raise typer.BadParameter("give only one of --run and --corpus")
    tok = Tokenizer.load(tokenizer)
    most = limit or None
    if against is not None:
        other = Tokenizer.load(against)
        _show_comparison(tok, other, _applied(tok, other, run, corpus, threads), most, as_json)
        return
    wanted = _find(tok, token, hex_, token_id, rank)
    if wanted is None and not (internal or visible):
        _show_overview(inspection.overview(tok), as_json)
        return
    if wanted is not None and (internal or visible):
        option = "--internal" if internal else "--visible"
        raise typer.BadParameter(f"{option} lists all tokens; leave out the single token")
    exposures = _exposures(tok, run, corpus, threads)
    if wanted is not None:
        report = inspection.describe_token(tok, wanted, exposures)
        if as_json:
            print_json(inspection.token_settings(tok, report))
        else:
            _show_token(tok, report, exposures, most)
        return
    if exposures is None:
        hint("without exposures, tokens are sorted by rank; give --run or --corpus")
    (_show_internal if internal else _show_visible)(tok, exposures, most, as_json)


def _find(
    tok: Tokenizer, token: str | None, hex_: str | None, token_id: int | None, rank: int | None
) -> int | None:
    if token is not None:
        return inspection.find_token(tok, token.encode("utf-8", "surrogateescape"))
    if hex_ is not None:
        try:
            return inspection.find_token(tok, bytes.fromhex(hex_))
        except ValueError:
            raise SettingsError(
                f"--hex {hex_!r} is not hexadecimal", hint="give two digits per byte: 'e4 b8 ad'"
            ) from None
    if rank is not None:
        return inspection.find_rank(tok, rank)
    return token_id


def _exposures(
    tok: Tokenizer, run: Path | None, corpus: list[str] | None, threads: int | None
) -> ExposureTable | None:
    if run is not None:
        return inspection.exposures_of_run(tok, load_merges(run))
    if corpus:
        counts = count(Corpus(corpus), pretokenizer=tok.pretokenizer, threads=threads)
        return inspection.exposures_on_corpus(tok, counts, threads=threads)
    return None


def _applied(
    before: Tokenizer,
    after: Tokenizer,
    run: Path | None,
    corpus: list[str] | None,
    threads: int | None,
) -> Applied:
    """Replay the longer merge list of the two on the corpus, or take its counts from the run."""
    longer = max(before, after, key=lambda tok: len(tok.vocabulary.pairs))
    if corpus:
        counts = count(Corpus(corpus), pretokenizer=longer.pretokenizer, threads=threads)
        merges = MergeTable.from_pairs(longer.vocabulary.pairs, longer.pretokenizer)
        return replay(merges, counts, threads=threads)
    if run is None:
        raise SettingsError("a comparison needs text", hint="give --corpus or --run")
    merges = load_merges(run)
    check_same_merges(longer.vocabulary.pairs, merges.pairs)
    return merges.applied


def _show_overview(facts: Settings, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    special = [f"{text} {i}" for text, i in facts["special_tokens"].items()]
    rows: list[tuple[str, str | Sequence[str]]] = [
        ("vocabulary", f"{facts['vocab_size']:,}"),
        ("visible learned tokens", f"{facts['visible_learned']:,}"),
        ("special tokens", special or "none"),
        ("internal tokens", f"{facts['internal_tokens']:,}"),
        ("pretokenizer", ", ".join(map(str, facts["pretokenizer"].values()))),
        ("segmentation", facts["segmentation"]),
        ("longest tokens", _spelled(facts["longest"])),
    ]
    if facts["first_hidden"]:
        rows.append(("first hidden tokens", _spelled(facts["first_hidden"])))
    training = facts["training"]
    if "imported" in training:
        rows.append(("imported from", ", ".join(map(str, training["imported"].values()))))
    elif training:
        rows += [
            *visibility_facts(training),
            *corpus_facts(CorpusReport.from_settings(training["corpus"])),
            *approximation_facts(training.get("min_chunk_count", 1)),
            *length_facts(training),
        ]
    print_facts(rows)
    explain(name for name, _ in rows)


def _show_token(
    tok: Tokenizer, report: TokenReport, exposures: ExposureTable | None, limit: int | None
) -> None:
    strings = tok.vocabulary.strings
    known = "unknown; give --run or --corpus"
    if report.exposure is not None and exposures is not None:
        known = f"{report.exposure:,}"
        if tok.segmentation == "rank":
            known += f" (after {exposures.merge_count:,} merges)"
    rows: list[tuple[str, str | Sequence[str]]] = [
        ("token", token_repr(report.spelled)),
        ("bytes", report.spelled.hex(" ")),
        ("id", str(report.token_id)),
        ("rank", "none" if report.rank is None else str(report.rank)),
        ("visibility", report.visibility),
        ("exposure", known),
    ]
    if report.visibility == "internal":
        parts = [f"{token_repr(tok.token_bytes(i))} {i}" for i in report.expansion]
        rows.append((_replacement(tok), parts))
    for title, ranks in (("part of", report.parents), ("leads to", report.leads_to)):
        names = [token_repr(strings[rank]) for rank in ranks[:limit]]
        if len(ranks) > len(names):
            names.append(f"... {len(ranks):,} in total")
        rows.append((title, names or "nothing"))
    print_facts(rows)
    if report.parts is not None and report.rank is not None:
        print_line("built from")
        for line in _tree_lines(inspection.build_tree(tok, report.rank)):
            print_line(f"  {line}")


def _replacement(tok: Tokenizer) -> str:
    """What the visible tokens are called that stand for an internal one."""
    return "expands into" if tok.segmentation == "rank" else "fewest tokens"


def _tree_lines(root: Settings) -> list[str]:
    lines = []
    stack = [(root, "", "")]
    while stack:
        node, lead, below = stack.pop()
        place = f"id {node['token_id']}"
        if node["rank"] >= BYTE_COUNT:
            place += f", rank {node['rank']}, {node['visibility']}"
        lines.append(f"{lead}{_names([node])}  {place}")
        if node["parts"]:
            left, right = node["parts"]
            stack.append((right, f"{below}└─ ", f"{below}   "))
            stack.append((left, f"{below}├─ ", f"{below}│  "))
    return lines


def _show_internal(
    tok: Tokenizer, exposures: ExposureTable | None, limit: int | None, as_json: bool
) -> None:
    reports = inspection.internal_tokens(tok, exposures, limit)
    if as_json:
        print_json([inspection.token_settings(tok, report) for report in reports])
        return
    rows = [("id", "rank", "exposure", "leads to", "token", _replacement(tok))]
    for report in reports:
        rows.append(
            (
                str(report.token_id),
                str(report.rank),
                "?" if report.exposure is None else f"{report.exposure:,}",
                f"{len(report.leads_to):,}",
                token_repr(report.spelled),
                "  ".join(token_repr(tok.token_bytes(i)) for i in report.expansion),
            )
        )
    print_table(rows, right=range(4))
    explain(rows[0])


def _show_visible(
    tok: Tokenizer, exposures: ExposureTable | None, limit: int | None, as_json: bool
) -> None:
    tokens = inspection.visible_tokens(tok, exposures, limit)
    if as_json:
        print_json(tokens)
        return
    rows = [("id", "rank", "exposure", "token", "built from")]
    for token in tokens:
        exposed = "?" if token["exposure"] is None else f"{token['exposure']:,}"
        place = (str(token["token_id"]), str(token["rank"]), exposed)
        rows.append((*place, _names([token]), _names(token["parts"])))
    print_table(rows, right=range(3))
    explain(rows[0])


def _show_comparison(
    before: Tokenizer, after: Tokenizer, applied: Applied, limit: int | None, as_json: bool
) -> None:
    comparison = compare(before, after, applied)
    if as_json:
        print_json(comparison.as_settings())
        return
    length, now = comparison.length_before, comparison.length_after
    print_line(f"{length:,} tokens -> {now:,} tokens ({(now - length) / max(length, 1):+.3%})")
    for title, tokens in (
        ("hidden or removed", comparison.hidden),
        ("shown instead", comparison.shown),
    ):
        print_line(f"\n{title}: {len(tokens):,}")
        by_group = sorted(tokens, key=lambda token: token.group)
        for group, members in groupby(by_group, key=lambda token: token.group):
            _show_group(group, list(members), limit)
    if comparison.others:
        print_line(f"\ntokens internal in both: {comparison.others:+,} tokens")


def _show_group(group: str, tokens: list[ComparedToken], limit: int | None) -> None:
    saved = sum(token.worth for token in tokens)
    print_line(f"\n  {group}: {len(tokens):,}, saving {saved:,} tokens")
    rows = [("token", "rank", "exposure", "saves", "otherwise", "supports")]
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
    print_table(rows, right=(1, 2, 3), indent="    ", optional=(1, 5))


def _names(tokens: list[Settings]) -> str:
    return "  ".join(_spelled(tokens))


def _spelled(tokens: list[Settings]) -> list[str]:
    return [token_repr(bytes.fromhex(token["bytes"])) for token in tokens]
