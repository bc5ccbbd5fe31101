"""Encoding and decoding beside other libraries.

    python benchmarks/bench_encode.py --text english.txt --text chinese.txt

1. Learn 32,768 tokens on the texts and export them for every library.
2. Verify: a library takes part if its ids of the first megabyte of each text equal ours. A pruned
   vocabulary has ids of its own; there the decoded text must be the original.
3. Time on the first 8 MB of each text, in MB of UTF-8 per second:
   single   documents of about 4 KB one by one, on one core, after other documents filled the caches
   batch    one batch call over all documents, all cores, caches empty
   decode   the ids of the whole text, on one core
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    DATA,
    Row,
    describe,
    on_one_core,
    parse_arguments,
    read_text,
    run_child,
    show,
    write_results,
)
from peers.encoders import ENCODERS, TOKENIZERS_RC, Encoder, Files

OWN = "prunedbpe"
DOCUMENT_BYTES = 4096


def main() -> None:
    from vocabulary import vocabulary_of

    arguments = parse_arguments(__doc__ or "", CHILDREN, megabytes=8)
    about = describe(arguments.texts)
    folder = str(vocabulary_of(arguments.texts))
    python_of = {name: python_for(entry.requirement) for name, entry in ENCODERS.items()}

    def child(job: str, name: str, text: Path, **more: int) -> Row:
        task = {"job": job, "library": name, "returns": ENCODERS[name].returns, "text": text.name}
        paths = {"path": str(text), "vocabulary": folder}
        return run_child(
            {**task, **paths, "megabytes": arguments.megabytes, **more}, python_of[name]
        )

    rows: list[Row] = []
    expected = {text: child("verify", OWN, text)["ids"] for text in arguments.texts}
    for name, text in itertools.product(list(ENCODERS), arguments.texts):
        row = child("verify", name, text)
        same = row.get("ids") == expected[text]
        row["verified"] = row.get("round_trip", False) if name.endswith("pruned") else same
        rows.append(show(row))
    excluded = {row["library"] for row in rows if not row["verified"]}
    for number, text in itertools.product(range(arguments.rounds), arguments.texts):
        for name, job in itertools.product(ENCODERS, ("single", "batch")):
            if name not in excluded:
                rows.append(show(child(job, name, text, round=number)))
    write_results("encode", about, rows)


def python_for(requirement: str) -> str:
    """The interpreter of a library; one with its own requirement gets its own environment."""
    if not requirement:
        return sys.executable
    folder = DATA / f"venv-{hashlib.sha256(requirement.encode()).hexdigest()[:8]}"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", "--pre", requirement]
        subprocess.run(install, check=True)
        (folder / "installed").touch()
    return str(python)


def documents(text: str) -> list[str]:
    """Runs of lines of about 4 KB."""
    made, lines, length = [], [], 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        length += len(line.encode())
        if length >= DOCUMENT_BYTES:
            made.append("".join(lines))
            lines, length = [], 0
    return [*made, "".join(lines)] if lines else made


def prepare(task: Row) -> Encoder:
    encoder = ENCODERS[task["library"]].make(Files(Path(task["vocabulary"])))
    encoder.one("warm up")  # lazy imports and thread pools; the caches stay empty
    return encoder


def seconds(job: Callable[[], Any]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def verify(task: Row) -> Row:
    encoder = prepare(task)
    text = read_text(task["path"], 1)
    ids = [int(i) for i in encoder.ids(encoder.one(text))]
    answer = {
        "ids": hashlib.sha256(repr(ids).encode()).hexdigest(),
        "round_trip": encoder.decode(ids) in (text, text.encode()),
    }
    if ENCODERS[task["library"]].requirement == TOKENIZERS_RC:
        answer["version"] = importlib.metadata.version("tokenizers")
    return answer


def single(task: Row) -> Row:
    on_one_core()
    encoder = prepare(task)
    text = read_text(task["path"], task["megabytes"])
    texts = documents(text)
    warm, timed = texts[1::2], texts[::2]

    def encode_all(texts: list[str]) -> None:
        for text in texts:
            encoder.one(text)

    encode_all(warm)
    taken = seconds(lambda: encode_all(timed))
    ids = [int(i) for i in encoder.ids(encoder.one(text))]
    decoding = seconds(lambda: encoder.decode(ids))
    return {"rate": megabytes(timed) / taken, "decode_rate": megabytes([text]) / decoding}


def batch(task: Row) -> Row:
    encoder = prepare(task)
    encoder.batch(["warm up"] * 64)
    texts = documents(read_text(task["path"], task["megabytes"]))
    return {"rate": megabytes(texts) / seconds(lambda: encoder.batch(texts))}


CHILDREN = {"verify": verify, "single": single, "batch": batch}

if __name__ == "__main__":
    main()
