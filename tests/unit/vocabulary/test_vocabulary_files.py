"""Reading and writing a tokenizer's files: every error names the file and the line."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import native_vocabulary

from prunedbpe import ChunkCounts, Tokenizer, _core, learn, prune
from prunedbpe.errors import FormatError
from prunedbpe.vocabulary.vocabulary_files import (
    _read_quickly,
    _read_with_care,
    read_paper_files,
    token_repr,
)

V, I = "vocab.txt", "inter_vocab.txt"  # noqa: E741

# "ab" internal, "abc", "cd", "abcd"; ids: abc 256, cd 257, abcd 258, <eos> 259, <pad> 260, ab 261
MERGES = [(97, 98), (256, 99), (99, 100), (257, 100)]


@pytest.fixture
def folder(tmp_path) -> Path:
    vocabulary = native_vocabulary(MERGES, {256}, ("<eos>", "<pad>"))
    Tokenizer(vocabulary, "paper", {"threshold": "40%"}).save(tmp_path / "tok")
    return tmp_path / "tok"


def test_the_files(folder):
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert lines[97] == "97\t(-1, -1)\t'a'\t-1"
    assert lines[10] == "10\t(-1, -1)\tb'\\n'\t-1"
    assert lines[255] == "255\t(-1, -1)\tb'\\xff'\t-1"
    assert lines[256:] == [
        "256\t(261, 99)\t'abc'\t257",
        "257\t(99, 100)\t'cd'\t258",
        "258\t(256, 100)\t'abcd'\t259",
        "259\t(-1, -1)\t'<eos>'\t-1",
        "260\t(-1, -1)\t'<pad>'\t-1",
        "",
    ]
    assert (folder / "inter_vocab.txt").read_bytes() == b"261\t(97, 98)\t'ab'\t256\n"
    settings = json.loads((folder / "prunedbpe.json").read_text(encoding="utf-8"))
    assert settings["pretokenizer"]["name"] == "paper"
    assert (settings["vocab_size"], settings["internal_tokens"]) == (261, 1)
    assert settings["training"] == {"threshold": "40%"}


@pytest.mark.parametrize(
    ("string", "column"),
    [
        (b"\x00", "b'\\x00'"),
        (b"a\tb", "b'a\\tb'"),
        (b"\x7f", "'\\x7f'"),
        (b"'", '"\'"'),
        (b"'\"", "'\\'\"'"),
        (b"\\", "'\\\\'"),
        ("é".encode(), "'é'"),
        ("\u2028".encode(), "'\\u2028'"),
        ("\u00a0".encode(), "'\\xa0'"),
        ("中\n".encode(), "b'\\xe4\\xb8\\xad\\n'"),
        (b"\xe4\xb8", "b'\\xe4\\xb8'"),
        (b"\xed\xa0\x80", "b'\\xed\\xa0\\x80'"),  # a surrogate is not UTF-8
    ],
)
def test_third_column(string, column):
    assert token_repr(string) == column


def test_third_column_of_a_whole_vocabulary(tmp_path):
    strings = ["it's", '"it\'s"', "\\n\\udc80", "a\tb\n", "\xa0\u200b\u2028", "\ue000中文", "é\x7f"]
    chunks = [*(string.encode() for string in strings), b"\xed\xa0\x80", b"\xe4\xb8", b"\xffab"]
    merges = learn(ChunkCounts.from_mapping(dict.fromkeys(chunks, 2)), 1000)
    prune(merges, 256 + len(merges), threshold=0, special_tokens=()).save(tmp_path)
    lines = (tmp_path / V).read_text(encoding="utf-8").split("\n")[:-1]
    columns = [line.split("\t")[2] for line in lines]
    assert columns == [token_repr(string) for string in merges.token_bytes]
    assert len(columns) > 256 + len(chunks)


def columns_of(strings):
    """The third column as native code writes it."""
    # As special tokens, which may be anything.
    merges = np.empty((0, 2), np.uint32)
    visible_file, _ = _core.write_vocabulary(merges, np.ones(256, bool), strings)
    lines = str(visible_file, "utf-8").split("\n")[256:-1]
    return [line.split("\t")[2] for line in lines]


def test_third_column_of_every_character():
    characters = [chr(i).encode() for i in range(0x110000) if not 0xD800 <= i < 0xE000]
    assert columns_of(characters) == [token_repr(string) for string in characters]


@given(
    st.lists(
        st.one_of(
            st.binary(min_size=1, max_size=6),
            st.text("a'\"\\ é\xa0中\u2028😀\U000e0001\x7f", min_size=1, max_size=6).map(str.encode),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_third_column_of_any_bytes(strings):
    assert columns_of(strings) == [token_repr(string) for string in strings]


def replace_line(folder: Path, name: str, number: int, line: str | None) -> None:
    lines = (folder / name).read_text(encoding="utf-8").split("\n")
    lines[number - 1 : number] = [] if line is None else [line]
    (folder / name).write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("name", "number", "line", "message"),
    [
        # Form
        (V, 258, "garbage", "not of the form"),
        (V, 258, "", "not of the form"),
        (V, 258, "257\t(99, 100)\t'cd'", "not of the form"),
        (V, 258, "257\t(99, 100)\t'cd'\t258\t", "not of the form"),
        (V, 258, "257\t(99, 100)\t'cd'\t258\r", "not of the form"),
        (V, 258, "257 (99, 100) 'cd' 258", "not of the form"),
        (V, 258, "+257\t(99, 100)\t'cd'\t258", "not of the form"),
        (V, 258, "٢٥٧\t(99, 100)\t'cd'\t258", "not of the form"),
        (V, 258, "257\t(99,100)\t'cd'\t258", "not of the form"),
        (V, 258, "257\t(99, 100)\t'cd'\t" + "9" * 5000, "not of the form"),
        # More digits than 64 bits hold
        (V, 258, f"{'9' * 19}\t(99, 100)\t'cd'\t258", "not of the form"),
        (V, 258, f"257\t({'9' * 19}, 100)\t'cd'\t258", "not of the form"),
        (V, 258, f"257\t(99, -{'9' * 20})\t'cd'\t258", "not of the form"),
        (I, 1, f"261\t(97, 98)\t'ab'\t{'9' * 20}", "not of the form"),
        (V, 1, "\ufeff0\t(-1, -1)\tb'\\x00'\t-1", "not of the form"),
        (I, 1, "", "not of the form"),
        # Strings; nothing is ever executed
        (V, 258, "257\t(99, 100)\t__import__('os').abort()\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t'c' + 'd'\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\tf'{1}'\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\tcd\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t''\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t7\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t'\\ud800'\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t'cd\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t" + "(" * 5000 + "\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t" + "-" * 50000 + "1\t258", "not the repr of a token"),
        (V, 258, "257\t(99, 100)\t'ce'\t258", r"'ce' is not 'c' \+ 'd'"),
        # Ids
        (V, 258, "300\t(99, 100)\t'cd'\t258", "token id 300, expected 257"),
        (V, 258, None, "token id 258, expected 257"),
        (I, 1, "262\t(97, 98)\t'ab'\t256", "token id 262, expected 261"),
        # Bytes
        (V, 98, "97\t(-1, -1)\t'A'\t-1", "must be the single bytes in order"),
        (V, 98, "97\t(97, 98)\t'a'\t300", "must be the single bytes in order"),
        # Ranks and special tokens
        (V, 258, "257\t(99, 100)\t'cd'\t257", "rank 257 is already used in .*line 257"),
        (V, 258, "257\t(99, 100)\t'cd'\t97", "rank 97 belongs to a byte"),
        (V, 258, "257\t(99, 100)\t'cd'\t-1", "rank -1 and children"),
        (V, 258, "257\t(-1, -1)\t'cd'\t-7", "rank -1 and children"),
        (V, 258, "257\t(-1, -1)\t'cd'\t-1", "a token without rank among learned ones"),
        (I, 1, "261\t(-1, -1)\t'ab'\t-1", "an internal token without rank"),
        (V, 260, "259\t(-1, -1)\tb'\\xff'\t-1", "a special token must be text"),
        (V, 258, "257\t(99, 100)\t'cd'\t999", "made before|follows the higher"),
        # Children
        (V, 258, "257\t(-1, -1)\t'cd'\t258", "child -1 is neither a byte"),
        (V, 258, "257\t(99, 259)\t'cd'\t258", "child 259 is neither a byte nor a learned"),
        (V, 258, "257\t(99, 9999)\t'cd'\t258", "child 9999 is neither a byte"),
        (V, 257, "256\t(258, 99)\t'abc'\t257", "child 258 was not made before"),
        (V, 258, "257\t(257, 100)\t'cd'\t258", "child 257 was not made before"),  # a cycle
        (I, 1, "261\t(256, 98)\t'ab'\t256", "child 256 was not made before"),  # a longer one
        # Tokens that can never appear
        (V, 258, "257\t(97, 98)\t'ab'\t258", r"all spell b'ab'"),
    ],
)
def test_damaged_line(folder, name, number, line, message):
    replace_line(folder, name, number, line)
    with pytest.raises(FormatError, match=message) as caught:
        Tokenizer.load(folder)
    assert f"{folder / name}, line " in str(caught.value)
    if "follows" not in message:
        assert f", line {number}:" in str(caught.value)


def test_order_of_merges_that_hides_a_token(folder):
    # With "bc" before "ab", the text "abc" becomes a, bc.
    lines = (folder / V).read_text(encoding="utf-8").split("\n")
    lines[256:259] = [
        "256\t(98, 99)\t'bc'\t255",
        "257\t(261, 99)\t'abc'\t257",
        "258\t(257, 100)\t'abcd'\t258",
    ]
    (folder / V).write_text("\n".join(lines).replace("\t255", "\t256"), encoding="utf-8")
    (folder / I).write_text("261\t(97, 98)\t'ab'\t257\n", encoding="utf-8")
    text = (folder / V).read_text(encoding="utf-8")
    text = text.replace("'abcd'\t258", "'abcd'\t259").replace("'abc'\t257", "'abc'\t258")
    (folder / V).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"vocab\.txt, line 258: b'abc' encodes to other tokens"):
        Tokenizer.load(folder)


def test_ranks_may_have_gaps(folder):
    """Discarding tokens by another rule leaves gaps; only the order of ranks matters."""
    text = (folder / V).read_text(encoding="utf-8")
    (folder / V).write_text(text.replace("'abcd'\t259", "'abcd'\t400"), encoding="utf-8")
    assert Tokenizer.load(folder).encode("abcd") == [258]


@pytest.mark.parametrize("name", [V, I])
def test_not_utf8(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b"\xff")
    with pytest.raises(FormatError, match=rf"{name}: not UTF-8 at byte \d+"):
        Tokenizer.load(folder)


@pytest.mark.parametrize("name", [V, I, "prunedbpe.json"])
def test_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(FormatError, match=rf"{name}: no such file"):
        Tokenizer.load(folder)


def test_missing_folder(folder):
    with pytest.raises(FormatError, match="no such folder"):
        Tokenizer.load(folder / "nowhere")
    with pytest.raises(FormatError, match="no such folder"):
        Tokenizer.load(folder / V)


@pytest.mark.parametrize("lines", [0, 1, 255])
def test_vocabulary_without_all_bytes(folder, lines):
    text = (folder / V).read_text(encoding="utf-8").split("\n")[:lines]
    (folder / V).write_text("".join(line + "\n" for line in text), encoding="utf-8")
    (folder / I).write_bytes(b"")
    with pytest.raises(FormatError, match=r"vocab\.txt: the 256 bytes are missing"):
        Tokenizer.load(folder)


def test_quick_reading_accepts_nothing_that_careful_reading_does_not(folder):
    """Change digits, bytes and lines at random; a few changes leave the files valid."""
    whole = {name: (folder / name).read_bytes() for name in (V, I)}
    random = Random(1)
    accepted = 0
    for _ in range(3000):
        for name, data in whole.items():
            changed = bytearray(data)
            # The bytes' own lines are many and all alike.
            first = changed.index(b"250\t") if name == V else 0
            place = random.randrange(first, len(changed))
            digits = [i for i in range(first, len(changed)) if chr(changed[i]).isdigit()]
            lines = bytes(changed).split(b"\n")
            match random.randrange(5):
                case 0:
                    changed[random.choice(digits)] = random.choice(b"0123456789-")
                case 1:
                    changed[place] = random.randrange(256)
                case 2:
                    del changed[place]
                case 3:
                    i, j = (random.randrange(len(lines)) for _ in "ij")
                    lines[i], lines[j] = lines[j], lines[i]
                    changed[:] = b"\n".join(lines)
            (folder / name).write_bytes(changed)
        quick = _read_quickly(folder)
        if quick is not None:
            accepted += 1
            careful = _read_with_care(folder)
            assert np.array_equal(quick.pairs, careful.pairs)
            assert np.array_equal(quick.visible, careful.visible)
            assert quick.special_tokens == careful.special_tokens
    assert accepted > 100


def test_last_line_without_its_end(folder):
    text = (folder / V).read_bytes()
    (folder / V).write_bytes(text.removesuffix(b"\n"))
    assert Tokenizer.load(folder).vocab_size == 261


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[]", r"the top level is \[\], not an object"),
        ("{}", "not the settings of a tokenizer"),
        ("{", "line 1: not JSON"),
        ("", "line 1: not JSON"),
        ({"version": 3}, "version 3 is unknown"),
        ({"version": None}, "version is missing or null"),
        ({"format": "other"}, "not the settings of a tokenizer"),
        ({"pretokenizer": "paper"}, "pretokenizer is 'paper', not an object"),
        ({"pretokenizer": {"name": "nope"}}, "no pretokenizer is named 'nope'"),
        ({"pretokenizer": {"name": ["paper"]}}, r"pretokenizer\.name is \['paper'\], not a text"),
        ({"pretokenizer": {"name": "paper", "pattern": "a"}}, "takes no pattern"),
        ({"pretokenizer": {"name": "regex"}}, "needs a pattern"),
        ({"pretokenizer": {"name": "regex", "pattern": "("}}, "not a valid regular expression"),
        ({"vocab_size": 9}, "'vocab_size' is 9, but the vocabulary files have 261"),
        ({"internal_tokens": 0}, "'internal_tokens' is 0"),
        ({"special_tokens": ["<eos>"]}, "'special_tokens' is"),
    ],
)
def test_wrong_settings(folder, change, message):
    path = folder / "prunedbpe.json"
    if isinstance(change, dict):
        change = json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change})
    path.write_text(change, encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        Tokenizer.load(folder)
    assert str(path) in str(caught.value)


def test_settings_with_byte_order_mark(folder):
    path = folder / "prunedbpe.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(FormatError, match=r"prunedbpe\.json, line 1: not JSON"):
        Tokenizer.load(folder)


def test_other_unicode_version_is_told(folder):
    path = folder / "prunedbpe.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["pretokenizer"]["unicode_version"] = "9.0.0"
    path.write_text(json.dumps(settings), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"Unicode 9\.0\.0"):
        Tokenizer.load(folder)


def test_awkward_special_tokens_survive(tmp_path):
    special = (
        "\n",
        "\t",
        "a\x00b",
        "'",
        "\"'",
        "\\",
        "\u2028",
        "\x85",
        "中文",
        " ",
        "👍🏽",
        "\x7f",
    )
    vocabulary = native_vocabulary(MERGES, set(), special)
    Tokenizer(vocabulary, "gpt2").save(tmp_path)
    assert Tokenizer.load(tmp_path).vocabulary.special_tokens == special


@pytest.mark.parametrize("last", ["vocab.txt", "inter_vocab.txt", "prunedbpe.json"])
def test_a_tokenizer_over_another_is_the_old_or_the_new_one(folder, monkeypatch, last):
    """Interrupted before a rename: the first leaves the old one, later ones are finished."""
    old = Tokenizer.load(folder).vocabulary
    new = native_vocabulary(MERGES, {257}, ("<eos>", "<pad>"))
    rename = Path.replace

    def killed(self, target):
        if target.name == last:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        Tokenizer(new).save(folder)
    monkeypatch.undo()
    expected = old if last == "vocab.txt" else new
    found = Tokenizer.load(folder).vocabulary
    assert found.special_tokens == expected.special_tokens
    assert found.visible.tolist() == expected.visible.tolist()
    assert not list(folder.glob(".*"))


def test_a_tokenizer_that_cannot_be_written_leaves_the_old_one(folder, monkeypatch):
    before = Tokenizer.load(folder).vocabulary

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        Tokenizer(native_vocabulary(MERGES, {257}, ("<eos>", "<pad>"))).save(folder)
    monkeypatch.undo()
    assert Tokenizer.load(folder).vocabulary.strings == before.strings
    assert not list(folder.glob(".*"))


def test_only_the_paper_files():
    """The two files hold a vocabulary; the caller chooses the pretokenizer."""
    with pytest.raises(FormatError, match="no such file"):
        read_paper_files(Path("nowhere"))
