"""The plain-Python reference against results of the implementation released with the paper."""

import json
from functools import partial

import pytest

from prunedbpe.reference import (
    count_chunks,
    encode,
    encoded_length,
    exposure,
    learn,
    pretokenize,
    prune,
    segment,
    spell,
    threshold_count,
)

REQUIRED = 740  # 1,000 visible tokens, less 256 bytes and four special tokens

split = partial(pretokenize.split, name="reference")


@pytest.fixture(scope="module")
def summary(golden):
    return json.loads((golden / "summary.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def counts(golden):
    """Chunk counts of the golden corpus: one document per line, without the line end."""
    corpus = (golden / "corpus.txt").read_text(encoding="utf-8")
    return count_chunks(corpus.removesuffix("\n").split("\n"), split)


@pytest.fixture(scope="module")
def learned(counts, summary):
    """The merges of the longest run; takes minutes."""
    return learn(counts, max(run["trained_to"] for run in summary["runs"].values()) - 256)


def spelled(token):
    """Return the third column: the text if it is printable, else the bytes."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return repr(token)
    return repr(token if any(character < " " for character in text) else text)


def vocabulary_files(vocabulary):
    """The text of ``vocab.txt`` and of ``inter_vocab.txt``."""
    strings, token_ids = spell(vocabulary.merges), vocabulary.token_ids

    def learned_line(rank):
        left, right = (token_ids[child] for child in vocabulary.merges[rank - 256])
        return f"{token_ids[rank]}\t({left}, {right})\t{spelled(strings[rank])}\t{rank}\n"

    visible = [f"{byte}\t(-1, -1)\t{spelled(bytes([byte]))}\t-1\n" for byte in range(256)]
    visible += map(learned_line, vocabulary.visible)
    visible += [f"{i}\t(-1, -1)\t{text!r}\t-1\n" for text, i in vocabulary.special_ids.items()]
    return "".join(visible), "".join(map(learned_line, vocabulary.internal))


def test_first_merges(golden, counts):
    lines = (golden / "standard" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    pairs = [tuple(json.loads(f"[{line.split(chr(9))[1][1:-1]}]")) for line in lines[256:276]]
    assert learn(counts, 20).merges == pairs


@pytest.mark.usefixtures("deep")
def test_whole_runs(golden, summary, counts, learned):
    for run in ("standard", "pruned-20", "pruned-30", "pruned-40"):
        check_whole_run(golden, summary, counts, learned, run)


def check_whole_run(golden, summary, counts, learned, run):
    expected = summary["runs"][run]
    merges = learned.merges[: expected["trained_to"] - 256]
    boundary_frequency = learned.frequencies[REQUIRED - 1]
    assert boundary_frequency == summary["boundary_frequency"]
    threshold = 0 if run == "standard" else run.removeprefix("pruned-") + "%"
    min_exposure = threshold_count(threshold, boundary_frequency)
    assert min_exposure == expected["min_exposure_count"]

    exposures = exposure(segment(merges, counts), len(merges))
    vocabulary = prune(merges, exposures, REQUIRED, min_exposure)
    files = tuple(
        (golden / run / name).read_text(encoding="utf-8")
        for name in ("vocab.txt", "inter_vocab.txt")
    )
    assert vocabulary_files(vocabulary) == files

    corpus = segment(vocabulary.merges, counts)
    length = encoded_length(corpus, vocabulary.merges, set(vocabulary.internal))
    assert length == expected["encoded_length_of_corpus"]
    with (golden / run / "encoded.jsonl").open(encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            assert encode(row["text"], vocabulary, split) == row["ids"], row["text"]
