"""Worst cases and the start of a process, each measurement in a process of its own.

    python benchmarks/bench_limits.py --text a.txt --text b.txt --fill

1. Hostile texts: what an encoder makes of a megabyte without a place to cut, in milliseconds.
2. One chunk of 25, 50 and 100 MB: seconds and peak memory must grow as the chunk does.
3. Learning on one chunk, up to 50 MB of the given texts without any cut (pretokenizer ``none``).
4. The minimum-token segmentation beside merging by rank, on the unique chunks of each text, so that
   no chunk is met twice; and on the text itself, again and again.
5. The first calls of a process, loading, importing, and ``--help``.

Writes one JSON into results/ and, with --fill, the tables into README.md.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
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
    least,
    markdown,
    measure,
    median,
    on_one_core,
    parse_arguments,
    texts_of,
    write_results,
)
from vocabulary import add_vocabulary_argument, vocabulary_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HOSTILE: dict[str, Callable[[random.Random], str]] = {
    "100,000 equal letters": lambda r: "a" * 100_000,
    "1 MB of random letters": lambda r: "".join(r.choices(LETTERS, k=10**6)),
    "1 MB of random Han": lambda r: "".join(
        chr(r.randrange(0x4E00, 0x9FA5)) for _ in range(333_333)
    ),
    "1 MB of spaces": lambda r: " " * 10**6,
    "1 MB of one emoji sequence": lambda r: "👩‍👩‍👧‍👦" * 40_000,
}
CHUNK_MEGABYTES = (25, 50, 100)
LEARNED_MEGABYTES = (12, 25, 50)
MERGES = 16_000
REPEATS = 5
"""Of what is over soon. Unique chunks meet a new encoder every time, which has seen nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_text_argument(parser)
    add_vocabulary_argument(parser)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parse_arguments(parser, lambda task: CHILDREN[task["job"]](task))
    texts = texts_of(arguments)
    vocabulary = str(vocabulary_of(arguments, texts) / "standard")
    about = describe(texts)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        tasks: list[Row] = [{"job": "hostile", "case": case} for case in HOSTILE]
        tasks += [{"job": "chunk", "megabytes": size} for size in CHUNK_MEGABYTES]
        tasks += write_chunks(texts, Path(folder))
        tasks += [{"job": "shortest", "path": str(text), "text": text.name} for text in texts]
        tasks += [{"job": "start", "path": str(texts[0])}, {"job": "load"}, {"job": "help"}]
        for _ in range(arguments.rounds):
            for task in tasks:
                given = {"vocabulary": vocabulary, **task}
                rows.append({**task, **in_child([json.dumps(given)])})
                print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    tables = report(rows)
    print(f"\n{tables}\n\n{write_results('limits', about, rows)}")
    if arguments.fill:
        fill_table("limits", f"{heading(about)}, best of {arguments.rounds}.\n\n{tables}")


def write_chunks(texts: list[Path], folder: Path) -> list[Row]:
    """Documents of growing size, as far as the texts go; a ``.md`` file is one document."""
    whole = b"".join(text.read_bytes() for text in texts)
    tasks = []
    for megabytes in LEARNED_MEGABYTES:
        if len(whole) < megabytes * 10**6:
            break
        path = folder / f"{megabytes}.md"
        path.write_text(whole[: megabytes * 10**6].decode(errors="ignore"))
        tasks.append({"job": "learn", "megabytes": megabytes, "path": str(path)})
    return tasks


def load(task: Row) -> Any:
    from prunedbpe import Tokenizer

    tokenizer = Tokenizer.load(task["vocabulary"])
    tokenizer.encode_to_numpy("warm up")  # imports NumPy
    return tokenizer


def hostile_child(task: Row) -> Row:
    on_one_core()
    tokenizer = load(task)
    text = HOSTILE[task["case"]](random.Random(1))
    return {"ms": measure(lambda: tokenizer.encode_to_numpy(text))[0]["wall"] * 1e3}


def chunk_child(task: Row) -> Row:
    on_one_core()
    tokenizer = load(task)
    unit = "".join(random.Random(1).choices(LETTERS, k=10**6 + 3))
    text = unit * task["megabytes"]
    return measure(lambda: tokenizer.encode_to_numpy(text))[0]


def learn_child(task: Row) -> Row:
    import prunedbpe

    counts = prunedbpe.count(task["path"], pretokenizer="none")
    assert len(counts) == 1
    return measure(lambda: prunedbpe.learn(counts, MERGES))[0]


def shortest_child(task: Row) -> Row:
    import prunedbpe
    from prunedbpe.tokenizer.shortest import ShortestSegmenter

    on_one_core()
    tokenizer = load(task)
    vocabulary, cut = tokenizer.vocabulary, tokenizer.pretokenizer
    counts = prunedbpe.count(task["path"], pretokenizer=cut)
    chunks = counts.data, counts.offsets[1:]
    text = Path(task["path"]).read_bytes()[:8_000_000].decode(errors="ignore")

    def quickest(make: Callable[[], Callable[[], Any]]) -> float:
        return min(measure(make())[0]["wall"] for _ in range(REPEATS))

    def new_by_rank() -> Callable[[], Any]:
        encoder = prunedbpe.Tokenizer(vocabulary, cut)._encoder
        return lambda: encoder.encode_chunks(*chunks, 0.0, 0)

    def new_shortest() -> Callable[[], Any]:
        encoder = ShortestSegmenter.of(vocabulary, cut)._native
        return lambda: encoder.encode_chunks(*chunks)

    def of_text(segmentation: str) -> Callable[[], Any]:
        return lambda: tokenizer.encode_to_numpy(text, segmentation=segmentation)

    size = len(counts.data) / 1e6
    text_size = len(text.encode()) / 1e6
    return {
        "rank": size / quickest(new_by_rank),
        "shortest": size / quickest(new_shortest),
        "text_rank": text_size / quickest(lambda: of_text("rank")),
        "text_shortest": text_size / quickest(lambda: of_text("shortest")),
    }


def start_child(task: Row) -> Row:
    """The first calls, each with a text of its own, after loading and NumPy's import."""
    import numpy  # noqa: F401

    from prunedbpe import Tokenizer

    on_one_core()
    text = Path(task["path"]).read_bytes()[:200_000].decode(errors="ignore")
    documents = [text[i * 4096 :][:4096] for i in range(20)]
    tokenizer = Tokenizer.load(task["vocabulary"])
    calls = [measure(lambda d=d: tokenizer.encode_to_numpy(d))[0]["wall"] for d in documents]
    return {"first": calls[0] * 1e6, "tenth": calls[9] * 1e6}


def load_child(task: Row) -> Row:
    started = time.perf_counter()
    from prunedbpe import Tokenizer

    imported = time.perf_counter()
    times = [measure(lambda: Tokenizer.load(task["vocabulary"]))[0]["wall"] for _ in range(REPEATS)]
    return {"import_ms": (imported - started) * 1e3, "load_ms": min(times) * 1e3}


def help_child(task: Row) -> Row:
    command = [str(Path(sys.executable).with_name("prunedbpe")), "--help"]
    run = measure(lambda: subprocess.run(command, check=True, capture_output=True))[0]
    return {"ms": run["wall"] * 1e3}


CHILDREN: dict[str, Callable[[Row], Row]] = {
    "hostile": hostile_child,
    "chunk": chunk_child,
    "learn": learn_child,
    "shortest": shortest_child,
    "start": start_child,
    "load": load_child,
    "help": help_child,
}


def report(rows: list[Row]) -> str:
    def of(job: str, **given: Any) -> list[Row]:
        found = [row for row in rows if row["job"] == job]
        return [row for row in found if given.items() <= row.items() and "error" not in row]

    lines = [[case, f"{least(of('hostile', case=case), 'ms'):.1f} ms"] for case in HOSTILE]
    for job, what, sizes in (
        ("chunk", "one chunk of {} MB encoded", CHUNK_MEGABYTES),
        ("learn", f"one chunk of {{}} MB learned, {MERGES} merges", LEARNED_MEGABYTES),
    ):
        for size in sizes:
            if found := of(job, megabytes=size):
                figures = f"{least(found, 'wall'):.2f} s, {median(found, 'rss_mb'):.0f} MB"
                lines.append([what.format(size), figures])
    first, tenth = least(of("start"), "first"), least(of("start"), "tenth")
    lines += [
        ["first and tenth call, new texts of 4 KB", f"{first:.0f} and {tenth:.0f} µs"],
        ["loading the vocabulary", f"{least(of('load'), 'load_ms'):.0f} ms"],
        ["`from prunedbpe import Tokenizer`", f"{least(of('load'), 'import_ms'):.0f} ms"],
        ["`prunedbpe --help`", f"{least(of('help'), 'ms'):.0f} ms"],
    ]
    names = list(dict.fromkeys(row["text"] for row in of("shortest")))
    table = []
    for title, suffix in (("unique chunks", ""), ("the text", "text_")):
        for kind, key in (("by rank", "rank"), ("fewest tokens", "shortest")):
            best = [max(row[suffix + key] for row in of("shortest", text=name)) for name in names]
            table.append([f"{title}, {kind}", *(f"{rate:.0f}" for rate in best)])
        ratios = [
            max(row[f"{suffix}shortest"] for row in of("shortest", text=name))
            / max(row[f"{suffix}rank"] for row in of("shortest", text=name))
            for name in names
        ]
        table.append([f"**{title}, ratio**", *(f"**{ratio:.2f}**" for ratio in ratios)])
    return f"{markdown(['', 'best'], lines)}\n\n{markdown(['MB/s', *names], table)}"


if __name__ == "__main__":
    main()
