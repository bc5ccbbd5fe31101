"""``train`` and its run directory: what it writes and reports, and resuming after any stop."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_helpers import make_text, same_tokenizer

from prunedbpe import Learner, MergeTable, SourceCounts, Tokenizer, train


def test_the_command_is_the_function(cli, corpus, tmp_path):
    ended = cli("train", corpus, "--vocab-size", 500, "--threshold", "30%", "-o", tmp_path / "tok")
    train([corpus], 500, threshold="30%").save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same")
    assert not ended.out


def test_the_summary_reports_input_and_result(cli, corpus, tmp_path):
    ended = cli("train", corpus, "--vocab-size", 500, "-o", tmp_path / "tok")
    summary = dict(line.split("  ", 1) for line in ended.err.splitlines() if "  " in line)
    training = Tokenizer.load(tmp_path / "tok").training
    assert summary["read"].strip() == "4 files, 1,200 documents, 115 kB of text"
    assert f" skipped 1 document, first {corpus}/bad.txt, byte 3: " in " ".join(ended.err.split())
    assert summary["min exposure"].strip() == f"{training['min_exposure']} (threshold 40%)"
    length, standard = training["encoded_length"], training["standard_encoded_length"]
    saved = f"{length:,} tokens, {(standard - length) / standard:.3%} fewer than Standard BPE"
    assert summary["encoded length"].strip() == f"{saved} ({standard:,})"
    assert f"warning: {corpus}/bad.txt, byte 3: not UTF-8; 1 document" in ended.err
    assert "boundary frequency" in summary and "internal tokens" in summary
    assert "\nmin exposure: occurrences" in ended.err
    assert re.fullmatch(
        r"\s*\S+ s: counting \S+ s, learning \S+ s, the rest \S+ s", summary["time"]
    )
    assert re.fullmatch(r"\s*[\d.]+ [MG]B", summary["peak memory"])  # of the whole test run
    assert ended.err.endswith(
        f"tokenizer written to {tmp_path}/tok\n"
        f"next: prunedbpe encode {tmp_path}/tok FILE\n      prunedbpe inspect {tmp_path}/tok\n"
    )


def test_json_is_the_settings_file(cli, corpus, tmp_path):
    words = ["train", corpus, "--vocab-size", 500, "-o", tmp_path / "tok", "--json", "-q"]
    settings = cli(*words).json
    took = settings.pop("run")
    assert list(took["stages"]) == ["counting", "learning"] and took["peak_memory"] > 10**7
    assert took["seconds"] >= sum(took["stages"].values())
    assert settings == json.loads((tmp_path / "tok" / "prunedbpe.json").read_text())
    assert settings["training"]["corpus"]["skipped"] == [f"{corpus}/bad.txt, byte 3: not UTF-8"]


def test_quiet_leaves_only_warnings(cli, corpus, tmp_path):
    ended = cli("train", corpus, "--vocab-size", 400, "-q", "-o", tmp_path / "tok")
    assert [line.split(":")[0] for line in ended.err.splitlines()] == ["warning"]


def test_progress_as_json_lines(cli, corpus, tmp_path):
    words = ["train", corpus / "a.txt", "--vocab-size", 400, "-q", "--progress", "json"]
    events = [json.loads(line) for line in cli(*words, "-o", tmp_path / "t").err.splitlines()]
    assert {event["task"] for event in events} == {"Counting", "Learning"}
    assert all(event["finished"] for event in events)


@pytest.mark.parametrize(
    ("words", "special_tokens"),
    [
        ([], ["<_EOS_>", "<_SOS_>", "<_SEP_>", "<_PAD_>"]),
        (["--special-token", "<a>", "--special-token", "<b>"], ["<a>", "<b>"]),
        (["--no-special-tokens"], []),
    ],
)
def test_special_tokens(cli, corpus, tmp_path, words, special_tokens):
    cli("train", corpus / "a.txt", "--vocab-size", 300, *words, "-o", tmp_path / "tok")
    assert list(Tokenizer.load(tmp_path / "tok").special_tokens) == special_tokens


def test_how_text_is_read_can_be_chosen(cli, tmp_path):
    lines = [{"body": "cafe\u0301 café"}] * 3
    Path(tmp_path, "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["--text-field", "body", "--nfc", "--pretokenizer", r"\w+|\s+", "--threads", 2]
    words += ["--threshold", 0]
    cli("train", tmp_path / "a.jsonl", *words, "--vocab-size", 263, "-o", tmp_path / "tok")
    tok = Tokenizer.load(tmp_path / "tok")
    assert tok.pretokenizer.pattern == r"\w+|\s+"
    assert tok.vocab_bytes()[256:259] == [b"ca", b"caf", b"caf\xc3"]


def test_automatic_visibility(cli, corpus, tmp_path):
    words = ["--vocab-size", 500, "--threshold", "auto", "-o"]
    ended = cli("train", corpus, *words, tmp_path / "tok", "--run-dir", tmp_path / "run")
    assert "least exposure" in ended.err
    train([corpus], 500, threshold="auto").save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same")
    cli("prune", tmp_path / "run", *words, tmp_path / "pruned")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "pruned")
    assert "least exposure" in cli("inspect", tmp_path / "tok").out


def test_standard_input(cli, corpus, tmp_path):
    text = (corpus / "a.txt").read_bytes()
    cli("train", "-", "--vocab-size", 400, "-o", tmp_path / "piped", stdin=text)
    cli("train", corpus / "a.txt", "--vocab-size", 400, "-o", tmp_path / "read")
    assert (tmp_path / "piped/vocab.txt").read_bytes() == (tmp_path / "read/vocab.txt").read_bytes()


# Run directories


def test_another_corpus_and_other_settings_are_refused_by_name(cli, corpus, trained, tmp_path):
    words = ["--vocab-size", 500, "--run-dir", trained / "run", "-o", tmp_path / "tok"]
    ended = cli("train", corpus / "b.txt", *words, code=1)
    assert "holds another run: its corpus has" in ended.err
    assert f"where this one has {corpus}/b.txt" in ended.err and "--no-resume" in ended.err
    ended = cli("train", corpus, "--pretokenizer", "gpt2", *words, code=1)
    assert "pretokenizer is" in ended.err and "'gpt2'" in ended.err


def test_no_resume_starts_over(cli, corpus, tmp_path):
    words = ["--vocab-size", 400, "--run-dir", tmp_path / "run", "-q", "-o"]
    cli("train", corpus / "a.txt", *words, tmp_path / "a")
    cli("train", corpus / "b.txt", "--no-resume", *words, tmp_path / "b")
    train(corpus / "b.txt", 400).save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "b", tmp_path / "same")


def test_the_same_run_serves_other_sizes(cli, corpus, trained, tmp_path, monkeypatch):
    monkeypatch.setattr(Learner, "_learn", lambda *_, **__: pytest.fail("learned again"))
    words = ["--vocab-size", 400, "--threshold", 0, "--run-dir", trained / "run"]
    cli("train", corpus, *words, "-o", tmp_path / "tok")
    assert Tokenizer.load(tmp_path / "tok").vocab_size == 400


@pytest.mark.parametrize("with_run", [True, False])
def test_ctrl_c_explains_how_to_resume_and_loses_nothing(
    cli, corpus, tmp_path, monkeypatch, with_run
):
    whole = Learner.reach

    def interrupted(self: Learner, merge_count: int) -> MergeTable:
        whole(self, min(merge_count, 100))
        raise KeyboardInterrupt

    words = ["train", corpus, "--vocab-size", 500, "-o", tmp_path / "tok"]
    words += ["--run-dir", tmp_path / "run"] if with_run else []
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "reach", interrupted)
        ended = cli(*words, code=130)
    assert "error: interrupted" in ended.err
    assert ("again to resume" if with_run else "--run-dir") in ended.err
    assert (tmp_path / "run" / "merges.parquet").exists() == with_run
    cli(*words)
    train([corpus], 500).save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same")


def test_killed_at_any_moment_and_run_again_ends_the_same(tmp_path):
    Path(tmp_path, "text.txt").write_text(make_text(9, 20_000), encoding="utf-8")
    run_dir = tmp_path / "run"
    command = [sys.executable, "-m", "prunedbpe", "train", str(tmp_path / "text.txt"), "-q"]
    # Without a pretokenizer every line is a chunk of its own: work enough to be killed at.
    command += ["--vocab-size", "6000", "--pretokenizer", "none", "-o", str(tmp_path / "tok")]
    command += ["--checkpoint-seconds", "0", "--run-dir", str(run_dir)]

    def kill_after(seconds: float, landmark: Path) -> None:
        process = subprocess.Popen(command)
        while process.poll() is None and not landmark.exists():
            time.sleep(0.001)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()

    moment = random.Random(os.urandom(8)).random()
    kill_after(0.2 * moment, run_dir / "run.json")  # while it counts, or begins to learn
    kill_after(0.2 * moment, run_dir / "merges.parquet")  # while it learns
    subprocess.run(command, check=True)
    train(tmp_path / "text.txt", 6000, pretokenizer="none").save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same"), moment


def test_sources_come_from_a_field(cli, tmp_path):
    lines = make_text(3, 400).splitlines()
    rows = [{"text": line, "lang": "xyz"[i % 3]} for i, line in enumerate(lines)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ["train", path, "--vocab-size", 400, "--threshold", "auto", "-o", tmp_path / "tok"]
    cli(*words, "--source-field", "lang", "--run-dir", tmp_path / "run")
    assert SourceCounts.load(tmp_path / "run" / "sources.parquet").names == ("x", "y", "z")
    words.append("--force")
    ended = cli(*words, "--source-field", "langue", code=1)
    assert "rows.jsonl: no document has the field 'langue'" in ended.err
    ended = cli(*words, "--source-field", "lang", "--sources", "corpus", code=2)
    assert "exclude each other" in ended.err
