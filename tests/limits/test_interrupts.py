"""A signal stops long native calls: what its handler raises reaches the caller, and nothing else.

Every job here would take minutes. A test that hangs is a call that a signal does not stop.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from strategies import zipf_text

import prunedbpe
from prunedbpe import _core
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges import Learner

TEXT = zipf_text(2000)
TOKENIZER = prunedbpe.train(iter([TEXT]), vocab_size=400, threshold=0)
SHORTEST = prunedbpe.Tokenizer(TOKENIZER.vocabulary, "paper", {}, "shortest")
WITHOUT_CHUNKS = prunedbpe.Tokenizer(TOKENIZER.vocabulary, "none")
MANY = [TEXT] * 300_000
SHORT_TEXTS = TEXT.split("\n") * 30_000


class StopError(Exception):
    """What a user's handler may raise; Ctrl-C raises KeyboardInterrupt in the same way."""


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise StopError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(StopError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def count_one_batch(threads: int) -> None:
    data = np.frombuffer(TEXT.encode(), np.uint8)
    spans = np.tile(np.array([[0, len(data)]], np.int64), (300_000, 1))
    _core.ChunkCounter(threads).add_documents("paper", data, spans)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    "job",
    [
        lambda threads: TOKENIZER.encode_batch(MANY, threads=threads),
        lambda threads: TOKENIZER.encode_batch(SHORT_TEXTS, threads=threads),
        lambda threads: TOKENIZER.encode_batch_to_numpy(MANY, threads=threads),
        lambda threads: TOKENIZER.encode_batch_to_numpy(MANY, threads=threads, dropout=0.1),
        lambda threads: WITHOUT_CHUNKS.encode_batch_to_numpy(MANY, threads=threads),
        lambda threads: SHORTEST.encode_batch(MANY, threads=threads),
        count_one_batch,
    ],
    ids=["lists", "short texts", "arrays", "dropout", "one chunk", "shortest", "count"],
)
def test_a_long_call_is_stopped(job, threads):
    with stopped_after(0.3):
        job(threads)
    assert TOKENIZER.decode(TOKENIZER.encode(TEXT)) == TEXT


def test_calls_of_other_threads_go_on():
    result = []
    texts = [TEXT] * 2000
    thread = threading.Thread(target=lambda: result.append(TOKENIZER.encode_batch_to_numpy(texts)))
    with stopped_after(0.2):
        thread.start()
        TOKENIZER.encode_batch_to_numpy(MANY)
    thread.join()
    assert len(result[0][1]) == len(texts) + 1


def test_a_handler_that_raises_nothing_stops_nothing():
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        while len(calls) < 3:
            _, offsets = TOKENIZER.encode_batch_to_numpy([TEXT] * 500)
            assert len(offsets) == 501
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# A signal that comes while Python is in a destructor is lost: the next one has to do.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_learning_goes_on_after_an_interrupt():
    rng = np.random.default_rng(1)
    counts = ChunkCounts.from_mapping(
        {
            bytes(row): 1 + i % 7
            for i, row in enumerate(rng.integers(97, 105, (60_000, 12), np.uint8))
        }
    )
    expected = prunedbpe.learn(counts, 3000)
    learner = Learner(counts, threads=2)
    for seconds in (0.0005, 0.01, 0.03, 0.1):
        try:
            with stopped_after(seconds):
                learner.reach(3000)
        except pytest.fail.Exception:  # it was done before
            break
    merges = learner.reach(3000)
    assert np.array_equal(merges.pairs, expected.pairs)
    assert np.array_equal(merges.applied.replacements, expected.applied.replacements)
