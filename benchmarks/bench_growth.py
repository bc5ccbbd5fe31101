"""Time and memory of training as the corpus grows: 10, 20, 40, 80, 160 MB.

    python benchmarks/bench_growth.py --text mixed.txt --text code.txt

Each size takes the same share of every text, cut at a line end: distinct documents and the same
mixture at every size. Sizes beyond what the texts hold are left out. One and all threads must learn
the same merges.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import Row, describe, measure, parse_arguments, run_child, show, write_results

HALVINGS = 4


def main() -> None:
    arguments = parse_arguments(__doc__ or "", {"train": train}, merges=32_000, megabytes=160)
    about = describe(arguments.texts)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for halvings in reversed(range(HALVINGS + 1)):
            size = arguments.megabytes / 2**halvings
            path = Path(folder, f"{size}.txt")
            if not cut(arguments.texts, int(size * 1e6), path):
                break
            for number, threads in itertools.product(range(arguments.rounds), (1, 0)):
                task = {"job": "train", "megabytes": size, "threads": threads, "round": number}
                rows.append(
                    show(run_child({**task, "path": str(path), "merges": arguments.merges}))
                )
            path.unlink()
            if len({row["digest"] for row in rows if row["megabytes"] == size}) > 1:
                sys.exit(f"{size:g} MB: the merges depend on the number of threads")
    write_results("growth", about, rows)


def cut(texts: list[Path], size: int, path: Path) -> bool:
    """Write ``size`` bytes, the same share of each text; false if there is not enough text."""
    total = sum(text.stat().st_size for text in texts)
    if total < size:
        return False
    with path.open("wb") as out:
        for text in texts:
            data = text.read_bytes()
            end = len(data) * size // total
            out.write(data[: data.rfind(b"\n", 0, end) + 1])
    return True


def train(task: Row) -> Row:
    import prunedbpe

    parts: Row = {}

    def run() -> None:
        started = time.perf_counter()
        counts = prunedbpe.count(task["path"], pretokenizer="gpt2", threads=task["threads"])
        parts["count"] = time.perf_counter() - started
        learner = prunedbpe.Learner(counts, threads=task["threads"])
        merges = learner.reach(task["merges"])
        parts["learn"] = time.perf_counter() - started - parts["count"]
        parts["digest"] = hashlib.sha256(merges.pairs.tobytes()).hexdigest()[:16]
        parts["unique_bytes"] = len(counts.data)
        parts["unique_chunks"] = len(counts)
        parts["learner_bytes"] = learner.memory

    return {**measure(run)[0], **parts}


if __name__ == "__main__":
    main()
