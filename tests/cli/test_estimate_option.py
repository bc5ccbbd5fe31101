"""``count --estimate``, and the warning of ``train`` that learning will not fit."""

import pytest

from prunedbpe import count, training


def test_table(cli, corpus):
    before = sorted(corpus.iterdir())
    ended = cli("count", corpus, "--estimate", "--sample-bytes", "20kB")
    assert sorted(corpus.iterdir()) == before
    lines = ended.out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in ("text", "unique chunks", "memory to count", "memory to learn", "time to count"):
        assert any(line.startswith(f"{name}  ") for line in lines), name
    assert "perhaps" in ended.out
    kinds = [line.split()[-1] for line in lines[lines.index("") + 2 :]]
    assert kinds == sorted(kinds) and set(kinds) == {"measured", "predicted"}


def test_json(cli, corpus):
    found = cli("count", corpus, "--estimate", "--json").json
    truth = count([corpus])
    assert found["is_exact"] and found["unique_chunks"] == len(truth)
    assert found["text_bytes"] == truth.corpus.bytes
    assert found["learning_memory"] == training.memory_to_learn(len(truth), len(truth.data), 32_000)


def test_exact_table_says_so(cli, corpus):
    out = cli("count", corpus, "--estimate").out
    assert out.count("about") == 1 and "predicted" not in out


@pytest.mark.parametrize(
    "more",
    [
        ("-o", "counts.parquet"),
        ("--shard", "0/2"),
        ("--reduce",),
        ("--partial",),
        ("--memory", "4GB"),
        ("--min-chunk-count", "2"),
    ],
)
def test_options_without_a_meaning(cli, corpus, more):
    err = cli("count", corpus, "--estimate", *more, code=2).err
    assert "--estimate and " in err and "exclude each other" in err


def test_errors(cli, corpus):
    assert (
        "--sample-bytes needs --estimate"
        in cli("count", corpus, "-o", "x.parquet", "--sample-bytes", "1MB", code=2).err
    )
    assert "--output is missing" in cli("count", corpus, code=2).err
    err = cli("count", corpus, "--estimate", "--sample-bytes", "much", code=2).err
    assert "Invalid value for --sample-bytes" in err and "'much'" in err
    assert "read only once" in cli("count", "-", "--estimate", stdin=b"text\n", code=1).err


@pytest.mark.parametrize("memory", ["much", "10"])
@pytest.mark.parametrize("words", [["count"], ["train", "--vocab-size", "300"]])
def test_impossible_memory(cli, corpus, tmp_path, words, memory):
    err = cli(*words, corpus, "-o", tmp_path / "x", "--memory", memory, code=2).err
    assert "Invalid value for --memory" in err and "MB" in err


def test_train_names_its_memory(cli, corpus, tmp_path):
    words = ["train", corpus, "--vocab-size", 300, "-o", tmp_path / "tok"]
    assert "up to 1 GB for counting" in cli(*words, "--memory", "1GB").err


def test_train_warns_before_counting(cli, corpus, tmp_path, monkeypatch):
    words = ["train", corpus, "--vocab-size", 300, "-o", tmp_path / "tok"]
    monkeypatch.setattr(training, "LEAST_MEMORY", 1)
    monkeypatch.setattr(training, "machine_memory", lambda: 1000)
    small = cli(*words, code=1).err
    assert "a sample predicts" not in small  # too small to be sampled
    monkeypatch.setattr(training, "_WORTH_SAMPLING", 1)
    err = cli(*words, code=1).err
    warning, error = err.index("warning: a sample predicts"), err.index("error: learning on")
    assert warning < error and "give --memory" in err[warning:error]
    assert "a sample predicts" not in cli(*words, "--min-chunk-count", 2, code=1).err
    monkeypatch.setattr(training, "machine_memory", lambda: 10**12)
    assert "a sample predicts" not in cli(*words).err
