"""``export``, ``import``, ``audit``, and the files of ``encode``."""

import json

import numpy as np
import pytest

import prunedbpe
from prunedbpe import Tokenizer
from prunedbpe.encoded import open_encoded


@pytest.fixture(scope="module")
def standard(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("standard")
    prunedbpe.train(corpus, vocab_size=400, threshold=0).save(folder)
    return folder


@pytest.mark.parametrize("format_", ["huggingface", "tiktoken"])
def test_standard_goes_out_and_comes_back(cli, standard, tmp_path, format_):
    cli("export", standard, format_, "-o", tmp_path)
    (path,) = [p for p in tmp_path.iterdir() if p.name in ("tokenizer.json", "ranks.tiktoken")]
    cli("import", path, "-o", tmp_path / "back")
    text = "da kio 中 <_EOS_>"
    back = Tokenizer.load(tmp_path / "back")
    assert back.encode(text) == Tokenizer.load(standard).encode(text)
    assert "imported from" in cli("inspect", tmp_path / "back").out


def test_the_fewest_tokens_go_out_and_come_back(cli, corpus, tmp_path):
    """As a stock tokenizer.json, alone or in a folder for transformers."""
    words = ["--vocab-size", 400, "--threshold", "40%", "--segmentation", "shortest"]
    cli("train", corpus, *words, "-o", tmp_path / "tok")
    tok, text = Tokenizer.load(tmp_path / "tok"), "da kio 中 <_EOS_>"
    assert tok.vocabulary.internal_count
    for output in ("folder", "file.json"):
        cli("export", tmp_path / "tok", "huggingface", "-o", tmp_path / output)
        ended = cli("import", tmp_path / output, "-o", tmp_path / f"{output}-back")
        assert "shortest" in ended.err
        back = Tokenizer.load(tmp_path / f"{output}-back")
        assert (back.segmentation, back.encode(text)) == ("shortest", tok.encode(text))
    files = {path.name for path in (tmp_path / "folder").iterdir()}
    assert files == {"tokenizer.json", "tokenizer_config.json"}
    words = ["huggingface", "--library-classes", "-o", tmp_path / "x.json"]
    assert "for 'paper'" in cli("export", tmp_path / "tok", *words, code=1).err


def test_pruned_is_refused_with_what_is_exact(cli, trained, tmp_path):
    ended = cli("export", trained / "tok", "huggingface", "-o", tmp_path / "t.json", code=1)
    assert "tokens are internal" in ended.err
    assert "decode-table" in ended.err and "segmentation 'shortest'" in ended.err
    assert not list(tmp_path.iterdir())
    for format_ in ("decode-table", "all-ranks", "paper"):
        cli("export", trained / "tok", format_, "-o", tmp_path / format_)
    cli("import", tmp_path / "paper", "--pretokenizer", "paper", "-o", tmp_path / "back")
    back, tok = Tokenizer.load(tmp_path / "back"), Tokenizer.load(trained / "tok")
    assert back.encode("da kio 中") == tok.encode("da kio 中")


def test_what_is_no_tokenizer_is_named(cli, tmp_path):
    (tmp_path / "x.json").write_text("{}")
    ended = cli("import", tmp_path / "x.json", "-o", tmp_path / "y", code=1)
    assert "not a tokenizer.json" in ended.err
    assert "no such" in cli("import", tmp_path / "z", "-o", tmp_path / "y", code=1).err


def test_audit_reports_and_retargets(cli, standard, corpus, tmp_path):
    words = ["audit", standard, "--corpus", corpus / "a.txt", "-o", tmp_path / "new"]
    words += ["--holdout", 0]
    out = cli(*words, "--tokens", tmp_path / "uses.jsonl").out
    assert "never used" in out and "slots reallocated by" in out
    report = cli(*words[:4], "--holdout", 0, "--json").json
    assert report["reallocated"][0]["held_out_tokens"] is None and "(in-sample)" in out
    held = cli(*words[:4], "--json").json
    tok, (row,) = Tokenizer.load(standard), held["reallocated"]
    some = (corpus / "a.txt").read_text("utf-8").splitlines()[9::10]
    assert held["holdout"] == 10
    assert row["held_out_before"] == sum(map(len, tok.encode_batch(some)))
    assert "tokens of held-out text" in cli(*words[:4]).out
    assert report["learned_tokens"] == 140
    assert report["reallocated"][0]["tokens"] <= report["tokens"]
    ids = json.loads((tmp_path / "new" / "id_map.json").read_text())
    assert set(ids) == {"kept", "new", "dropped"}
    new = Tokenizer.load(tmp_path / "new")
    text = (corpus / "a.txt").read_text("utf-8").splitlines()
    assert sum(map(len, new.encode_batch(text))) == report["reallocated"][0]["tokens"]
    assert len((tmp_path / "uses.jsonl").read_text("utf-8").splitlines()) == 396


@pytest.mark.parametrize("format_", ["npy", "bin"])
def test_flat_files_have_offsets(cli, trained, corpus, tmp_path, format_):
    tok = Tokenizer.load(trained / "tok")
    path = tmp_path / f"ids.{format_}"
    words = ["--format", format_, "--append", "<_EOS_>", "-o", path]
    cli("encode", trained / "tok", corpus / "a.txt", *words)
    documents = (corpus / "a.txt").read_text("utf-8").splitlines()
    end = tok.special_tokens["<_EOS_>"]
    found = open_encoded(path)
    assert found.ids.dtype == np.uint16
    assert [ids.tolist() for ids in found] == [[*tok.encode(text), end] for text in documents]


def test_one_file_for_each_input(cli, trained, corpus, tmp_path):
    words = ["--format", "parquet", "--per-file", "-o", tmp_path / "ids"]
    cli("encode", trained / "tok", corpus, *words)
    files = sorted((tmp_path / "ids").glob("*.parquet"))
    assert files and (tmp_path / "ids" / "encoded.json").is_file()
    before = [file.stat().st_mtime_ns for file in files]
    cli("encode", trained / "tok", corpus, *words)
    assert [file.stat().st_mtime_ns for file in files] == before


@pytest.mark.parametrize(("format_", "name"), [("megatron", "train"), ("mds", "train.mds")])
def test_files_to_train_from(cli, trained, tmp_path, format_, name):
    rows = [{"text": "da kio"}, {"text": None}, {"text": "中"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["encode", trained / "tok", tmp_path / "rows.jsonl", "--format", format_]
    output = tmp_path / name
    assert "line 2: no text" in cli(*words, "-o", output, code=1).err
    cli(*words, "--missing", "empty", "--dtype", "int64", "-o", output)
    written = tmp_path / "train.idx" if format_ == "megatron" else output
    assert cli("decode", trained / "tok", written).out == "da kio\n\n中\n"
