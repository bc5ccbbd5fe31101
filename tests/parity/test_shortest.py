"""The native minimum-token segmentation against its definition in plain Python."""

import numpy as np
import pytest
import strategies
from cli_helpers import make_text
from hypothesis import given
from hypothesis import strategies as st

import prunedbpe
from prunedbpe import ChunkCounts, learn, reference
from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.tokenizer.shortest import ShortestSegmenter, shortest_lengths
from prunedbpe.visibility.exposure import encoded_length
from prunedbpe.vocabulary import Vocabulary

BYTES = [bytes([byte]) for byte in range(256)]


@given(strategies.chunk_counts(), st.sets(strategies.chunks(b"abc", 6), max_size=8))
def test_same_pieces_as_the_reference(counts, strings):
    visible = BYTES + sorted(string for string in strings if len(string) > 1)
    segmenter = ShortestSegmenter(visible, "none")
    table = ChunkCounts.from_mapping(counts)
    pieces = {chunk: reference.shortest(chunk, visible) for chunk in counts}
    for chunk in counts:
        ids = segmenter.encode(chunk.decode())
        assert [visible[token_id] for token_id in ids] == pieces[chunk]
    assert segmenter.chunk_lengths(table).tolist() == [len(pieces[chunk]) for chunk in counts]
    expected = sum(len(pieces[chunk]) * count for chunk, count in counts.items())
    for threads in (1, 3):
        assert shortest_lengths(visible, table, threads=threads) == expected
        uses = segmenter.token_counts(table, threads=threads)
        assert uses.tolist() == [
            sum(pieces[chunk].count(string) * count for chunk, count in counts.items())
            for string in visible
        ]


@given(strategies.byte_chunk_counts(), st.sets(st.binary(min_size=2, max_size=5), max_size=20))
def test_any_bytes(counts, strings):
    visible = BYTES + sorted(strings)
    lengths = ShortestSegmenter(visible).chunk_lengths(ChunkCounts.from_mapping(counts))
    assert lengths.tolist() == [len(reference.shortest(chunk, visible)) for chunk in counts]


@given(strategies.chunk_counts(max_count=9), st.data())
def test_never_more_than_by_rank(counts, data):
    table = ChunkCounts.from_mapping(counts)
    merges = learn(table, 12)
    hidden = np.zeros(256 + len(merges), bool)
    hidden[sorted(data.draw(strategies.hidden_ranks(len(merges))))] = True
    vocabulary = Vocabulary(merges.pairs.copy(), ~hidden)
    by_rank = encoded_length(merges.pairs, merges.applied, hidden)
    assert ShortestSegmenter.of(vocabulary).total_length(table) <= by_rank


@pytest.fixture(scope="module", params=["paper", r"\S+"])
def tok(request):
    documents = [make_text(1, 60), *strategies.AWKWARD_TEXTS * 2]
    return prunedbpe.train(iter(documents), 450, threshold=0, pretokenizer=request.param)


@given(text=strategies.texts())
def test_lossless_as_a_tokenizer(tok, text):
    ids = tok.encode(text, segmentation="shortest")
    assert tok.decode(ids) == text
    assert len(ids) <= len(tok.encode(text))
    assert tok.encode_batch([text, "x"], segmentation="shortest")[0] == ids


def test_shortest_differs_and_knows_special_tokens(tok):
    text = make_text(1, 60) + make_text(2, 40)
    shorter = len(tok.encode(text)) - len(tok.encode(text, segmentation="shortest"))
    # A regular expression leaves the spaces between words alone, and words to few tokens.
    assert shorter > 0 if tok.pretokenizer.name == "paper" else shorter >= 0
    eos = tok.special_tokens["<_EOS_>"]
    ids = tok.encode("ab<_EOS_>", segmentation="shortest", allowed_special="all")
    assert ids[-1] == eos and tok.decode(ids[:-1]) == "ab"


def test_chunks_seen_before_and_of_any_length(tok):
    letters = make_text(3, 80).replace(" ", "")
    chunks = [letters[size : 2 * size] for size in (1, 7, 8, 15, 16, 17, 31, 32, 33, 70)]
    text = " ".join([*chunks, make_text(2, 300), *reversed(chunks)])
    visible = tok.vocabulary.bytes_by_id[: tok.vocabulary.visible_count]
    expected = [
        visible.index(string)
        for chunk in prunedbpe.pretokenize(text, tok.pretokenizer)
        for string in reference.shortest(chunk.encode(), visible)
    ]
    for _ in range(3):
        assert tok.encode(text, segmentation="shortest") == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batches_are_equal_on_any_number_of_threads(tok, threads):
    texts = ["", *make_text(3, 90).splitlines(), *strategies.AWKWARD_TEXTS, ""]
    one_by_one = [tok.encode(text, segmentation="shortest") for text in texts]
    assert tok.encode_batch(texts, segmentation="shortest", threads=threads) == one_by_one
    assert tok.encode_batch([], segmentation="shortest", threads=threads) == []
    with pytest.raises(PrunedBPEError, match="surrogate"):
        tok.encode_batch(["ab", "\ud800"], segmentation="shortest", threads=threads)
    ids = tok.encode_batch(
        ["ab\ud800"], segmentation="shortest", surrogates="replace", threads=threads
    )
    assert tok.decode(ids[0]) == "ab\ufffd"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segmentation": "shortest", "dropout": 0.5}, "shortest segmentation applies none"),
        ({"segmentation": "greedy"}, "'rank' or 'shortest'"),
    ],
)
def test_options_that_make_no_sense(tok, options, message):
    for encode in (tok.encode, lambda text, **given: tok.encode_batch([text], **given)):
        with pytest.raises(SettingsError, match=message):
            encode("ab", **options)


def test_many_strings_in_one_array():
    # Every pair of letters, and a comb of long strings: all sorts of nodes, none may be lost.
    pairs = [bytes([a, b]) for a in range(97, 123) for b in range(0, 256, 3)]
    comb = [b"x" * n + bytes([n]) for n in range(2, 200)]
    visible = BYTES + pairs + comb
    segmenter = ShortestSegmenter(visible, "none")
    table = ChunkCounts.from_mapping(dict.fromkeys(visible, 1))
    assert segmenter.chunk_lengths(table).tolist() == [1] * len(visible)


def test_uses_of_many_chunks_on_many_threads():
    chunks = {b"%d%s" % (i, b"ab" * (i % 9)): i % 5 + 1 for i in range(9000)}
    segmenter = ShortestSegmenter([*BYTES, b"ba", b"abab"], ids=np.arange(258, dtype=np.uint32) * 2)
    table = ChunkCounts.from_mapping(chunks)
    once = segmenter.token_counts(table, threads=1)
    assert once.sum() == segmenter.total_length(table)
    assert len(once) == 515 and not once[1::2].any()
    for threads in (2, 7):
        assert np.array_equal(segmenter.token_counts(table, threads=threads), once)


def test_a_long_chunk():
    visible = [*BYTES, b"aa", b"aaa"]
    table = ChunkCounts.from_mapping({b"a" * 1_000_001: 1})
    assert shortest_lengths(visible, table) == 333_334


@pytest.mark.parametrize(
    ("strings", "message"),
    [(BYTES[1:], "byte 0 is not"), ([*BYTES, b"a"], "same string"), ([*BYTES, b""], "empty")],
)
def test_strings_that_make_no_sense(strings, message):
    with pytest.raises(ValueError, match=message):
        ShortestSegmenter(strings)
