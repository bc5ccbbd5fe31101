"""Accelerated tokenizers beside the tokenizers of transformers that they replace.

    PRUNEDBPE_BENCH_TOKENIZERS=gpt2:llama3:qwen python benchmarks/bench_accelerate.py --text a.txt

The folders hold a tokenizer each, as AutoTokenizer loads it. Without the variable, nothing is
measured. The cases are those of bench_transformers.py; results are compared before they are timed.
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bench_transformers import LIBRARIES, SIZES, time_cases
from common import Row, describe, parse_arguments, run_child, show, write_results

FOLDERS_VARIABLE = "PRUNEDBPE_BENCH_TOKENIZERS"


def main() -> None:
    arguments = parse_arguments(__doc__ or "", {"time": time_folder}, megabytes=2)
    folders = [
        Path(name) for name in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if name
    ]
    if not folders:
        print(f"skipped: set {FOLDERS_VARIABLE} to folders, separated by {os.pathsep!r}")
        return
    rows: list[Row] = []
    runs = itertools.product(range(arguments.rounds), folders, arguments.texts, SIZES)
    for number, folder, text, kind in runs:
        made = []
        for library in LIBRARIES:
            task = {"job": "time", "library": library, "text": text.name, "kind": kind}
            task |= {"tokenizer": folder.name, "megabytes": arguments.megabytes, "round": number}
            row = run_child({**task, "path": str(text), "vocabulary": str(folder)})
            if "error" in row:
                sys.exit(f"{folder}, {library}: {row['error']}")
            made.append(row)
        ours, theirs = (row.pop("digests") for row in made)
        wrong = [case for case in ours if ours[case] != theirs[case]]
        if wrong:
            sys.exit(f"{folder}, {text.name}, {kind}: results of {', '.join(wrong)} differ")
        for case, seconds in made[0]["seconds"].items():
            ratio = made[1]["seconds"][case] / seconds
            about = {"tokenizer": folder.name, "kind": kind, "text": text.name, "case": case}
            show({**about, "ms": seconds * 1e3, "x": ratio})
        for row in made:
            seconds = row.pop("seconds")
            rows += [{**row, "case": case, "wall": seconds[case]} for case in seconds]
    write_results("accelerate", describe(arguments.texts), rows)


def load(task: Row) -> Any:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(task["vocabulary"])
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    if task["library"] == "prunedbpe":
        import prunedbpe

        return prunedbpe.accelerate(tokenizer)
    return tokenizer


def time_folder(task: Row) -> Row:
    return time_cases(task, load(task))


if __name__ == "__main__":
    main()
