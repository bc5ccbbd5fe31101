"""Samples: spread over the corpus, nested, each document at most once, the whole if it is small."""

import gzip
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prunedbpe.corpus import Corpus, Shard
from prunedbpe.corpus.sampling import Sample, nested_order
from prunedbpe.errors import SettingsError

STRETCHES = 16


def lines(count: int, prefix: str = "line") -> list[str]:
    """Distinct documents of the same length."""
    return [f"{prefix} {number:07}" for number in range(count)]


def write_lines(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def read(corpus: Corpus, sample_bytes: int, stretches: list[int] | None = None, threads: int = 1):
    """The documents of a sample in order of reading, and its bytes on disk."""
    sample = Sample(corpus, sample_bytes, STRETCHES)
    order = nested_order(STRETCHES) if stretches is None else stretches
    pieces = list(sample.read(order, threads))
    documents = [text.decode() for piece in pieces for text in piece.batch.documents()]
    return documents, sum(piece.disk_bytes for piece in pieces)


def test_sample_is_spread_over_one_file(tmp_path):
    texts = lines(10_000)
    corpus = Corpus(write_lines(tmp_path / "a.txt", texts))
    found, disk_bytes = read(corpus, corpus.size // 10)
    assert set(found) <= set(texts) and len(set(found)) == len(found)
    assert disk_bytes == pytest.approx(corpus.size / 10, rel=0.01)
    assert len(found) == pytest.approx(1000, rel=0.05)
    by_part = Counter(int(text.split()[1]) * STRETCHES // len(texts) for text in found)
    assert set(by_part) == set(range(STRETCHES))
    assert max(by_part.values()) - min(by_part.values()) <= 2


def test_sample_takes_the_same_share_of_all_files(tmp_path):
    names = ("ab", "cd", "ef", "gh")
    for name in names:
        write_lines(tmp_path / f"{name}.txt", lines(2500, name))
    corpus = Corpus(tmp_path)
    shares = Counter(text.split()[0] for text in read(corpus, corpus.size // 10)[0])
    assert set(shares) == set(names)
    assert max(shares.values()) - min(shares.values()) <= 8


@pytest.mark.parametrize("first", [2, 4, 8])
def test_beginnings_of_the_order_are_spread(first):
    order = nested_order(STRETCHES)
    assert sorted(order) == list(range(STRETCHES))
    assert sorted(order[:first]) == list(range(0, STRETCHES, STRETCHES // first))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("sample_bytes", [10**9, None])
def test_small_corpus_is_read_as_a_whole(tmp_path, sample_bytes, threads):
    write_lines(tmp_path / "a.txt", lines(1000, "txt"))
    (tmp_path / "b.md").write_text("one document\nof two lines\n", encoding="utf-8")
    (tmp_path / "c.txt").touch()
    with gzip.open(tmp_path / "d.txt.gz", "wt", encoding="utf-8") as file:
        file.write("".join(f"{text}\n" for text in lines(1000, "gz")))
    rows = pa.table({"text": lines(1000, "parquet")})
    pq.write_table(rows, tmp_path / "e.parquet", row_group_size=100)
    corpus = Corpus(tmp_path)
    whole = [text.decode() for batch in corpus.batches() for text in batch.documents()]
    found, disk_bytes = read(corpus, sample_bytes or corpus.size, threads=threads)
    assert Counter(found) == Counter(whole) and len(whole) == 3001
    assert disk_bytes == corpus.size


def write_gzip(path: Path, seed: int) -> list[str]:
    """Four megabytes of text, about half of that on disk."""
    source = random.Random(seed)
    texts = [f"{source.getrandbits(120):030x}" for _ in range(130_000)]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(f"{text}\n" for text in texts))
    return texts


def test_compressed_files_are_sampled_by_what_is_unpacked(tmp_path):
    # Each file is longer than a stretch, and an unpacker reads much of it at once.
    count = sum(len(write_gzip(tmp_path / f"{seed}.txt.gz", seed)) for seed in range(4))
    corpus = Corpus(tmp_path)
    found, disk_bytes = read(corpus, corpus.size // 8)
    assert len(set(found)) == len(found)
    assert len(found) / count == pytest.approx(disk_bytes / corpus.size, rel=0.1)


def test_long_compressed_file_is_read_from_its_beginning(tmp_path):
    texts = write_gzip(tmp_path / "a.txt.gz", 0)
    corpus = Corpus(tmp_path)
    found, disk_bytes = read(corpus, corpus.size // 4)
    assert found == texts[: len(found)]  # no gap, nothing twice
    assert corpus.size / 5 < disk_bytes < corpus.size
    assert len(found) / len(texts) == pytest.approx(disk_bytes / corpus.size, rel=0.2)


def test_long_parquet_file_is_read_from_its_beginning(tmp_path):
    texts = lines(100_000)
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=10_000)
    corpus = Corpus(tmp_path)
    found, disk_bytes = read(corpus, corpus.size // 4)
    assert found == texts[: len(found)]
    assert corpus.size / 5 < disk_bytes < corpus.size
    assert len(found) / len(texts) == pytest.approx(disk_bytes / corpus.size, rel=0.2)


def test_many_small_files_are_read_whole_and_once(tmp_path):
    for number in range(400):
        (tmp_path / f"{number:03}.md").write_text(f"{number:03}\n" * 10, encoding="utf-8")
    corpus = Corpus(tmp_path)
    found, disk_bytes = read(corpus, corpus.size // 4)
    assert all(text == text[:4] * 10 for text in found)
    assert len(set(found)) == len(found) == pytest.approx(100, abs=STRETCHES)
    assert disk_bytes == 40 * len(found)


def test_long_file_without_lines_is_not_the_whole_sample(tmp_path):
    write_lines(tmp_path / "a.md", lines(10_000))
    corpus = Corpus(tmp_path)
    found, _ = read(corpus, corpus.size // 10)
    assert len(found) == pytest.approx(1000, rel=0.05)


def test_what_cannot_be_sampled(tmp_path):
    path = write_lines(tmp_path / "a.txt", lines(10))
    for corpus in (Corpus("-"), Corpus.from_texts(["a"])):
        with pytest.raises(SettingsError, match="read only once"):
            Sample(corpus, 1000, STRETCHES)
    with pytest.raises(SettingsError, match="shard"):
        Sample(Corpus(path, shard=Shard(0, 2)), 1000, STRETCHES)
    with pytest.raises(SettingsError, match="sample_bytes is 0"):
        Sample(Corpus(path), 0, STRETCHES)
