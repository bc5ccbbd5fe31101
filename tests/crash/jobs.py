"""The commands that are killed: what was there before, what they do, what must be whole after.

In commands ``{i}`` is the folder of inputs, ``{w}`` the folder that is watched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prunedbpe import ChunkCounts, MergeTable, Tokenizer
from prunedbpe.encoded import FILE_FORMATS, read_documents
from prunedbpe.exchange.importing import import_tokenizer

Reader = Callable[[Path], object]


@dataclass(frozen=True)
class Job:
    """A command that writes files.

    Attributes:
        name: For messages.
        command: What is killed.
        before: Makes the old result; empty if there is none.
        reader: Reads the result, as a user would.
        sets: Beginnings of file names. All files of a set must be old, or all new. What is in no
            set must be resumable: the same command does the rest.
    """

    name: str
    command: str
    before: str
    reader: Reader
    sets: tuple[str, ...] = ("",)


def _load(name: str) -> Reader:
    return lambda folder: Tokenizer.load(folder / name)


def _import(name: str) -> Reader:
    return lambda folder: import_tokenizer(folder / name)


def _documents(pattern: str) -> Reader:
    return lambda folder: [list(read_documents(path)) for path in sorted(folder.glob(pattern))]


def _encode_jobs() -> list[Job]:
    jobs = []
    for format_ in FILE_FORMATS:
        to_file = f"--format {format_} -o {{w}}/x"
        jobs.append(
            Job(
                f"encode to {format_}",
                f"encode {{i}}/pruned {{i}}/new {to_file}",
                f"encode {{i}}/pruned {{i}}/old {to_file}",
                lambda folder: list(read_documents(folder / "x")),
            )
        )
        per_file = f"--per-file --format {format_} -o {{w}}/out"
        jobs.append(
            Job(
                f"encode to {format_} per file",
                f"encode {{i}}/pruned {{i}}/new {per_file}",
                f"encode {{i}}/standard {{i}}/new {per_file}",
                _documents(f"out/0000?.{format_}"),
                ("out/00000", "out/00001"),
            )
        )
    return [
        *jobs,
        Job(
            "encode to jsonl where npy was",
            "encode {i}/pruned {i}/new --format jsonl -o {w}/x",
            "encode {i}/pruned {i}/old --format npy -o {w}/x",
            lambda folder: list(read_documents(folder / "x")),
        ),
        Job(
            "encode to bin where jsonl was",
            "encode {i}/pruned {i}/new --format bin -o {w}/x",
            "encode {i}/pruned {i}/old --format jsonl -o {w}/x",
            lambda folder: list(read_documents(folder / "x")),
        ),
    ]


_TRAIN = "train {i}/new --vocab-size 300 --run-dir {w}/run -o {w}/tok --checkpoint-seconds 0"

JOBS = [
    Job(
        "train",
        f"{_TRAIN} --threshold 60% --checkpoint-at 280",
        "",
        _load("tok"),
        ("tok/",),
    ),
    Job(
        "train over another tokenizer, from a run of fewer merges",
        f"{_TRAIN} --threshold 60% --force",
        f"{_TRAIN} --threshold 0".replace("300", "270"),
        _load("tok"),
        ("tok/",),
    ),
    Job(
        "train from the beginning",
        f"{_TRAIN} --threshold 60% --no-resume --force",
        f"{_TRAIN} --threshold 0",
        _load("tok"),
        ("tok/",),
    ),
    Job("auto", f"{_TRAIN} --threshold auto", "", _load("tok"), ("tok/",)),
    Job(
        "auto with shortest",
        f"{_TRAIN} --threshold auto --segmentation shortest".replace("300", "268"),
        "",
        _load("tok"),
        ("tok/",),
    ),
    Job(
        "count",
        "count {i}/new -o {w}/c.parquet",
        "count {i}/old -o {w}/c.parquet",
        lambda folder: ChunkCounts.load(folder / "c.parquet"),
    ),
    Job(
        "count that saves what it has after every file",
        "count {i}/new -o {w}/c.parquet --checkpoint-seconds 0",
        "count {i}/old -o {w}/c.parquet",
        lambda folder: ChunkCounts.load(folder / "c.parquet"),
        (),
    ),
    Job(
        "reduce",
        "count --reduce {i}/shards/0.parquet {i}/shards/1.parquet -o {w}/c.parquet",
        "count {i}/old -o {w}/c.parquet",
        lambda folder: ChunkCounts.load(folder / "c.parquet"),
    ),
    Job(
        "learn",
        "learn {i}/counts.parquet --merges 60 --checkpoint-seconds 0 -o {w}/m.parquet",
        "learn {i}/counts.parquet --merges 20 -o {w}/m.parquet",
        lambda folder: MergeTable.load(folder / "m.parquet"),
        (),
    ),
    Job(
        "save over a tokenizer",
        "train {i}/new --vocab-size 300 -o {w}/tok --force",
        "train {i}/old --vocab-size 290 --threshold 0 -o {w}/tok",
        _load("tok"),
    ),
    Job(
        "save an import over an import",
        "import {i}/stock.json -o {w}/tok --force",
        "import {i}/stock-old.json -o {w}/tok",
        _load("tok"),
    ),
    Job(
        "save an import over a tokenizer",
        "import {i}/stock.json -o {w}/tok --force",
        "train {i}/old --vocab-size 290 --threshold 0 -o {w}/tok",
        _load("tok"),
    ),
    *(
        Job(
            f"export to {name}",
            f"export {{i}}/{{0}} {name} -o {{w}}/{output}".replace("{0}", tokenizer),
            f"export {{i}}/standard-old {name} -o {{w}}/{output}",
            reader,
        )
        for name, tokenizer, output, reader in (
            ("huggingface", "standard", "hf", _import("hf")),
            ("tiktoken", "standard", "x.tiktoken", _import("x.tiktoken")),
            ("paper", "pruned", "paper", _import("paper")),
            ("decode-table", "pruned", "table", lambda folder: None),
        )
    ),
    *_encode_jobs(),
]
