"""Time and memory of training as the corpus grows: 10, 20, 40, 80, 160 MB, one and all threads.

    python benchmarks/bench_growth.py --text a.txt --text b.txt --fill

The sizes are cut from the given texts, the same share of each, at line ends: distinct documents and
the same mixture at every size. Sizes beyond what the texts hold are left out. Every figure is a run
of a process of its own. Writes one JSON into results/, growth.svg (extra ``plot``), and with --fill
the table into README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    HERE,
    Row,
    add_text_argument,
    describe,
    fill_table,
    in_child,
    markdown,
    measure,
    median,
    parse_arguments,
    texts_of,
    write_results,
)

MEGABYTES = (10, 20, 40, 80, 160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_text_argument(parser)
    parser.add_argument("--megabytes", type=int, action="append", help="default: 10 ... 160")
    parser.add_argument("--merges", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pretokenizer", default="gpt2")
    arguments = parse_arguments(parser, train_child)
    texts = texts_of(arguments)
    about = describe(texts)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in arguments.megabytes or MEGABYTES:
            path = Path(folder, f"{megabytes}.txt")
            if not cut_text(texts, megabytes * 10**6, path):
                print(f"{megabytes} MB: the texts hold less", file=sys.stderr)
                continue
            for _ in range(arguments.rounds):
                for threads in (1, 0):
                    task = {
                        "path": str(path),
                        "threads": threads,
                        "merges": arguments.merges,
                        "pretokenizer": arguments.pretokenizer,
                    }
                    row = {"mb": megabytes, **task, **in_child([json.dumps(task)])}
                    print(json.dumps(row), file=sys.stderr, flush=True)
                    rows.append(row)
            path.unlink()
    table = report(rows)
    print(f"\n{table}\n\n{write_results('growth', about, rows)}")
    plot(rows)
    if arguments.fill:
        fill_table("growth", f"{about['date'][:10]}, commit {about['commit']}.\n\n{table}")


def cut_text(texts: list[Path], size: int, path: Path) -> bool:
    """Write ``size`` bytes of the texts, the same share of each; whether they hold as much."""
    total = sum(text.stat().st_size for text in texts)
    if total < size:
        return False
    with path.open("wb") as out:
        for text in texts:
            data = text.read_bytes()
            end = len(data) * size // total
            out.write(data[: data.rfind(b"\n", 0, end) + 1 or end])
    return True


def train_child(task: Row) -> Row:
    import prunedbpe
    from prunedbpe.corpus import Corpus
    from prunedbpe.merges import Learner

    parts: Row = {}

    def run() -> None:
        started = time.perf_counter()
        corpus = Corpus(task["path"])
        counts = prunedbpe.count(corpus, pretokenizer=task["pretokenizer"], threads=task["threads"])
        parts["count"] = time.perf_counter() - started
        learner = Learner(counts, threads=task["threads"])
        learner.reach(task["merges"])
        parts["learn"] = time.perf_counter() - started - parts["count"]
        parts["unique_bytes"] = len(counts.data)
        parts["unique_chunks"] = len(counts)
        parts["learner_bytes"] = learner.memory

    return {**measure(run)[0], **parts}


def report(rows: list[Row]) -> str:
    lines = []
    for megabytes in sorted({row["mb"] for row in rows}):
        one = [row for row in rows if row["mb"] == megabytes and row["threads"] == 1]
        many = [row for row in rows if row["mb"] == megabytes and row["threads"] == 0]
        unique = median(one, "unique_bytes")
        lines.append(
            [
                f"{megabytes} MB",
                f"{unique / 1e6:.1f} MB in {median(one, 'unique_chunks') / 1e3:.0f} thousand",
                f"{median(one, 'count'):.2f} + {median(one, 'learn'):.2f} s",
                f"{median(many, 'count'):.2f} + {median(many, 'learn'):.2f} s",
                f"{median(one, 'wall') / median(many, 'wall'):.2f}",
                f"{median(one, 'rss_mb'):.0f} / {median(many, 'rss_mb'):.0f} MB",
                f"{median(one, 'learner_bytes') / unique:.1f}",
            ]
        )
    header = [
        "text",
        "unique chunks",
        "count + learn, 1 thread",
        "all threads",
        "ratio",
        "peak memory, 1 / all",
        "learner bytes per unique byte",
    ]
    return markdown(header, lines)


def plot(rows: list[Row]) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no plot: install the extra 'plot'", file=sys.stderr)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    for threads, label in ((1, "1 thread"), (0, "all threads")):
        chosen = [row for row in rows if row["threads"] == threads]
        sizes = [row["mb"] for row in chosen]
        left.plot(sizes, [row["wall"] for row in chosen], "o-", label=label)
        right.plot(sizes, [row["rss_mb"] for row in chosen], "o-", label=label)
    left.set(xlabel="text, MB", ylabel="seconds", ylim=0)
    right.set(xlabel="text, MB", ylabel="peak memory, MB", ylim=0)
    left.legend()
    figure.tight_layout()
    figure.savefig(HERE / "growth.svg")


if __name__ == "__main__":
    main()
