"""What two threads can give on this machine, if they share nothing at all.

    python benchmarks/bench_machine.py --fill

Learning reads and writes at random places of a few megabytes to a few hundred. Here one thread does
nothing else in an array of its own, and then two at once, each in its own: on one chip they still
share its last cache and its memory, so two threads are not twice as fast. Compiles
random_access.cpp; writes one JSON into results/ and, with --fill, the table into README.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--fill", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    about = describe([])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "random_access")
        compiler = os.environ.get("CXX", "c++")
        flags = ["-std=c++20", "-O2", "-pthread"]
        subprocess.run(
            [compiler, *flags, str(HERE / "random_access.cpp"), "-o", str(program)], check=True
        )
        for megabytes in MEGABYTES:
            rows += run(program, megabytes, arguments.rounds)
    table = report(rows)
    print(f"\n{table}\n\n{write_results('machine', about, rows)}")
    if arguments.fill:
        fill_table("machine", f"{heading(about)}, {arguments.rounds} rounds.\n\n{table}")


def run(program: Path, megabytes: int, rounds: int) -> list[Row]:
    command = [str(program), str(megabytes), str(rounds)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = (line.split() for line in lines.splitlines())
    return [{"mb": megabytes, "one": float(one), "both": float(both)} for one, both in pairs]


def report(rows: list[Row]) -> str:
    table = []
    for megabytes in MEGABYTES:
        of_size = [row for row in rows if row["mb"] == megabytes]
        line = [f"{megabytes} MB"]
        for choose in (median, least):
            one, both = choose(of_size, "one"), choose(of_size, "both")
            line += [f"{one:.2f} ns", f"{both:.2f} ns", f"**{2 * one / both:.2f}**"]
        table.append(line)
    header = ["array of each thread"]
    for kind in ("median", "best"):
        header += [f"alone, {kind}", f"both at once, {kind}", f"two threads / one, {kind}"]
    return markdown(header, table)


if __name__ == "__main__":
    main()
