"""What the benchmarks share: runs in processes of their own, machine, texts, results."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
TEXTS_VARIABLE = "PRUNEDBPE_BENCH_TEXTS"
PACKAGES = [
    "prunedbpe",
    "gigatoken",
    "ffbpe",
    "fast-bpe-rs",
    "rustbpe",
    "tokenizers",
    "bpeasy",
    "fastokens",
    "splintr-rs",
    "quicktok-v1",
    "tiktoken",
    "isal",
    "numpy",
    "pyarrow",
]

Row = dict[str, Any]


def measure(job: Callable[[], Any]) -> tuple[Row, Any]:
    """Wall time, processor time and peak memory of a job and of the process it runs in."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    made = job()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "rss_mb": peak_memory()}, made


def on_one_core() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def peak_memory() -> float:
    """Megabytes. Linux lets a child begin with the peak of its parent in ``ru_maxrss``."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_child(arguments: Sequence[str], limit: float = 600) -> Row:
    """Run the calling script again with ``arguments``; it answers one JSON object."""
    command = [sys.executable, sys.argv[0], "--child", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"over {limit:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return {"error": lines[-1] if lines else f"exit {done.returncode}"}
    answer: Row = json.loads(done.stdout)
    return answer


def parse_arguments(
    parser: argparse.ArgumentParser, do: Callable[[Row], Row]
) -> argparse.Namespace:
    """The arguments of a benchmark; a child is given a task, does it, and ends here."""
    parser.add_argument("--fill", action="store_true", help="put what is found into README.md")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        task: Row = json.loads(arguments.child)
        # The answer and nothing else: libraries print progress.
        out = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(out, json.dumps(do(task)).encode())
        sys.exit()
    return arguments


def add_text_argument(parser: argparse.ArgumentParser) -> None:
    given = os.environ.get(TEXTS_VARIABLE, "")
    parser.add_argument(
        "--text",
        action="append",
        default=[],
        type=Path,
        help=f"a .txt file; repeatable; or {TEXTS_VARIABLE}, separated by '{os.pathsep}'; "
        "by default the sources of the Python standard library",
    )
    parser.set_defaults(more_texts=[Path(name) for name in given.split(os.pathsep) if name])


def texts_of(arguments: argparse.Namespace) -> list[Path]:
    texts: list[Path] = arguments.text or arguments.more_texts or [standard_library()]
    for text in texts:
        if not text.is_file():
            sys.exit(f"{text}: no such file")
    return texts


def standard_library() -> Path:
    """The sources of the Python standard library in one file: text that every machine has."""
    path = HERE.parent / "bench-texts" / "python.txt"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        folder = Path(sysconfig.get_path("stdlib"))
        sources = sorted(p for p in folder.rglob("*.py") if "site-packages" not in p.parts)
        with path.with_suffix(".part").open("w", encoding="utf-8") as file:
            for source in sources:
                file.write(source.read_text(encoding="utf-8", errors="ignore"))
        path.with_suffix(".part").rename(path)
    return path


def describe(texts: Sequence[Path]) -> Row:
    """Everything a reader needs to judge figures: machine, versions, texts."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load_before": os.getloadavg()[0],
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        "versions": versions,
        "texts": {
            text.name: {
                "bytes": text.stat().st_size,
                "sha256": file_hash(text),
            }
            for text in texts
        },
    }


def heading(about: Row) -> str:
    """What stands above a table: when, what and where."""
    machine = about["machine"]
    return (
        f"{about['date'][:10]}, commit {about['commit']}, {machine['cores']} cores of "
        f"{machine['processor']}, load before {machine['load_before']:.1f}"
    )


def write_results(name: str, about: Row, rows: Sequence[Row]) -> Path:
    """One JSON file for each run of a benchmark."""
    RESULTS.mkdir(exist_ok=True)
    stamp = about["date"].replace(":", "").replace("+0000", "Z")
    path = RESULTS / f"{name}-{stamp}.json"
    path.write_text(json.dumps({**about, "rows": list(rows)}, indent=1) + "\n")
    return path


def median(rows: Sequence[Row], key: str) -> float:
    return statistics.median(row[key] for row in rows)


def least(rows: Sequence[Row], key: str) -> float:
    return min(row[key] for row in rows)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill_table(mark: str, text: str) -> None:
    """Replace what stands between the marks of a table in the README of the benchmarks."""
    path = HERE / "README.md"
    page = path.read_text()
    begin, end = f"<!-- {mark} -->", f"<!-- end {mark} -->"
    before, rest = page.split(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}")


def file_hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=HERE
    )
    return done.stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    except OSError:
        pass
    return platform.processor()
