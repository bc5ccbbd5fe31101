"""``prunedbpe paper``: the paper's study on two corpora -> a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.terminal import info, info_table, on_interrupt, print_json
from prunedbpe.report.render import write_report
from prunedbpe.report.results import StudyResults, load_results
from prunedbpe.report.study import StudyPlan, run_study


def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Report folder to write.", show_default=False)
    ],
    corpus: options.NamedCorpora = [],  # noqa: B006 - typer copies it
    results_file: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="STUDY.JSON",
            help="Write the report of an earlier study again, without running it.",
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="N,N,...",
            help="Vocabulary sizes: 8000,12000 or 8000-16000+2000. By default, sizes where "
            "growth flattens.",
            show_default=False,
        ),
    ] = "",
    thresholds: Annotated[
        str, typer.Option(metavar="R,R,...", help="Ratio thresholds, in ascending order.")
    ] = "20%,30%,40%",
    auto: Annotated[bool, typer.Option(help="Include automatic visibility.")] = True,
    baselines: Annotated[bool, typer.Option(help="Include the baselines.")] = True,
    spot_check: Annotated[
        bool, typer.Option(help="Verify some lengths by encoding the text.")
    ] = True,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results that later runs reuse; OUTPUT/cache by default.",
            show_default=False,
        ),
    ] = None,
    tokenizers: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the tokenizers; OUTPUT/tokenizers by default.",
            show_default=False,
        ),
    ] = None,
    pretokenizer: options.PretokenizerName = "paper",
    special_token: options.SpecialTokens = None,
    no_special_tokens: options.NoSpecialTokens = False,
    text_field: options.TextField = "text",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Run the paper's study on two corpora and write a report.

    Learns merges on each corpus and on both together, and measures every threshold on every corpus,
    next to Standard BPE, automatic visibility and the baselines. The report is index.html,
    report.md, and a .csv and .tex file for each table. An interrupted study can be resumed. With
    --from, the report is made again from the study.json of an earlier one.

    \b
    prunedbpe paper --corpus I=books/ --corpus II=web/,code/ \\
        --sizes 8000,16000 -o report/
    prunedbpe paper --from report/study.json -o report/
    """
    if results_file is not None:
        if corpus:
            raise typer.BadParameter("give only one of --from and --corpus")
        results = load_results(results_file)
        options.prepare_folder(output)
        _write(results, output, quiet=quiet, as_json=as_json)
        return
    chosen_sizes = parse_sizes(sizes)
    plan = StudyPlan(
        corpora=options.open_corpora(corpus, **options.choose_reading(text_field, max_document)),
        sizes=chosen_sizes,
        thresholds=[text.strip() for text in thresholds.split(",") if text.strip()],
        auto=auto,
        baselines=baselines,
        pretokenizer=pretokenizer,
        special_tokens=options.choose_special_tokens(special_token, none=no_special_tokens),
        threads=threads,
        spot_check=spot_check,
    )
    options.prepare_folder(output)
    with on_interrupt("run the same command again to resume"):
        results = run_study(
            plan,
            cache=cache or output / "cache",
            export=tokenizers or output / "tokenizers",
            progress=options.choose_progress(progress, quiet=quiet),
        )
    results.settings["command"] = shlex.join(["prunedbpe", *sys.argv[1:]])
    _write(results, output, quiet=quiet, as_json=as_json)


def _write(results: StudyResults, output: Path, *, quiet: bool, as_json: bool) -> None:
    claims = write_report(results, output)
    if not quiet:
        info_table([(claim.verdict, claim.text) for claim in claims])
        info(f"report written to {output / 'index.html'}")
    if as_json:
        print_json(
            [
                {"claim": c.text, "verdict": c.verdict, "checked": c.checked, "fails": c.failures}
                for c in claims
            ]
        )


def parse_sizes(text: str) -> list[int]:
    """Parse sizes: ``8000,12000``, or ``8000-16000+2000`` for a range with a step.

    >>> parse_sizes("500,8000-12000+2000")
    [500, 8000, 10000, 12000]
    """
    sizes: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        bounds, _, step = part.partition("+")
        first, _, last = bounds.partition("-")
        if not all(number.isdecimal() for number in (first, last or "0", step or "1")):
            raise typer.BadParameter(
                f"{part!r} is not a number; for instance 8000,16000", param_hint="--sizes"
            )
        if last:
            sizes.extend(range(int(first), int(last) + 1, int(step or 2000) or 2000))
        else:
            sizes.append(int(first))
    return sizes
