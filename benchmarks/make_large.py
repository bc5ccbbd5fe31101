"""Gigabytes of text whose unique chunks keep growing, out of the megabytes at hand.

    python benchmarks/make_large.py --gigabytes 4 --output large.txt a.txt b.txt

The texts are written again and again, lines in the same order. In every round but the first, one
line in ``--every`` has the letters of the Latin alphabet permuted, each round by another
permutation and on other lines: words that no other round has, spelled with the letter statistics of
a language. So unique chunks grow about as in real text of that size, and the rest repeats itself.
"""

from __future__ import annotations

import argparse
import random
import string
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--gigabytes", type=float, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=10, help="respell one line in N; default 10")
    arguments = parser.parse_args()
    lines = [line for text in arguments.texts for line in text.read_bytes().splitlines(True)]
    written, number = 0, 0
    with arguments.output.open("wb") as file:
        while written < arguments.gigabytes * 1e9:
            written += file.write(b"".join(make_round(lines, number, arguments.every)))
            number += 1


def make_round(lines: list[bytes], number: int, every: int) -> list[bytes]:
    """Return the lines of one round."""
    if number == 0:
        return lines
    shuffled = list(string.ascii_lowercase)
    random.Random(number).shuffle(shuffled)
    letters = "".join(shuffled)
    table = bytes.maketrans(string.ascii_letters.encode(), (letters + letters.upper()).encode())
    return [
        line.translate(table) if (index + number) % every == 0 else line
        for index, line in enumerate(lines)
    ]


if __name__ == "__main__":
    main()
