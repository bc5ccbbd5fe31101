"""The report of a study: one folder with Markdown, CSV, LaTeX, JSON and an HTML page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from prunedbpe._support.atomic_files import json_bytes, write_together
from prunedbpe.report.claims import Claim, check_claims
from prunedbpe.report.page import as_page
from prunedbpe.report.paper_figures import PaperFigures
from prunedbpe.report.results import StudyResults
from prunedbpe.report.tables import (
    Table,
    as_csv,
    as_latex,
    as_markdown,
    baseline_table,
    claim_table,
    growth_table,
    internal_table,
    length_table,
    qualitative_table,
    shortest_table,
    spot_check_table,
)


def all_tables(results: StudyResults, claims: list[Claim]) -> list[Table]:
    """Return every table of a study, in report order."""
    tables = [
        claim_table(claims),
        length_table(results),
        internal_table(results),
        growth_table(results),
        shortest_table(results),
        qualitative_table(results),
    ]
    if results.baselines:
        tables.append(baseline_table(results))
    if results.spot_checks:
        tables.append(spot_check_table(results))
    paper = PaperFigures(results)
    if paper.comparable:
        tables += paper.tables()
    return tables


def write_report(results: StudyResults, folder: Path) -> list[Claim]:
    """Write the report in all formats.

    Args:
        results: The results of the study.
        folder: Folder for ``index.html``, ``report.md``, ``study.json``, and a ``.csv`` and a
            ``.tex`` file for each table.

    Returns:
        The checked claims.
    """
    claims = check_claims(results)
    tables = all_tables(results, claims)
    texts = {f"{table.name}.csv": as_csv(table) for table in tables}
    texts |= {f"{table.name}.tex": as_latex(table) for table in tables}
    texts |= {"report.md": as_report(results, tables), "index.html": as_page(results, claims)}
    contents = {name: text.encode() for name, text in texts.items()}
    write_together(folder, {"study.json": json_bytes(asdict(results)), **contents})
    return claims


def as_report(results: StudyResults, tables: list[Table]) -> str:
    """Format the study as Markdown."""
    lines = ["# Pruned BPE: the study", ""]
    for corpus in results.corpora:
        lines.append(
            f"- **{corpus.name}**: {corpus.documents:,} documents, {corpus.bytes:,} bytes, "
            f"{corpus.unique_chunks:,} unique chunks"
        )
    sizes = ", ".join(f"{size:,}" for size in results.sizes)
    lines += [f"- sizes {sizes} ({results.sizes_reason})"]
    lines += [f"- {name}: {value}" for name, value in results.settings.items()]
    total = sum(results.seconds.values())
    spent = ", ".join(f"{name} {seconds:g}" for name, seconds in results.seconds.items())
    lines += [f"- {total:.0f} seconds: {spent}", ""]
    for table in tables:
        lines += [f"## {table.title}", "", table.caption, "", as_markdown(table)]
    return "\n".join(lines)
