"""The tokenizer by example: special tokens, surrogates, long chunks, ids that are none."""

from __future__ import annotations

import concurrent.futures
import gc

import numpy as np
import pytest
from implementations import native_tokenizer, native_vocabulary

from prunedbpe import Tokenizer
from prunedbpe.errors import PrunedBPEError, SettingsError

AB, ABC = (97, 98), (256, 99)
SPECIAL = ("<a>", "<a><b>", "<b>", "中")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """ "ab" is internal: abc 256, special tokens 257-260, ab 261."""
    return Tokenizer(native_vocabulary([AB, ABC], {256}, SPECIAL), "none")


def test_tokens_one_by_one(tokenizer):
    assert tokenizer.vocab_size == 261
    assert tokenizer.special_tokens == dict(zip(SPECIAL, range(257, 261), strict=True))
    assert tokenizer.vocab_bytes()[256:] == [b"abc", b"<a>", b"<a><b>", b"<b>", "中".encode()]
    assert (tokenizer.token_bytes(256), tokenizer.token_bytes(261)) == (b"abc", b"ab")
    assert (tokenizer.is_visible(260), tokenizer.is_visible(261)) == (True, False)
    assert (tokenizer.rank(97), tokenizer.rank(256), tokenizer.rank(261)) == (97, 257, 256)
    assert tokenizer.rank(257) is None
    assert tokenizer.children(256) == (261, 99)
    assert tokenizer.children(97) is tokenizer.children(257) is None
    assert tokenizer.expansion(261) == [97, 98]
    assert (tokenizer.expansion(256), tokenizer.expansion(257)) == ([256], [257])
    assert "vocab_size=261" in repr(tokenizer)
    for token_id in (-1, 262, 10**20):
        with pytest.raises(PrunedBPEError, match=f"token id {token_id} does not exist"):
            tokenizer.token_bytes(token_id)


def test_internal_tokens_are_expanded(tokenizer):
    assert tokenizer.encode("ab") == [97, 98]
    assert tokenizer.encode("abab abc") == [97, 98, 97, 98, 32, 256]


@pytest.mark.parametrize("text", ["", "\x00", "\x00\x00a\x00"])
def test_empty_and_nul(tokenizer, text):
    assert tokenizer.encode(text) == list(text.encode())
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode_to_numpy(text).dtype == np.uint32
    assert tokenizer.count_tokens(text) == len(text)
    assert tokenizer.encode(text, allowed_special="all") == list(text.encode())
    assert tokenizer.encode_with_offsets(text)[0] == list(text.encode())


class TestSpecialTokens:
    def test_ordinary_text_by_default(self, tokenizer):
        assert tokenizer.encode("<a>") == list(b"<a>")

    def test_all(self, tokenizer):
        ids = tokenizer.encode("x<a><b>abc<b><a>中", allowed_special="all")
        assert ids == [120, 258, 256, 259, 257, 260]  # the longest first

    def test_by_name(self, tokenizer):
        assert tokenizer.encode("<a><b>", allowed_special={"<a>"}) == [257, *b"<b>"]
        assert tokenizer.encode("<a><b>", allowed_special=["<a>", "<b>"]) == [257, 259]
        assert tokenizer.encode("<a><b>", allowed_special="<a><b>") == [258]

    def test_merges_do_not_reach_over_them(self, tokenizer):
        assert tokenizer.encode("ab<a>c", allowed_special="all") == [97, 98, 257, 99]

    def test_names_with_signs_of_regular_expressions(self):
        names = (".*", "[a]", "a|b", "(", "\\")
        tokenizer = Tokenizer(native_vocabulary([], set(), names), "none")
        assert tokenizer.encode("a|b.*[a](\\x", allowed_special="all") == [
            258, 256, 257, 259, 260, 120
        ]  # fmt: skip

    def test_unknown_name(self, tokenizer):
        with pytest.raises(SettingsError, match=r"'<x>' is not a special token[\s\S]*<a>"):
            tokenizer.encode("x", allowed_special=["<x>"])
        with pytest.raises(SettingsError, match="the special tokens are none"):
            native_tokenizer([], set()).encode("x", allowed_special=["<x>"])

    def test_decoded_as_text(self, tokenizer):
        assert tokenizer.decode([257, 260]) == "<a>中"


class TestSurrogates:
    @pytest.mark.parametrize("allowed_special", [(), "all"])
    @pytest.mark.parametrize("dropout", [0.0, 0.5])
    def test_strict(self, tokenizer, allowed_special, dropout):
        options = {"allowed_special": allowed_special, "dropout": dropout}
        with pytest.raises(PrunedBPEError, match=r"U\+D800, at character 1[\s\S]*replace"):
            tokenizer.encode("a\ud800b", **options)
        with pytest.raises(PrunedBPEError, match=r"U\+D800"):
            tokenizer.encode_batch(["fine", "a\ud800b"], **options)

    @pytest.mark.parametrize(
        ("text", "repaired"),
        [
            ("a\ud800b", "a\ufffdb"),
            ("\udc00\ud800", "\ufffd\ufffd"),
            ("\ud83d\ude00", "😀"),  # two halves that make a pair
            ("\ufeff\ud800", "\ufeff\ufffd"),
            ("\ud800", "\ufffd"),
            ("fine", "fine"),
        ],
    )
    def test_replace(self, tokenizer, text, repaired):
        assert tokenizer.decode(tokenizer.encode(text, surrogates="replace")) == repaired
        batch = tokenizer.encode_batch([text, "x"], surrogates="replace")
        assert tokenizer.decode_batch(batch) == [repaired, "x"]

    def test_unknown_choice(self, tokenizer):
        with pytest.raises(SettingsError, match="surrogates='ignore'"):
            tokenizer.encode("\ud800", surrogates="ignore")

    def test_other_calls_are_strict(self, tokenizer):
        for call in (tokenizer.count_tokens, tokenizer.encode_with_offsets):
            with pytest.raises(PrunedBPEError, match="lone surrogate"):
                call("\ud800")


class TestDecoding:
    @pytest.mark.parametrize(
        "ids",
        [
            [261],  # internal: no model sees it
            [-1],
            [97, 2**32 + 97],
            np.array([2**32 + 97]),
            np.array([-1]),
            np.array([2**63], np.uint64),
        ],
    )
    def test_ids_outside_the_vocabulary(self, tokenizer, ids):
        with pytest.raises(PrunedBPEError, match=r"cannot decode: .*token id"):
            tokenizer.decode(ids)

    @pytest.mark.parametrize(
        "ids", [[97.5], np.array([97.0]), np.array([True]), ["97"], [[97]], np.zeros((1, 1), int)]
    )
    def test_what_is_no_list_of_ids(self, tokenizer, ids):
        with pytest.raises(SettingsError, match="a flat list of whole numbers"):
            tokenizer.decode(ids)

    @pytest.mark.parametrize("kind", ["i8", "u1", "u8", ">u4", "<u4"])
    def test_arrays_of_any_kind(self, tokenizer, kind):
        assert tokenizer.decode(np.array([97, 98, 99, 100], kind)[::2]) == "ac"

    def test_ranges_and_tuples(self, tokenizer):
        assert tokenizer.decode(range(97, 100)) == tokenizer.decode((97, 98, 99)) == "abc"
        assert tokenizer.decode([]) == tokenizer.decode(np.zeros(0)) == ""

    def test_invalid_utf8(self, tokenizer):
        assert tokenizer.decode([0xFF, 97]) == "\ufffda"
        assert tokenizer.decode([0xFF, 97], errors="ignore") == "a"
        assert tokenizer.decode([0xFF, 97], errors="backslashreplace") == "\\xffa"
        assert tokenizer.decode_bytes([0xFF, 97]) == b"\xffa"
        with pytest.raises(UnicodeDecodeError):
            tokenizer.decode([0xFF], errors="strict")


class TestDropout:
    @pytest.mark.parametrize("dropout", [-0.1, 1.1, float("nan")])
    def test_no_probability(self, tokenizer, dropout):
        for call in (tokenizer.encode, tokenizer.encode_to_numpy):
            with pytest.raises(SettingsError, match="dropout is"):
                call("abc", dropout=dropout)
        with pytest.raises(SettingsError, match="dropout is"):
            tokenizer.encode_batch(["abc"], dropout=dropout)

    def test_seeds_give_different_segmentations(self, tokenizer):
        found = {tuple(tokenizer.encode("abcabcabc", dropout=0.5, seed=i)) for i in range(50)}
        assert len(found) > 3

    def test_share_of_merges_left_out(self):
        ids = native_tokenizer([AB], set(), "(?:ab)").encode("ab" * 4000, dropout=0.25, seed=3)
        assert 0.22 < sum(i == 97 for i in ids) / 4000 < 0.28

    def test_a_dropped_merge_is_tried_again_in_the_next_step(self):
        """The last candidate stays out with the probability; the others get another chance."""
        tokenizer = native_tokenizer([AB, (99, 100)], set(), "(?:abcd)")
        ids = tokenizer.encode("abcd" * 4000, dropout=0.5, seed=1)
        # "ab" is lost if it is dropped at its first step, and at its second where there is one.
        lost = sum(i == 97 for i in ids) / 4000
        assert 0.33 < lost < 0.42  # 1/2 * 1/2 + 1/2 * 1/2 * 1/2 = 0.375


@pytest.mark.parametrize("merges", [[], [(97, 97)], [(97, 97), (256, 256), (257, 257)]])
def test_a_megabyte_of_one_letter(merges):
    tokenizer = native_tokenizer(merges, set())
    length = 1 << 20
    ids = tokenizer.encode("a" * length)
    assert len(ids) == length >> len(merges)
    assert tokenizer.decode(ids) == "a" * length
    tokenizer.encode("a" * length, dropout=0.5)


def test_batch_of_nothing(tokenizer):
    assert tokenizer.encode_batch([]) == []
    ids, offsets = tokenizer.encode_batch_to_numpy([])
    assert (ids.tolist(), offsets.tolist()) == ([], [0])
    assert tokenizer.encode_batch(["", "", "a"]) == [[], [], [97]]
    assert tokenizer.encode_batch(iter(["ab", "abc"])) == [[97, 98], [256]]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batch_of_many_slices(tokenizer, threads):
    texts = ["abc ab" * 100_000, "", *("é中abc" * (70_000 + i) for i in range(12)), "c"]
    single = [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch(texts, threads=threads) == single
    batch = tokenizer.encode_batch(texts, threads=threads, dropout=0.5, seed=7)
    assert batch[-3:] == [
        tokenizer.encode(text, dropout=0.5, seed=7 + len(texts) - 3 + i)
        for i, text in enumerate(texts[-3:])
    ]
    texts[-2] += "\ud800"
    with pytest.raises(PrunedBPEError, match="lone surrogate"):
        tokenizer.encode_batch(texts, threads=threads)
    repaired = tokenizer.encode_batch(texts, threads=threads, surrogates="replace")
    assert repaired[-2] == tokenizer.encode(texts[-2], surrogates="replace")
    assert repaired[:-2] == single[:-2]


@pytest.mark.parametrize("is_running", [True, False])
def test_batch_leaves_the_collector_as_it_was(tokenizer, is_running):
    """It pauses while lists are made; otherwise it would run for every 700 of them."""
    runs = []

    def note(phase, _):
        if phase == "start":
            runs.append(phase)

    was_running = gc.isenabled()
    (gc.enable if is_running else gc.disable)()
    gc.collect()
    gc.callbacks.append(note)
    try:
        lists = tokenizer.encode_batch(["abc"] * 10_000)
        assert len(runs) <= 1  # what waited for the end
        assert gc.isenabled() is is_running
        with pytest.raises(PrunedBPEError, match="lone surrogate"):
            tokenizer.encode_batch(["a\ud800"])
        assert gc.isenabled() is is_running
        assert all(gc.is_tracked(ids) for ids in lists)
    finally:
        gc.callbacks.remove(note)
        (gc.enable if was_running else gc.disable)()


@pytest.mark.parametrize("text", [b"ab", None, 5])
def test_what_is_no_text(tokenizer, text):
    with pytest.raises((TypeError, AttributeError)):
        tokenizer.encode(text)
    with pytest.raises((TypeError, AttributeError)):
        tokenizer.encode_batch([text])


def test_shared_between_threads(tokenizer):
    texts = [f"abc{'ab' * i}x" for i in range(200)]
    expected = [tokenizer.encode(text) for text in texts]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenizer.encode, texts)) == expected
        assert (
            list(pool.map(lambda _: tokenizer.encode_batch(texts, threads=2), range(8)))
            == [expected] * 8
        )


def test_offsets_inside_a_character():
    # é is 0xC3 0xA9; a token of "a" and half of é, and one of the other half and "b"
    tokenizer = native_tokenizer([(97, 0xC3), (0xA9, 98)], set())
    ids, spans = tokenizer.encode_with_offsets("aéb")
    assert (ids, spans) == ([256, 257], [(0, 2), (1, 3)])
    assert tokenizer.encode_with_offsets("aéb", unit="bytes")[1] == [(0, 2), (2, 4)]
