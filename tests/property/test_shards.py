"""The tables of shards, in any order, reduce to exactly the table of the whole corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, CorpusReport, Shard, reduce_counts
from prunedbpe.counts.coverage import Coverage
from prunedbpe.errors import SettingsError


def lines_of(documents_: list[str]) -> list[str]:
    """Documents that survive being lines of a file."""
    return [" ".join(document.split("\n")).strip("\r\ufeff") for document in documents_]


@given(
    files=st.lists(documents(5), min_size=1, max_size=3),
    count=st.integers(1, 6),
    data=st.data(),
)
def test_shards_of_files_in_any_order(files, count, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for i, documents_ in enumerate(files):
        suffix = (".txt", ".md")[i % 2]  # a document a line, or a file a document
        text = "\n".join(lines_of(documents_))
        Path(folder, f"{i}{suffix}").write_bytes(text.encode())
    whole = prunedbpe.count(Corpus(folder))
    parts = []
    for index in data.draw(st.permutations(range(count))):
        part = prunedbpe.count(Corpus(folder, shard=Shard(index, count)), threads=2)
        part.save(folder / "part.parquet")
        parts.append(ChunkCounts.load(folder / "part.parquet"))
        Path(folder, "part.parquet").unlink()
    reduced = reduce_counts(parts)
    assert reduced == whole
    assert reduced.digest == whole.digest
    assert reduced.corpus == whole.corpus
    assert reduced.shard is None


@given(
    texts=st.lists(st.none() | st.text(max_size=20), max_size=40),
    group_rows=st.integers(1, 12),
    count=st.integers(1, 9),
    batch_bytes=st.sampled_from([1, 30, 1 << 20]),
)
def test_shards_of_parquet(texts, group_rows, count, batch_bytes, tmp_path_factory):
    """Each row group goes to one shard: together they hold every document once, in order."""
    folder = tmp_path_factory.mktemp("row-groups")
    Path(folder, "a.txt").write_text("before", encoding="utf-8")
    table = pa.table({"text": pa.array(texts, pa.string())})
    pq.write_table(table, folder / "b.parquet", row_group_size=group_rows)
    Path(folder, "c.txt").write_text("after", encoding="utf-8")

    def read(corpus: Corpus) -> list[str]:
        return [document.decode() for batch in corpus.batches() for document in batch.documents()]

    shards = [
        Corpus(folder, shard=Shard(index, count), batch_bytes=batch_bytes) for index in range(count)
    ]
    expected = ["before", *filter(None, texts), "after"]
    assert [document for shard in shards for document in read(shard)] == expected
    assert sum((shard.report for shard in shards), CorpusReport()).files == 3
    whole = prunedbpe.count(Corpus(folder))
    reduced = reduce_counts([prunedbpe.count(shard) for shard in shards])
    assert reduced == whole
    assert reduced.corpus == whole.corpus


@given(documents(), st.lists(st.integers(0, 8), max_size=3))
def test_parts_of_an_iterable_follow_each_other(documents_, cuts):
    bounds = [0, *sorted(min(cut, len(documents_)) for cut in cuts), len(documents_)]
    parts = [
        prunedbpe.count(Corpus.from_texts(documents_[begin:end])) for begin, end in pairwise(bounds)
    ]
    whole = prunedbpe.count(Corpus.from_texts(documents_))
    assert reduce_counts(parts) == whole
    # Reducing is associative: a table of tables is as good.
    assert reduce_counts([reduce_counts(parts[:1]), *parts[1:]]) == whole
    assert reduce_counts(parts).total_bytes == whole.total_bytes


@given(documents())
def test_byte_counts(documents_):
    table = prunedbpe.count(Corpus.from_texts(documents_))
    data = np.frombuffer("".join(documents_).encode(), np.uint8)
    assert table.byte_counts.tolist() == np.bincount(data, minlength=256).tolist()


@pytest.mark.parametrize(
    "shards", [[(0, 2)], [(0, 2), (0, 2)], [(0, 2), (1, 3)], [(0, 2), None], [(1, 2)]]
)
def test_shards_that_do_not_make_a_corpus(shards):
    tables = []
    for shard in shards:
        table = ChunkCounts.from_mapping({b"ab": 1})
        tables.append(
            ChunkCounts(
                data=table.data,
                offsets=table.offsets,
                counts=table.counts,
                first_positions=table.first_positions,
                coverage=Coverage.of(Shard(*shard), 2) if shard else None,
            )
        )
    with pytest.raises(SettingsError, match="shard"):
        reduce_counts(tables)


@given(documents(), st.integers(1, 7), st.randoms(use_true_random=False))
def test_any_tree_of_shards(tmp_path_factory, documents_, count, random):
    """Reduce two random tables at a time, neighbours or not, until one is left."""
    path = tmp_path_factory.mktemp("tree") / "text.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents_))
    tables = [prunedbpe.count(Corpus(path, shard=Shard(i, count))) for i in range(count)]
    while len(tables) > 1:
        random.shuffle(tables)
        tables.append(reduce_counts([tables.pop(), tables.pop()], partial=True))
    assert tables[0] == prunedbpe.count(path)
    assert tables[0].coverage is None


def test_missing_and_doubled_shards_are_named():
    tables = [
        replace(ChunkCounts.from_mapping({b"ab": 1}), coverage=Coverage.of(Shard(i, 5), 2))
        for i in (4, 0, 2)
    ]
    with pytest.raises(SettingsError, match="shards 1/5, 3/5 are missing"):
        reduce_counts(tables)
    with pytest.raises(SettingsError, match="shard 4/5 is given twice"):
        reduce_counts([*tables, tables[0]], partial=True)
    part = reduce_counts(tables, partial=True)
    assert part.coverage == Coverage(5, (0, 2, 4), (2, 2, 2))


def test_tables_of_different_pretokenizers():
    tables = [prunedbpe.count(["a b"], pretokenizer=name) for name in ("paper", "gpt2")]
    with pytest.raises(SettingsError, match="gpt2"):
        reduce_counts(tables)
    with pytest.raises(SettingsError, match="no tables"):
        reduce_counts([])


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_more_text_than_a_worker_takes_at_a_time(threads):
    """Words become rarer and the lines longer, so that no two workers have the same to do."""
    texts = [f"w{n % 97} w{n} " * (1 + n // 5_000) for n in range(60_000)]
    texts.insert(30_000, "long " * 400_000)
    corpus = Corpus.from_texts(texts, batch_bytes=1 << 21)
    assert len(list(corpus.batches())) >= 3  # the first is not taken by pieces
    one = prunedbpe.count(corpus, threads=1)
    many = prunedbpe.count(corpus, threads=threads)
    assert many == one
    assert many.first_positions.tolist() == one.first_positions.tolist()
