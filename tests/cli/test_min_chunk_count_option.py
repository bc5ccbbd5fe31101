"""``--min-chunk-count``: dropped chunks are shown, recorded, and not dropped too early."""

from prunedbpe import ChunkCounts, Tokenizer, count


def test_count_learn_prune(cli, corpus, tmp_path):
    counts, merges = tmp_path / "counts.parquet", tmp_path / "merges.parquet"
    ended = cli("count", corpus, "--min-chunk-count", 3, "-o", counts, "--json")
    assert "min chunk count" in ended.err and ended.json["min_chunk_count"] == 3
    assert ended.json["corpus"]["documents"] == 1200
    assert ChunkCounts.load(counts) == count([corpus]).at_least(3)
    ended = cli("learn", counts, "--merges", 300, "-o", merges, "--json")
    assert "min chunk count" in ended.err and ended.json["min_chunk_count"] == 3
    ended = cli("prune", merges, "--vocab-size", 300, "-o", tmp_path / "tok", "--json")
    assert "min chunk count" in ended.err
    assert ended.json["training"]["min_chunk_count"] == 3
    assert "min chunk count" in cli("inspect", tmp_path / "tok").out


def test_train(cli, corpus, tmp_path):
    words = ["train", corpus, "--vocab-size", 300, "--run-dir", tmp_path / "run"]
    ended = cli(*words, "--min-chunk-count", 2, "-o", tmp_path / "tok")
    assert "min chunk count" in ended.err
    assert Tokenizer.load(tmp_path / "tok").training["min_chunk_count"] == 2
    ended = cli(*words, "-o", tmp_path / "other", code=1)
    assert "min_chunk_count is 2 there and 1 here" in ended.err


def test_exact_counts_do_not_mention_it(cli, corpus, tmp_path):
    assert "min chunk count" not in cli("count", corpus, "-o", tmp_path / "c.parquet").err


def test_shards_are_filtered_after_reducing(cli, corpus, tmp_path):
    paths = [tmp_path / f"{index}.parquet" for index in range(2)]
    for index, path in enumerate(paths):
        words = ["count", corpus, "--shard", f"{index}/2", "-o", path]
        ended = cli(*words, "--min-chunk-count", 2, code=1)
        assert "rare in one shard" in ended.err and "when reducing" in ended.err
        cli(*words)
    whole = tmp_path / "whole.parquet"
    cli("count", "--reduce", *paths, "--min-chunk-count", 2, "-o", whole)
    assert ChunkCounts.load(whole) == count([corpus]).at_least(2)
    ended = cli("count", "--reduce", whole, whole, "-o", tmp_path / "twice.parquet", code=1)
    assert "table 1 of 2 lacks the chunks that occur fewer than 2 times" in ended.err
