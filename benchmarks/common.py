"""What the benchmarks share: child processes, texts, the machine, result files.

Every measurement runs in a process of its own: the script starts itself again with ``--child`` and
a task as JSON, and the child answers with one JSON object.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DATA = HERE.parent / "bench-data"
"""Texts, vocabularies and environments that the benchmarks make; may be deleted at any time."""
TEXTS_VARIABLE = "PRUNEDBPE_BENCH_TEXTS"
PACKAGES = (
    *("prunedbpe", "gigatoken", "ffbpe", "rustbpe", "tokenizers", "fastokens", "splintr-rs"),
    *("quicktok-v1", "tiktoken", "isal", "numpy", "pyarrow", "sentencepiece"),
    *("transformers", "torch"),
)
PLACES = {"path", "vocabulary"}
"""Fields of a task that say where something is on this machine; results leave them out."""

Row = dict[str, Any]
Children = dict[str, Callable[[Row], Row]]
"""What a child can do, by the ``job`` of its task."""


def parse_arguments(
    description: str, children: Children, rounds: int = 5, **more: int
) -> argparse.Namespace:
    """Parse the options of a benchmark; in a child, do the task and exit.

    Args:
        description: The module's docstring; its first line is shown by ``--help``.
        children: The jobs of this benchmark.
        rounds: Default number of rounds.
        **more: Further integer options with their defaults.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument(
        "--text",
        dest="texts",
        action="append",
        type=Path,
        help=f"a UTF-8 text file, repeatable; default: {TEXTS_VARIABLE} (separated by "
        f"'{os.pathsep}'), or the sources of the Python standard library",
    )
    parser.add_argument("--rounds", type=int, default=rounds)
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        task: Row = json.loads(arguments.child)
        # Libraries print progress; only the answer may reach the parent.
        answer_to = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(answer_to, json.dumps(children[task["job"]](task)).encode())
        sys.exit()
    given = [Path(name) for name in os.environ.get(TEXTS_VARIABLE, "").split(os.pathsep) if name]
    arguments.texts = arguments.texts or given or [standard_library()]
    for text in arguments.texts:
        if not text.is_file():
            sys.exit(f"{text}: no such file")
    return arguments


def run_child(task: Row, python: str | Path = sys.executable, limit: float = 600) -> Row:
    """Run a task in a fresh process; the answer, or ``{"error": ...}``, joined to the task."""
    command = [str(python), sys.argv[0], "--child", json.dumps(task)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {**task, "error": f"over {limit:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return {**task, "error": lines[-1] if lines else f"exit {done.returncode}"}
    return {**task, **json.loads(done.stdout)}


def show(row: Row) -> Row:
    """Print the short fields of a row, and return it."""
    shown = {
        k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items() if k not in PLACES
    }
    print(*(f"{k}={v}" for k, v in shown.items() if len(str(v)) < 60), flush=True)
    return row


def measure(job: Callable[[], Any]) -> tuple[Row, Any]:
    """Run a job; its wall time, CPU time and the peak memory of the process, and its result."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    made = job()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "rss_mb": _peak_memory()}, made


def on_one_core() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def read_text(path: str | Path, megabytes: float | None = None) -> str:
    """The text, or its first megabytes up to a line end."""
    with Path(path).open("rb") as file:
        data = file.read() if megabytes is None else file.read(int(megabytes * 1e6))
    end = data.rfind(b"\n") + 1 or len(data)
    return data[: len(data) if megabytes is None else end].decode(errors="ignore")


def standard_library() -> Path:
    """The sources of the Python standard library in one file: text that every machine has."""
    path = DATA / "python.txt"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        folder = Path(sysconfig.get_path("stdlib"))
        sources = sorted(p for p in folder.rglob("*.py") if "site-packages" not in p.parts)
        whole = "".join(p.read_text(encoding="utf-8", errors="ignore") for p in sources)
        path.write_text(whole, encoding="utf-8")
    return path


def describe(texts: Sequence[Path]) -> Row:
    """What a reader needs to judge the figures: commit, machine, compiler, versions, texts."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    describe_commit = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe_commit, capture_output=True, text=True, cwd=HERE).stdout
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit.strip(),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "load_before": os.getloadavg()[0],
            "system": platform.platform(),
            "python": platform.python_version(),
            "compiler": _compiler(),
        },
        "versions": versions,
        "texts": {
            text.name: {"bytes": text.stat().st_size, "sha256": file_hash(text)} for text in texts
        },
    }


def write_results(name: str, about: Row, rows: Sequence[Row]) -> None:
    """Write ``results/NAME.json``, which ``publish.py`` turns into a table and a plot."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    kept = [{key: row[key] for key in row if key not in PLACES} for row in rows]
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in kept)
    head = json.dumps({**about, "rows": []}, indent=1, ensure_ascii=False)
    path.write_text(
        head.replace('"rows": []', f'"rows": [\n  {lines}\n ]') + "\n", encoding="utf-8"
    )
    print(path)


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _peak_memory() -> float:
    """Megabytes. Not ``ru_maxrss``: on Linux a child starts with the peak of its parent."""
    status = Path("/proc/self/status")
    if status.exists() and (peak := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(peak[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()


def _compiler() -> str:
    """The compiler's note in the native module."""
    from prunedbpe import _core

    found = re.search(
        rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", Path(_core.__file__).read_bytes()
    )
    return found[0].decode() if found else "unknown"
