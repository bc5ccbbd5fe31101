"""Soak: threads encode for minutes while others load, save, train and fork. Run it by hand.

    python tests/soak/soak.py --minutes 10 --threads 8

Every result is compared with that of a single thread at the start. Prints the memory of the process
once a minute, and fails if anything raised, differed, or if memory grew after the first minute.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from cli_helpers import make_text
from strategies import AWKWARD_TEXTS

import prunedbpe
from prunedbpe._core import Encoder

PAGE = os.sysconf("SC_PAGE_SIZE")
GROWTH_ALLOWED = 32 << 20
"""Caches of chunks and of the allocator are not full after one minute."""


def resident_memory() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Soak:
    """What the threads share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self.is_over = threading.Event()
        text = make_text(1, 3000)
        lines = text.split("\n")
        self.texts = [*AWKWARD_TEXTS, *lines, text[:200_000]]
        by_rank = prunedbpe.train(iter(lines), vocab_size=800, threshold="40%")
        shortest = prunedbpe.train(
            iter(lines), vocab_size=800, threshold="auto", segmentation="shortest"
        )
        self.tokenizers = [by_rank, shortest]
        self.expected = [[tok.encode(text) for text in self.texts] for tok in self.tokenizers]
        for number, tok in enumerate(self.tokenizers):
            tok.save(folder / f"tok-{number}")

    def run(self, name: str, work: Callable[[random.Random], None], seed: int) -> None:
        """Repeat some work until time is over; note what it raises."""
        rng = random.Random(seed)
        while not self.is_over.is_set():
            try:
                work(rng)
            except BaseException as error:
                self.errors.append(f"{name}: {error!r}")
            self.done[name] += 1

    def encode(self, rng: random.Random) -> None:
        """Encode and decode a random part of the texts in a random way."""
        number = rng.randrange(len(self.tokenizers))
        tok, expected = self.tokenizers[number], self.expected[number]
        begin = rng.randrange(len(self.texts))
        end = min(len(self.texts), begin + rng.choice((1, 5, 500)))
        texts = self.texts[begin:end]
        if rng.random() < 0.5:
            found = tok.encode_batch(texts, threads=rng.choice((1, 2, 3)))
        else:
            ids, offsets = tok.encode_batch_to_numpy(texts, threads=rng.choice((1, 2)))
            found = [ids[a:b].tolist() for a, b in pairwise(offsets.tolist())]
        if found != expected[begin:end]:
            raise AssertionError("other ids")
        if [tok.decode(ids) for ids in found] != texts:
            raise AssertionError("another text")

    def load(self, rng: random.Random) -> None:
        """Load a tokenizer while others replace it."""
        number = rng.randrange(len(self.tokenizers))
        tok = prunedbpe.Tokenizer.load(self.folder / f"tok-{number}")
        place = rng.randrange(len(self.texts))
        if tok.encode(self.texts[place]) != self.expected[number][place]:
            raise AssertionError("other ids after loading")

    def save(self, rng: random.Random) -> None:
        """Replace a tokenizer by itself."""
        number = rng.randrange(len(self.tokenizers))
        self.tokenizers[number].save(self.folder / f"tok-{number}")
        time.sleep(0.05)

    def fork(self, rng: random.Random) -> None:
        """Encode in a child that is forked while other threads are in native code."""
        child = os.fork()
        if child == 0:
            try:
                tok, expected = self.tokenizers[0], self.expected[0]
                same = tok.encode_batch(self.texts[:300], threads=2) == expected[:300]
                os._exit(0 if same else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        if status:
            raise AssertionError(f"child ended with {status}")
        time.sleep(0.2)

    def train(self, rng: random.Random) -> None:
        """Train a small tokenizer."""
        tok = prunedbpe.train(iter(self.texts[:500]), vocab_size=300 + rng.randrange(50))
        if not isinstance(tok._encoder, Encoder):
            raise AssertionError("no encoder")


def main() -> int:
    """Run for the given time; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder))
        works = [("encode", soak.encode)] * arguments.threads
        works += [
            ("load", soak.load),
            ("save", soak.save),
            ("fork", soak.fork),
            ("train", soak.train),
        ]
        threads = [
            threading.Thread(target=soak.run, args=(name, work, seed))
            for seed, (name, work) in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        started = time.monotonic()
        sizes = []
        while (elapsed := time.monotonic() - started) < 60 * arguments.minutes:
            time.sleep(min(60.0, 60 * arguments.minutes - elapsed))
            gc.collect()
            sizes.append(resident_memory())
            print(f"{elapsed + 60:5.0f} s  {sizes[-1] >> 20} MB  {dict(soak.done)}", flush=True)
        soak.is_over.set()
        for thread in threads:
            thread.join()
    for error in soak.errors[:10]:
        print(error)
    grew = max(sizes) - sizes[0]
    print(f"{len(soak.errors)} errors; memory grew by {grew >> 20} MB after the first minute")
    return int(bool(soak.errors) or grew > GROWTH_ALLOWED)


if __name__ == "__main__":
    raise SystemExit(main())
