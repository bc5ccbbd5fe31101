"""What two threads can give on this machine.

    python benchmarks/bench_machine.py --fill

1. If they share nothing at all. Learning reads and writes at random places of a few megabytes to a
   few hundred. Here one thread does nothing else in an array of its own, and then two at once, each
   in its own: on one chip they still share its last cache and its memory, so two threads are not
   twice as fast (random_access.cpp).
2. What they pay in a process that has just started, after a pause: for a cache line that goes to
   the other thread and back, and for new pages of memory (fresh_threads.cpp).

Compiles both; writes one JSON into results/ and, with --fill, the tables into README.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    HERE,
    Row,
    describe,
    fill_table,
    heading,
    least,
    markdown,
    median,
    write_results,
)

MEGABYTES = (1, 4, 8, 16, 64)
"""Powers of two: places are taken by a mask."""

PAUSE = 0.3
"""Seconds before a fresh process: a virtual machine may come back to other cores."""

FRESH = {
    "line": "a cache line to the other thread and back",
    "page": "a new page of 4 KB, one thread",
    "page_of_two": "the same, two threads at once",
}
"""What fresh_threads.cpp prints, in its order."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--fill", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    about = describe([])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compiled("random_access", folder)
        for megabytes in MEGABYTES:
            rows += run(program, megabytes, arguments.rounds)
        program = compiled("fresh_threads", folder)
        for _ in range(arguments.rounds // 2):
            time.sleep(PAUSE)
            rows.append(dict(zip(FRESH, numbers(program)[0], strict=True)))
    tables = f"{report(rows)}\n\n{report_fresh(rows)}"
    print(f"\n{tables}\n\n{write_results('machine', about, rows)}")
    if arguments.fill:
        fill_table("machine", f"{heading(about)}, {arguments.rounds} rounds.\n\n{tables}")


def compiled(name: str, folder: str) -> Path:
    program = Path(folder, name)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-pthread"]
    subprocess.run([*command, str(HERE / f"{name}.cpp"), "-o", str(program)], check=True)
    return program


def numbers(program: Path, *arguments: int) -> list[list[float]]:
    command = [str(program), *map(str, arguments)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [[float(number) for number in line.split()] for line in lines.splitlines()]


def run(program: Path, megabytes: int, rounds: int) -> list[Row]:
    found = numbers(program, megabytes, rounds)
    return [{"mb": megabytes, "one": one, "both": both} for one, both in found]


def report(rows: list[Row]) -> str:
    table = []
    for megabytes in MEGABYTES:
        of_size = [row for row in rows if row.get("mb") == megabytes]
        line = [f"{megabytes} MB"]
        for choose in (median, least):
            one, both = choose(of_size, "one"), choose(of_size, "both")
            line += [f"{one:.2f} ns", f"{both:.2f} ns", f"**{2 * one / both:.2f}**"]
        table.append(line)
    header = ["array of each thread"]
    for kind in ("median", "best"):
        header += [f"alone, {kind}", f"both at once, {kind}", f"two threads / one, {kind}"]
    return markdown(header, table)


def report_fresh(rows: list[Row]) -> str:
    table = []
    for key, name in FRESH.items():
        found = [row[key] for row in rows if key in row]
        cuts = statistics.quantiles(found, n=10)
        spread = [min(found), cuts[0], statistics.median(found), cuts[-1]]
        table.append([name, *(f"{nanoseconds:.0f} ns" for nanoseconds in spread)])
    return markdown(
        ["in a fresh process", "least", "a tenth below", "median", "a tenth above"], table
    )


if __name__ == "__main__":
    main()
