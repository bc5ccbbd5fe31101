"""The law for files from outside: a load succeeds and round-trips, or fails with one of our errors.

How many damaged files a test tries is set from outside: ``PRUNEDBPE_FUZZ=3000`` tries as many of
each kind. ``PRUNEDBPE_FUZZ_SEED`` moves the first seed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import prunedbpe
from prunedbpe.errors import PrunedBPEError

ROUNDS = int(os.environ.get("PRUNEDBPE_FUZZ", "150"))
FIRST_SEED = int(os.environ.get("PRUNEDBPE_FUZZ_SEED", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + ROUNDS)
SECONDS = 20
"""No damage may make a load take longer than this; a load of the test files takes milliseconds."""

TEXTS = ("", "the cat's hat, 1949\n", "中文 é 👍🏽 <_EOS_>", "\x00\x7f\u0301 \u2028", "a" * 40)


def check_tokenizer(load: Callable[[], prunedbpe.Tokenizer], *files: Path) -> bool:
    """Load a tokenizer and check the law.

    Args:
        load: Loads it.
        files: What it loads from; an error must name one of them.

    Returns:
        Whether it loaded.
    """
    with time_limit():
        try:
            tok = load()
        except PrunedBPEError as error:
            assert any(file.name in str(error) for file in files), f"no file named: {error}"
            return False
        size = tok.vocab_size
        for text in TEXTS:
            ids = tok.encode(text)
            assert all(0 <= token_id < size for token_id in ids), (text, ids)
            assert tok.decode(ids) == tok.decode_bytes(ids).decode() == text
        for token, token_id in tok.special_tokens.items():
            assert tok.encode(token, allowed_special="all") == [token_id]
            assert tok.decode([token_id]) == token
    return True


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
