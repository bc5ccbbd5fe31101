"""What holds of every tokenizer and every text: round trip, visible ids, dropout, offsets."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import NATIVE_THREADS, native_tokenizer
from strategies import byte_chunk_counts, chunk_counts, documents, hidden_ranks, texts

import prunedbpe
from prunedbpe import Corpus, Tokenizer, Vocabulary, reference
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, find_pretokenizer

CORPUS = [
    "the cat in the hat that the cat sat on",
    "人民共和国 中华人民共和国 人民",
    "don't C++ Node.js 3.14 \x00\x00 é é ñ 👍🏽 👍🏽 ......",
    "aaaaaaaa aaaa abababab " * 3,
]


@st.composite
def tokenizers(draw):
    """Tokenizers with any tokens hidden; one of them by regular expression."""
    name = draw(st.sampled_from([*BUILTIN_PRETOKENIZERS, r"\w+|\s"]))
    split = find_pretokenizer(name).split
    counts = st.just(reference.count_chunks(CORPUS, split))
    counts |= chunk_counts(b"ab") | byte_chunk_counts()
    merges = reference.learn(draw(counts), draw(st.sampled_from([0, 5, 25]))).merges
    special = draw(st.sampled_from([(), ("<_EOS_>", "<_PAD_>"), ("a", "aa", "中文")]))
    tokenizer = native_tokenizer(merges, draw(hidden_ranks(len(merges))), name)
    vocabulary = tokenizer.vocabulary
    return Tokenizer(Vocabulary(vocabulary.pairs, vocabulary.visible, special), name)


@given(tokenizers(), texts())
def test_round_trip_and_visible_ids_only(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids, errors="strict") == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    # The text of a special token is ordinary text: neither internal nor special ids come out.
    assert all(0 <= i < tokenizer.vocab_size - len(tokenizer.special_tokens) for i in ids)
    assert all(tokenizer.is_visible(i) for i in ids)
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@given(tokenizers(), texts(), st.floats(0, 1), st.integers(0, 2**70))
def test_dropout(tokenizer, text, dropout, seed):
    ids = tokenizer.encode(text, dropout=dropout, seed=seed)
    assert ids == tokenizer.encode(text, dropout=dropout, seed=seed)
    assert ids == tokenizer.encode_to_numpy(text, dropout=dropout, seed=seed).tolist()
    assert tokenizer.decode(ids, errors="strict") == text
    assert all(tokenizer.is_visible(i) for i in ids)
    assert tokenizer.encode(text, dropout=0.0, seed=seed) == tokenizer.encode(text)
    assert tokenizer.encode(text, dropout=1.0, seed=seed) == list(text.encode())


@given(tokenizers(), st.lists(texts(), max_size=5), st.data())
def test_special_tokens(tokenizer, parts, data):
    names = list(tokenizer.special_tokens)
    allowed = set(data.draw(st.lists(st.sampled_from(names), max_size=3))) if names else set()
    woven = [data.draw(st.sampled_from(names)) if names else "" for _ in parts]
    text = "".join(part + name for part, name in zip(parts, woven, strict=True))
    for allowed_special in (allowed, "all"):
        ids = tokenizer.encode(text, allowed_special=allowed_special)
        assert tokenizer.decode(ids, errors="strict") == text
        found = {tokenizer.special_tokens[name] for name in names} & set(ids)
        permitted = names if allowed_special == "all" else allowed
        assert found <= {tokenizer.special_tokens[name] for name in permitted}
        # Whatever is allowed and stands in the text is found.
        assert bool(found) == any(name in text for name in permitted)
    assert tokenizer.encode(text, allowed_special=()) == tokenizer.encode(text)
    batch = [text, *parts]
    assert tokenizer.encode_batch(batch, allowed_special="all") == [
        tokenizer.encode(one, allowed_special="all") for one in batch
    ]


@given(tokenizers(), texts())
def test_offsets(tokenizer, text):
    ids, spans = tokenizer.encode_with_offsets(text, unit="bytes")
    assert ids == tokenizer.encode(text)
    data = text.encode()
    assert [data[begin:end] for begin, end in spans] == [tokenizer.token_bytes(i) for i in ids]
    ids, in_characters = tokenizer.encode_with_offsets(text)
    assert ids == tokenizer.encode(text)
    for (begin, end), (first, last) in zip(spans, in_characters, strict=True):
        # All characters that the token has a byte of, and no other.
        before = len(text[:first].encode())
        assert before <= begin < before + len(text[first].encode())
        upto = len(text[: last - 1].encode())
        assert upto < end <= upto + len(text[last - 1].encode())


@given(tokenizers(), st.data())
def test_streaming_decoder_equals_decode(tokenizer, data):
    """For any ids, also such as no text has; and no character is ever handed out in parts."""
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=30))
    decoder = tokenizer.streaming_decoder()
    pieces = [decoder.push(i) for i in ids]
    assert "".join([*pieces, decoder.finish()]) == tokenizer.decode(ids)
    # After `finish` it starts over.
    assert "".join([*map(decoder.push, ids), decoder.finish()]) == tokenizer.decode(ids)


@given(tokenizers(), texts())
def test_streaming_decoder_at_any_cut(tokenizer, text):
    decoder = tokenizer.streaming_decoder()
    shown = ""
    for i in tokenizer.encode(text):
        shown += decoder.push(i)
        assert text.startswith(shown)
    assert shown == text
    assert decoder.finish() == ""


@given(tokenizers(), texts())
def test_pickled_tokenizer(tokenizer, text):
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.encode(text) == tokenizer.encode(text)
    assert copy.special_tokens == tokenizer.special_tokens
    assert copy.training == tokenizer.training
    assert copy.vocab_bytes() == tokenizer.vocab_bytes()


@given(tokenizer=tokenizers(), text=texts())
def test_saved_tokenizer(tokenizer, text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    tokenizer.save(folder / "a")
    loaded = Tokenizer.load(folder / "a")
    assert loaded.encode(text, allowed_special="all") == tokenizer.encode(
        text, allowed_special="all"
    )
    loaded.save(folder / "b")
    for name in ("vocab.txt", "inter_vocab.txt", "prunedbpe.json"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()


@pytest.mark.parametrize("threads", NATIVE_THREADS)
@given(corpus=documents(), text=texts())
def test_training_does_not_depend_on_threads(threads, corpus, text):
    try:
        one = prunedbpe.train(Corpus.from_texts(corpus), 262, threshold="40%", threads=1)
    except prunedbpe.PrunedBPEError as error:
        with pytest.raises(type(error)):
            prunedbpe.train(Corpus.from_texts(corpus), 262, threshold="40%", threads=threads)
        return
    many = prunedbpe.train(Corpus.from_texts(corpus), 262, threshold="40%", threads=threads)
    assert many.encode(text) == one.encode(text)
    assert many.vocab_bytes() == one.vocab_bytes()
    assert many.training == one.training
