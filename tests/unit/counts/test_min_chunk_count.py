"""Rare chunks dropped: the filter itself, and where the approximation is recorded or refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import byte_chunk_counts

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, MergeTable, Shard, SourceCounts
from prunedbpe.errors import CorpusError, FormatError, RunMismatchError, SettingsError

TEXTS = ["the cat sat on the mat", "the hat that the cat had", "a cat"]


@given(counts=byte_chunk_counts(), least=st.integers(1, 5))
def test_filter(counts, least):
    kept = ChunkCounts.from_mapping(counts).at_least(least)
    assert dict(kept.items()) == {chunk: n for chunk, n in counts.items() if n >= least}
    assert kept.corpus == ChunkCounts.from_mapping(counts).corpus
    assert kept.min_chunk_count == least


def test_positions_stay_those_of_the_corpus():
    whole = prunedbpe.count(TEXTS)
    kept = whole.at_least(2)
    frequent = whole.counts >= 2
    assert 0 < frequent.sum() < len(whole)
    assert kept.first_positions.tolist() == whole.first_positions[frequent].tolist()


def test_one_is_exact():
    table = ChunkCounts.from_mapping({b"a": 1, b"b": 2})
    assert table.at_least(1) is table


def test_a_filtered_table_stays_filtered():
    table = ChunkCounts.from_mapping({b"a": 1, b"b": 2, b"c": 3}).at_least(3)
    assert table.at_least(2).min_chunk_count == 3


def test_below_one():
    with pytest.raises(SettingsError, match="min_chunk_count is 0"):
        prunedbpe.count(TEXTS, min_chunk_count=0)


def test_counting_drops_and_records(tmp_path):
    counted = prunedbpe.count(TEXTS, min_chunk_count=2)
    assert counted == prunedbpe.count(TEXTS).at_least(2)
    counted.save(tmp_path / "counts.parquet")
    assert ChunkCounts.load(tmp_path / "counts.parquet").min_chunk_count == 2


def test_a_table_that_holds_what_it_should_have_dropped():
    table = ChunkCounts.from_mapping({b"a": 1})
    with pytest.raises(FormatError, match="occurs 1 times, but those below 2 were dropped"):
        ChunkCounts(*table.columns, min_chunk_count=2)


def test_sources_are_filtered_by_the_count_of_all():
    parts = ({b"ab": 1, b"c": 1}, {b"d": 2, b"ab": 1}, {b"e": 1})
    joined = SourceCounts.from_tables(["x", "y", "z"], [ChunkCounts.from_mapping(p) for p in parts])
    kept = joined.at_least(2)
    assert dict(kept.total.items()) == {b"ab": 2, b"d": 2}
    tables = [dict(kept.table(i).items()) for i in range(3)]
    assert tables == [{b"ab": 1}, {b"ab": 1, b"d": 2}, {}]
    assert kept.names == joined.names


def test_counting_by_source(tmp_path):
    by_source = prunedbpe.count_by_source(iter(TEXTS), min_chunk_count=2)
    assert by_source.total == prunedbpe.count(TEXTS, min_chunk_count=2)
    by_source.save(tmp_path / "sources.parquet")
    assert SourceCounts.load(tmp_path / "sources.parquet").total.min_chunk_count == 2


def test_reducing_refuses_a_filtered_table():
    whole, filtered = prunedbpe.count(TEXTS), prunedbpe.count(TEXTS, min_chunk_count=2)
    with pytest.raises(SettingsError, match=r"table 2 of 2 lacks the chunks .* fewer than 2 times"):
        prunedbpe.reduce_counts([whole, filtered])
    with pytest.raises(SettingsError, match="table 1 of 2"):
        SourceCounts.of_parts([SourceCounts.single(filtered), SourceCounts.single(whole)])


def test_a_shard_cannot_be_filtered(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    shard = Corpus(tmp_path, shard=Shard(0, 2))
    with pytest.raises(SettingsError, match="rare in one shard"):
        prunedbpe.count(shard, min_chunk_count=2)
    with pytest.raises(SettingsError, match="rare in one shard"):
        prunedbpe.count(shard).at_least(2)


def test_merges_and_tokenizer_record_it(tmp_path):
    merges = prunedbpe.learn(prunedbpe.count(TEXTS, min_chunk_count=2), 5)
    merges.save(tmp_path / "merges.parquet")
    assert MergeTable.load(tmp_path / "merges.parquet").head(3).min_chunk_count == 2
    trained = prunedbpe.train(TEXTS, 262, threshold=0, min_chunk_count=2)
    pruned = prunedbpe.prune(merges, 262, threshold=0)
    assert trained.training["min_chunk_count"] == pruned.training["min_chunk_count"] == 2
    assert prunedbpe.train(TEXTS, 262, threshold=0).training["min_chunk_count"] == 1


@pytest.mark.parametrize("threshold", [0, "auto"])
def test_training_is_that_on_the_filtered_counts(threshold):
    trained = prunedbpe.train(TEXTS, 263, threshold=threshold, min_chunk_count=2)
    counts = prunedbpe.count(TEXTS, min_chunk_count=2)
    merges = prunedbpe.learn(counts, len(trained.vocabulary.pairs))
    assert np.array_equal(trained.vocabulary.pairs, merges.pairs)


def test_nothing_left_to_learn_on():
    with pytest.raises(CorpusError, match="no chunk occurs 100 times"):
        prunedbpe.train(TEXTS, 300, min_chunk_count=100)


def test_another_value_is_another_run(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    settings = {"vocab_size": 262, "threshold": 0, "run_dir": tmp_path / "run"}
    first = prunedbpe.train(tmp_path / "a.txt", min_chunk_count=2, **settings)
    with pytest.raises(RunMismatchError, match="min_chunk_count is 2 there and 1 here"):
        prunedbpe.train(tmp_path / "a.txt", **settings)
    again = prunedbpe.train(tmp_path / "a.txt", min_chunk_count=2, **settings)
    assert again.training == first.training


def test_runs_of_before_are_exact(tmp_path):
    from prunedbpe._support.atomic_files import write_json
    from prunedbpe._support.input_files import read_json

    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    settings = {"vocab_size": 262, "threshold": 0, "run_dir": tmp_path / "run"}
    prunedbpe.train(tmp_path / "a.txt", **settings)
    found = read_json(tmp_path / "run" / "run.json")
    del found["min_chunk_count"]
    write_json(tmp_path / "run" / "run.json", found)
    prunedbpe.train(tmp_path / "a.txt", **settings)
    with pytest.raises(RunMismatchError, match="min_chunk_count is 1 there and 3 here"):
        prunedbpe.train(tmp_path / "a.txt", min_chunk_count=3, **settings)
