"""Run directories: refused when they belong to another run, trusted only when they are whole."""

from __future__ import annotations

import json

import pytest
from strategies import zipf_text

import prunedbpe
import prunedbpe.merges.run_directory as run_module
from prunedbpe import ChunkCounts, Corpus, Learner, Pretokenizer
from prunedbpe.errors import FormatError, InsufficientCandidatesError, RunMismatchError
from prunedbpe.merges import learner as learner_module
from prunedbpe.merges.run_directory import Checkpointer, RunDirectory

TEXT = zipf_text()
SIZE = 290


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def run_dir(tmp_path, corpus):
    """A finished run."""
    prunedbpe.train(corpus, SIZE, threshold="40%", run_dir=tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def learners(monkeypatch):
    """How many native learners are built, and how often the corpus is counted."""
    made = {"learners": 0, "counts": 0}

    class Counted(learner_module._Work):
        def __init__(self, *args, **options):
            made["learners"] += 1
            super().__init__(*args, **options)

    def counted(function):
        def count(*args, **options):
            made["counts"] += 1
            return function(*args, **options)

        return count

    monkeypatch.setattr(learner_module, "_Work", Counted)
    for name in ("count", "count_to_file"):
        monkeypatch.setattr(run_module, name, counted(getattr(run_module, name)))
    return made


def files_of(tokenizer, folder):
    tokenizer.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_there(run_dir, corpus):
    assert sorted(path.name for path in run_dir.iterdir()) == [
        "counts.parquet",
        "merges.parquet",
        "run.json",
        "trained.json",
    ]
    assert RunDirectory(run_dir).trained_sizes() == [SIZE]
    assert ChunkCounts.load(run_dir / "counts.parquet") == prunedbpe.count(corpus)


def test_same_run_again_computes_nothing(run_dir, corpus, learners):
    prunedbpe.train(corpus, SIZE, threshold="40%", run_dir=run_dir)
    assert learners == {"learners": 0, "counts": 0}


@pytest.mark.parametrize(
    ("size", "threshold", "learns"),
    [(SIZE, "40%", 0), (SIZE, 0, 0), (265, "20%", 0), (262, 1, 0), (350, 0, 1)],
)
def test_other_sizes_and_thresholds(run_dir, corpus, learners, size, threshold, learns, tmp_path):
    found = prunedbpe.train(corpus, size, threshold=threshold, run_dir=run_dir)
    assert learners == {"learners": learns, "counts": 0}
    fresh = prunedbpe.train(corpus, size, threshold=threshold)
    assert files_of(found, tmp_path / "a") == files_of(fresh, tmp_path / "b")


def test_not_resumed(run_dir, corpus, learners):
    (run_dir / "mine.txt").write_text("kept", encoding="utf-8")
    prunedbpe.train(corpus, SIZE, run_dir=run_dir, resume=False)
    assert learners == {"learners": 1, "counts": 1}
    assert (run_dir / "mine.txt").read_text(encoding="utf-8") == "kept"


class TestAnotherRun:
    def test_another_file(self, run_dir, corpus, tmp_path):
        other = tmp_path / "other.txt"
        other.write_text(TEXT, encoding="utf-8")
        with pytest.raises(
            RunMismatchError, match=r"corpus\.txt.* where this one has .*other\.txt"
        ):
            prunedbpe.train(other, SIZE, run_dir=run_dir)

    def test_another_size_of_the_file(self, run_dir, corpus):
        corpus.write_text(TEXT + "more\n", encoding="utf-8")
        before = len(TEXT.encode())
        now = before + 5
        with pytest.raises(RunMismatchError, match=rf"\({before} bytes\).*\({now} bytes\)"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    def test_more_files(self, run_dir, corpus, tmp_path):
        other = tmp_path / "other.txt"
        other.write_text(TEXT, encoding="utf-8")
        with pytest.raises(RunMismatchError, match="1 files, this one 2"):
            prunedbpe.train([corpus, other], SIZE, run_dir=run_dir)

    def test_another_pretokenizer(self, run_dir, corpus):
        with pytest.raises(RunMismatchError, match=r"pretokenizer is .*'paper'.* there and .*gpt2"):
            prunedbpe.train(corpus, SIZE, pretokenizer="gpt2", run_dir=run_dir)

    def test_other_ways_to_read(self, run_dir, corpus):
        with pytest.raises(RunMismatchError, match="text_field is 'text' there and 'body' here"):
            prunedbpe.train(Corpus(corpus, text_field="body"), SIZE, run_dir=run_dir)
        with pytest.raises(RunMismatchError, match="'normalization': 'NFC'"):
            cut = Pretokenizer("paper", normalization="NFC")
            prunedbpe.train(corpus, SIZE, pretokenizer=cut, run_dir=run_dir)

    def test_nothing_is_touched(self, run_dir, corpus):
        before = {path.name: path.read_bytes() for path in run_dir.iterdir()}
        with pytest.raises(RunMismatchError, match="hint: "):
            prunedbpe.train(corpus, SIZE, pretokenizer="gpt2", run_dir=run_dir)
        assert {path.name: path.read_bytes() for path in run_dir.iterdir()} == before

    def test_texts_are_compared_by_what_they_say(self, tmp_path):
        texts = TEXT.split("\n")
        prunedbpe.train(Corpus.from_texts(texts), SIZE, run_dir=tmp_path / "run")
        prunedbpe.train(Corpus.from_texts(texts), SIZE - 2, run_dir=tmp_path / "run")
        with pytest.raises(RunMismatchError, match="the text differs"):
            prunedbpe.train(Corpus.from_texts(texts[1:]), SIZE, run_dir=tmp_path / "run")

    def test_merges_of_other_counts(self, run_dir, corpus):
        other = ChunkCounts.from_mapping({b"ab": 5})
        prunedbpe.learn(other, 1).save(run_dir / "merges.parquet")
        with pytest.raises(RunMismatchError, match=r"merges\.parquet was learned on other"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)


class TestDamage:
    def test_merges(self, run_dir, corpus):
        path = run_dir / "merges.parquet"
        path.write_bytes(path.read_bytes()[:-50])
        with pytest.raises(FormatError, match=r"merges\.parquet: not a Parquet file"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    def test_counts(self, run_dir, corpus):
        (run_dir / "counts.parquet").write_bytes(b"garbage")
        with pytest.raises(FormatError, match=r"counts\.parquet: not a Parquet file"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    @pytest.mark.parametrize("text", ["[]", "5", "{", '"x"'])
    def test_settings(self, run_dir, corpus, text):
        (run_dir / "run.json").write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=r"run\.json"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    def test_settings_of_a_corpus_that_make_no_sense(self, run_dir, corpus):
        path = run_dir / "run.json"
        settings = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**settings, "corpus": [1]}), encoding="utf-8")
        with pytest.raises(FormatError, match=r"run\.json"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    def test_newer_version(self, run_dir, corpus):
        path = run_dir / "run.json"
        settings = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**settings, "version": 2}), encoding="utf-8")
        with pytest.raises(RunMismatchError, match="version is 2 there and 1 here"):
            prunedbpe.train(corpus, SIZE, run_dir=run_dir)

    def test_starting_over_helps(self, run_dir, corpus):
        for name in ("run.json", "counts.parquet", "merges.parquet"):
            (run_dir / name).write_bytes(b"garbage")
        prunedbpe.train(corpus, SIZE, run_dir=run_dir, resume=False)

    def test_computed_files_without_settings_are_not_trusted(self, run_dir, tmp_path):
        (run_dir / "run.json").unlink()
        other = tmp_path / "other.txt"
        other.write_text("something else entirely\n" * 5, encoding="utf-8")
        with pytest.raises(RunMismatchError, match=r"counts\.parquet exists without run\.json"):
            prunedbpe.train(other, 262, threshold=0, run_dir=run_dir)

    def test_killed_while_clearing(self, run_dir, corpus, monkeypatch):
        """Whatever is left, its settings are left as well."""
        from pathlib import Path

        gone = []

        def unlink(path, missing_ok=False):
            if len(gone) == 1:
                raise KeyboardInterrupt
            gone.append(path.name)

        monkeypatch.setattr(Path, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            RunDirectory(run_dir).clear()
        assert gone == ["merges.parquet"]


class TestCheckpointer:
    COUNTS = ChunkCounts.from_mapping({chunk.encode(): 2 for chunk in TEXT.split()})

    def learned_with(self, **options):
        saved = []
        checkpointer = Checkpointer(lambda merges: saved.append(len(merges)), **options)
        learner = Learner(self.COUNTS, checkpoints=checkpointer)
        learner.reach(9)
        return saved

    def test_by_time(self):
        assert self.learned_with(every_seconds=1e9) == [9]

    def test_at_sizes(self):
        assert self.learned_with(every_seconds=1e9, at=[4]) == [4, 9]
        assert self.learned_with(every_seconds=1e9, at=[9, 3]) == [3, 9]


def test_checkpoint_is_kept_when_candidates_are_too_few(corpus, tmp_path, learners):
    with pytest.raises(InsufficientCandidatesError):
        prunedbpe.train(corpus, SIZE, threshold=10**9, run_dir=tmp_path / "run")
    assert (tmp_path / "run" / "merges.parquet").is_file()
    learners.update(learners=0, counts=0)
    prunedbpe.train(corpus, SIZE, threshold="40%", run_dir=tmp_path / "run")
    assert learners == {"learners": 0, "counts": 0}


def test_the_end_of_all_merges_is_remembered(corpus, tmp_path, learners):
    for expected in ({"learners": 1, "counts": 1}, {"learners": 1, "counts": 1}):
        with pytest.raises(InsufficientCandidatesError, match="no pair occurs twice"):
            prunedbpe.train(corpus, 5000, run_dir=tmp_path / "run")
        assert learners == expected


@pytest.fixture
def mixed(tmp_path):
    """Documents that name their source."""
    rows = [{"text": line, "lang": "ab"[i % 2]} for i, line in enumerate(TEXT.split(" "))]
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_sources_are_kept_and_counted_again_if_they_are_others(tmp_path, mixed, monkeypatch):
    run = RunDirectory(tmp_path / "run")
    counted = []

    def count_by_source(corpus, **options):
        counted.append(options["sources"])
        return prunedbpe.count_by_source(corpus, **options)

    monkeypatch.setattr(run_module, "count_by_source", count_by_source)

    def train(field=None, **options):
        corpus = Corpus(mixed, source_field=field)
        prunedbpe.train(corpus, SIZE, threshold="auto", run_dir=run.folder, **options)
        return run.known_sources()

    assert train("lang").names == ("a", "b")
    assert train("lang").kind == "field:lang" and len(counted) == 1
    assert train().names == (mixed.as_posix(),)
    assert train(sources="corpus").kind == "corpus"
    assert train("lang").names == ("a", "b")
    assert counted == ["files", "files", "corpus", "files"]
    assert run.known_sources().total == ChunkCounts.load(run.counts_path)
    run.clear()
    assert run.known_sources() is None


def test_a_folder_of_sources_is_ignored(tmp_path, corpus):
    run = RunDirectory(tmp_path / "run")
    (run.folder / "sources").mkdir(parents=True)
    (run.folder / "sources" / "sources.json").write_text("{}", encoding="utf-8")
    assert run.known_sources() is None
    prunedbpe.train(corpus, SIZE, threshold="auto", run_dir=run.folder)
    assert run.known_sources().total == prunedbpe.count(corpus)
