"""Trainers: path and number of merges -> what a library learned.

Each reads the text the way its library documents as the quick one. What it shows of its result are
merges as pairs of bytes, or learned tokens in order, or nothing. Add a library by one function with
``@trainer``.
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
class Learned:
    """What a library tells about its result; at most one of the two is there."""

    pairs: list[tuple[bytes, bytes]] | None = None
    tokens: list[bytes] | None = None


@dataclass(frozen=True)
class Trainer:
    split: str
    run: Callable[[str, int], Any]
    show: Callable[[Any], Learned]
    remark: str

    @property
    def reads_lines(self) -> bool:
        """Whether its documents are lines; otherwise chunks may reach over line ends."""
        return self.remark.endswith("documents are lines")


TRAINERS: dict[str, Trainer] = {}


def trainer(
    name: str, split: str, remark: str, show: Callable[[Any], Learned] = lambda made: Learned()
) -> Callable[[Callable[[str, int], Any]], Callable[[str, int], Any]]:
    def keep(run: Callable[[str, int], Any]) -> Callable[[str, int], Any]:
        TRAINERS[name] = Trainer(split, run, show, remark)
        return run

    return keep


def documents(path: str, size: int = 1 << 16) -> Iterator[str]:
    """The file as strings of about ``size`` characters, cut at line ends."""
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
        part: list[str] = []
        length = 0
        for line in file:
            part.append(line)
            length += len(line)
            if length >= size:
                yield "".join(part)
                part, length = [], 0
        if part:
            yield "".join(part)


@trainer(
    "gigatoken",
    "gpt2",
    "maps the file, documents are lines",
    lambda made: Learned(pairs=made[1]),
)
def _gigatoken(path: str, merges: int) -> Any:
    import gigatoken

    return gigatoken.train_bpe(path, BYTES + merges, [], separator=b"\n")


@trainer("ffbpe", "gpt2", "documents of 64 KB")
def _ffbpe(path: str, merges: int) -> Any:
    import ffbpe

    return ffbpe.train_bpe(documents(path), vocab_size=BYTES + merges)


@trainer(
    "rustbpe",
    "cl100k",
    "documents of 64 KB",
    lambda made: Learned(tokens=[bytes(token) for token, _ in made.get_mergeable_ranks()][BYTES:]),
)
def _rustbpe(path: str, merges: int) -> Any:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(documents(path), vocab_size=BYTES + merges, pattern=CL100K)
    return tokenizer


@trainer("fast-bpe-rs", "cl100k", "a list of documents of 64 KB")
def _fast_bpe_rs(path: str, merges: int) -> Any:
    import fast_bpe_rs

    model = fast_bpe_rs.BPE(CL100K)
    model.train(BYTES + merges, list(documents(path)))
    return model


@trainer("tokenizers", "gpt2", "ByteLevel, train(files): documents are lines")
def _tokenizers(path: str, merges: int) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    how = trainers.BpeTrainer(
        vocab_size=BYTES + merges,
        show_progress=False,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train([path], how)
    return tokenizer


def _own(split: str, threads: int) -> Callable[[str, int], Any]:
    def run(path: str, merges: int) -> Any:
        import prunedbpe
        from prunedbpe.corpus import Corpus

        counts = prunedbpe.count(Corpus(path), pretokenizer=split, threads=threads)
        return prunedbpe.learn(counts, merges, threads=threads)

    return run


for _split in ("gpt2", "cl100k"):
    for _threads, _name in ((0, "prunedbpe"), (1, "prunedbpe, 1 thread")):
        TRAINERS[f"{_name} ({_split})"] = Trainer(
            _split,
            _own(_split, _threads),
            lambda made: Learned(pairs=pairs_of(made)),
            "documents are lines",
        )


def pairs_of(merges: Any) -> list[tuple[bytes, bytes]]:
    """The merges of this library as pairs of bytes."""
    spelled = merges.token_bytes
    return [(spelled[left], spelled[right]) for left, right in merges.pairs.tolist()]
