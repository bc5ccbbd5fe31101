"""``count``, ``learn`` and ``prune``: the steps of ``train``, in shards, interrupted, resumed."""

from itertools import permutations

import pyarrow.parquet as pq
import pytest
from cli_helpers import same_tokenizer

from prunedbpe import ChunkCounts, Learner, MergeTable, Tokenizer, count, learn, train


@pytest.fixture(scope="module")
def steps(corpus, tmp_path_factory):
    """A folder with the counts of the corpus and many merges."""
    folder = tmp_path_factory.mktemp("steps")
    counts = count([corpus])
    counts.save(folder / "counts.parquet")
    learn(counts, 600).save(folder / "merges.parquet")
    return folder


def test_step_by_step_is_train(cli, corpus, tmp_path):
    counts, merges = tmp_path / "deep" / "counts.parquet", tmp_path / "merges.parquet"
    ended = cli("count", corpus, "-o", counts)
    assert "bad.txt" in ended.err and "unique chunks" in ended.err
    assert "holds 600 merges" in cli("learn", counts, "--merges", 600, "-o", merges).err
    cli("prune", merges, "--vocab-size", 500, "--threshold", "40%", "-o", tmp_path / "tok")
    train([corpus], 500).save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same")


def test_counting_nothing_says_why(cli, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\n")
    ended = cli("count", tmp_path / "a.txt", "-o", tmp_path / "counts.parquet")
    assert "no text was read: 1 document of 1 file skipped, not UTF-8" in ended.err
    assert len(ChunkCounts.load(tmp_path / "counts.parquet")) == 0


def test_globs_and_counts_of_another_program(cli, corpus, tmp_path):
    counts, foreign, merges = (tmp_path / f"{name}.parquet" for name in ("own", "other", "merges"))
    cli("count", f"{corpus}/**/*.txt", "-o", counts, "-q")
    expected = count(f"{corpus}/**/*.txt")
    assert len(expected) and ChunkCounts.load(counts) == expected
    assert "no file matches" in cli("count", f"{corpus}/*.no", "-o", counts, code=1).err
    pq.write_table(expected.to_arrow().replace_schema_metadata(), foreign)
    cli("learn", foreign, "--merges", 50, "-o", merges, "-q")
    assert MergeTable.load(merges).pairs.tolist() == learn(expected, 50).pairs.tolist()


def test_shards_in_any_order_reduce_to_the_whole_file(cli, corpus, steps, tmp_path):
    paths = [tmp_path / f"{index}.parquet" for index in range(3)]
    for index, path in enumerate(paths):
        report = cli("count", corpus, "--shard", f"{index}/3", "-o", path, "--json", "-q").json
        assert report["shard"] == [index, 3]
    for order in permutations(paths):
        cli("count", "--reduce", *order, "-o", tmp_path / "whole.parquet", "-q")
        whole = ChunkCounts.load(tmp_path / "whole.parquet")
        assert whole == ChunkCounts.load(steps / "counts.parquet")
        assert whole.corpus == ChunkCounts.load(steps / "counts.parquet").corpus
    ended = cli("count", "--reduce", *paths[:2], "-o", tmp_path / "part.parquet", code=1)
    assert "shard 2/3 is missing" in ended.err and not (tmp_path / "part.parquet").exists()
    cli("count", "--reduce", "--partial", *paths[:2], "-o", tmp_path / "part.parquet", "-q")
    cli("count", "--reduce", paths[2], tmp_path / "part.parquet", "-o", tmp_path / "w.parquet")
    assert (tmp_path / "w.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_reports_for_programs(cli, corpus, steps, tmp_path):
    counted = cli("count", corpus, "-o", tmp_path / "c.parquet", "--json").json
    assert counted["corpus"]["documents"] == 1200
    learned = cli(
        "learn", steps / "counts.parquet", "--merges", 9, "-o", tmp_path / "m.parquet", "--json"
    ).json
    assert learned["merges"] == 9 and learned["counts_digest"] == counted["digest"]
    settings = cli(
        "prune", steps / "merges.parquet", "--vocab-size", 300, "-o", tmp_path / "t", "--json"
    ).json
    assert settings["vocab_size"] == 300


def test_learning_goes_on_from_its_output(cli, steps, tmp_path, monkeypatch):
    words = ["learn", steps / "counts.parquet", "-o", tmp_path / "m.parquet", "--merges"]
    cli(*words, 200)
    cli(*words, 600)
    whole = (steps / "merges.parquet").read_bytes()
    assert (tmp_path / "m.parquet").read_bytes() == whole
    monkeypatch.setattr(Learner, "_learn", lambda *_, **__: pytest.fail("learned again"))
    assert "holds 600 merges" in cli(*words, 500).err
    assert (tmp_path / "m.parquet").read_bytes() == whole


def test_learning_refuses_the_output_of_other_counts(cli, corpus, steps, tmp_path):
    cli("count", corpus / "a.txt", "-o", tmp_path / "other.parquet")
    words = ["--merges", 100, "-o", tmp_path / "m.parquet"]
    cli("learn", tmp_path / "other.parquet", *words)
    ended = cli("learn", steps / "counts.parquet", *words, code=1)
    assert "400 documents" in ended.err and "1200 documents" in ended.err
    cli("learn", steps / "counts.parquet", "--no-resume", *words)
    assert MergeTable.load(tmp_path / "m.parquet").corpus.documents == 1200


def test_interrupted_learning_keeps_what_it_has(cli, steps, tmp_path, monkeypatch):
    whole = Learner.reach

    def interrupted(self: Learner, merge_count: int) -> MergeTable:
        whole(self, 150)
        raise KeyboardInterrupt

    words = ["learn", steps / "counts.parquet", "--merges", 600, "-o", tmp_path / "m.parquet"]
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "reach", interrupted)
        ended = cli(*words, code=130)
    assert "interrupted" in ended.err and "run the same command again" in ended.err
    assert len(MergeTable.load(tmp_path / "m.parquet")) == 150
    cli(*words)
    assert (tmp_path / "m.parquet").read_bytes() == (steps / "merges.parquet").read_bytes()


def test_learning_ends_where_no_pair_occurs_twice(cli, tmp_path):
    (tmp_path / "a.txt").write_text("ab ab\n")
    cli("count", tmp_path / "a.txt", "-o", tmp_path / "c.parquet")
    words = ["learn", tmp_path / "c.parquet", "--merges", 99, "-o", tmp_path / "m.parquet"]
    assert "holds 1 merges; no further pair occurs twice" in cli(*words).err
    assert cli(*words, "--json").json["exhausted"]


def test_too_few_merges_in_a_file(cli, steps, tmp_path):
    words = ["prune", steps / "merges.parquet", "-o", tmp_path / "tok", "--vocab-size"]
    ended = cli(*words, 2000, code=1)
    assert "600 merges were learned; this vocabulary needs 1,740" in ended.err
    assert "hint: learn more" in ended.err


def test_a_run_directory_is_learned_on_only_as_far_as_needed(cli, corpus, tmp_path, monkeypatch):
    run = tmp_path / "run"
    cli("train", corpus, "--vocab-size", 400, "--run-dir", run, "-o", tmp_path / "small")
    before = len(MergeTable.load(run / "merges.parquet"))
    started_from = []
    learn_further = Learner._learn

    def spy(self, work, merge_count):
        started_from.append(len(work))
        learn_further(self, work, merge_count)

    monkeypatch.setattr(Learner, "_learn", spy)
    cli("prune", run, "--vocab-size", 380, "--threshold", "20%", "-o", tmp_path / "less")
    assert not started_from
    cli("prune", run, "--vocab-size", 500, "-o", tmp_path / "more")
    assert started_from[0] == before
    monkeypatch.undo()
    train([corpus], 500).save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "more", tmp_path / "same")
    assert Tokenizer.load(tmp_path / "less").vocab_size == 380


def test_a_run_stopped_before_its_first_checkpoint_can_be_pruned(cli, corpus, tmp_path):
    run = tmp_path / "run"
    cli("train", corpus, "--vocab-size", 400, "--run-dir", run, "-o", tmp_path / "a")
    (run / "merges.parquet").unlink()
    cli("prune", run, "--vocab-size", 400, "-o", tmp_path / "b")
    assert same_tokenizer(tmp_path / "a", tmp_path / "b")


def test_a_damaged_checkpoint_is_named(cli, corpus, tmp_path):
    run = tmp_path / "run"
    words = ["train", corpus, "--vocab-size", 400, "--run-dir", run, "-o", tmp_path / "a"]
    cli(*words)
    (run / "merges.parquet").write_bytes(b"PAR1 but no more")
    ended = cli(*words, code=1)
    assert f"{run}/merges.parquet: not a Parquet file" in ended.err
