"""Counting with little memory: the same bytes, how much slower, and after how many kills.

    python benchmarks/make_large.py --gigabytes 3 --every 10 --output large.txt texts/*.txt
    python benchmarks/bench_memory.py --text large.txt --memory 1000 --cgroup 2000 --kills 20

1. Count without a limit and with ``--memory`` megabytes, in turns, the second in a cgroup of
   ``--cgroup`` megabytes if this process may make one (0: never): wall time and peak memory. The
   files must be equal to the byte.
2. Start the count with the limit, kill it after a random time and start it again, until it has been
   killed ``--kills`` times; then let it end. The file must be the same.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import Row, describe, file_hash, parse_arguments, show, write_results

CGROUPS = Path("/sys/fs/cgroup")


def main() -> None:
    arguments = parse_arguments(
        __doc__ or "", {}, rounds=3, memory=1000, cgroup=2000, kills=20, checkpoint=2
    )
    about = describe(arguments.texts)
    text = arguments.texts[0]
    limits = ["--memory", f"{arguments.memory}MB"]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=text.parent) as folder:
        output = Path(folder, "counts.parquet")
        for number in range(arguments.rounds):
            rows.append(show(measure_count("no limit", text, output, [], 0, number)))
            rows.append(
                show(measure_count("limit", text, output, limits, arguments.cgroup, number))
            )
        resumable = [*limits, "--checkpoint-seconds", str(arguments.checkpoint)]
        typical = min(row["wall"] for row in rows if row["job"] == "limit")
        rows.append(show(kill_often(text, output, resumable, arguments.kills, typical)))
    if len({row["sha256"] for row in rows}) > 1:
        sys.exit("the files differ")
    write_results("memory", about, rows)


def start(text: Path, output: Path, options: list[str], cgroup: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "prunedbpe", "count", str(text), "-o", str(output), "-q"]
    group = make_cgroup(cgroup) if cgroup else None

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    return subprocess.Popen([*command, *options], preexec_fn=enter)


def measure_count(
    job: str, text: Path, output: Path, options: list[str], cgroup: int, number: int
) -> Row:
    output.unlink(missing_ok=True)
    started = time.perf_counter()
    process = start(text, output, options, cgroup)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        sys.exit(f"{job}: ended with status {status}")
    return {
        "job": job,
        "round": number,
        "wall": wall,
        "mb_per_second": text.stat().st_size / wall / 1e6,
        "rss_mb": usage.ru_maxrss / 1024,
        "sha256": file_hash(output),
    }


def kill_often(text: Path, output: Path, options: list[str], kills: int, typical: float) -> Row:
    """Kill a count at random moments; every process gets about a third of the whole time."""
    output.unlink(missing_ok=True)
    chance = random.Random(1)
    killed = ended = 0
    while killed < kills:
        process = start(text, output, options)
        time.sleep(chance.uniform(0.2, typical * 0.6))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            ended += 1
            output.unlink()
        else:
            killed += 1
    if start(text, output, options).wait():
        sys.exit("the last count failed")
    return {"job": "killed", "kills": killed, "ended": ended, "sha256": file_hash(output)}


def make_cgroup(megabytes: int) -> Path | None:
    """Make a cgroup with a memory limit; nothing where that is not allowed."""
    for root, limit in (
        (CGROUPS / "memory", "memory.limit_in_bytes"),
        (CGROUPS, "memory.max"),
    ):
        group = root / f"prunedbpe-bench-{megabytes}"
        try:
            group.mkdir(exist_ok=True)
            (group / limit).write_text(str(megabytes * 10**6))
        except OSError:
            continue
        return group
    print("no cgroup can be made here: the limit is not enforced")
    return None


if __name__ == "__main__":
    main()
