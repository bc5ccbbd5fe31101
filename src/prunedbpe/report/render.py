"""The report of a study: one folder with Markdown, CSV, LaTeX, JSON and an HTML page."""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.report.claims import Claim, check_claims
from prunedbpe.report.page import as_page
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
    folder.mkdir(parents=True, exist_ok=True)
    claims = check_claims(results)
    tables = all_tables(results, claims)
    results.save(folder / "study.json")
    for table in tables:
        _write(folder / f"{table.name}.csv", as_csv(table))
        _write(folder / f"{table.name}.tex", as_latex(table))
    _write(folder / "report.md", as_report(results, tables))
    _write(folder / "index.html", as_page(results, claims))
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


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
