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
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import Row, describe, measure, parse_arguments, run_child, show, write_results

HALVINGS = 4


def main() -> None:
    grow("train", train, "growth", __doc__ or "", merges=32_000)


def grow(job: str, work: Callable[[Row], Row], name: str, description: str, **more: int) -> None:
    """Run a job on every size with one and with all threads; its digests must agree.

    Args:
        job: Name of the job.
        work: Does it.
        name: Name of the result file.
        description: The module's docstring.
        **more: Further integer options with their defaults, part of every task.
    """
    arguments = parse_arguments(description, {job: work}, megabytes=160, **more)
    about = describe(arguments.texts)
    options = {option: getattr(arguments, option) for option in more}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for halvings in reversed(range(HALVINGS + 1)):
            size = arguments.megabytes / 2**halvings
            path = Path(folder, f"{size}.txt")
            if not cut(arguments.texts, int(size * 1e6), path):
                break
            for number, threads in itertools.product(range(arguments.rounds), (1, 0)):
                task = {"job": job, "megabytes": size, "threads": threads, "round": number}
                rows.append(show(run_child({**task, "path": str(path), **options})))
            path.unlink()
            if len({row["digest"] for row in rows if row["megabytes"] == size}) > 1:
                sys.exit(f"{size:g} MB: the result depends on the number of threads")
    write_results(name, about, rows)


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
