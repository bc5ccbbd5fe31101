"""Errors: one line and a hint, the right exit code, no traceback unless asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import prunedbpe.cli.decode


def test_unknown_verb(cli):
    ended = cli("trian", code=2)
    assert ended.err.startswith("error: No such command 'trian'.")
    assert ended.err.endswith("\nhint: see prunedbpe --help\n")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["train"], "CORPUS"),
        (["train", "x.txt", "-o", "tok"], "--vocab-size"),
        (["train", "x.txt", "-o", "tok", "--vocab-size", "many"], "--vocab-size"),
        (["train", "x.txt", "-o", "tok", "--vocab-size", "500", "--progress", "loud"], "loud"),
        (["learn", "c.parquet", "--merges", "-1", "-o", "m.parquet"], "--merges"),
        (["count", "x", "--reduce", "--shard", "0/2", "-o", "c.parquet"], "--reduce"),
        (["encode", "tok", "--no-such-option"], "--no-such-option"),
        (["train", "x.txt", "-o", "tok", "--vocab-size", "200"], "use 260 or more"),
        (["train", "x.txt", "-o", "t", "--vocab-size", "500", "--threshold", "much"], "or auto"),
        (["train", "x.txt", "-o", "t", "--vocab-size", "500", "--threshold", "-1"], "or auto"),
        (["prune", "run", "-o", "t", "--vocab-size", "500", "--threshold", "4O%"], "or auto"),
        (["sweep", "run", "--threshold", "many"], "such as 40% or 0.4"),
        (["sweep", "run", "--corpus", "=b.txt"], "NAME=PATH"),
        (["paper", "--corpus", "I=", "-o", "report"], "NAME=PATH"),
        (["paper", "--corpus", "a/I", "--corpus", "b/I", "-o", "report"], "other=b/I"),
        (["paper", "--corpus", "I=.", "--sizes", "x", "-o", "report"], "not a number"),
        (["train", "x", "-o", "t", "--vocab-size", "500", "--pretokenizer", "papre"], "'paper'"),
        (["count", "x", "--shard", "8/8", "-o", "c.parquet"], "shard 8 of 8"),
        (["count", "x", "--shard", "third", "-o", "c.parquet"], "INDEX/COUNT"),
        (["count", "x", "--max-document", "10 bananas", "-o", "c.parquet"], "such as 500MB"),
    ],
)
def test_wrong_usage(cli, words, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = cli(*words, code=2)
    assert not ended.out
    error, hint = ended.err.splitlines()
    assert error.startswith("error: ") and named in error
    assert hint == f"hint: see prunedbpe {words[0]} --help"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("train {x}/none --vocab-size 500 -o {x}/tok", "none: no such file or folder"),
        ("train {a} --vocab-size 500 -o {a}", "a file is in the way"),
        ("train {a} --vocab-size 500 --special-token <a> --special-token <a> -o {x}/tok", "<a>"),
        (
            "train {a} --vocab-size 500 --special-token <a> --no-special-tokens -o {x}/tok",
            "--no-special-tokens",
        ),
        ("train {c} --vocab-size 500 --strict -o {x}/tok", "bad.txt, byte 3: not UTF-8"),
        ("train {a} --vocab-size 500 --max-train-vocab 300 -o {x}/tok", "max_train_vocab=300"),
        ("train {a} --vocab-size 500 --threshold 1000000 -o {x}/tok", "this vocabulary needs 240"),
        ("train {a} --vocab-size 900000 -o {x}/tok", "no pair occurs twice"),
        ("train {x}/empty.txt --vocab-size 500 -o {x}/tok", "no text was read: 1 file, empty"),
        ("train {x}/utf16.txt --vocab-size 500 --strict -o {x}/tok", "utf16.txt: UTF-16, not"),
        ("train {x}/tok --vocab-size 500 -o {x}/tok", "all files are in a folder that is excluded"),
        ("train {a} --vocab-size 500 -o {t}", "holds a tokenizer already"),
        ("train {a} --vocab-size 500 -o {t} --run-dir {x}/new", "holds a tokenizer already"),
        ("prune {r} --vocab-size 400 -o {t}", "holds a tokenizer already"),
        ("prune {r} --vocab-size 500 --threshold 30% -o {t}", "holds a tokenizer already"),
        ("prune {r} --vocab-size 500 --for {a} -o {t}", "holds a tokenizer already"),
        ("audit {t} --corpus {a} -o {t}", "holds a tokenizer already"),
        ("count {a} -o {x}", "is a folder"),
        ("count --reduce {a} -o {x}/c.parquet", "a.txt: not a Parquet file"),
        ("learn {x}/none.parquet --merges 9 -o {x}/m.parquet", "none.parquet: no such file"),
        ("prune {x}/none.parquet --vocab-size 500 -o {x}/tok", "none.parquet: no such file"),
        ("sweep {x}", "hint: give the --run-dir of prunedbpe train"),
        ("prune {c} --vocab-size 500 -o {x}/tok", "no run to continue"),
        ("audit {x}/none --corpus {a}", "tokenizer.json"),
        ("encode {x}/none {a}", "none: no such folder"),
        ("encode {t} {a} --allow-special <none>", "'<none>' is not a special token"),
        ("decode {t} {x}/none", "none: No such file"),
        ("decode {t} {a}", "a.txt, line 1: not token ids"),
        ("inspect {t} --token qqq", "no token spells 'qqq'"),
        ("inspect {t} --id 99999", "token id 99999 does not exist"),
        ("inspect {t} --rank 99999", "rank 99999"),
        ("inspect {t} --hex xy", "not hexadecimal"),
    ],
)
def test_errors_name_the_thing_and_end_with_1(cli, words, named, corpus, trained, tmp_path):
    for name, data in {"empty.txt": b"", "tok/vocab.txt": b"text\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "utf16.txt").write_text("text\n", encoding="utf-16")
    places = {"a": corpus / "a.txt", "c": corpus, "t": trained / "tok", "r": trained / "run"}
    places["x"] = tmp_path
    ended = cli(*words.format(**places).split(), code=1)
    assert not ended.out
    assert ended.err.startswith("error: ")
    assert named in ended.err


def test_nothing_but_text_that_is_not_utf8(cli, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\n\xff\n")
    ended = cli("train", tmp_path / "a.txt", "--vocab-size", 500, "-o", tmp_path / "tok", code=1)
    assert f"warning: {tmp_path}/a.txt, byte 0: not UTF-8; 2 documents of this file" in ended.err
    assert "error: no text was read: 2 documents of 1 file skipped, not UTF-8\nhint:" in ended.err


def test_an_unexpected_error_is_one_line_unless_debug(cli, trained, monkeypatch, capfdbinary):
    def fail(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(prunedbpe.cli.decode, "read_documents", fail)
    ended = cli("decode", trained / "tok", code=1)
    error, hint = ended.err.splitlines()
    assert error == "error: unexpected KeyError: 'lost'" and "--debug" in hint

    for words, variable in (
        (["--debug", "decode", trained / "tok"], "0"),
        (["decode", trained / "tok", "--debug"], "0"),
        (["decode", trained / "tok"], "1"),
    ):
        monkeypatch.setenv("PRUNEDBPE_DEBUG", variable)
        with pytest.raises(AssertionError, match="Traceback"):
            cli(*words, code=1)


def test_a_closed_pipe_is_no_error(trained, tmp_path):
    Path(tmp_path, "long.txt").write_text("one two three\n" * 50_000)
    program = f"{sys.executable} -m prunedbpe encode {trained}/tok {tmp_path}/long.txt | head -1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith('{"ids": [') and not ended.stderr


def test_no_colour_into_a_file_and_none_against_no_color(cli, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "\x1b" not in cli("trian", code=2).err
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[" in cli("trian", code=2).err


@pytest.mark.parametrize("was_there", [False, True])
def test_a_command_that_fails_leaves_no_empty_folder(tmp_path, was_there):
    text, output = tmp_path / "a.txt", tmp_path / "tok"
    text.write_text("to be or not to be", encoding="utf-8")
    if was_there:
        output.mkdir()
    command = [sys.executable, "-m", "prunedbpe", "train", str(text), "-o", str(output)]
    ended = subprocess.run([*command, "--vocab-size", "10"], capture_output=True, text=True)
    assert "no room" in ended.stderr
    assert output.exists() == was_there


def test_a_document_longer_than_allowed(cli, tmp_path):
    (tmp_path / "a.txt").write_text("ab " * 50_000)
    words = ["count", tmp_path / "a.txt", "-o", tmp_path / "counts.parquet", "--max-document"]
    err = cli(*words, "100kB", code=1).err
    assert "a.txt, byte 0: the document is longer than 100 kB" in err
    assert "--max-document" in err
    assert not (tmp_path / "counts.parquet").exists()
    cli(*words, "150 kB")
