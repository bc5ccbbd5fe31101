"""Training beside other libraries: text file -> merges.

    python benchmarks/bench_train.py --text mixed.txt --text english.txt

1. Verify on the first 4 MB of each text. Libraries break ties differently, so their merges may
   differ and still be right. Replay the merges of each library on counts of the same documents: the
   encoded lengths must agree within 0.1 %.
2. Time every library in rounds, so that a slow phase of the machine hits all of them. The clock
   starts before the library is imported.
3. Time the whole pruned run (Standard BPE, reallocation, visibility, both tokenizers saved), and
   how much of it pruning adds.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    Row,
    describe,
    measure,
    parse_arguments,
    read_text,
    run_child,
    show,
    write_results,
)
from peers.trainers import BYTES, TRAINERS, documents

TOLERANCE = 1e-3
VERIFIED_MEGABYTES = 4
VERIFIED_MERGES = 8_000


def main() -> None:
    arguments = parse_arguments(__doc__ or "", CHILDREN, merges=32_000)
    about = describe(arguments.texts)
    rows: list[Row] = []
    for text, name in itertools.product(arguments.texts, TRAINERS):
        task = {"job": "verify", "library": name, "text": text.name, "path": str(text)}
        rows.append(show(run_child(task)))
        if rows[-1].get("verified") is False:
            sys.exit(f"{name} learns other merges on {text.name}: nothing is timed")
    missing = {row["library"] for row in rows if "error" in row}
    for number, text in itertools.product(range(arguments.rounds), arguments.texts):
        shared = {"text": text.name, "path": str(text), "round": number, "merges": arguments.merges}
        for name, trainer in TRAINERS.items():
            if name in missing:
                continue
            task = {"job": "train", "library": name, "split": trainer.split, **shared}
            rows.append(show(run_child(task)))
        rows.append(show(run_child({"job": "prune", **shared})))
    write_results("train", about, rows)


def train(task: Row) -> Row:
    return measure(lambda: TRAINERS[task["library"]].run(task["path"], task["merges"]))[0]


def prune(task: Row) -> Row:
    def run() -> float:
        import prunedbpe
        from prunedbpe.types import DEFAULT_SPECIAL_TOKENS

        vocab_size = BYTES + task["merges"] + len(DEFAULT_SPECIAL_TOKENS)
        learner = prunedbpe.Learner(prunedbpe.count(task["path"], pretokenizer="gpt2"))
        with tempfile.TemporaryDirectory() as folder:
            prunedbpe.prune(learner, vocab_size, threshold=0).save(f"{folder}/standard")
            standard_done = time.perf_counter()
            prunedbpe.prune(learner, vocab_size, threshold="40%").save(f"{folder}/pruned")
            return time.perf_counter() - standard_done

    row, added = measure(run)
    return {**row, "added": added}


def verify(task: Row) -> Row:
    import prunedbpe

    peer = TRAINERS[task["library"]]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", newline="") as sample:
        sample.write(read_text(task["path"], VERIFIED_MEGABYTES))
        sample.flush()
        tokens = peer.tokens(peer.run(sample.name, VERIFIED_MERGES))
        corpus = sample.name if peer.reads_lines else documents(sample.name)
        counts = prunedbpe.count(corpus, pretokenizer=peer.split)
    ours = prunedbpe.learn(counts, len(tokens))
    merges = prunedbpe.MergeTable.from_pairs(pairs_of(tokens), ours.pretokenizer)
    theirs = prunedbpe.replay(merges, counts)
    lengths = [x.total_bytes - int(x.replacements.sum()) for x in (ours.applied, theirs)]
    off = lengths[1] / lengths[0] - 1
    return {"tokens": len(tokens), "length_off": off, "verified": abs(off) <= TOLERANCE}


def pairs_of(tokens: list[bytes]) -> list[tuple[int, int]]:
    """The merges behind learned tokens: each token is merged by the ranks before it."""
    rank = {bytes([byte]): byte for byte in range(BYTES)}
    pairs = []
    for token in tokens:
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            ranks = [rank.get(a + b, sys.maxsize) for a, b in itertools.pairwise(parts)]
            at = ranks.index(min(ranks))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        pairs.append((rank[parts[0]], rank[parts[1]]))
        rank.setdefault(token, BYTES + len(pairs) - 1)
    return pairs


CHILDREN = {"verify": verify, "train": train, "prune": prune}

if __name__ == "__main__":
    main()
