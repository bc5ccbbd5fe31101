"""``prunedbpe inspect``: a tokenizer, one of its tokens, a list of them, or a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis import inspection
from prunedbpe.analysis.inspection import ExposureTable, TokenReport
from prunedbpe.cli import options
from prunedbpe.cli.against import show_comparison
from prunedbpe.cli.messages import aligned, put, put_json, say
from prunedbpe.cli.summary import compare_lengths, visibility_facts
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count
from prunedbpe.errors import SettingsError
from prunedbpe.merges.run_directory import load_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings
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
            help="Compare with another tokenizer of the same merges: what it hides, what it shows "
            "instead, and what that is worth on --corpus, or on the corpus of --run.",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN_DIR|MERGES", help="Take exposures from the run the tokenizer comes from."
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Count exposures on this text instead; repeat for more.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="How many tokens a list shows; 0: all.")] = 20,
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
    if sum([token is not None, hex_ is not None, token_id is not None, rank is not None]) > 1:
        raise typer.BadParameter("give only one of --token, --hex, --id and --rank")
    tok = Tokenizer.load(tokenizer)
    if against is not None:
        other = Tokenizer.load(against)
        show_comparison(tok, other, run, corpus, limit or None, threads, as_json)
        return
    wanted = _find(tok, token, hex_, token_id, rank)
    if internal or visible:
        if internal and visible:
            raise typer.BadParameter("give only one of --internal and --visible")
        if wanted is not None:
            asked = "--internal" if internal else "--visible"
            raise typer.BadParameter(f"{asked} lists tokens, it takes none")
        exposures = _exposures(tok, run, corpus, threads)
        show_list = _show_internal if internal else _show_visible
        show_list(tok, exposures, limit or None, as_json)
    elif wanted is not None:
        exposures = _exposures(tok, run, corpus, threads)
        report = inspection.describe_token(tok, wanted, exposures)
        if as_json:
            put_json(inspection.token_settings(tok, report))
        else:
            _show_token(tok, report, exposures, limit or None)
    else:
        facts = inspection.overview(tok)
        if as_json:
            put_json(facts)
        else:
            _show_overview(facts)


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
                f"--hex {hex_!r} is not hexadecimal", hint="write two digits a byte: 'e4 b8 ad'"
            ) from None
    if rank is not None:
        return inspection.find_rank(tok, rank)
    return token_id


def _exposures(
    tok: Tokenizer, run: Path | None, corpus: list[str] | None, threads: int | None
) -> ExposureTable | None:
    if run is not None and corpus:
        raise typer.BadParameter("exposures come from --run or from --corpus, not from both")
    if run is not None:
        return inspection.exposures_of_run(tok, load_merges(run))
    if corpus:
        counts = count(Corpus(corpus), pretokenizer=tok.pretokenizer, threads=threads)
        return inspection.exposures_on_corpus(tok, counts, threads=threads)
    return None


def _show_overview(facts: Settings) -> None:
    special = ", ".join(f"{text} {i}" for text, i in facts["special_tokens"].items())
    rows = [
        ("vocabulary", f"{facts['vocab_size']:,}"),
        ("visible learned tokens", f"{facts['visible_learned']:,}"),
        ("special tokens", special or "none"),
        ("internal tokens", f"{facts['internal_tokens']:,}"),
        ("pretokenizer", ", ".join(str(value) for value in facts["pretokenizer"].values())),
        ("longest tokens", "  ".join(_name(token) for token in facts["longest"])),
    ]
    if facts["first_hidden"]:
        rows.append(("hidden, the first", "  ".join(_name(t) for t in facts["first_hidden"])))
    training = facts["training"]
    if training:
        corpus = training["corpus"]
        rows += [
            ("boundary frequency", f"{training['boundary_frequency']:,}"),
            *visibility_facts(training),
            ("corpus", f"{corpus['documents']:,} documents, {corpus['bytes']:,} bytes"),
            ("encoded length", compare_lengths(training)),
        ]
    for line in aligned(rows):
        put(line)


def _show_token(
    tok: Tokenizer, report: TokenReport, exposures: ExposureTable | None, limit: int | None
) -> None:
    strings = tok.vocabulary.strings
    known = "not known: give --run or --corpus"
    if report.exposure is not None and exposures is not None:
        known = f"{report.exposure:,} (after {exposures.merge_count:,} merges)"
    rows = [
        ("token", token_repr(report.spelled)),
        ("bytes", report.spelled.hex(" ")),
        ("id", str(report.token_id)),
        ("rank", "none" if report.rank is None else str(report.rank)),
        ("visibility", report.visibility),
        ("exposure", known),
    ]
    if report.visibility == "internal":
        shown = "  ".join(f"{token_repr(tok.token_bytes(i))} {i}" for i in report.expansion)
        rows.append(("expands into", shown))
    for title, ranks in (("part of", report.parents), ("leads to", report.leads_to)):
        names = [token_repr(strings[rank]) for rank in ranks[:limit]]
        more = [f"... {len(ranks):,} in all"] if len(ranks) > len(names) else []
        rows.append((title, "  ".join([*names, *more]) or "nothing"))
    for line in aligned(rows):
        put(line)
    if report.parts is not None and report.rank is not None:
        put("built from")
        for line in _tree_lines(inspection.build_tree(tok, report.rank)):
            put(f"  {line}")


def _tree_lines(root: Settings) -> list[str]:
    lines = []
    open_nodes = [(root, "", "")]
    while open_nodes:
        node, lead, below = open_nodes.pop()
        place = f"id {node['token_id']}"
        if node["rank"] >= 256:
            place += f", rank {node['rank']}, {node['visibility']}"
        lines.append(f"{lead}{_name(node)}  {place}")
        if node["parts"]:
            left, right = node["parts"]
            open_nodes.append((right, f"{below}└─ ", f"{below}   "))
            open_nodes.append((left, f"{below}├─ ", f"{below}│  "))
    return lines


def _show_internal(
    tok: Tokenizer, exposures: ExposureTable | None, limit: int | None, as_json: bool
) -> None:
    reports = inspection.internal_tokens(tok, exposures, limit)
    _hint_exposures(exposures)
    if as_json:
        put_json([inspection.token_settings(tok, report) for report in reports])
        return
    rows = [("id", "rank", "exposure", "leads to", "token", "expands into")]
    for report in reports:
        expansion = "  ".join(token_repr(tok.token_bytes(i)) for i in report.expansion)
        exposed = "?" if report.exposure is None else f"{report.exposure:,}"
        rows.append(
            (
                str(report.token_id),
                str(report.rank),
                exposed,
                f"{len(report.leads_to):,}",
                token_repr(report.spelled),
                expansion,
            )
        )
    for line in aligned(rows, right=(0, 1, 2, 3)):
        put(line)


def _show_visible(
    tok: Tokenizer, exposures: ExposureTable | None, limit: int | None, as_json: bool
) -> None:
    tokens = inspection.visible_tokens(tok, exposures, limit)
    _hint_exposures(exposures)
    if as_json:
        put_json(tokens)
        return
    rows = [("id", "rank", "exposure", "token", "built from")]
    for token in tokens:
        rows.append(
            (
                str(token["token_id"]),
                str(token["rank"]),
                "?" if token["exposure"] is None else f"{token['exposure']:,}",
                _name(token),
                "  ".join(_name(part) for part in token["parts"]),
            )
        )
    for line in aligned(rows, right=(0, 1, 2)):
        put(line)


def _hint_exposures(exposures: ExposureTable | None) -> None:
    if exposures is None:
        say(
            "hint", "no exposures are known, so tokens are in order of rank: give --run or --corpus"
        )


def _name(token: Settings) -> str:
    return token_repr(bytes.fromhex(token["bytes"]))
