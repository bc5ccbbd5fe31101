"""What every verb has: configuration files, log files, wide tables, help, completion."""

import json
import logging
import shutil
import subprocess
import sys

import pytest
from cli_helpers import same_tokenizer

from prunedbpe.cli import main, terminal
from prunedbpe.cli.glossary import GLOSSARY
from prunedbpe.cli.main import VERBS

DOCUMENTED = [verb for verb in VERBS if verb != "help"]


# Configuration files


def test_a_saved_config_repeats_the_command(cli, corpus, tmp_path):
    words = [corpus / "a.txt", corpus / "b.txt", "--vocab-size", 400, "--threshold", "30 %"]
    words += ["--special-token", '<"é\t>', "-o", tmp_path / "tok", "--wide", "-q"]
    cli("train", *words, "--save-config", tmp_path / "deep" / "run.toml")
    config = tmp_path / "deep" / "run.toml"
    ended = cli("train", "--config", config, "-o", tmp_path / "again")
    assert not ended.err  # quiet too
    assert same_tokenizer(tmp_path / "tok", tmp_path / "again")
    cli("train", "--config", config, "-o", tmp_path / "other", "--vocab-size", 300)
    assert not same_tokenizer(tmp_path / "tok", tmp_path / "other")
    cli("--config", config, "train", "-o", tmp_path / "before")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "before")


@pytest.mark.parametrize("verb", DOCUMENTED)
def test_a_config_has_every_option(cli, verb):
    from prunedbpe.cli.config import as_toml, key_of

    params = main.load_verb(verb).params
    text = as_toml(verb, params, {})
    flags = {max(p.opts, key=len).lstrip("-") for p in params if p.param_type_name == "option"}
    for flag in flags - {"config", "save-config"}:
        assert f"\n# {flag} =" in text, flag
    keys = [key_of(param) for param in params if key_of(param)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[train\n", "run.toml: not TOML: "),
        ("vocab-size = 5\n", "'vocab-size' stands outside of a table\nhint: put it below [train]"),
        ("[prune]\n", "there is no table [train]\nhint: it has prune"),
        ("[train]\nvocab_size = 5\n", "no option 'vocab_size'\nhint: did you mean 'vocab-size'?"),
        ("[train]\nnfc = 'yes'\n", "nfc is 'yes'\nhint: use true or false"),
        ("[train]\noutput = ['a', 'b']\n", "output is ['a', 'b']\nhint: use one text or number"),
        ("[train]\nthreads = true\n", "threads is True\nhint: use one text or number"),
        ("[train]\nspecial-token = [true]\n", "special-token is [True]\nhint: use a list"),
    ],
)
def test_wrong_configs(cli, tmp_path, text, message):
    (tmp_path / "run.toml").write_text(text)
    ended = cli("train", "--config", tmp_path / "run.toml", code=1)
    assert message in ended.err


def test_values_of_a_config_are_checked_like_words(cli, tmp_path):
    (tmp_path / "run.toml").write_text("[train]\ncorpus = 'x'\noutput = 'y'\nvocab-size = 5.5\n")
    ended = cli("train", "--config", tmp_path / "run.toml", code=2)
    assert "'5.5' is not a valid int" in ended.err
    assert "none.toml: No such file" in cli("train", "--config", "none.toml", code=1).err


# Messages


def test_a_log_file_has_what_was_shown_and_when(cli, corpus, tmp_path):
    words = [
        "train",
        corpus,
        "--vocab-size",
        400,
        "--log-file",
        tmp_path / "logs" / "log.txt",
        "-q",
    ]
    cli(*words, "-o", tmp_path / "tok")
    cli(*words, "-o", tmp_path / "tok", code=1)
    lines = (tmp_path / "logs" / "log.txt").read_text().splitlines()
    assert all(line[:4].isdecimal() and line[4] == "-" for line in lines)
    shown = [line.split(" ", 2)[2] for line in lines]
    assert shown[1].startswith("WARNING ") and "bad.txt, byte 3: not UTF-8" in shown[1]
    assert any(line.startswith("INFO Counting: 115 kB of text in ") for line in shown)
    assert "ERROR " + f"{tmp_path}/tok: holds a tokenizer already" in shown
    assert shown[-1].startswith("INFO ended with exit code 1 after ")
    assert not [h for h in terminal.messages.handlers if isinstance(h, logging.FileHandler)]


def test_verbose_shows_the_stages(cli, corpus, tmp_path):
    words = ["train", corpus / "a.txt", "--vocab-size", 400, "-q"]
    assert not cli(*words, "-o", tmp_path / "a").err
    shown = cli("--verbose", *words, "-o", tmp_path / "b").err.splitlines()
    assert shown[0].startswith("Counting: 40.6 kB of text in ")
    assert all(line.startswith("Learning: ") for line in shown[1:])
    assert not cli(*words, "-o", tmp_path / "c").err


def test_a_count_that_may_be_a_share_warns(cli, corpus, trained, tmp_path):
    run = shutil.copytree(trained / "run", tmp_path / "run")  # some of these learn more merges
    words = ["prune", run, "--vocab-size", 400, "-q", "-o"]
    warned = cli(*words, tmp_path / "a", "--threshold", 2).err
    assert warned == (
        "warning: threshold 2 is a count: a visible token must occur 2 times; for a share of the "
        "boundary frequency write 2%\n"
    )
    assert "is a share: 150% of" in cli(*words, tmp_path / "b", "--threshold", "1.5", code=1).err
    for number, threshold in enumerate(("0", "2%", "0.02", " 2 %")):
        assert not cli(*words, tmp_path / str(number), "--threshold", threshold).err
    automatic = cli(*words, tmp_path / "auto", "--threshold", "Auto", "--json").json
    assert automatic["training"]["threshold"] == "auto"
    assert same_tokenizer(tmp_path / "1", tmp_path / "2")
    assert same_tokenizer(tmp_path / "1", tmp_path / "3")


# A tokenizer is not overwritten


def test_the_same_command_again_is_no_obstacle(cli, corpus, trained, tmp_path):
    words = ["train", corpus, "--vocab-size", 500, "-o", tmp_path / "tok"]
    words += ["--run-dir", tmp_path / "run"]
    cli(*words)
    assert f"tokenizer unchanged in {tmp_path}/tok\n" in cli(*words).err
    assert "holds a tokenizer already" in cli(*words, "--no-resume", code=1).err
    other = [*words, "--threshold", "20%"]
    assert "--force to replace it" in cli(*other, code=1).err
    assert f"tokenizer written to {tmp_path}/tok\n" in cli(*other, "--force").err
    assert f"tokenizer written to {tmp_path}/tok\n" in cli(*words, "--force", "--no-resume").err


def test_other_special_tokens_are_noticed_at_the_end(cli, corpus, trained, tmp_path):
    words = ["prune", trained / "run", "--vocab-size", 400, "-o", tmp_path / "tok"]
    cli(*words)
    before = (tmp_path / "tok" / "vocab.txt").read_bytes()
    assert "holds a tokenizer already" in cli(*words, "--special-token", "<a>", code=1).err
    assert (tmp_path / "tok" / "vocab.txt").read_bytes() == before


# Layout


@pytest.mark.parametrize("columns", [60, 80])
def test_every_table_fits(cli, corpus, trained, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    run, tok, named = trained / "run", trained / "tok", f"a-long-name={corpus}"
    cli("prune", run, "--vocab-size", 500, "--threshold", 0, "-o", tmp_path / "standard")
    for words in (
        ["sweep", run],
        ["inspect", tok],
        ["inspect", tok, "--internal", "--run", run],
        ["inspect", tok, "--visible", "--run", run],
        ["inspect", tok, "--rank", 300, "--run", run],
        ["inspect", tmp_path / "standard", "--against", tok, "--corpus", corpus],
        ["evaluate", tmp_path / "standard", tok, "--corpus", named],
        ["audit", tok, "--corpus", corpus],
        ["count", corpus, "--estimate"],
    ):
        lines = cli(*words).out.splitlines()
        # A path stays whole, so that it can be copied.
        assert max(len(line) for line in lines if str(corpus) not in line) <= columns, words
        assert "\x1b" not in "".join(lines)


def test_wide_shows_all_columns(cli, trained, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    narrow, wide = cli("sweep", trained / "run"), cli("sweep", trained / "run", "--wide")
    assert "hint: --wide also shows internal share, least exposure, +2K Standard\n" in narrow.err
    assert "+2K Standard" in wide.out and "--wide" not in wide.err
    assert "\n+2K Standard: what 2,000 more" in wide.err and "\n+2K" not in narrow.err


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_fits_80_columns(cli, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli(*([verb] if verb else []), "--help").out.splitlines()
    assert max(map(len, lines)) <= 80


def test_help_is_a_verb(cli):
    assert cli("help").out == cli("--help").out
    assert cli("help", "train").out == cli("train", "--help").out
    assert "there is no verb 'trian'; use train, " in cli("help", "trian", code=2).err
    options = {option["name"]: option for option in cli("help", "train", "--json").json["options"]}
    assert options["segmentation"]["choices"] == ["rank", "shortest"]
    assert options["output"]["flags"] == ["--output", "-o"] and options["output"]["required"]
    assert options["threshold"]["default"] == "40%"


def test_doctor(cli):
    out = cli("doctor").out
    assert "all is well" in out and "numpy" in out
    found = cli("doctor", "--json").json
    assert found["problem"] is None and found["cpu"]["threads"] >= 1 and found["memory"] > 10**8


def test_doctor_fails_if_the_library_does(cli, monkeypatch):
    import prunedbpe

    monkeypatch.setattr(prunedbpe.Tokenizer, "decode", lambda *_: "something else")
    ended = cli("doctor", code=1)
    assert "a text came back as 'something else'" in ended.err


def complete(words: str) -> list[str]:
    environment = {"_PRUNEDBPE_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    done = subprocess.run(
        [sys.executable, "-m", "prunedbpe"],
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout.split()


def test_the_shell_completes_verbs_options_and_choices():
    assert complete("prunedbpe tr") == ["train"]
    assert complete("prunedbpe train --seg") == ["--segmentation"]
    assert complete("prunedbpe train --segmentation ") == ["rank", "shortest"]


# JSON


def test_errors_as_json(cli, corpus, tmp_path):
    words = ["train", tmp_path / "none.txt", "--vocab-size", 400, "-o", tmp_path / "t", "--json"]
    ended = cli(*words, code=1)
    assert ended.json["error"]["kind"] == "CorpusError" and ended.json["error"]["exit_code"] == 1
    assert f"error: {ended.json['error']['message']}\n" in ended.err
    usage = cli(*words[:2], "--json", code=2).json["error"]
    assert usage["exit_code"] == 2 and usage["hint"] == "see prunedbpe train --help"
    assert cli("trian", "--json", code=2).json["error"]["message"].startswith("No such command")
    assert not cli("encode", "tok", "--", "--json", code=1).out
    (tmp_path / "c.toml").write_text("[inspect]\ntokenizer = 'none'\njson = true\n")
    error = cli("inspect", "--config", tmp_path / "c.toml", code=1).json["error"]
    assert error["message"] == "none: no such folder"
    assert json.dumps(error)


def test_every_explanation_is_one_line():
    for name, meaning in GLOSSARY.items():
        assert len(f"{name}: {meaning}") <= 80, name
