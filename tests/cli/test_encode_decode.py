"""``encode`` and ``decode``: what one writes the other reads, in every format."""

import json

import numpy as np
import pytest

from prunedbpe import Tokenizer


@pytest.fixture(scope="module")
def tok(trained):
    return Tokenizer.load(trained / "tok")


def test_documents_become_lines_of_ids(cli, trained, tok):
    out = cli("encode", trained / "tok", stdin="da kio\n\n中 <_EOS_>\n".encode()).out
    ids = [json.loads(line)["ids"] for line in out.splitlines()]
    assert ids == [tok.encode("da kio"), tok.encode("中 <_EOS_>")]


@pytest.mark.parametrize("allowed", ["all", "<_EOS_>"])
def test_special_tokens_when_allowed(cli, trained, tok, allowed):
    words = ["encode", trained / "tok", "--allow-special", allowed, "--format", "ids"]
    assert cli(*words, stdin=b"<_EOS_>\n").out == f"{tok.special_tokens['<_EOS_>']}\n"


@pytest.mark.parametrize("per_file", [False, True])
def test_the_fewest_tokens(cli, trained, tok, corpus, tmp_path, per_file):
    words = ["encode", trained / "tok", corpus / "a.txt", "-o", tmp_path / "ids"]
    words += ["--per-file"] if per_file else []
    written = tmp_path / "ids" / "00000.jsonl" if per_file else tmp_path / "ids"
    lines = (corpus / "a.txt").read_text().splitlines()
    lengths = []
    # With --per-file the second run finds the first one's file, which is not what it is asked for.
    for segmentation in ("rank", "shortest"):
        cli(*words, "--segmentation", segmentation)
        ids = [json.loads(line)["ids"] for line in written.read_text().splitlines()]
        assert ids == [tok.encode(line, segmentation=segmentation) for line in lines if line]
        lengths.append(sum(map(len, ids)))
    assert lengths[1] < lengths[0]


@pytest.mark.parametrize("format_", ["jsonl", "ids", "npy"])
def test_round_trip(cli, trained, corpus, tmp_path, format_):
    text = (corpus / "a.txt").read_bytes()
    ids = tmp_path / "ids"
    assert not cli("encode", trained / "tok", corpus / "a.txt", "--format", format_, "-o", ids).out
    decoded = cli("decode", trained / "tok", ids).out_bytes
    # An array holds the ids of all documents; where one ends is not in it.
    assert decoded == (text.replace(b"\n", b"") + b"\n" if format_ == "npy" else text)


def test_piped_from_one_into_the_other(cli, trained, tmp_path):
    document = "def f():\n\treturn 'é中🙂'\r\n"
    (tmp_path / "code.py").write_bytes(document.encode())
    encoded = cli("encode", trained / "tok", tmp_path / "code.py").out_bytes
    assert cli("decode", trained / "tok", stdin=encoded).out_bytes == document.encode() + b"\n"
    decoded = cli("decode", trained / "tok", "--json", stdin=encoded).json
    assert decoded == {"text": document}


def test_bytes_that_are_not_utf8_come_out_as_they_are(cli, trained):
    assert cli("decode", trained / "tok", stdin=b"255 97\n").out_bytes == b"\xffa\n"
    assert cli("decode", trained / "tok", "--json", stdin=b"[255, 97]").json == {"text": "\ufffda"}


@pytest.mark.parametrize(
    "line", ["x", "[1, true]", '{"tokens": []}', "[1, [2]]", '{"ids": 3}', "[-"]
)
def test_lines_that_are_not_ids_are_named(cli, trained, line):
    ended = cli("decode", trained / "tok", stdin=f"97\n{line}\n".encode(), code=1)
    assert "standard input, line 2: not token ids" in ended.err


@pytest.mark.parametrize("token_id", [-1, 500, 1 << 40])
def test_ids_that_do_not_exist_are_named(cli, trained, token_id):
    ended = cli("decode", trained / "tok", stdin=f"[{token_id}]\n".encode(), code=1)
    assert "standard input, line 1: cannot decode" in ended.err


def test_an_array_of_something_else(cli, trained, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    ended = cli("decode", trained / "tok", tmp_path / "x.npy", code=1)
    assert "x.npy: not an array of token ids" in ended.err


def test_text_is_read_as_train_reads_it(cli, trained, tok, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "cafe\u0301"}\n{"body": "da"}\n')
    words = ["encode", trained / "tok", tmp_path / "a.jsonl", "--text-field", "body", "--nfc"]
    ids = [json.loads(line)["ids"] for line in cli(*words, "--threads", 2).out.splitlines()]
    assert ids == [tok.encode("café"), tok.encode("da")]


def test_a_failure_leaves_no_half_file(cli, trained, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "da"}\nnot json\n')
    out = tmp_path / "ids.jsonl"
    cli("encode", trained / "tok", tmp_path / "bad.jsonl", "-o", out, code=1)
    assert not out.exists()
