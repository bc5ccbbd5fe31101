"""Make ``language-model.md`` and its plots from the results of the language-model study.

    python docs/results/language_model.py [FOLDER]

In: the JSON files of one configuration, by default ``studies/language_model/results/small``. Out:
the page beside this script, or for another folder the page inside it; the text between the markers
``<!-- reading -->`` is kept.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from prunedbpe.report.charts import Curve, Row, draw_curves, draw_rows, signed
from prunedbpe.report.drawing import SERIES, arrange

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT))

from studies.language_model.intervals import Interval, seed_interval  # noqa: E402
from studies.language_model.results import read_result  # noqa: E402
from studies.language_model.summary import (  # noqa: E402
    BUDGETS,
    Comparison,
    comparisons,
    read_text_file,
    variants,
)

FOLDER = CHECKOUT / "studies" / "language_model" / "results" / "small"
PAGE = Path(__file__).parent / "language-model.md"
NO_READING = "No reading yet."
UNIT = "1/1000 bit per byte"
PANEL = (460, 330)

HEAD = """# Does the model get better?

Small language models that differ in nothing but the tokenizer, compared on held-out text. Question,
arms, budgets, statistics and decision rule were fixed before the first run, in
`studies/language_model/PROTOCOL.md`. Bits per byte: lower is better. A difference is against
Standard BPE of the same visible size, paired by seed. {doc}`../guides/language-model` says how to
repeat this.

    make study-lm CORPUS=FOLDER
"""

LIMITS = """## Limits

Small models, one pass over little text, one mixture, one architecture. Held-out documents come from
the same files as training documents. With a GPU, `--config gpu` or a configuration of your own adds
tables of the same form.
"""


def main() -> None:
    """Write the page and its plots."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    page = PAGE if folder == FOLDER else folder / PAGE.name
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    page.write_text(with_figures(old, folder), encoding="utf-8")
    plot(folder, page.parent)


def with_figures(page: str, folder: Path = FOLDER) -> str:
    """The page made again; its reading is kept."""
    found = re.search("<!-- reading -->\n\n(.*)\n\n<!-- end reading -->", page, re.DOTALL)
    reading = found.group(1) if found else NO_READING
    about = read_text_file(folder)
    parts = [HEAD, f"## Reading\n\n<!-- reading -->\n\n{reading}\n\n<!-- end reading -->"]
    for size, context in variants(folder):
        compared = list(comparisons(folder, size, context))
        if compared:
            parts.append(f"## {size:,} visible tokens, rows of {context}")
            parts.append(difference_table(compared, about))
            parts.append(check_lines(compared))
            parts.append(seed_table(compared, about))
            parts.append(part_table(compared, about))
            parts.append(measure_table(compared, about))
            parts.append(f"![]({plot_name(size, context)})")
    parts += [reach_table(folder, about), opinion_table(folder, about), machine_lines(folder)]
    return "\n\n".join(part.strip() for part in [*parts, LIMITS] if part.strip()) + "\n"


def difference_table(compared: list[Comparison], about: dict[str, Any]) -> str:
    """The decision, and both budgets."""
    head = [
        *("tokenizer", "seeds", "bits per byte", "equal text", "over seeds", "over documents"),
        *("reading", "equal compute", "over seeds"),
    ]
    rows = []
    for found in compared:
        cells = [about["arms"][found.arm], str(len(found.seeds)), f"{mean(found.bits()):.4f}"]
        if found.arm == about["reference"]:
            cells += [""] * 6
        elif len(found.seeds) < about["settings"]["seeds"]:
            cells += [f"{found.difference():+.4f}", "", "", "unfinished", "", ""]
        else:
            cells += [f"{found.difference():+.4f}", shown(found.over_seeds())]
            cells += [shown(found.over_documents()), found.reading()]
            cells += [f"{found.difference('equal_compute'):+.4f}"]
            cells += [shown(found.over_seeds("equal_compute"))]
        rows.append(cells)
    return table("Differences, with 95 % intervals", head, rows)


def check_lines(compared: list[Comparison]) -> str:
    """The two checks of the protocol, and the vocabulary by itself."""
    by_arm = {found.arm: found for found in compared if len(found.seeds) >= 2}
    lines = []
    if null := by_arm.get("null"):
        verdict = "contains" if 0.0 in null.over_seeds() | null.over_documents() else "MISSES"
        lines.append(f"The interval of the null {verdict} 0.")
    if control := by_arm.get("standard-plus-2000"):
        below = (control.over_seeds() | control.over_documents()).high < 0
        lines.append(f"That of the positive control {'lies' if below else 'does NOT lie'} below 0.")
    chosen, same = by_arm.get("chosen-shortest"), by_arm.get("standard-shortest")
    if chosen and same and chosen.seeds == same.seeds:
        pairs = zip(chosen.bits(), same.bits(), strict=True)
        values = [own - other for own, other in pairs]
        lines.append(
            "Vocabulary alone, chosen for shortest minus the Standard vocabulary cut the same way: "
            f"{mean(values):+.4f}, over seeds {shown(seed_interval(values))}."
        )
    return "\n".join(lines)


def seed_table(compared: list[Comparison], about: dict[str, Any]) -> str:
    """Every seed, at both budgets."""
    seeds = [str(seed) for seed in range(1, about["settings"]["seeds"] + 1)]
    rows = []
    for found in compared:
        for budget in BUDGETS:
            by_seed = dict(zip(found.seeds, found.bits(budget), strict=True))
            cells = [f"{by_seed[int(seed)]:.4f}" if int(seed) in by_seed else "" for seed in seeds]
            rows.append([about["arms"][found.arm], budget.replace("_", " "), *cells])
    return table("Bits per byte of every seed", ["tokenizer", "budget", *seeds], rows)


def part_table(compared: list[Comparison], about: dict[str, Any]) -> str:
    """Differences in each part of the corpus, at equal text."""
    parts = [part for part in compared[0].runs[0]["equal_text"]["bits_per_byte"] if part != "all"]
    rows = [
        [about["arms"][found.arm], *(part_cell(found, part) for part in parts)]
        for found in compared
        if found.arm != about["reference"]
    ]
    return table("Differences by part, with intervals over seeds", ["tokenizer", *parts], rows)


def part_cell(found: Comparison, part: str) -> str:
    """A difference, with an interval if there are seeds for one."""
    difference = f"{found.difference(part=part):+.4f}"
    if len(found.seeds) < 2:
        return difference
    return f"{difference} ({shown(found.over_seeds(part=part))})"


def measure_table(compared: list[Comparison], about: dict[str, Any]) -> str:
    """Tokens, speed and movement of embeddings, means over seeds."""
    head = ["tokenizer", "parameters", "tokens of equal text", "tokens/s", "text KB/s"]
    head += ["visible", "rare", "hardly moved"]
    rows = []
    for found in compared:
        moved = [run["movement"] for run in found.runs]
        speeds = [run["speed"] for run in found.runs]
        numbers = [
            mean(run["parameters"] for run in found.runs),
            mean(run["equal_text"]["tokens"] for run in found.runs),
            mean(speed["tokens_per_second"] for speed in speeds),
            mean(speed["bytes_per_second"] for speed in speeds) / 1000,
            *(mean(one[key] for one in moved) for key in ("visible_tokens", "rare")),
            mean(one["hardly_moved"] for one in moved),
        ]
        rows.append([about["arms"][found.arm], *(f"{number:,.0f}" for number in numbers)])
    return table("Means over seeds", head, rows)


def reach_table(folder: Path, about: dict[str, Any]) -> str:
    """How much of a difference is the reach of the context: tokens minus bytes, by seed."""
    rows = []
    for size in sorted({size for size, _ in variants(folder)}):
        both = [
            {found.arm: found for found in comparisons(folder, size, context)}
            for context in ("tokens", "bytes")
        ]
        for arm in both[0].keys() & both[1].keys() - {about["reference"]}:
            by_seed = [
                dict(zip(found[arm].seeds, found[arm].differences(), strict=True)) for found in both
            ]
            values = [
                by_seed[0][seed] - by_seed[1][seed] for seed in by_seed[0] if seed in by_seed[1]
            ]
            if len(values) >= 2:
                cells = [f"{mean(values):+.4f}", shown(seed_interval(values))]
                rows.append([f"{size:,}", about["arms"][arm], *cells])
    if not rows:
        return ""
    head = ["size", "tokenizer", "tokens minus bytes", "over seeds"]
    return "## The reach of the context\n\n" + table("Differences", head, sorted(rows))


def opinion_table(folder: Path, about: dict[str, Any]) -> str:
    """The 5-gram model."""
    rows = []
    for path in sorted(folder.glob("*-kneser-ney/*.json")):
        found = read_result(folder, path.relative_to(folder).as_posix())
        if found is not None and found["made_with"]["texts"] == about["texts"]:
            size = int(path.parent.name.split("-")[0])
            title = about["arms"].get(path.stem, path.stem)
            rows.append([size, title, f"{found['bits_per_byte']:.4f}", f"{found['tokens']:,}"])
    if not rows:
        return ""
    head = ["size", "tokenizer", "bits per byte", "tokens of held-out text"]
    lines = [[f"{row[0]:,}", *row[1:]] for row in sorted(rows, key=lambda row: row[0])]
    title = "An interpolated Kneser-Ney 5-gram over tokens, counted on the whole training side"
    return "## Second opinion\n\n" + table(title, head, lines)


def machine_lines(folder: Path) -> str:
    """What the runs were made with."""
    machines = set()
    for size, context in variants(folder):
        for found in comparisons(folder, size, context):
            for run in found.runs:
                machine = run["machine"]
                machines.add(", ".join(f"{name} {value}" for name, value in machine.items()))
    return "Made with: " + "; ".join(sorted(machines)) + "."


def shown(interval: Interval) -> str:
    """An interval in a cell."""
    return f"{interval.low:+.4f} to {interval.high:+.4f}"


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table under a title."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return f"{title}:\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot_name(size: int, context: str) -> str:
    """The file of a plot."""
    return f"language-model-{size}-{context}.svg"


def plot(folder: Path, into: Path) -> None:
    """One picture for each variant: differences on the way and at the end, and movement."""
    about = read_text_file(folder)
    for size, context in variants(folder):
        compared = list(comparisons(folder, size, context))
        if len(compared) < 2:
            continue
        by_arm = {found.arm: found for found in compared}
        others = [found for found in compared if found.arm != about["reference"]]
        paints = {found.arm: f"series-{i % SERIES + 1}" for i, found in enumerate(others)}
        titles = about["arms"]
        panels = [
            draw_curves(
                f"On the way, by {name}",
                [
                    Curve(titles[found.arm], differences_on_the_way(found, key), paints[found.arm])
                    for found in others
                ],
                x_label=f"% of the equal text's {name}",
                y_label=f"difference in {UNIT}, beginning of the held-out text",
                unit="",
                width=PANEL[0],
                height=PANEL[1],
            )
            for name, key in (("bytes", "bytes"), ("compute", "flops"))
        ]
        panels.append(
            draw_curves(
                "How far embeddings moved",
                [
                    Curve(titles[arm], movement_points(by_arm[arm]), paints.get(arm, "ink"))
                    for arm in by_arm
                ],
                x_label="occurrences in the text read, at least",
                y_label="distance from the initial embedding, median",
                unit="",
                width=PANEL[0],
                height=PANEL[1],
            )
        )
        rows = [difference_row(found, titles[found.arm], paints[found.arm]) for found in others]
        panels.append(
            draw_rows(
                "At equal text",
                [("", rows)],
                unit=f"difference in {UNIT}, with 95 % intervals",
                width=PANEL[0],
            )
        )
        title = f"{size:,} tokens, rows of {context}: differences from {titles[about['reference']]}"
        arrange(title, panels, 2).save(into / plot_name(size, context))


def difference_row(found: Comparison, title: str, paint: str) -> Row:
    """The bar of an arm at equal text, with the interval that decides once it is known."""
    value = 1000 * found.difference()
    interval = None
    if len(found.seeds) >= 2:
        whole = found.over_seeds() | found.over_documents()
        interval = (1000 * whole.low, 1000 * whole.high)
    return Row(title, value, paint, signed(value, 1), interval)


def differences_on_the_way(found: Comparison, key: str) -> list[tuple[int, float]]:
    """Differences at the points of the reference's curve, means over seeds.

    The curve of the arm is interpolated there, between logarithms of bytes or FLOPs.
    """
    by_seed = []
    for run, other in zip(found.runs, found.reference_runs, strict=True):
        own = np.array([[point[key], point["bits_per_byte"]] for point in run["curve"]], float)
        reached = [point for point in other["curve"] if point[key] <= own[-1, 0] * 1.01]
        places = np.log([point[key] for point in reached])
        bits = np.interp(places, np.log(own[:, 0]), own[:, 1])
        by_seed.append(bits - [point["bits_per_byte"] for point in reached])
    count = min(map(len, by_seed))
    means = 1000 * np.mean([values[:count] for values in by_seed], axis=0)
    points = len(found.reference_runs[0]["curve"])
    return [(round(100 * (i + 1) / points), float(value)) for i, value in enumerate(means)]


def movement_points(found: Comparison) -> list[tuple[int, float]]:
    """Median movement by class of occurrences, means over seeds; those that occur."""
    by_class: dict[int, list[float]] = {}
    for run in found.runs:
        for one in run["movement"]["by_occurrences"]:
            by_class.setdefault(one["from"], []).append(one["q50"])
    return [(begin, mean(medians)) for begin, medians in sorted(by_class.items()) if begin]


if __name__ == "__main__":
    main()
