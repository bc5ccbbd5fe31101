"""Encodings, id for id those of the implementation released with the paper."""

from __future__ import annotations

import json

import pytest

from prunedbpe import Tokenizer
from prunedbpe.vocabulary.vocabulary_files import read_paper_files

RUNS = ("standard", "pruned-20", "pruned-30", "pruned-40")


@pytest.fixture(scope="module", params=RUNS)
def tokenizer_and_rows(golden, request):
    folder = golden / request.param
    with (folder / "encoded.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert rows
    return Tokenizer(read_paper_files(folder), "reference"), rows


def test_ids(tokenizer_and_rows):
    tokenizer, rows = tokenizer_and_rows
    assert [tokenizer.encode(row["text"]) for row in rows] == [row["ids"] for row in rows]


def test_ids_with_special_tokens(tokenizer_and_rows):
    tokenizer, rows = tokenizer_and_rows
    assert [tokenizer.encode(row["text"], allowed_special="all") for row in rows] == [
        row["ids_with_special"] for row in rows
    ]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batch(tokenizer_and_rows, threads):
    tokenizer, rows = tokenizer_and_rows
    texts = [row["text"] for row in rows]
    assert tokenizer.encode_batch(texts, threads=threads) == [row["ids"] for row in rows]


def test_round_trip(tokenizer_and_rows):
    tokenizer, rows = tokenizer_and_rows
    for row in rows:
        assert tokenizer.decode(row["ids"], errors="strict") == row["text"]
        assert tokenizer.decode(row["ids_with_special"], errors="strict") == row["text"]
