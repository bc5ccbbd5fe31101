"""Training beside other libraries: corpus -> merges, each run in a process of its own.

    python benchmarks/bench_train.py --text en.txt --text multi.txt

1. Verifies. Libraries break ties differently, so merges may differ although both are right. The
   merges of every library that shows them are replayed on counts of the same documents; the encoded
   length must be ours within 0.1 %.
2. Times every library in rounds, so that a slow moment of the machine hits all of them. The clock
   starts before the library is imported. A ratio is the fastest peer of the same split against us.
   Our own runs are short, so a round has twelve of each, taking turns, and their medians count: a
   run that finds the memory of the machine cold takes half as long again, and which one does is
   chance.
3. The whole pruned run (Standard BPE, reallocation, visibility, both tokenizers saved) against
   Standard BPE alone: two processes, whose memory may be cold or not, and what is added to the
   Standard stage by the clock inside one.

Writes one JSON into results/ and, with --fill, the tables into README.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
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
    measure,
    median,
    parse_arguments,
    texts_of,
    write_results,
)
from competitors.trainers import BYTES, TRAINERS, Learned, documents, pairs_of

TOLERANCE = 1e-3
OWN_RUNS = 12
"""Of each kind in a round. A second or less is soon doubled by a busy machine."""
WHOLE_RUNS = ("Standard alone", "pruned and Standard")
OWN_TRAINERS = [name for name in TRAINERS if name.startswith("prunedbpe")]
DEFAULT_PEERS = ("gigatoken", "ffbpe", "rustbpe", "fast-bpe-rs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_text_argument(parser)
    parser.add_argument("--merges", type=int, action="append", help="default: 16000 and 32000")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peer", action="append", help=f"default: {', '.join(DEFAULT_PEERS)}")
    parser.add_argument("--no-verify", action="store_true")
    arguments = parse_arguments(parser, lambda task: CHILDREN[task["job"]](task))
    texts = texts_of(arguments)
    sizes = arguments.merges or [16_000, 32_000]
    peers = arguments.peer or list(DEFAULT_PEERS)
    own_jobs = [("time", name) for name in OWN_TRAINERS] + [("whole", name) for name in WHOLE_RUNS]
    about = describe(texts)
    rows: list[Row] = []
    for text in texts:
        for peer in [] if arguments.no_verify else peers:
            rows.append(child("verify", text, sizes[0], peer))
            show(rows[-1])
            if rows[-1].get("verified") is False:
                sys.exit("results differ: nothing is timed")
    for size in sizes:
        for round_number in range(arguments.rounds):
            for text in texts:
                for job, name in [("time", name) for name in peers] + own_jobs * OWN_RUNS:
                    rows.append({**child(job, text, size, name), "round": round_number})
                    show(rows[-1])
    tables = report(rows, [text.name for text in texts], sizes, peers)
    print(f"\n{tables}\n\n{write_results('train', about, rows)}")
    if arguments.fill:
        runs = f"medians of {arguments.rounds}, of our own {arguments.rounds * OWN_RUNS}."
        fill_table("train", f"{heading(about)}, {runs}\n\n{tables}")


def child(job: str, text: Path, merges: int, name: str) -> Row:
    task = {"job": job, "path": str(text), "text": text.name, "merges": merges, "name": name}
    return {**task, **in_child([json.dumps(task)])}


def show(row: Row) -> None:
    print(f"{row['text']:14} {row['merges']:6} {row['name']:32}", end=" ")
    if "error" in row:
        print(row["error"])
    elif row["job"] == "verify":
        print(row["remark"])
    else:
        print(f"{row['wall']:7.2f} s  cpu {row['cpu']:7.2f} s  {row['rss_mb']:6.0f} MB", flush=True)


def time_child(task: Row) -> Row:
    return measure(lambda: TRAINERS[task["name"]].run(task["path"], task["merges"]))[0]


def whole_child(task: Row) -> Row:
    """From the corpus to saved tokenizers: Standard alone, or pruned and Standard from one run."""

    def run() -> float:
        import prunedbpe
        from prunedbpe.corpus import Corpus
        from prunedbpe.types import DEFAULT_SPECIAL_TOKENS

        vocab_size = BYTES + task["merges"] + len(DEFAULT_SPECIAL_TOKENS)
        counts = prunedbpe.count(Corpus(task["path"]), pretokenizer="gpt2")
        learner = prunedbpe.Learner(counts)
        with tempfile.TemporaryDirectory() as folder:
            standard = prunedbpe.prune(learner, vocab_size, threshold=0)
            standard.save(f"{folder}/standard")
            begun = time.perf_counter()
            if task["name"] == WHOLE_RUNS[1]:
                pruned = prunedbpe.prune(learner, vocab_size, threshold="40%")
                pruned.save(f"{folder}/pruned")
            return time.perf_counter() - begun

    row, added = measure(run)
    return {**row, "added": added}


def verify_child(task: Row) -> Row:
    import prunedbpe
    from prunedbpe.corpus import Corpus

    peer = TRAINERS[task["name"]]
    learned = peer.show(peer.run(task["path"], task["merges"]))
    pairs = learned_pairs(learned)
    if pairs is None:
        return {"verified": None, "remark": "shows no merges: not verified"}
    corpus = Corpus(task["path"])
    if not peer.reads_lines:
        corpus = Corpus.from_texts(documents(task["path"]))
    counts = prunedbpe.count(corpus, pretokenizer=peer.split)
    ours = prunedbpe.learn(counts, len(pairs))
    lengths = []
    for merges in (ours, merges_from(pairs, ours)):
        applied = prunedbpe.replay(merges, counts)
        lengths.append(applied.total_bytes - int(applied.replacements.sum()))
    own_pairs = pairs_of(ours)
    same = next((i for i, pair in enumerate(pairs) if pair != own_pairs[i]), len(pairs))
    shared = len({left + right for left, right in pairs} & set(ours.token_bytes))
    off = lengths[1] / lengths[0] - 1
    return {
        "verified": abs(off) <= TOLERANCE,
        "same_merges_first": same,
        "shared_tokens": shared,
        "encoded_length": lengths[0],
        "encoded_length_of_peer": lengths[1],
        "remark": f"first {same} merges the same, {shared} of {len(pairs)} tokens shared, "
        f"encoded length {off:+.5%}",
    }


def learned_pairs(learned: Learned) -> list[tuple[bytes, bytes]] | None:
    """Pairs of a library; where it shows only tokens, each is cut by the ones before it."""
    if learned.tokens is None:
        return learned.pairs
    rank = {bytes([byte]): byte for byte in range(BYTES)}
    pairs = []
    for token in learned.tokens:
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            ranks = [rank.get(a + b, sys.maxsize) for a, b in itertools.pairwise(parts)]
            at = ranks.index(min(ranks))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        pairs.append((parts[0], parts[1]))
        rank[token] = len(rank)
    return pairs


def merges_from(pairs: list[tuple[bytes, bytes]], like: Any) -> Any:
    from prunedbpe.merges import MergeTable
    from prunedbpe.records import replace

    rank = {bytes([byte]): byte for byte in range(BYTES)}
    ranks = []
    for left, right in pairs:
        ranks.append((rank[left], rank[right]))
        rank.setdefault(left + right, BYTES + len(ranks) - 1)
    return replace(MergeTable.from_pairs(ranks), pretokenizer=like.pretokenizer)


def report(rows: list[Row], texts: list[str], sizes: list[int], peers: list[str]) -> str:
    timed = [row for row in rows if row["job"] != "verify" and "error" not in row]

    def of(text: str, size: int, name: str) -> list[Row]:
        key = (text, size, name)
        return [row for row in timed if (row["text"], row["merges"], row["name"]) == key]

    def cell(found: list[Row]) -> str:
        if not found:
            return "–"
        walls = [row["wall"] for row in found]
        spread = (max(walls) - min(walls)) / min(walls)
        return (
            f"{median(found, 'wall'):.2f} s (cpu {median(found, 'cpu'):.2f}, "
            f"{median(found, 'rss_mb'):.0f} MB, ±{spread / 2:.0%})"
        )

    columns = [(text, size) for text in texts for size in sizes]
    header = ["", *(f"{text} {size}" for text, size in columns)]
    names = [*peers, *OWN_TRAINERS, *WHOLE_RUNS]
    table = [[name, *(cell(of(*column, name)) for column in columns)] for name in names]
    ratios = []
    for split in ("gpt2", "cl100k"):
        own, alone = f"prunedbpe ({split})", f"prunedbpe, 1 thread ({split})"
        same_split = [name for name in peers if TRAINERS[name].split == split]
        for title, reference, key in (
            (f"{split}: fastest peer / us, wall", same_split, "wall"),
            (f"{split}: leanest peer / us, memory", same_split, "rss_mb"),
            (f"{split}: one thread / all threads, wall", [alone], "wall"),
        ):
            line = [title]
            for column in columns:
                theirs = [median(of(*column, name), key) for name in reference if of(*column, name)]
                ours = of(*column, own)
                ratio = f"**{min(theirs) / median(ours, key):.2f}**" if theirs and ours else "–"
                line.append(ratio)
            ratios.append(line)
    line = ["pruned run / Standard alone, wall"]
    for column in columns:
        alone_rows, both = (of(*column, name) for name in WHOLE_RUNS)
        ratio = f"**{median(both, 'wall') / median(alone_rows, 'wall'):.3f}**" if both else "–"
        line.append(ratio)
    ratios.append(line)
    line = ["the same by the clock inside"]
    for column in columns:
        both = of(*column, WHOLE_RUNS[1])
        parts = [row["wall"] / (row["wall"] - row["added"]) for row in both]
        line.append(f"**{statistics.median(parts):.3f}**" if parts else "–")
    ratios.append(line)
    return markdown(header, table) + "\n\n" + markdown(["ratio", *header[1:]], ratios)


CHILDREN = {"time": time_child, "whole": whole_child, "verify": verify_child}


if __name__ == "__main__":
    main()
