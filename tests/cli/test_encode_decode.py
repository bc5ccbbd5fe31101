"""``encode`` and ``decode``: what one writes the other reads, in every format."""

import io
import json
import subprocess
import sys
from unicodedata import normalize

import numpy as np
import pytest

from prunedbpe import Tokenizer
from prunedbpe.encoded import read_documents


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
    # With --per-file the second run must not keep the ids of the first.
    for segmentation in ("rank", "shortest"):
        cli(*words, "--segmentation", segmentation)
        ids = [json.loads(line)["ids"] for line in written.read_text().splitlines()]
        assert ids == [tok.encode(line, segmentation=segmentation) for line in lines if line]
        lengths.append(sum(map(len, ids)))
    assert lengths[1] < lengths[0]
    Tokenizer(tok.vocabulary, tok.pretokenizer, segmentation="shortest").save(tmp_path / "own")
    cli(*["encode", tmp_path / "own", *words[2:]])
    own = [json.loads(line)["ids"] for line in written.read_text().splitlines()]
    assert own == ids  # as --segmentation shortest, which came last


FORMATS = ["jsonl", "ids", "npy", "bin", "parquet", "arrow"]
FILES_ONLY = ["bin", "parquet", "arrow"]


@pytest.mark.parametrize("field", ["text", "body"])
@pytest.mark.parametrize("nfc", [False, True])
@pytest.mark.parametrize("append", [None, "<_SEP_>"])
@pytest.mark.parametrize(
    ("format_", "target"),
    [(format_, "stdout") for format_ in FORMATS if format_ not in FILES_ONLY]
    + [(format_, target) for target in ("file", "per file") for format_ in FORMATS],
)
def test_every_way_round(cli, trained, tok, tmp_path, format_, target, append, nfc, field):
    """What is written reads as the ids of each document, and decodes to it."""
    rows = [{"text": f"da cafe\u0301 {i}", "body": f"kio {i}\n中\r\n"} for i in range(3)]
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["encode", trained / "tok", texts, "--format", format_, "--text-field", field]
    words += (["--append", append] if append else []) + (["--nfc"] if nfc else [])
    if target == "stdout":
        encoded = cli(*words).out_bytes
        found = [list(ids) for _, ids in read_documents(io.BytesIO(encoded))]
        decoded = cli("decode", trained / "tok", stdin=encoded).out_bytes
    else:
        output = tmp_path / ("folder" if target == "per file" else "encoded")
        assert not cli(*words, "-o", output, *(["--per-file"] if target == "per file" else [])).out
        written = output / f"00000.{format_}" if target == "per file" else output
        found = [list(ids) for _, ids in read_documents(written)]
        decoded = cli("decode", trained / "tok", written).out_bytes
    documents = [normalize("NFC", row[field]) if nfc else row[field] for row in rows]
    end = [tok.special_tokens[append]] if append else []
    assert found == [tok.encode(document) + end for document in documents]
    assert decoded.decode() == "".join(f"{document}{append or ''}\n" for document in documents)


@pytest.mark.parametrize("format_", FORMATS)
def test_decode_from_standard_input(cli, trained, corpus, tmp_path, format_):
    path = tmp_path / f"ids.{format_}"
    cli("encode", trained / "tok", corpus / "a.txt", "-o", path)  # the ending is the format
    if format_ == "bin":
        ended = cli("decode", trained / "tok", stdin=path.read_bytes(), code=1)
        assert "decode bin files by name" in ended.err
        return
    ended = cli("decode", trained / "tok", stdin=path.read_bytes())
    if format_ == "npy":  # the offsets of a file are in its side file
        assert "standard input: an array without offsets; read as one document" in ended.err
    else:
        assert ended.out_bytes == (corpus / "a.txt").read_bytes()


@pytest.mark.parametrize("format_", FILES_ONLY)
def test_formats_that_need_a_file(cli, trained, format_):
    ended = cli("encode", trained / "tok", "--format", format_, stdin=b"a\n", code=1)
    assert "standard output" in ended.err and "hint: give a file with --output" in ended.err
    assert not ended.out


def test_an_array_through_a_pipe(trained, tmp_path):
    """A pipe cannot seek, which files and captured output can."""
    (tmp_path / "a.txt").write_text("da kio\nkio\n")
    program = [sys.executable, "-c", "from prunedbpe.cli.entry import main; main()"]
    encode = [*program, "encode", trained / "tok", tmp_path / "a.txt", "--format", "npy", "-q"]
    encoded = subprocess.run(encode, check=True, capture_output=True).stdout
    assert np.load(io.BytesIO(encoded)).dtype == np.uint16
    decode = [*program, "decode", trained / "tok"]
    decoded = subprocess.run(decode, input=encoded, check=True, capture_output=True).stdout
    assert decoded == b"da kio\nkio\n"


@pytest.mark.parametrize("format_", ["jsonl", "parquet", "arrow"])
def test_the_column_has_a_name(cli, trained, corpus, tmp_path, format_):
    path = tmp_path / f"ids.{format_}"
    cli("encode", trained / "tok", corpus / "a.txt", "--column", "input_ids", "-o", path)
    decoded = cli("decode", trained / "tok", path, "--column", "input_ids").out_bytes
    assert decoded == (corpus / "a.txt").read_bytes()
    ended = cli("decode", trained / "tok", path, "--column", "labels", code=1)
    assert f"ids.{format_}" in ended.err and "labels" in ended.err


def test_per_file_never_reads_its_own_output(cli, trained, tmp_path):
    (tmp_path / "a.txt").write_text("da kio\n")
    words = ["encode", trained / "tok", tmp_path, "--per-file", "-o", tmp_path / "ids"]
    for _ in range(2):
        cli(*words)
        names = sorted(file.name for file in (tmp_path / "ids").iterdir())
        assert names == ["00000.jsonl", "encoded.json"]
    ended = cli(*words[:-2], code=1)
    assert "--per-file needs a folder" in ended.err


def test_own_input_is_not_overwritten(cli, trained, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "da"}\n')
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    words = ["encode", trained / "tok", tmp_path / "a.jsonl", "-o", tmp_path / "link.jsonl"]
    assert "overwrite an input" in cli(*words, code=1).err
    assert (tmp_path / "a.jsonl").read_text() == '{"text": "da"}\n'


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
    assert "standard input, line 1: " in ended.err and str(token_id) in ended.err


def test_an_array_of_something_else(cli, trained, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    ended = cli("decode", trained / "tok", tmp_path / "x.npy", code=1)
    assert "x.npy: not an array of token ids" in ended.err


def test_a_failure_leaves_no_half_file(cli, trained, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "da"}\nnot json\n')
    out = tmp_path / "ids.jsonl"
    cli("encode", trained / "tok", tmp_path / "bad.jsonl", "-o", out, code=1)
    assert not out.exists()
