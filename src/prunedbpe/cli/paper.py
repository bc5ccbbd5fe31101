"""``prunedbpe paper``: the paper's whole study on two corpora -> a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.exits import InterruptedWork
from prunedbpe.cli.messages import put_json, tell, tell_facts
from prunedbpe.errors import SettingsError


def command(
    corpus: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=PATH[,PATH...]",
            help="A corpus: its name, and files or folders. Give two.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the report.", show_default=False)
    ],
    sizes: Annotated[
        str,
        typer.Option(
            metavar="N,N,...",
            help="Vocabulary sizes. Suggested by what 2,000 more tokens bring, if left out.",
            show_default=False,
        ),
    ] = "",
    thresholds: Annotated[
        str, typer.Option(metavar="R,R,...", help="The paper's thresholds, rising.")
    ] = "20%,30%,40%",
    auto: Annotated[bool, typer.Option(help="Study automatic visibility too.")] = True,
    baselines: Annotated[bool, typer.Option(help="Study the baselines too.")] = True,
    spot_check: Annotated[
        bool, typer.Option(help="Find some lengths again by really encoding.")
    ] = True,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder of merges and numbers that later runs use; OUTPUT/cache by default.",
            show_default=False,
        ),
    ] = None,
    tokenizers: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the exported tokenizers; OUTPUT/tokenizers by default.",
            show_default=False,
        ),
    ] = None,
    pretokenizer: options.PretokenizerName = "paper",
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    text_field: options.TextField = "text",
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Run the paper's study on two corpora and write a report.

    Merges are learned on each corpus and on both together; every threshold is measured on every
    corpus, beside Standard BPE, automatic visibility and the baselines. The report is index.html,
    report.md, and a .csv and .tex for each table. A run that was stopped goes on where it was.

    \b
    prunedbpe paper --corpus I=books/ --corpus II=web/,code/ --sizes 8000,16000 -o report/
    """
    from prunedbpe.corpus import Corpus
    from prunedbpe.report.render import write_report
    from prunedbpe.report.study import StudyPlan, run_study

    plan = StudyPlan(
        corpora={
            name: Corpus(paths, text_field=text_field)
            for name, paths in parse_corpora(corpus).items()
        },
        sizes=parse_sizes(sizes),
        thresholds=[text.strip() for text in thresholds.split(",") if text.strip()],
        auto=auto,
        baselines=baselines,
        pretokenizer=pretokenizer,
        special_tokens=options.choose_special_tokens(special_token, none=no_special_tokens),
        threads=threads,
        spot_check=spot_check,
    )
    options.prepare_folder(output)
    try:
        results = run_study(
            plan,
            cache=cache or output / "cache",
            export=tokenizers or output / "tokenizers",
            progress=options.choose_progress(progress, quiet=quiet),
        )
    except KeyboardInterrupt:
        raise InterruptedWork("the same command goes on from what was found so far") from None
    results.settings["command"] = shlex.join(["prunedbpe", *sys.argv[1:]])
    claims = write_report(results, output)
    if not quiet:
        tell_facts([(claim.verdict, claim.text) for claim in claims])
        tell(f"report written to {output / 'index.html'}")
    if as_json:
        put_json(
            [
                {"claim": c.text, "verdict": c.verdict, "checked": c.checked, "fails": c.failures}
                for c in claims
            ]
        )


def parse_corpora(given: list[str]) -> dict[str, list[str]]:
    """Read corpora as ``NAME=PATH[,PATH...]``; the same name twice is one corpus.

    >>> parse_corpora(["I=a.txt,b", "II=c", "I=d"])
    {'I': ['a.txt', 'b', 'd'], 'II': ['c']}
    """
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, paths = text.partition("=")
        named = [path for path in paths.split(",") if path]
        if not equals or not name or not named:
            raise SettingsError(
                f"corpus {text!r} is not of the form NAME=PATH", hint="for instance I=books/"
            )
        if "+" in name or "/" in name:
            raise SettingsError(f"a corpus cannot be named {name!r}", hint="leave out + and /")
        found.setdefault(name, []).extend(named)
    return found


def parse_sizes(text: str) -> list[int]:
    """Read sizes as ``8000,12000``; ``8000-16000+2000`` is every 2,000 from one to the other.

    >>> parse_sizes("500,8000-12000+2000")
    [500, 8000, 10000, 12000]
    """
    sizes: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        bounds, _, step = part.partition("+")
        first, _, last = bounds.partition("-")
        if not all(number.isdecimal() for number in (first, last or "0", step or "1")):
            raise SettingsError(f"size {part!r} is no number", hint="for instance 8000,16000")
        if last:
            sizes.extend(range(int(first), int(last) + 1, int(step or 2000) or 2000))
        else:
            sizes.append(int(first))
    return sizes
