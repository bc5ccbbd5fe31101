"""Time and memory of choosing tokens for the shortest segmentation: 10, 20, 40, 80, 160 MB.

    python benchmarks/bench_choose.py --text mixed.txt --text multilingual.txt

Texts are cut as in bench_growth.py. Each size counts by source, learns Standard BPE of 16,000
tokens, then chooses 16,000 tokens from twice as many merges; the clock of a step starts when the
step before it is done. One and all threads must choose the same tokens.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench_growth import grow
from common import Row, measure

VOCAB_SIZE = 16_000
RATIO = 2.0


def main() -> None:
    grow("choose", choose, "choose", __doc__ or "")


def choose(task: Row) -> Row:
    import prunedbpe
    from prunedbpe.visibility.fewest import FewestCorpus

    parts: Row = {}
    threads = task["threads"] or None

    def run() -> None:
        started = time.perf_counter()
        sources = prunedbpe.count_by_source(task["path"], threads=threads)
        parts["count"] = time.perf_counter() - started
        learner = prunedbpe.Learner(sources.total, threads=threads)
        learner.reach(VOCAB_SIZE - 260)
        parts["learn"] = time.perf_counter() - started - parts["count"]
        chosen = prunedbpe.prune(
            learner,
            VOCAB_SIZE,
            threshold="auto",
            segmentation="shortest",
            candidate_ratio=RATIO,
            sources=sources,
            threads=threads,
        )
        parts["choose"] = time.perf_counter() - started - parts["count"] - parts["learn"]
        parts["digest"] = hashlib.sha256(b"".join(chosen.vocab_bytes())).hexdigest()[:16]
        parts["sources"] = len(sources)
        parts["unique_bytes"] = len(sources.total.data)
        parts["unique_chunks"] = len(sources.total)
        merges = learner.reach(0).head(int((VOCAB_SIZE - 260) * RATIO))
        parts["chooser_bytes"] = FewestCorpus(merges, sources, threads=threads).memory

    return {**measure(run)[0], **parts}


if __name__ == "__main__":
    main()
