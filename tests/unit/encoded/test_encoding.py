"""Encoding a corpus: every format holds the same ids, and a run is resumed where it stopped."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from encoded_readers import contents, name_in, read

import prunedbpe
from prunedbpe.encoded import (
    FILE_FORMATS,
    encode_corpus,
    encode_files,
    open_encoded,
    read_documents,
    tokenizer_digest,
)
from prunedbpe.encoded.file_formats import id_type
from prunedbpe.errors import CorpusError, FormatError, SettingsError


@pytest.mark.parametrize("format", FILE_FORMATS)
@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
def test_formats_hold_the_ids(tok, documents, format, batch_bytes, tmp_path):
    corpus = prunedbpe.Corpus.from_texts(documents, batch_bytes=batch_bytes)
    path = name_in(tmp_path, format)
    report = encode_corpus(tok, corpus, path)
    expected = tok.encode_batch(documents)
    assert read(path) == expected
    assert [list(ids) for _, ids in read_documents(path)] == expected
    assert report.documents == len(documents)
    assert report.tokens == sum(map(len, expected))
    assert report.bytes == sum(len(text.encode()) for text in documents)


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_an_empty_corpus(tok, format, tmp_path):
    path = name_in(tmp_path, format)
    encode_corpus(tok, iter([]), path)
    assert read(path) == []
    assert list(read_documents(path)) == []


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_an_error_leaves_the_old_file(tok, documents, format, tmp_path):
    path, bad = name_in(tmp_path, format), tmp_path / "bad.txt"
    bad.write_bytes("\n".join(documents * 9).encode() + b"\n\xff\n")
    encode_corpus(tok, iter(documents), path)
    before = contents(tmp_path)
    with pytest.raises(CorpusError, match=r"bad\.txt.*not UTF-8"):
        encode_corpus(tok, prunedbpe.Corpus(bad, batch_bytes=20, strict=True), path)
    assert contents(tmp_path) == before
    assert not list(tmp_path.glob("**/.*"))


@pytest.mark.parametrize(
    ("format", "vocab_size", "type_name"),
    [
        ("bin", 1 << 16, "uint16"),
        ("npy", (1 << 16) + 1, "uint32"),
        ("megatron", 65_499, "uint16"),
        ("megatron", 65_500, "int32"),
        ("mds", 300, "int32"),
        ("arrow", 300, "uint32"),
        ("jsonl", 300, None),
    ],
)
def test_width_follows_the_vocabulary(format, vocab_size, type_name):
    assert id_type(format, vocab_size, None) == type_name


@pytest.mark.parametrize("format", ["npy", "bin", "parquet", "arrow", "megatron", "mds"])
@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32", "int64"])
def test_the_type_of_ids(tok, documents, format, dtype, tmp_path):
    path = name_in(tmp_path, format)
    if (format, dtype) == ("megatron", "uint32"):
        with pytest.raises(SettingsError, match="unknown in format megatron"):
            encode_corpus(tok, iter(documents), path, dtype=dtype)
        return
    encode_corpus(tok, iter(documents), path, dtype=dtype)
    found = [ids for _, ids in read_documents(path)]
    assert {str(ids.dtype) for ids in found} == {dtype}
    assert [ids.tolist() for ids in found] == tok.encode_batch(documents)


class TestMissing:
    """A null is an error that names the place, a row without ids, or no row."""

    ROWS = ("the cat", None, "", "hat")

    @pytest.fixture(params=["iterable", "jsonl", "arrow", "parquet"])
    def corpus(self, request, tmp_path):
        table = pa.table({"text": self.ROWS})
        if request.param == "iterable":
            return lambda: prunedbpe.Corpus.from_texts(iter(self.ROWS))
        if request.param == "arrow":
            return lambda: prunedbpe.Corpus.from_arrow(table)
        path = tmp_path / f"rows.{request.param}"
        if request.param == "parquet":
            pq.write_table(table, path)
        else:
            path.write_text("".join(json.dumps({"text": row}) + "\n" for row in self.ROWS))
        return lambda: prunedbpe.Corpus(path)

    @pytest.mark.parametrize("format", FILE_FORMATS)
    def test_rows(self, tok, corpus, format, tmp_path):
        path, kept = name_in(tmp_path, format), [tok.encode("the cat"), tok.encode("hat")]
        with pytest.raises(CorpusError, match=r"(row 1|line 2|document 1).*null"):
            encode_corpus(tok, corpus(), path)
        assert not path.exists()
        encode_corpus(tok, corpus(), path, missing="empty")
        assert read(path) == [kept[0], [], [], kept[1]]
        assert [list(ids) for _, ids in read_documents(path)] == read(path)
        encode_corpus(tok, corpus(), path, missing="skip")
        assert read(path) == kept

    def test_normalization_keeps_rows(self, tok, tmp_path):
        path = tmp_path / "a.jsonl"
        encode_corpus(tok, iter(["e\u0301", None, "a"]), path, missing="empty", normalization="NFC")
        assert read(path) == [tok.encode("é"), [], [97]]

    def test_nothing_but_nulls(self, tok, tmp_path):
        for column in (pa.array([None, None]), pa.array([None, None], pa.string())):
            encode_corpus(
                tok, column, tmp_path / "a.jsonl", missing="empty", append_token="<_EOS_>"
            )
            assert read(tmp_path / "a.jsonl") == [[tok.special_tokens["<_EOS_>"]]] * 2

    def test_training_skips_the_nulls_of_tables(self):
        table = pa.table({"text": self.ROWS})
        assert prunedbpe.count(table) == prunedbpe.count(iter(["the cat", "hat"]))


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_options(tok, format, tmp_path):
    end = tok.special_tokens["<_EOS_>"]
    path = name_in(tmp_path, format)
    options = {"append_token": "<_EOS_>", "allowed_special": "all", "normalization": "NFC"}
    encode_corpus(tok, iter(["cafe\u0301", "a<_EOS_>"]), path, **options)
    assert read(path) == [[*tok.encode("caf\u00e9"), end], [97, end, end]]


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow", "mds"])
def test_the_column_has_a_name(tok, documents, format, tmp_path):
    path = tmp_path / f"a.{format}"
    encode_corpus(tok, iter(documents), path, column="input_ids")
    expected = tok.encode_batch(documents)
    assert read(path, "input_ids") == expected
    assert [list(ids) for _, ids in read_documents(path, column="input_ids")] == expected
    if format != "jsonl":  # tables say which column it is
        assert [list(ids) for _, ids in read_documents(path)] == expected
    with pytest.raises(FormatError, match=r"a\.\w+"):
        list(read_documents(path, column="ids"))


def test_the_segmentation_used_is_recorded(tok, documents, tmp_path):
    shortest = prunedbpe.Tokenizer(tok.vocabulary, tok.pretokenizer, segmentation="shortest")
    for own, override, used in (
        (tok, None, "rank"),
        (tok, "shortest", "shortest"),
        (shortest, None, "shortest"),
        (shortest, "rank", "rank"),
    ):
        encode_corpus(own, iter(documents), tmp_path / "a.npy", segmentation=override)
        meta = json.loads((tmp_path / "a.npy.meta.json").read_text())
        assert meta["settings"]["segmentation"] == used
        assert read(tmp_path / "a.npy") == tok.encode_batch(documents, segmentation=used)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("b.npy", {"append_token": "<x>"}, "not a special token"),
        ("b.npy", {"allowed_special": ["<x>"]}, "<x>"),
        ("b.npy", {"segmentation": "best"}, "segmentation"),
        ("b.npy", {"normalization": "NFD"}, "NFD"),
        ("b.npy", {"column": "input_ids"}, "no column"),
        ("b.idx", {"column": "ids"}, "no column"),
        ("b.parquet", {"column": ""}, "no column"),
        ("b.ids", {"dtype": "int32"}, "format ids is text"),
        ("b.npy", {"dtype": "uint8"}, "uint8"),
        ("b.npy", {"missing": "maybe"}, "maybe"),
        ("b.xyz", {}, "ending"),
        ("b.npy", {"format": "xyz"}, "xyz"),
        ("b.npy.offsets.npy", {}, "reserved"),
    ],
)
def test_wrong_options_are_refused_before_reading(tok, tmp_path, name, options, message):
    def unread():
        raise AssertionError("the corpus was read")
        yield

    with pytest.raises(SettingsError, match=message):
        encode_corpus(tok, unread(), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_streams(tok, documents, format):
    stream = io.BytesIO()
    if format in ("bin", "parquet", "arrow", "megatron", "mds"):
        with pytest.raises(SettingsError, match="standard output"):
            encode_corpus(tok, iter(documents), stream, format)
        assert not stream.getvalue()
        return
    encode_corpus(tok, iter(documents), stream, format)
    stream.seek(0)
    expected = tok.encode_batch(documents)
    assert [list(ids) for _, ids in read_documents(stream)] == expected
    if format == "npy":
        stream.seek(0)
        assert np.load(stream).dtype == np.uint16


class TestOwnInput:
    """Nothing that is read may be written over."""

    @pytest.mark.parametrize(
        ("given", "output"),
        [
            ("a.jsonl", "a.jsonl"),
            ("a.jsonl", "link.jsonl"),
            ("link.jsonl", "a.jsonl"),
            ("x.npy.meta.json", "x.npy"),
            ("x.bin.offsets.npy", "x.bin"),
            (".", "a.jsonl"),
        ],
    )
    def test_one_file(self, tok, tmp_path, given, output):
        for name in ("a.jsonl", "x.npy.meta.json", "x.bin.offsets.npy"):
            (tmp_path / name).write_text('{"text": "the cat"}\n')
        (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
        with pytest.raises(SettingsError, match="overwrite an input"):
            encode_corpus(tok, prunedbpe.Corpus(tmp_path / given), tmp_path / output)
        assert (tmp_path / "a.jsonl").read_text() == '{"text": "the cat"}\n'

    @pytest.mark.parametrize("name", ["00000.jsonl", "encoded.json"])
    def test_per_file(self, tok, tmp_path, name):
        (tmp_path / name).write_text('{"text": "the cat"}\n')
        with pytest.raises(SettingsError, match="overwrite an input"):
            encode_files(tok, prunedbpe.Corpus(tmp_path / name), tmp_path, "jsonl")

    def test_names_near_the_input_are_free(self, tok, tmp_path):
        (tmp_path / "x.json").write_text("the cat")
        for output in ("x.npy", "x.bin"):
            encode_corpus(tok, prunedbpe.Corpus(tmp_path / "x.json"), tmp_path / output)
        assert (tmp_path / "x.json").read_text() == "the cat"
        for output in ("x.npy", "x.bin"):
            assert open_encoded(tmp_path / output)[0].tolist() == tok.encode("the cat")


class TestPerFile:
    """One output per input, resumed and repeated."""

    @pytest.fixture
    def texts(self, documents, tmp_path):
        folder = tmp_path / "texts"
        folder.mkdir()
        for number, text in enumerate(documents):
            (folder / f"{number}.txt").write_text(text, "utf-8")
        return folder

    @pytest.fixture
    def calls(self, tok, monkeypatch):
        """One entry per file that is encoded; the third call is interrupted."""
        original, calls = tok.encode_documents, []

        def counting(data, spans, **options):
            calls.append(len(spans))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return original(data, spans, **options)

        monkeypatch.setattr(tok, "encode_documents", counting)
        return calls

    def test_an_interrupted_run_is_resumed(self, tok, documents, texts, calls, tmp_path):
        out = tmp_path / "out"
        with pytest.raises(KeyboardInterrupt):
            encode_files(tok, prunedbpe.Corpus(texts), out, "npy")
        assert len(list(out.glob("0000?.npy"))) == 2
        report = encode_files(tok, prunedbpe.Corpus(texts), out, "npy")
        assert len(calls) == 6  # two before, the interrupted one, three after
        assert report.documents == 5
        for number, text in enumerate(documents):
            assert read(out / f"{number:05d}.npy") == [tok.encode(text)]
        assert encode_files(tok, prunedbpe.Corpus(texts), out, "npy") == report
        assert len(calls) == 6
        (texts / "0.txt").write_text("the cat saw", "utf-8")  # of the same size
        encode_files(tok, prunedbpe.Corpus(texts), out, "npy")
        assert len(calls) == 7
        assert read(out / "00000.npy") == [tok.encode("the cat saw")]

    @pytest.mark.parametrize(
        "victim", ["00001.npy", "00001.npy.offsets.npy", "00001.npy.meta.json"]
    )
    @pytest.mark.parametrize("damage", ["removed", "replaced"])
    def test_damaged_outputs_are_repaired(self, tok, documents, texts, tmp_path, victim, damage):
        out = tmp_path / "out"
        encode_files(tok, prunedbpe.Corpus(texts), out, "npy")
        if damage == "removed":
            (out / victim).unlink()
        else:
            (out / victim).write_bytes((out / victim.replace("1", "2", 1)).read_bytes())
        encode_files(tok, prunedbpe.Corpus(texts), out, "npy")
        for number, text in enumerate(documents):
            assert open_encoded(out / f"{number:05d}.npy")[0].tolist() == tok.encode(text)

    @pytest.mark.parametrize("format", FILE_FORMATS)
    def test_a_changed_byte_is_repaired(self, tok, format, tmp_path):
        (tmp_path / "a.txt").write_text("the cat sat on the mat\n" * 40_000)
        for path in (tmp_path / "out", tmp_path / "expected"):
            encode_files(tok, prunedbpe.Corpus(tmp_path / "a.txt"), path, format)
        output = name_in(tmp_path / "out", format, "00000")
        output = {"megatron": output.with_suffix(".bin"), "mds": output / "shard.00000.mds"}.get(
            format, output
        )
        data = bytearray(output.read_bytes())
        data[len(data) * 31 // 63 + min(5000, len(data) // 9)] ^= 1  # in no sampled block
        output.write_bytes(data)
        encode_files(tok, prunedbpe.Corpus(tmp_path / "a.txt"), tmp_path / "out", format)
        assert contents(tmp_path / "out") == contents(tmp_path / "expected")

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"normalization": "NFC"}, "text"),
            ({"append_token": "<_EOS_>"}, "text"),
            ({"allowed_special": "all"}, "text"),
            ({"column": "input_ids"}, "text"),
            ({}, "body"),
        ],
    )
    def test_another_setting_encodes_again(self, tok, tmp_path, options, field):
        lines = '{"text": "cafe\u0301 <_EOS_>", "body": "the"}\n'
        (tmp_path / "a.jsonl").write_text(lines, "utf-8")
        read_as = {name: prunedbpe.Corpus(tmp_path / "a.jsonl", text_field=name)
                   for name in ("text", field)}  # fmt: skip
        for encode in ({}, options):
            encode_files(tok, read_as[field if encode == options else "text"],
                         tmp_path / "out", "jsonl", **encode)  # fmt: skip
        encode_corpus(tok, read_as[field], tmp_path / "expected.jsonl", **options)
        written = (tmp_path / "out" / "00000.jsonl").read_bytes()
        assert written == (tmp_path / "expected.jsonl").read_bytes()

    def test_another_tokenizer_encodes_again(self, tok, documents, texts, tmp_path):
        other = prunedbpe.train(iter(documents * 3), vocab_size=265, threshold=0)
        assert tokenizer_digest(other) != tokenizer_digest(tok)
        for used in (tok, other):
            encode_files(used, prunedbpe.Corpus(texts), tmp_path / "out", "bin")
            assert read(tmp_path / "out" / "00000.bin") == [used.encode(documents[0])]

    def test_outputs_of_inputs_that_are_gone_are_removed(self, tok, texts, tmp_path):
        out = tmp_path / "out"
        encode_files(tok, prunedbpe.Corpus(texts), out, "bin")
        encode_files(tok, prunedbpe.Corpus(texts), out, "jsonl")
        (texts / "4.txt").unlink()
        encode_files(tok, prunedbpe.Corpus(texts), out, "bin")
        assert len(list(out.glob("*.bin"))) == 4 and not list(out.glob("00004.bin*"))
        assert len(list(out.glob("*.jsonl"))) == 5  # another format is another result

    def test_only_files(self, tok, texts, tmp_path):
        for corpus in (
            prunedbpe.Corpus.from_texts(["a"]),
            prunedbpe.Corpus(texts, shard=prunedbpe.Shard(0, 2)),
        ):
            with pytest.raises(SettingsError, match="whole corpus of files"):
                encode_files(tok, corpus, tmp_path / "out", "jsonl")

    @pytest.mark.parametrize("ledger", ["[]", '{"format": "x"}', "{"])
    def test_a_damaged_ledger_is_named(self, tok, texts, tmp_path, ledger):
        (tmp_path / "encoded.json").write_text(ledger)
        with pytest.raises(FormatError, match=r"encoded\.json"):
            encode_files(tok, prunedbpe.Corpus(texts), tmp_path, "jsonl")
