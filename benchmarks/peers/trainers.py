"""Trainers: a text file and a number of merges -> learned tokens, in order.

Each library reads the text the way its documentation recommends for speed. Add a library with one
function under ``@trainer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

BYTES = 256
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Trainer:
    """One way to train.

    Attributes:
        split: The pretokenizer; only trainers of the same split are compared.
        reads_lines: Documents are lines; otherwise runs of lines of about 64 KB.
        run: Text file, number of merges -> whatever the library returns.
        tokens: The learned tokens of that result, in order.
    """

    split: str
    reads_lines: bool
    run: Callable[[str, int], Any]
    tokens: Callable[[Any], list[bytes]]


TRAINERS: dict[str, Trainer] = {}


def trainer(
    name: str, split: str, tokens: Callable[[Any], list[bytes]], *, reads_lines: bool
) -> Callable[[Callable[[str, int], Any]], None]:
    def register(run: Callable[[str, int], Any]) -> None:
        TRAINERS[name] = Trainer(split, reads_lines, run, tokens)

    return register


def documents(path: str, size: int = 1 << 16) -> Iterator[str]:
    """The file as strings of about ``size`` characters, cut at line ends."""
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
        while lines := file.readlines(size):
            yield "".join(lines)


def by_id(vocab: dict[Any, int]) -> list[Any]:
    return sorted(vocab, key=vocab.__getitem__)


def _gigatoken_tokens(made: Any) -> list[bytes]:
    return [left + right for left, right in made[1]]


@trainer("gigatoken", "gpt2", _gigatoken_tokens, reads_lines=True)
def _gigatoken(path: str, merges: int) -> Any:
    import gigatoken

    return gigatoken.train_bpe(path, BYTES + merges, [], separator=b"\n")


@trainer("ffbpe", "gpt2", lambda made: by_id(made.vocab)[BYTES:], reads_lines=False)
def _ffbpe(path: str, merges: int) -> Any:
    import ffbpe

    return ffbpe.train_bpe(documents(path), vocab_size=BYTES + merges)


def _tokenizers_tokens(made: Any) -> list[bytes]:
    from prunedbpe.exchange.byte_alphabet import from_byte_alphabet

    return [from_byte_alphabet(token) or b"" for token in by_id(made.get_vocab())[BYTES:]]


@trainer("tokenizers", "gpt2", _tokenizers_tokens, reads_lines=False)
def _tokenizers(path: str, merges: int) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    settings = trainers.BpeTrainer(
        vocab_size=BYTES + merges,
        show_progress=False,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(documents(path), settings)
    return tokenizer


def _rustbpe_tokens(made: Any) -> list[bytes]:
    return [bytes(token) for token, _ in made.get_mergeable_ranks()][BYTES:]


@trainer("rustbpe", "cl100k", _rustbpe_tokens, reads_lines=False)
def _rustbpe(path: str, merges: int) -> Any:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(documents(path), vocab_size=BYTES + merges, pattern=CL100K)
    return tokenizer


def _own(split: str, threads: int) -> Callable[[str, int], Any]:
    def run(path: str, merges: int) -> Any:
        import prunedbpe

        counts = prunedbpe.count(path, pretokenizer=split, threads=threads)
        return prunedbpe.learn(counts, merges, threads=threads)

    return run


def _own_tokens(made: Any) -> list[bytes]:
    tokens: list[bytes] = made.token_bytes[BYTES:]
    return tokens


OWN = {"gpt2": "prunedbpe (gpt2)", "cl100k": "prunedbpe (cl100k)"}
"""Our trainer by split, on all threads."""

for _split, _name in OWN.items():
    trainer(_name, _split, _own_tokens, reads_lines=True)(_own(_split, 0))
trainer("prunedbpe (gpt2), 1 thread", "gpt2", _own_tokens, reads_lines=True)(_own("gpt2", 1))
