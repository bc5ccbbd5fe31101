"""Worst cases, and what a process pays before its first token.

    python benchmarks/bench_limits.py --text mixed.txt

1. Encode a megabyte that offers no place to cut it, and one chunk of 25 and of 100 MB: time and
   memory must grow with the chunk, not faster. Each text must decode to itself.
2. Learn on one chunk: up to 50 MB of the texts without any cut (pretokenizer ``none``).
3. Import the package, run ``--help``, load a vocabulary, encode for the first time.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    Row,
    describe,
    measure,
    on_one_core,
    parse_arguments,
    read_text,
    run_child,
    show,
    write_results,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MERGES = 16_000


def letters(megabytes: int) -> str:
    return "".join(random.Random(1).choices(LETTERS, k=10**6 + 3)) * megabytes


HOSTILE: dict[str, Callable[[], str]] = {
    "encode 1 MB of random letters": lambda: letters(1),
    "encode 1 MB of spaces": lambda: " " * 10**6,
    "encode 1 MB of one emoji sequence": lambda: "👩‍👩‍👧‍👦" * 40_000,
    "encode one chunk of 25 MB": lambda: letters(25),
    "encode one chunk of 100 MB": lambda: letters(100),
}


def main() -> None:
    from vocabulary import vocabulary_of

    arguments = parse_arguments(__doc__ or "", CHILDREN)
    about = describe(arguments.texts)
    shared = {"vocabulary": str(vocabulary_of(arguments.texts) / "standard")}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        tasks: list[Row] = [{"job": "encode", "case": case} for case in HOSTILE]
        tasks += write_chunks(arguments.texts, Path(folder))
        tasks += [{"job": "start", "path": str(arguments.texts[0])}, {"job": "help"}]
        for number, task in itertools.product(range(arguments.rounds), tasks):
            rows.append(show(run_child({**shared, **task, "round": number})))
    write_results("limits", about, rows)


def write_chunks(texts: list[Path], folder: Path) -> list[Row]:
    """One document of 12 and of 50 MB, if there is enough text; a ``.md`` file is one document."""
    whole = "".join(read_text(text) for text in texts).encode()
    tasks = []
    for megabytes in (12, 50):
        if len(whole) >= megabytes * 10**6:
            path = folder / f"{megabytes}.md"
            path.write_text(whole[: megabytes * 10**6].decode(errors="ignore"), encoding="utf-8")
            case = f"learn {MERGES:,} merges on one chunk of {megabytes} MB"
            tasks.append({"job": "learn", "case": case, "path": str(path)})
    return tasks


def encode(task: Row) -> Row:
    from prunedbpe import Tokenizer

    on_one_core()
    tokenizer = Tokenizer.load(task["vocabulary"])
    text = HOSTILE[task["case"]]()
    sample = text[: 10**6]
    if tokenizer.decode(tokenizer.encode_to_numpy(sample)) != sample:
        raise AssertionError("the text does not decode to itself")
    return measure(lambda: tokenizer.encode_to_numpy(text))[0]


def learn(task: Row) -> Row:
    import prunedbpe

    counts = prunedbpe.count(task["path"], pretokenizer="none")
    if len(counts) != 1:
        raise AssertionError(f"{len(counts)} chunks instead of one")
    return measure(lambda: prunedbpe.learn(counts, MERGES))[0]


def start(task: Row) -> Row:
    """Import, load, and encode twenty texts of 4 KB for the first time; milliseconds."""
    started = time.perf_counter()
    from prunedbpe import Tokenizer

    imported = time.perf_counter()
    tokenizer = Tokenizer.load(task["vocabulary"])
    loaded = time.perf_counter()
    text = read_text(task["path"], 0.2)
    calls = [
        measure(lambda i=i: tokenizer.encode(text[i * 4096 :][:4096]))[0]["wall"] for i in range(20)
    ]
    return {
        "import_ms": (imported - started) * 1e3,
        "load_ms": (loaded - imported) * 1e3,
        "first_ms": calls[0] * 1e3,
        "tenth_ms": calls[9] * 1e3,
    }


def command_help(task: Row) -> Row:
    command = [str(Path(sys.executable).with_name("prunedbpe")), "--help"]
    run = measure(lambda: subprocess.run(command, check=True, capture_output=True))[0]
    return {"help_ms": run["wall"] * 1e3}


CHILDREN = {"encode": encode, "learn": learn, "start": start, "help": command_help}

if __name__ == "__main__":
    main()
