"""Encoding and decoding beside other libraries, each measurement in a process of its own.

    python benchmarks/bench_encode.py --text en.txt --text multi.txt --text zh.txt

1. Learns 32,768 tokens on the texts (or takes --vocab FOLDER) and exports them for every library.
2. Verifies: every library gives the same ids for the first megabyte of each text, or is left out.
3. Times, in MB of UTF-8 a second:
   steady   documents of about 4 KB one by one, on one core, after as many *other* documents;
            of every 32 documents the best time of all rounds
   batch    the batch call over all documents, all cores: the first pass, nothing warmed
   decode   the ids of the whole text, on one core

A ratio is ours against the fastest peer whose results are of the same kind (lists, arrays).
Writes one JSON into results/ and, with --fill, the tables into README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    Row,
    add_text_argument,
    describe,
    fill_table,
    heading,
    in_child,
    markdown,
    on_one_core,
    parse_arguments,
    texts_of,
    write_results,
)
from competitors.encoders import ENCODERS, Files
from vocabulary import add_vocabulary_argument, vocabulary_of

OWN = "prunedbpe"
JOBS = {"steady": 1, "batch": 3, "decode": 1}
"""How many runs of each a round has. The first pass over a batch is over in a few hundredths of a
second and cannot be repeated in its process, so it takes more of them to find a quiet one."""
SLICE = 32
"""Documents timed together in the steady pass. Of each slice the best of all rounds is taken: slow
moments of a machine are shorter than a pass, and hit one library or another."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_text_argument(parser)
    add_vocabulary_argument(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="append", help="default: all that are installed")
    parser.add_argument("--job", action="append", choices=list(JOBS), help="default: all")
    arguments = parse_arguments(parser, lambda task: CHILDREN[task["job"]](task))
    texts = texts_of(arguments)
    folder = vocabulary_of(arguments, texts)
    about = describe(texts)
    wanted = [n for n in ENCODERS if n.startswith(OWN) or n in (arguments.peer or ENCODERS)]
    names = verify(texts, folder, wanted)
    rows: list[Row] = []
    for round_number in range(arguments.rounds):
        for text in texts:
            for job in arguments.job or JOBS:
                for name in names * JOBS[job]:
                    row = child(job, folder, name, text)
                    rows.append({**row, "round": round_number})
                    print(
                        f"{text.name:14} {job:7} {name:24} {row.get('rate', row.get('error'))}",
                        flush=True,
                    )
    tables = report(rows, [text.name for text in texts], names)
    print(f"\n{tables}\n\n{write_results('encode', about, rows)}")
    if arguments.fill:
        runs = f"best of {arguments.rounds} (lowest in brackets)."
        fill_table("encode", f"{heading(about)}, {runs}\n\n{tables}")


def verify(texts: list[Path], folder: Path, names: list[str]) -> list[str]:
    """Those whose ids are ours."""
    kept = []
    for name in names:
        same = True
        for text in texts:
            answers = [child("ids", folder, n, text) for n in (name, OWN)]
            if "pruned " in f"{name} ":  # its ids are its own, but its bytes must come back
                same &= answers[0].get("round_trip", False)
            else:
                same &= "error" not in answers[0] and answers[0]["ids"] == answers[1]["ids"]
        print(
            f"{name:24} {'verified' if same else answers[0].get('error', 'ids differ: left out')}"
        )
        if same:
            kept.append(name)
    return kept


def child(job: str, folder: Path, name: str, text: Path) -> Row:
    task = {"job": job, "vocab": str(folder), "name": name, "path": str(text), "text": text.name}
    return {**task, **in_child([json.dumps(task)])}


def documents(text: str, size: int = 4096) -> list[str]:
    """Runs of lines of about 4 KB."""
    made, lines, length = [], [], 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        length += len(line.encode())
        if length >= size:
            made.append("".join(lines))
            lines, length = [], 0
    return [*made, "".join(lines)] if lines else made


def read(task: Row) -> str:
    return Path(task["path"]).read_bytes().decode()


def megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def prepare(task: Row) -> Any:
    encoder = ENCODERS[task["name"]].make(Files(Path(task["vocab"])))
    encoder.one("warm up")  # lazy imports and pools; caches stay cold
    return encoder


def ids_child(task: Row) -> Row:
    encoder = prepare(task)
    text = read(task)[:1_000_000]
    ids = [int(i) for i in encoder.ids(encoder.one(text))]
    back = encoder.decode(ids) if encoder.decode else b""
    digest = hashlib.sha256(repr(ids).encode()).hexdigest()
    return {"ids": digest, "round_trip": back in (text, text.encode())}


def steady_child(task: Row) -> Row:
    on_one_core()
    encoder = prepare(task)
    texts = documents(read(task))
    for text in texts[1::2]:
        encoder.one(text)
    timed = texts[::2]
    seconds = []
    for first in range(0, len(timed), SLICE):
        started = time.perf_counter()
        for text in timed[first : first + SLICE]:
            encoder.one(text)
        seconds.append(time.perf_counter() - started)
    size = megabytes(timed)
    return {"rate": size / sum(seconds), "megabytes": size, "seconds": seconds}


def batch_child(task: Row) -> Row:
    encoder = prepare(task)
    if encoder.batch is None:
        return {"error": "has no batch call"}
    encoder.batch(["warm up"] * 64)
    texts = documents(read(task))
    started = time.perf_counter()
    encoder.batch(texts)
    seconds = time.perf_counter() - started
    return {"rate": megabytes(texts) / seconds}


def decode_child(task: Row) -> Row:
    on_one_core()
    encoder = prepare(task)
    if encoder.decode is None:
        return {"error": "does not decode"}
    text = read(task)
    ids = [int(i) for i in encoder.ids(encoder.one(text))]
    times = []
    for _ in range(3):
        started = time.perf_counter()
        encoder.decode(ids)
        times.append(time.perf_counter() - started)
    return {"rate": megabytes([text]) / min(times)}


CHILDREN: dict[str, Callable[[Row], Row]] = {
    "ids": ids_child,
    "steady": steady_child,
    "batch": batch_child,
    "decode": decode_child,
}


def report(rows: list[Row], texts: list[str], names: list[str]) -> str:
    def rates(job: str, text: str, name: str) -> list[float]:
        """Of every round, and the best of all rounds, slice by slice where there are slices."""
        named = [r for r in rows if (r["job"], r.get("text"), r["name"]) == (job, text, name)]
        found = [row for row in named if "rate" in row]
        slices = zip(*(row["seconds"] for row in found if "seconds" in row), strict=True)
        best = sum(min(rounds) for rounds in slices)
        return [row["rate"] for row in found] + ([found[0]["megabytes"] / best] if best else [])

    measured = {row["job"] for row in rows}
    columns = [(job, text) for job in JOBS if job in measured for text in texts]
    lines = []
    for kind in ("list", "array"):
        members = [name for name in names if ENCODERS[name].kind == kind]
        for name in members:
            cells = [rates(*column, name) for column in columns]
            lines.append([name, *(f"{max(c):.0f} ({min(c):.0f})" if c else "–" for c in cells)])
        ratios = []
        for column in columns:
            peers = [max(rates(*column, n), default=0) for n in members if not n.startswith(OWN)]
            own = max(rates(*column, OWN if kind == "list" else f"{OWN} array"), default=0)
            ratios.append(f"**{own / max(peers):.2f}**" if any(peers) else "–")
        lines.append([f"**ours / best peer, {kind}s**", *ratios])
    header = ["MB/s", *(f"{job} {text}" for job, text in columns)]
    return markdown(header, lines)


if __name__ == "__main__":
    main()
