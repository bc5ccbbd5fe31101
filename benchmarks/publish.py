"""Fill the tables of README.md from results/*.json, and draw the plots beside them.

    python benchmarks/publish.py

Every section of the page has a pair of marks (``<!-- train -->`` ... ``<!-- end train -->``). What
stands between them is replaced by the machine, a table of medians and a plot. A benchmark without
a result file keeps what its section has.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from common import HERE, RESULTS, Row

Table = list[list[str]]


def main() -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    for name, (table, plot) in SECTIONS.items():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        results = json.loads(path.read_text(encoding="utf-8"))
        rows = [row for row in results["rows"] if "error" not in row]
        draw(name, lambda figure, rows=rows, plot=plot: plot(figure, rows))
        filled = (
            f"{heading(results, rows)}\n\n{markdown(table(rows))}\n\n![{name}](results/{name}.svg)"
        )
        begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n\n{filled}\n\n{end}{rest.split(end)[1]}"
    (HERE / "README.md").write_text(page, encoding="utf-8")


def heading(results: Row, rows: Sequence[Row]) -> str:
    machine = results["machine"]
    rounds = 1 + max((row.get("round", 0) for row in rows), default=0)
    texts = ", ".join(f"{n} {t['bytes'] / 1e6:.0f} MB" for n, t in results["texts"].items())
    return (
        f"{results['date'][:10]}, commit {results['commit']}, {machine['cores']} cores of "
        f"{machine['cpu']}, {machine['compiler']}; {texts}; medians of {rounds} rounds."
    )


def markdown(table: Table) -> str:
    header, *rows = table
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def select(rows: Iterable[Row], **fields: Any) -> list[Row]:
    return [row for row in rows if fields.items() <= row.items()]


def median(rows: Sequence[Row], key: str) -> float:
    return statistics.median(row[key] for row in rows)


def spread(rows: Sequence[Row], key: str) -> str:
    """Median (least–most)."""
    values = [row[key] for row in rows]
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def names(rows: Iterable[Row], key: str) -> list[Any]:
    """The distinct values, in order of first appearance."""
    return list(dict.fromkeys(row[key] for row in rows if key in row))


def train_table(rows: list[Row]) -> Table:
    runs = select(rows, job="train")
    texts = names(runs, "text")
    table = [["", "split", *(c for t in texts for c in (f"{t}, seconds", "MB", "times ours"))]]
    for library in names(runs, "library"):
        own = select(runs, library=library)
        line = [library, own[0]["split"]]
        for text in texts:
            mine = select(own, text=text)
            ours = select(runs, text=text, library=f"prunedbpe ({own[0]['split']})")
            ratio = median(mine, "wall") / median(ours, "wall")
            line += [spread(mine, "wall"), f"{median(mine, 'rss_mb'):.0f}", f"{ratio:.1f}"]
        table.append(line)
    line = ["both tokenizers, saved; pruning adds", "gpt2"]
    for text in texts:
        whole = select(rows, job="prune", text=text)
        added = statistics.median(r["added"] / (r["wall"] - r["added"]) for r in whole)
        line += [spread(whole, "wall"), f"{median(whole, 'rss_mb'):.0f}", f"{added:+.1%}"]
    return [*table, line]


def train_plot(figure: Any, rows: list[Row]) -> None:
    runs = select(rows, job="train")
    bars(figure.subplots(), runs, "library", "text", "wall", "seconds (log scale)").set_xscale(
        "log"
    )


ENCODING = (("single", "rate"), ("batch", "rate"), ("single", "decode_rate"))
"""Job and field of the three figures: one by one, batch, decode."""


def encode_table(rows: list[Row]) -> Table:
    texts = names(rows, "text")
    columns = [(job, key, text) for job, key in ENCODING for text in texts]
    titles = [f"{'decode' if key == 'decode_rate' else job} {t}" for job, key, t in columns]
    table = [["MB/s", *titles]]

    def rate(library: str, job: str, key: str, text: str) -> float:
        found = select(rows, library=library, job=job, text=text)
        return median(found, key) if found else 0.0

    for returns, own in (("list", "prunedbpe"), ("array", "prunedbpe, arrays")):
        libraries = names(select(rows, returns=returns, job="single"), "library")
        peers = [name for name in libraries if not name.startswith("prunedbpe")]
        for library in libraries:
            table.append([library, *(f"{rate(library, *column):.0f}" for column in columns)])
        best = [max((rate(peer, *column) for peer in peers), default=0) for column in columns]
        ratios = [rate(own, *c) / b if b else 0 for c, b in zip(columns, best, strict=True)]
        table.append([f"**ours / best peer, {returns}s**", *(f"**{r:.2f}**" for r in ratios)])
    return table


def encode_plot(figure: Any, rows: list[Row]) -> None:
    axes = figure.subplots(1, len(ENCODING), sharey=True)
    for axis, (job, key) in zip(axes, ENCODING, strict=True):
        title = "decode" if key == "decode_rate" else job
        bars(axis, select(rows, job=job), "library", "text", key, f"{title}, MB/s")


def formats_table(rows: list[Row]) -> Table:
    table = [["", "1 thread, s", "MB/s", "all threads, s", "MB/s", "peak MB"]]
    for name in names(rows, "format"):
        line = [name]
        for threads in (1, 0):
            found = select(rows, format=name, threads=threads)
            rate = found[0]["text_bytes"] / median(found, "wall") / 1e6
            line += [spread(found, "wall"), f"{rate:.0f}"]
        table.append([*line, f"{median(found, 'rss_mb'):.0f}"])
    return table


def formats_plot(figure: Any, rows: list[Row]) -> None:
    rated = [
        {**r, "rate": r["text_bytes"] / r["wall"] / 1e6, "on": f"{r['threads'] or 'all'} threads"}
        for r in rows
    ]
    bars(figure.subplots(), rated, "format", "on", "rate", "MB/s")


def growth_table(rows: list[Row]) -> Table:
    times = ["1 thread: count + learn", "all threads", "speed-up"]
    memory = ["peak memory, 1 / all", "learner bytes per unique byte"]
    table = [["text", "unique chunks", *times, *memory]]
    for size in names(rows, "megabytes"):
        one, many = (select(rows, megabytes=size, threads=threads) for threads in (1, 0))
        unique = one[0]["unique_bytes"]
        table.append(
            [
                f"{size:g} MB",
                f"{unique / 1e6:.1f} MB in {one[0]['unique_chunks'] / 1e3:.0f} thousand",
                f"{median(one, 'count'):.2f} + {median(one, 'learn'):.2f} s",
                f"{median(many, 'count'):.2f} + {median(many, 'learn'):.2f} s",
                f"{median(one, 'wall') / median(many, 'wall'):.2f}",
                f"{median(one, 'rss_mb'):.0f} / {median(many, 'rss_mb'):.0f} MB",
                f"{median(one, 'learner_bytes') / unique:.1f}",
            ]
        )
    return table


def growth_plot(figure: Any, rows: list[Row]) -> None:
    sizes = names(rows, "megabytes")
    for axis, key, label in zip(
        figure.subplots(1, 2), ("wall", "rss_mb"), ("seconds", "peak memory, MB"), strict=True
    ):
        for threads, series in ((1, "1 thread"), (0, "all threads")):
            found = [select(rows, megabytes=size, threads=threads) for size in sizes]
            axis.plot(sizes, [median(f, key) for f in found], "o-", label=series)
        axis.set(xlabel="text, MB", ylabel=label, xlim=0, ylim=0)
        axis.legend()


def choose_table(rows: list[Row]) -> Table:
    times = ["1 thread: count + learn", "choose", "all threads: count + learn", "choose", "ratio"]
    table = [["text", "unique chunks", *times, "peak memory, 1 / all", "bytes per unique byte"]]
    for size in names(rows, "megabytes"):
        one, many = (select(rows, megabytes=size, threads=threads) for threads in (1, 0))
        unique = one[0]["unique_bytes"]
        before = median(many, "count") + median(many, "learn")
        table.append(
            [
                f"{size:g} MB",
                f"{unique / 1e6:.1f} MB in {one[0]['unique_chunks'] / 1e3:.0f} thousand",
                f"{median(one, 'count'):.2f} + {median(one, 'learn'):.2f} s",
                f"{median(one, 'choose'):.2f} s",
                f"{median(many, 'count'):.2f} + {median(many, 'learn'):.2f} s",
                f"{median(many, 'choose'):.2f} s",
                f"{median(many, 'choose') / before:.1f}",
                f"{median(one, 'rss_mb'):.0f} / {median(many, 'rss_mb'):.0f} MB",
                f"{median(one, 'chooser_bytes') / unique:.1f}",
            ]
        )
    return table


def choose_plot(figure: Any, rows: list[Row]) -> None:
    sizes = names(rows, "megabytes")
    axis = figure.subplots()
    for threads, series in ((1, "1 thread"), (0, "all threads")):
        found = [select(rows, megabytes=size, threads=threads) for size in sizes]
        axis.plot(sizes, [median(f, "choose") for f in found], "o-", label=series)
    axis.set(xlabel="text, MB", ylabel="seconds to choose", xlim=0, ylim=0)
    axis.legend()


STARTS = {
    "import_ms": "`from prunedbpe import Tokenizer`",
    "help_ms": "`prunedbpe --help`",
    "load_ms": "load a vocabulary of 32,768",
    "first_ms": "first call, 4 KB of new text",
    "tenth_ms": "tenth call, 4 KB of new text",
}


def limits_table(rows: list[Row]) -> Table:
    table = [["", "time", "peak memory"]]
    for case in names(rows, "case"):
        found = select(rows, case=case)
        seconds, memory = median(found, "wall"), median(found, "rss_mb")
        table.append([case, f"{seconds * 1e3:,.0f} ms", f"{memory:.0f} MB"])
    for key, title in STARTS.items():
        table.append([title, f"{median([r for r in rows if key in r], key):.3g} ms", ""])
    return table


def limits_plot(figure: Any, rows: list[Row]) -> None:
    shown = [{**row, "ms": row["wall"] * 1e3} for row in rows if "case" in row]
    axis = bars(figure.subplots(), shown, "case", "job", "ms", "milliseconds (log scale)")
    axis.set_xscale("log")


def memory_table(rows: list[Row]) -> Table:
    table = [["", "seconds", "MB/s", "of the speed without a limit", "peak memory"]]
    free = median(select(rows, job="no limit"), "mb_per_second")
    for job in ("no limit", "limit"):
        found = select(rows, job=job)
        speed, memory = median(found, "mb_per_second"), median(found, "rss_mb")
        seconds = f"{median(found, 'wall'):.1f}"
        table.append([job, seconds, f"{speed:.0f}", f"{speed / free:.0%}", f"{memory:,.0f} MB"])
    (killed,) = select(rows, job="killed")
    table.append([f"killed {killed['kills']} times", "", "", "same bytes", ""])
    return table


def memory_plot(figure: Any, rows: list[Row]) -> None:
    shown = [row for row in rows if "wall" in row]
    scales = {"mb_per_second": "MB/s", "rss_mb": "peak memory, MB"}
    for axis, (key, label) in zip(figure.subplots(1, 2), scales.items(), strict=True):
        bars(axis, shown, "job", "job", key, label)


def transformers_table(rows: list[Row]) -> Table:
    """Times and their ratio. ``one`` is 1000 calls, so its milliseconds are microseconds a call."""
    kinds = [(text, kind) for text in names(rows, "text") for kind in names(rows, "kind")]
    titles = [f"{text}, {kind}" for text, kind in kinds]
    table = [["", *(c for t in titles for c in (f"{t}: prunedbpe", "stock", "ratio"))]]
    for case in names(rows, "case"):
        line = ["one short call, µs" if case == "one" else f"{case}, ms"]
        for text, kind in kinds:
            found = select(rows, text=text, kind=kind, case=case)
            ours, theirs = (
                median([r for r in found if (r["library"] == "prunedbpe") == own], "wall") * 1e3
                for own in (True, False)
            )
            line += [f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.1f}"]
        table.append(line)
    return table


def accelerate_table(rows: list[Row]) -> Table:
    """Times ours, per vocabulary: how much longer the tokenizer that was replaced takes."""
    columns = [
        (tokenizer, text, kind)
        for tokenizer in names(rows, "tokenizer")
        for text in names(rows, "text")
        for kind in names(rows, "kind")
    ]
    table = [["times ours", *(", ".join(column) for column in columns)]]
    for case in names(rows, "case"):
        line = ["one short call" if case == "one" else case]
        for tokenizer, text, kind in columns:
            found = select(rows, tokenizer=tokenizer, text=text, kind=kind, case=case)
            ours, theirs = (
                median([r for r in found if (r["library"] == "prunedbpe") == own], "wall")
                for own in (True, False)
            )
            line.append(f"{theirs / ours:.1f}")
        table.append(line)
    return table


def accelerate_plot(figure: Any, rows: list[Row]) -> None:
    shown = [{**row, "ms": row["wall"] * 1e3} for row in select(rows, kind="documents")]
    axes = figure.subplots(1, len(names(rows, "tokenizer")), sharey=True, squeeze=False)
    for axis, tokenizer in zip(axes[0], names(rows, "tokenizer"), strict=True):
        some = select(shown, tokenizer=tokenizer)
        bars(axis, some, "case", "library", "ms", f"{tokenizer}, ms (log scale)").set_xscale("log")


def transformers_plot(figure: Any, rows: list[Row]) -> None:
    shown = [{**row, "ms": row["wall"] * 1e3} for row in rows]
    axes = figure.subplots(1, len(names(rows, "kind")), sharey=True)
    for axis, kind in zip(axes, names(rows, "kind"), strict=True):
        some = select(shown, kind=kind)
        bars(axis, some, "case", "library", "ms", f"{kind}, ms (log scale)").set_xscale("log")


def bars(axis: Any, rows: list[Row], by: str, series: str, key: str, label: str) -> Any:
    """Horizontal bars of medians: one group for each value of ``by``, one bar for each series."""
    groups, kinds = names(rows, by), names(rows, series)
    for number, kind in enumerate(kinds):
        found = [(g, select(rows, **{by: group, series: kind})) for g, group in enumerate(groups)]
        places = [
            g + (number - (len(kinds) - 1) / 2) * 0.8 / len(kinds) for g, some in found if some
        ]
        lengths = [median(some, key) for _, some in found if some]
        axis.barh(places, lengths, 0.8 / len(kinds), label=kind)
    axis.set(xlabel=label, yticks=range(len(groups)), yticklabels=groups)
    axis.set_ylim(len(groups) - 0.5, -0.5)
    axis.legend(fontsize="small")
    return axis


def draw(name: str, plot: Callable[[Any], None]) -> None:
    """Save ``results/NAME.svg``; the same results give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9})
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(9, 4.5), layout="constrained")
    plot(figure)
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


SECTIONS: dict[str, tuple[Callable[[list[Row]], Table], Callable[[Any, list[Row]], None]]] = {
    "train": (train_table, train_plot),
    "encode": (encode_table, encode_plot),
    "formats": (formats_table, formats_plot),
    "growth": (growth_table, growth_plot),
    "choose": (choose_table, choose_plot),
    "limits": (limits_table, limits_plot),
    "memory": (memory_table, memory_plot),
    "transformers": (transformers_table, transformers_plot),
    "accelerate": (accelerate_table, accelerate_plot),
}

if __name__ == "__main__":
    main()
