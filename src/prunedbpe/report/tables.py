"""Tables of a study, as rows of values; and as Markdown, CSV and LaTeX.

A value is text, a number, an exact share (shown as a percentage) or nothing. CSV has the numbers
unrounded, shares as percentages with nine digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from prunedbpe.report.claims import Claim
from prunedbpe.report.results import STANDARD, StudyResults, percent, share

Value = str | int | Fraction | None


@dataclass(frozen=True)
class Table:
    """A table with a name for its files.

    Attributes:
        name: Name of its files, without ending.
        title: What it is called.
        caption: What its numbers mean.
        columns: Headings.
        rows: Values, as many in each row as there are columns.
        headings: How many columns at the left name the row.
        digits: Of percentages.
    """

    name: str
    title: str
    caption: str
    columns: list[str]
    rows: list[list[Value]]
    headings: int = 1
    digits: int = 3

    def text(self, value: Value) -> str:
        """A value as a person reads it."""
        if value is None:
            return "–"
        if isinstance(value, Fraction):
            return percent(value, self.digits)
        return f"{value:,}" if isinstance(value, int) else value


def length_table(results: StudyResults) -> Table:
    """Table 3: encoded lengths and reductions, same-corpus and cross-corpus."""
    pruned = [policy for policy in results.policies if policy != STANDARD]
    saved = [f"{policy} saves, %" for policy in pruned]
    rows: list[list[Value]] = []
    for training in results.trainings:
        for corpus in results.trainings:
            for size in results.sizes:
                lengths = [
                    results.cell(training, size, policy, corpus).length
                    for policy in results.policies
                ]
                reductions = [results.reduction(training, size, p, corpus) for p in pruned]
                rows.append(
                    [training, corpus, _kind(training, corpus), size, *lengths, *reductions]
                )
    return Table(
        "table-3-lengths",
        "Table 3. Encoded lengths",
        "Tokens of the corpus by training corpus, encoded corpus and vocabulary size, and how much "
        "shorter than Standard BPE of the same size, in percent. Kind: the same corpus, the other "
        "one (cross), a part of the training corpus, or the whole it is a part of.",
        ["Trained on", "Encoded", "Kind", "Size", *results.policies, *saved],
        rows,
        headings=4,
    )


def _kind(training: str, corpus: str) -> str:
    if training == corpus:
        return "same"
    return (
        "part"
        if corpus in training.split("+")
        else ("whole" if training in corpus.split("+") else "cross")
    )


def internal_table(results: StudyResults) -> Table:
    """Table 4: internal tokens and their share of all learned tokens."""
    pruned = [policy for policy in results.policies if policy != STANDARD]
    rows: list[list[Value]] = []
    for training in results.trainings:
        for size in results.sizes:
            facts = [results.fact(training, size, policy) for policy in pruned]
            rows.append(
                [
                    training,
                    size,
                    *[fact.internal for fact in facts],
                    *[share(fact.internal, fact.retained) for fact in facts],
                ]
            )
    return Table(
        "table-4-internal",
        "Table 4. Internal tokens",
        "How many learned tokens are internal, and their share of all retained learned tokens, in "
        "percent.",
        ["Trained on", "Size", *pruned, *[f"{policy} share, %" for policy in pruned]],
        rows,
        headings=2,
        digits=2,
    )


def growth_table(results: StudyResults) -> Table:
    """The numbers of Figure 1."""
    pruned = [policy for policy in results.policies if policy != STANDARD]
    rows: list[list[Value]] = [
        [
            training,
            size,
            results.growth_reduction(training, size, training),
            *[results.reduction(training, size, policy, training) for policy in pruned],
        ]
        for training in results.trainings
        for size in results.sizes
    ]
    return Table(
        "figure-1-growth",
        "Figure 1 in numbers",
        f"How much shorter the training corpus gets, in percent: by {results.growth_tokens:,} more "
        "Standard tokens, and by pruning at the same size.",
        ["Trained on", "Size", f"+{results.growth_tokens:,} Standard", *pruned],
        rows,
        headings=2,
    )


def shortest_table(results: StudyResults) -> Table:
    """The numbers of Figure 2."""
    rows: list[list[Value]] = []
    for training in results.trainings:
        for corpus in results.trainings:
            for size in results.sizes:
                for policy in results.policies:
                    cell = results.cell(training, size, policy, corpus)
                    assert cell.shortest is not None
                    rows.append(
                        [
                            training,
                            corpus,
                            size,
                            policy,
                            cell.length,
                            cell.shortest,
                            share(cell.length - cell.shortest, cell.length),
                            results.shortest_reduction(training, size, policy, corpus),
                        ]
                    )
    return Table(
        "figure-2-shortest",
        "Figure 2 in numbers",
        "Tokens by rank and in the minimum-token segmentation; how much shorter that is, and how "
        "much shorter than that of Standard BPE, in percent.",
        [
            "Trained on",
            "Encoded",
            "Size",
            "Policy",
            "By rank",
            "Shortest",
            "Shorter by, %",
            "Against Standard, %",
        ],
        rows,
        headings=4,
    )


def baseline_table(results: StudyResults) -> Table:
    """Reductions of policies and baselines against Standard BPE of the same size."""
    named = [p for p in [*results.policies, *results.baselines] if p != STANDARD]
    rows: list[list[Value]] = []
    for training in results.trainings:
        for corpus in results.trainings:
            for size in results.sizes:
                rows.append(
                    [
                        training,
                        corpus,
                        size,
                        *[
                            results.reduction(training, size, policy, corpus)
                            if results.has(training, size, policy, corpus)
                            else None
                            for policy in named
                        ],
                    ]
                )
    return Table(
        "table-baselines",
        "Baselines at the same visible size",
        "How much shorter than Standard BPE of the same size, in percent. All but the last column "
        "encode by their own merges; the last one is a bound for the Standard vocabulary.",
        ["Trained on", "Encoded", "Size", *named],
        rows,
        headings=3,
    )


def qualitative_table(results: StudyResults) -> Table:
    """Tokens that changed sides."""
    return Table(
        "table-tokens",
        f"Tokens that changed sides ({results.qualitative_of})",
        "Of each group, internal tokens that stand alone least often, and newly visible ones that "
        "stand most often; what stands for them on the other side; a visible token built on them.",
        ["Change", "Group", "Token", "Exposure", "Instead", "Used by"],
        [
            [row.change, row.group, f"“{row.token}”", row.exposure, row.instead, row.example]
            for row in results.qualitative
        ],
        headings=3,
    )


def claim_table(claims: Sequence[Claim]) -> Table:
    """The paper's claims and what became of them."""
    return Table(
        "claims",
        "Claims",
        "What the paper says, checked on these corpora.",
        ["Claim", "Verdict", "Holds in"],
        [[claim.text, claim.verdict, claim.evidence] for claim in claims],
    )


def spot_check_table(results: StudyResults) -> Table:
    """Lengths found again by encoding."""
    return Table(
        "spot-checks",
        "Lengths found again by encoding",
        "The exported tokenizer was loaded and the corpus really encoded.",
        ["Trained on", "Encoded", "Size", "Policy", "In Table 3", "Encoded length", "Equal"],
        [
            [
                c.training,
                c.corpus,
                c.vocab_size,
                c.policy,
                c.expected,
                c.encoded,
                "yes" if c.expected == c.encoded else "NO",
            ]
            for c in results.spot_checks
        ],
        headings=2,
    )


def as_markdown(table: Table) -> str:
    """A table in Markdown, numbers to the right."""
    right = [_is_numeric(table, column) for column in range(len(table.columns))]
    rule = " | ".join("---:" if flush else "---" for flush in right)
    lines = [
        "| " + " | ".join(table.columns) + " |",
        f"| {rule} |",
        *(
            "| " + " | ".join(_escape_markdown(table.text(value)) for value in row) + " |"
            for row in table.rows
        ),
    ]
    return "\n".join(lines) + "\n"


def _is_numeric(table: Table, column: int) -> bool:
    return any(isinstance(row[column], (int, Fraction)) for row in table.rows)


def _escape_markdown(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    for character in "*_`":
        escaped = escaped.replace(character, "\\" + character)
    return escaped


def as_csv(table: Table) -> str:
    """A table as CSV: plain numbers, nothing grouped."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow(
            ["" if v is None else percent(v, 9) if isinstance(v, Fraction) else v for v in row]
        )
    return buffer.getvalue()


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "$": r"\$",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "–": "--",
        "→": r"$\to$",
        "·": r"$\cdot$",
        "“": "``",
        "”": "''",
    }
)


def as_latex(table: Table) -> str:
    """A table for LaTeX with booktabs; a long one breaks over pages."""
    columns = "".join(
        "r" if _is_numeric(table, column) else "l" for column in range(len(table.columns))
    )
    heading = " & ".join(column.translate(_LATEX) for column in table.columns) + r" \\"
    lines = [
        "% needs booktabs and longtable; tokens of other scripts need XeLaTeX or LuaLaTeX",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{(table.title + '. ' + table.caption).translate(_LATEX)}}}\\",
        r"\toprule",
        heading,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        heading,
        r"\midrule",
        r"\endhead",
        *(
            " & ".join(table.text(value).translate(_LATEX) for value in row) + r" \\"
            for row in table.rows
        ),
        r"\bottomrule",
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"
