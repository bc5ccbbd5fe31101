"""Vocabularies, byte for byte those of the implementation released with the paper."""

from __future__ import annotations

import json

import pytest

import prunedbpe
from prunedbpe import Tokenizer
from prunedbpe.vocabulary.vocabulary_files import read_paper_files, write_paper_files

RUNS = {"standard": 0, "pruned-20": "20%", "pruned-30": "30%", "pruned-40": "40%"}
FILES = ("vocab.txt", "inter_vocab.txt")
VOCAB_SIZE, MAX_TRAIN_VOCAB = 1000, 1200

every_run = pytest.mark.parametrize("run", RUNS)


@pytest.fixture(scope="module")
def summary(golden):
    return json.loads((golden / "summary.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def merges(golden):
    """Far more merges than any of the runs needs: trained once, pruned many times."""
    counts = prunedbpe.count(golden / "corpus.txt", pretokenizer="reference")
    return prunedbpe.learn(counts, 2000)


def assert_same_files(golden, run, folder):
    for name in FILES:
        assert (folder / name).read_bytes() == (golden / run / name).read_bytes()


@every_run
def test_training(golden, run, tmp_path):
    tokenizer = prunedbpe.train(
        golden / "corpus.txt",
        VOCAB_SIZE,
        threshold=RUNS[run],
        pretokenizer="reference",
        max_train_vocab=MAX_TRAIN_VOCAB,
    )
    tokenizer.save(tmp_path)
    assert_same_files(golden, run, tmp_path)


@every_run
def test_pruning_many_times(golden, run, merges, tmp_path):
    prunedbpe.prune(merges, VOCAB_SIZE, threshold=RUNS[run]).save(tmp_path)
    assert_same_files(golden, run, tmp_path)


@every_run
def test_summary(run, summary, merges):
    tokenizer = prunedbpe.prune(merges, VOCAB_SIZE, threshold=RUNS[run])
    expected = summary["runs"][run]
    training = tokenizer.training
    assert training["boundary_frequency"] == summary["boundary_frequency"]
    assert training["encoded_length"] == expected["encoded_length_of_corpus"]
    assert (
        training["standard_encoded_length"]
        == (summary["runs"]["standard"]["encoded_length_of_corpus"])
    )
    assert training["trained_vocab"] == expected["trained_to"]
    assert training["min_exposure"] == expected["min_exposure_count"]
    assert tokenizer.vocabulary.internal_count == expected["internal"]


@every_run
def test_saving_what_was_loaded_changes_nothing(golden, run, tmp_path):
    vocabulary = read_paper_files(golden / run)
    write_paper_files(tmp_path, vocabulary)
    assert_same_files(golden, run, tmp_path)
    Tokenizer(vocabulary, "reference").save(tmp_path / "again")
    Tokenizer.load(tmp_path / "again").save(tmp_path / "twice")
    assert_same_files(golden, run, tmp_path / "twice")
