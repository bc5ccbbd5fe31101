"""A tokenizer of transformers beside PreTrainedTokenizerFast with the same vocabulary.

    python benchmarks/bench_transformers.py --text english.txt --text chinese.txt

1. Learn 32,768 tokens on the texts and export them as tokenizer.json; both libraries get the same
   special tokens.
2. Verify: ids, masks, offsets and decoded texts of every case must be equal.
3. Time every case on documents of about 4 KB and on 10,000 lines, all cores. A child times all
   cases of one library; children of the two libraries alternate.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from common import Row, describe, parse_arguments, read_text, run_child, show, write_results
from peers.encoders import Files

LIBRARIES = ("prunedbpe", "PreTrainedTokenizerFast")
SIZES = {"documents": 4096, "short": 60}
SHORT_COUNT = 10_000
ROLES = {"eos_token": "<|end|>", "pad_token": "<|pad|>"}


def main() -> None:
    from vocabulary import vocabulary_of

    arguments = parse_arguments(__doc__ or "", {"time": time_cases}, megabytes=2)
    about = describe(arguments.texts)
    folder = str(vocabulary_of(arguments.texts))
    rows: list[Row] = []
    for number, text, kind in itertools.product(range(arguments.rounds), arguments.texts, SIZES):
        made = []
        for library in LIBRARIES:
            task = {"job": "time", "library": library, "text": text.name, "kind": kind}
            places = {"path": str(text), "vocabulary": folder}
            row = run_child({**task, **places, "megabytes": arguments.megabytes, "round": number})
            if "error" in row:
                sys.exit(f"{library}: {row['error']}")
            made.append(row)
        ours, theirs = (row.pop("digests") for row in made)
        wrong = [case for case in ours if ours[case] != theirs[case]]
        if wrong:
            sys.exit(f"{text.name}, {kind}: results of {', '.join(wrong)} differ")
        for case, seconds in made[0]["seconds"].items():
            ratio = made[1]["seconds"][case] / seconds
            show({"kind": kind, "text": text.name, "case": case, "ms": seconds * 1e3, "x": ratio})
        for row in made:
            seconds = row.pop("seconds")
            rows += [{**row, "case": case, "wall": seconds[case]} for case in seconds]
    write_results("transformers", about, rows)


def load(library: str, files: Files) -> Any:
    if library == "prunedbpe":
        from prunedbpe import Tokenizer
        from prunedbpe.integrations.transformers import PrunedBPETokenizer

        tokenizer = Tokenizer.load(files.standard)
        return PrunedBPETokenizer.from_tokenizer(tokenizer, **ROLES)
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(files.json), **ROLES)


def cases(tokenizer: Any, texts: list[str]) -> dict[str, Callable[[], Any]]:
    """What is timed, by name; ``one`` is a single short call."""
    ids = tokenizer(texts)["input_ids"]
    longest = max(ids, key=len)
    one = texts[0][:40]
    limit = max(4, len(longest) // 2)
    return {
        "plain": lambda: tokenizer(texts),
        "padding": lambda: tokenizer(texts, padding=True),
        "padding, np": lambda: tokenizer(texts, padding=True, return_tensors="np"),
        "padding, pt": lambda: tokenizer(texts, padding=True, return_tensors="pt"),
        "truncation": lambda: tokenizer(texts, truncation=True, max_length=limit),
        "offsets": lambda: tokenizer(texts, return_offsets_mapping=True),
        "decode": lambda: [tokenizer.decode(row) for row in ids[:1000]],
        "batch_decode": lambda: tokenizer.batch_decode(ids, skip_special_tokens=True),
        "one": lambda: [tokenizer(one) for _ in range(1000)][-1],
    }


def time_cases(task: Row, tokenizer: Any = None) -> Row:
    tokenizer = tokenizer or load(task["library"], Files(Path(task["vocabulary"])))
    texts = pieces(read_text(task["path"], task["megabytes"]), SIZES[task["kind"]])
    if task["kind"] == "short":
        texts = texts[:SHORT_COUNT]
    digests, seconds = {}, {}
    for name, job in cases(tokenizer, texts).items():
        digests[name] = digest(job())  # the first call fills the caches
        times = []
        for _ in range(3):
            started = time.perf_counter()
            made = job()
            times.append(time.perf_counter() - started)
            del made
        seconds[name] = min(times)
    return {"texts": len(texts), "digests": digests, "seconds": seconds}


def pieces(text: str, size: int) -> list[str]:
    """Cut at line ends into texts of at least ``size`` characters."""
    texts, part, length = [], [], 0
    for line in text.splitlines(keepends=True):
        part.append(line)
        length += len(line)
        if length >= size:
            texts.append("".join(part))
            part, length = [], 0
    return texts


def digest(made: Any) -> str:
    """The same for equal results, whether lists, arrays or tensors."""
    if isinstance(made, list):
        plain: Any = made
    else:
        plain = {
            key: made[key].tolist() if hasattr(made[key], "tolist") else made[key]
            for key in ("input_ids", "attention_mask", "offset_mapping")
            if key in made
        }
    return hashlib.sha256(repr(plain).encode()).hexdigest()


if __name__ == "__main__":
    main()
