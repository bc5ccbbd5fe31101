"""Tables of a study, as rows of values, and as Markdown, CSV and LaTeX.

A value is text, a number, a decimal figure that somebody else rounded, an exact share (shown as a
percentage) or ``None``. CSV has plain numbers, and percentages with nine digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product

from prunedbpe.report.claims import Claim
from prunedbpe.report.results import STANDARD, SpotCheck, StudyResults, percent, share

Value = str | int | Decimal | Fraction | None


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        name: Name of its files, without extension.
        title: The title.
        caption: What the numbers mean.
        columns: Column headings.
        rows: One value per column in each row.
        headings: Number of columns on the left that name the row.
        digits: Decimal places of percentages.
        gains: Columns with gains in percent, which a page colours.
    """

    name: str
    title: str
    caption: str
    columns: list[str]
    rows: list[list[Value]]
    headings: int = 1
    digits: int = 3
    gains: range = range(0)

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        return [
            any(isinstance(row[column], (int, Decimal, Fraction)) for row in self.rows)
            for column in range(len(self.columns))
        ]

    def text(self, value: Value) -> str:
        """Format a value for a reader."""
        if value is None:
            return "–"
        if isinstance(value, Fraction):
            return percent(value, self.digits)
        return f"{value:,}" if isinstance(value, (int, Decimal)) else value


def length_table(results: StudyResults) -> Table:
    """Table 3: encoded lengths and reductions, same-corpus and cross-corpus."""
    pruned = _pruned(results)
    rows: list[list[Value]] = []
    for training, corpus, size in _places(results):
        lengths = [results.cell(training, size, p, corpus).length for p in results.policies]
        reductions = [results.reduction(training, size, p, corpus) for p in pruned]
        rows.append([training, corpus, _kind(training, corpus), size, *lengths, *reductions])
    saved = [f"{policy} saves, %" for policy in pruned]
    return Table(
        "table-3-lengths",
        "Table 3. Encoded lengths",
        "Tokens by training corpus, encoded corpus and vocabulary size, and the reduction against "
        "Standard BPE of the same size, in percent. Kind: the same corpus, the other one (cross), "
        "a part of the training corpus, or the whole it is a part of.",
        ["Trained on", "Encoded", "Kind", "Size", *results.policies, *saved],
        rows,
        headings=4,
        gains=range(4 + len(results.policies), 4 + len(results.policies) + len(saved)),
    )


def _pruned(results: StudyResults) -> list[str]:
    return [policy for policy in results.policies if policy != STANDARD]


def _places(results: StudyResults) -> list[tuple[str, str, int]]:
    """Return training corpus, encoded corpus and size of every row."""
    return list(product(results.trainings, results.trainings, results.sizes))


def _kind(training: str, corpus: str) -> str:
    if training == corpus:
        return "same"
    if corpus in training.split("+"):
        return "part"
    return "whole" if training in corpus.split("+") else "cross"


def internal_table(results: StudyResults) -> Table:
    """Table 4: internal tokens and their share of all learned tokens."""
    pruned = _pruned(results)
    rows: list[list[Value]] = []
    for training, size in product(results.trainings, results.sizes):
        facts = [results.fact(training, size, policy) for policy in pruned]
        counts = [fact.internal for fact in facts]
        shares = [share(fact.internal, fact.retained) for fact in facts]
        rows.append([training, size, *counts, *shares])
    return Table(
        "table-4-internal",
        "Table 4. Internal tokens",
        "Internal tokens, and their share of all retained learned tokens in percent.",
        ["Trained on", "Size", *pruned, *[f"{policy} share, %" for policy in pruned]],
        rows,
        headings=2,
        digits=2,
    )


def growth_table(results: StudyResults) -> Table:
    """The numbers of Figure 1."""
    pruned = _pruned(results)
    rows: list[list[Value]] = [
        [
            training,
            size,
            results.growth_reduction(training, size, training),
            *[results.reduction(training, size, policy, training) for policy in pruned],
        ]
        for training, size in product(results.trainings, results.sizes)
    ]
    return Table(
        "figure-1-growth",
        "Figure 1 in numbers",
        f"Reduction of the training corpus in percent: by {results.growth_tokens:,} more Standard "
        "tokens, and by pruning at the same size.",
        ["Trained on", "Size", f"+{results.growth_tokens:,} Standard", *pruned],
        rows,
        headings=2,
        gains=range(2, 3 + len(pruned)),
    )


def shortest_table(results: StudyResults) -> Table:
    """The numbers of Figure 2."""
    rows: list[list[Value]] = []
    for (training, corpus, size), policy in product(_places(results), results.policies):
        cell = results.cell(training, size, policy, corpus)
        assert cell.shortest is not None
        shorter = share(cell.length - cell.shortest, cell.length)
        gain = results.shortest_reduction(training, size, policy, corpus)
        rows.append([training, corpus, size, policy, cell.length, cell.shortest, shorter, gain])
    return Table(
        "figure-2-shortest",
        "Figure 2 in numbers",
        "Tokens by rank and in the minimum-token segmentation; the reduction of the second against "
        "the first, and against that of Standard BPE, in percent.",
        [
            "Trained on", "Encoded", "Size", "Policy", "By rank", "Shortest", "Shorter by, %",
            "Against Standard, %",
        ],
        rows,
        headings=4,
        gains=range(6, 8),
    )  # fmt: skip


def baseline_table(results: StudyResults) -> Table:
    """Reductions of policies and baselines against Standard BPE of the same size."""
    named = [*_pruned(results), *results.baselines]
    rows: list[list[Value]] = []
    for training, corpus, size in _places(results):
        cells = [(training, size, policy, corpus) for policy in named]
        reductions = [results.reduction(*c) if results.has(*c) else None for c in cells]
        rows.append([training, corpus, size, *reductions])
    return Table(
        "table-baselines",
        "Baselines at the same visible size",
        "Reduction against Standard BPE by rank of the same size, in percent. 'Shortest on "
        "Standard' is a lower bound for the Standard vocabulary. 'Chosen for shortest' is measured "
        "in the shortest segmentation; all others encode with their own merges.",
        ["Trained on", "Encoded", "Size", *named],
        rows,
        headings=3,
        gains=range(3, 3 + len(named)),
    )


def qualitative_table(results: StudyResults) -> Table:
    """Examples of tokens that were hidden or became visible."""
    return Table(
        "table-tokens",
        f"Tokens that changed ({results.qualitative_of})",
        "For each group: the internal tokens with the least exposure, the new visible tokens with "
        "the most, the tokens that replace them in the other vocabulary, and a visible token built "
        "on them.",
        ["Change", "Group", "Token", "Exposure", "Instead", "Used by"],
        [
            [row.change, row.group, f"“{row.token}”", row.exposure, row.instead, row.example]
            for row in results.qualitative
        ],
        headings=3,
    )


def claim_table(claims: Sequence[Claim]) -> Table:
    """The claims and their verdicts."""
    return Table(
        "claims",
        "Claims",
        "The paper's claims, checked on these corpora.",
        ["Claim", "Verdict", "Cells"],
        [[claim.text, claim.verdict, claim.evidence] for claim in claims],
    )


def spot_check_table(results: StudyResults) -> Table:
    """Lengths verified by encoding."""
    return Table(
        "spot-checks",
        "Lengths verified by encoding",
        "Each length is compared with encoding the corpus by the exported tokenizer.",
        ["Trained on", "Encoded", "Size", "Policy", "In Table 3", "Encoded length", "Equal"],
        [
            [c.training, c.corpus, c.vocab_size, c.policy, c.expected, c.encoded, _equal(c)]
            for c in results.spot_checks
        ],
        headings=2,
    )


def _equal(check: SpotCheck) -> str:
    return "yes" if check.expected == check.encoded else "NO"


def as_markdown(table: Table) -> str:
    """Format a table as Markdown, numbers right-aligned."""
    rule = " | ".join("---:" if numeric else "---" for numeric in table.numeric)
    lines = [
        "| " + " | ".join(table.columns) + " |",
        f"| {rule} |",
        *(
            "| " + " | ".join(_escape_markdown(table.text(value)) for value in row) + " |"
            for row in table.rows
        ),
    ]
    return "\n".join(lines) + "\n"


def _escape_markdown(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    for character in "*_`":
        escaped = escaped.replace(character, "\\" + character)
    return escaped


def as_csv(table: Table) -> str:
    """Format a table as CSV, with plain numbers."""
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
    """Format a table for LaTeX with booktabs; a long one breaks across pages."""
    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
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
