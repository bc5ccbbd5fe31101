"""The segmentation as a property of a tokenizer: every way to encode uses it, files keep it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from implementations import native_vocabulary

from prunedbpe import Tokenizer
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import find_pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

AB, BC, ABC, CD = (97, 98), (98, 99), (256, 99), (99, 100)
EOS = "<_EOS_>"
TEXT = "abcd abcdé"
BY_RANK = [258, 100, 32, 258, 100, 195, 169]  # abc d
SHORTEST = [256, 259, 32, 256, 259, 195, 169]  # ab cd


@pytest.fixture(params=["none", "gpt2", r"\S+"])
def tok(request) -> Tokenizer:
    vocabulary = native_vocabulary([AB, BC, ABC, CD], set(), (EOS,))
    return Tokenizer(vocabulary, request.param, segmentation="shortest")


def by_rank(tok: Tokenizer) -> Tokenizer:
    return Tokenizer(tok.vocabulary, tok.pretokenizer)


def test_every_way_to_encode_uses_it(tok):
    data = np.frombuffer((TEXT + "ab").encode(), np.uint8)
    middle = len(TEXT.encode())
    documents = tok.encode_documents(data, np.array([[0, middle], [middle, len(data)]]))
    assert tok.encode(TEXT) == tok.encode_ordinary(TEXT) == SHORTEST
    assert tok.encode_to_numpy(TEXT).tolist() == SHORTEST
    assert tok.encode_batch([TEXT, "ab"]) == [SHORTEST, [256]]
    assert tok.encode_batch_to_numpy([TEXT, "ab"])[0].tolist() == [*SHORTEST, 256]
    assert documents[0].tolist() == [*SHORTEST, 256]
    assert documents[1].tolist() == [0, len(SHORTEST), len(SHORTEST) + 1]
    assert tok.count_tokens("abcdabcd") == 4
    assert tok.as_tiktoken().encode(TEXT) == SHORTEST
    assert tok.as_tiktoken().encode_batch([TEXT]) == [SHORTEST]
    decoder = tok.streaming_decoder()
    assert "".join(map(decoder.push, tok.encode(TEXT))) + decoder.finish() == TEXT


def test_offsets_and_special_tokens(tok):
    ids, spans = tok.encode_with_offsets("abcd")
    assert (ids, spans) == ([256, 259], [(0, 2), (2, 4)])
    assert tok.encode(f"abcd{EOS}abcd", allowed_special="all") == [256, 259, 260, 256, 259]
    assert tok.encode("abcd\ud800", surrogates="replace")[:2] == [256, 259]
    assert tok.encode("abcd", surrogates="replace") == [256, 259]


def test_a_call_may_choose_another(tok):
    assert tok.encode(TEXT, segmentation="rank") == BY_RANK
    assert tok.encode(TEXT, segmentation=None) == SHORTEST
    assert tok.encode_batch([TEXT], segmentation="rank") == [BY_RANK]
    assert by_rank(tok).encode(TEXT) == BY_RANK
    assert by_rank(tok).encode(TEXT, segmentation="shortest") == SHORTEST


def test_dropout_needs_merges(tok):
    with pytest.raises(SettingsError, match="applies none\nhint: encode without dropout"):
        tok.encode("ab", dropout=0.1)
    assert tok.encode("ab", dropout=1.0, segmentation="rank") == [97, 98]


def test_it_shows_in_repr_and_survives_pickle(tok):
    assert "segmentation='shortest'" in repr(tok)
    assert "segmentation" not in repr(by_rank(tok))
    assert pickle.loads(pickle.dumps(tok)).encode(TEXT) == SHORTEST
    with pytest.raises(SettingsError, match="'greedy'\nhint: use 'rank' or 'shortest'"):
        Tokenizer(tok.vocabulary, segmentation="greedy")


def test_files_keep_it(tok, tmp_path):
    tok.save(tmp_path)
    path = tmp_path / "prunedbpe.json"
    settings = json.loads(path.read_text())
    assert (settings["version"], settings["segmentation"]) == (2, "shortest")
    assert Tokenizer.load(tmp_path).segmentation == "shortest"
    assert Tokenizer.load(tmp_path).encode(TEXT) == SHORTEST

    by_rank(tok).save(tmp_path)
    settings = json.loads(path.read_text())
    assert (settings["version"], settings["segmentation"]) == (1, "rank")
    del settings["segmentation"]  # as the first release wrote it
    path.write_text(json.dumps(settings))
    assert Tokenizer.load(tmp_path).segmentation == "rank"


@pytest.mark.parametrize(
    ("version", "segmentation", "message"),
    [
        (2, "greedy", "segmentation is 'greedy', not 'rank' or 'shortest'"),
        (2, None, "segmentation is missing or null, not a text"),
        (1, None, "segmentation is missing or null, not a text"),
        (1, "shortest", "version 1 has no segmentation 'shortest'"),
    ],
)
def test_files_that_make_no_sense(tok, tmp_path, version, segmentation, message):
    tok.save(tmp_path)
    path = tmp_path / "prunedbpe.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "version": version, "segmentation": segmentation}))
    with pytest.raises(FormatError, match=f"prunedbpe.json: {message}"):
        Tokenizer.load(tmp_path)


def test_version_2_names_the_segmentation(tok, tmp_path):
    """A file that lost it must not encode by rank."""
    tok.save(tmp_path)
    path = tmp_path / "prunedbpe.json"
    settings = json.loads(path.read_text())
    del settings["segmentation"]
    path.write_text(json.dumps(settings))
    with pytest.raises(FormatError, match=r"prunedbpe\.json: segmentation is missing"):
        Tokenizer.load(tmp_path)


def test_tokens_that_stand_for_an_internal_one():
    vocabulary = native_vocabulary([AB, BC, ABC, CD, (258, 100)], {258, 260})
    both = [Tokenizer(vocabulary, segmentation=each) for each in ("rank", "shortest")]
    token_id = both[0].vocabulary.token_ids[260]  # abcd, built from abc
    spelled = [[tok.token_bytes(i) for i in tok.expansion(token_id)] for tok in both]
    assert spelled == [[b"ab", b"c", b"d"], [b"ab", b"cd"]]
    assert both[1].expansion(256) == [256]


class TestImported:
    """Imported tokenizers: ids of the original, a cut of their own, tokens that no merge makes."""

    @pytest.fixture(params=[False, True], ids=["looks up merges", "looks up whole chunks"])
    def tok(self, request) -> ImportedTokenizer:
        own = native_vocabulary([AB, BC, ABC, CD], set(), (EOS,))
        vocabulary = ForeignVocabulary(
            own.pairs.copy(),
            own.visible.copy(),
            own.special_tokens,
            ids_of_ranks=tuple(range(1000, 1260)),
            ids_of_specials=(7,),
            unmergeable=((b"dab", 3),),
        )
        cut = ForeignCut(find_pretokenizer("gpt2"), "16.0.0", "NFC")
        return ImportedTokenizer(
            vocabulary, cut, whole_chunks=request.param, segmentation="shortest"
        )

    def test_every_way_to_encode_uses_it(self, tok):
        ids = [1256, 1259]
        assert tok.encode("abcd") == tok.encode_batch(["abcd"])[0] == ids
        assert tok.encode("abcd", segmentation="rank") == [1258, 1100]
        assert tok.encode("abcdab") == [1258, 3]  # abc dab, rather than ab cd ab
        assert tok.encode(f"abcd{EOS}", allowed_special="all") == [*ids, 7]
        changed = "abcd\u0558 e\u0301"  # a letter of Unicode 18.0, text to normalize
        assert tok.encode(changed) == [*ids, 1213, 1152, 1032, 1195, 1169]
        assert tok.encode_batch(["abcd", changed]) == [ids, tok.encode(changed)]
        data = np.frombuffer(b"abcd", np.uint8)
        assert tok.encode_documents(data, np.array([[0, 4]]))[0].tolist() == ids

    def test_a_chunk_that_no_merge_makes(self, tok):
        as_rank = {"segmentation": "rank"}
        alone = [3] if tok.whole_chunks else [1100, 1256]
        changed = "abcd e\u0301"  # text to normalize
        assert tok.encode("dab", **as_rank) == alone
        assert tok.encode_batch(["dab", changed], **as_rank)[0] == alone
        assert tok.encode(f"dab{EOS}dab", allowed_special="all", **as_rank) == [*alone, 7, *alone]
        assert tok.encode("dabb", **as_rank) == [1100, 1256, 1098]
        assert tok.encode("dab", dropout=1.0, **as_rank) == [1100, 1097, 1098]

    def test_files_and_pickle_keep_it(self, tok, tmp_path):
        tok.save(tmp_path)
        settings = json.loads((tmp_path / "prunedbpe.json").read_text())
        assert (settings["version"], settings["segmentation"]) == (2, "shortest")
        for copy in (Tokenizer.load(tmp_path), pickle.loads(pickle.dumps(tok))):
            assert copy.segmentation == "shortest"
            assert copy.encode("abcdab") == tok.encode("abcdab")
