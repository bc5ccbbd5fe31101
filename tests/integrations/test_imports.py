"""Imported tokenizers encode as their original library does, or are refused by name."""

from __future__ import annotations

import json
import pickle

import pytest
from integrations.conftest import train_on

import prunedbpe
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.huggingface_import import import_gpt2_files, import_huggingface
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.tiktoken_export import to_tiktoken
from prunedbpe.exchange.tiktoken_import import import_encoding
from prunedbpe.pretokenizers.patterns import LLAMA3_PATTERN, PATTERNS, QWEN2_PATTERN
from prunedbpe.tokenizer.imported import ImportedTokenizer


@pytest.fixture(scope="module")
def tokenizers():
    library = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    if not hasattr(library, "trainers"):
        pytest.skip("this version of tokenizers does not train")
    return library


def gpt2_style(tokenizers, texts, **trainer):
    stock = tokenizers.Tokenizer(tokenizers.models.BPE())
    stock.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    stock.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    stock.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=["<|endoftext|>"],
            initial_alphabet=alphabet,
            show_progress=False,
            **trainer,
        ),
    )
    return stock


def ids_of(stock, texts):
    return [one.ids for one in stock.encode_batch(texts, add_special_tokens=False)]


def test_gpt2_style_is_equal(tokenizers, texts, tmp_path):
    stock = gpt2_style(tokenizers, texts)
    stock.save(str(tmp_path / "tokenizer.json"))
    tok = import_tokenizer(tmp_path)
    assert tok.encode_batch(texts, allowed_special="all") == ids_of(stock, texts)
    assert tok.encode("<|endoftext|>", allowed_special="all") == [0] == [tok.eot_token]
    assert [tok.decode(tok.encode(text)) for text in texts] == texts
    assert tok.n_vocab == stock.get_vocab_size()


def test_vocab_json_and_merges_txt_are_equal(tokenizers, texts, tmp_path):
    stock = gpt2_style(tokenizers, texts)
    stock.model.save(str(tmp_path))
    text = (tmp_path / "merges.txt").read_text("utf-8")
    assert text.startswith("#version")
    tok = import_gpt2_files(tmp_path / "vocab.json", tmp_path / "merges.txt")
    assert tok.special_tokens == {"<|endoftext|>": 0}
    assert tok.encode_batch(texts) == ids_of(stock, texts)


@pytest.mark.parametrize("pattern", [LLAMA3_PATTERN, QWEN2_PATTERN], ids=["llama3", "qwen"])
@pytest.mark.parametrize("merges_as", ["pairs", "strings"])
def test_llama3_and_qwen_styles_are_equal(pattern, merges_as, tokenizers, texts, tmp_path):
    stock = gpt2_style(tokenizers, texts)
    parts = tokenizers.pre_tokenizers
    stock.pre_tokenizer = parts.Sequence(
        [
            parts.Split(tokenizers.Regex(pattern), "isolated"),
            parts.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    if pattern == QWEN2_PATTERN:
        stock.normalizer = tokenizers.normalizers.NFC()
    settings = json.loads(stock.to_str())
    if merges_as == "strings":
        settings["model"]["merges"] = [" ".join(pair) for pair in settings["model"]["merges"]]
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    tok = import_huggingface(tmp_path)
    assert tok.pretokenizer.is_native
    assert tok.encode_batch(texts) == ids_of(stock, texts)


def test_lists_converted_from_ranks_are_equal(tokenizers, texts, tmp_path):
    """As in the published Llama 3: every split is a merge, and chunks are looked up whole."""
    ranks = {string: i for i, string in enumerate(train_on(texts, "gpt2").vocabulary.strings)}
    ranks[b" zzyzx"] = len(ranks)
    ranks[" 中文x".encode()] = len(ranks)
    merges = []
    for token in ranks:
        splits = [(token[:i], token[i:]) for i in range(1, len(token))]
        known = [(left, right) for left, right in splits if left in ranks and right in ranks]
        merges += sorted(known, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    from prunedbpe.exchange.byte_alphabet import to_byte_alphabet as spelled

    for ignore_merges in (True, False):
        stock = gpt2_style(tokenizers, texts[:10])
        settings = json.loads(stock.to_str())
        settings["added_tokens"] = []
        settings["model"] |= {
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            "merges": [[spelled(left), spelled(right)] for left, right in merges],
            "ignore_merges": ignore_merges,
        }
        (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
        stock = tokenizers.Tokenizer.from_str(json.dumps(settings))
        tok = import_huggingface(tmp_path)
        more = [*texts, "a zzyzx 中文x zzyzx", " zzyzx", " 中文x"]
        assert tok.encode_batch(more) == ids_of(stock, more)
        assert (tok.encode(" zzyzx") == [ranks[b" zzyzx"]]) == ignore_merges
        tok.save(tmp_path / "saved")
        assert prunedbpe.Tokenizer.load(tmp_path / "saved").encode_batch(more) == ids_of(
            stock, more
        )


@pytest.mark.parametrize("name", PATTERNS)
def test_tiktoken_is_equal(name, texts, tmp_path):
    tiktoken = pytest.importorskip("tiktoken", reason="extra tiktoken is not installed")
    ranks = dict(to_tiktoken(train_on(texts, name))._mergeable_ranks)
    ranks[b" zzyzx"] = len(ranks)  # no merge makes it; tiktoken looks it up as a whole
    encoding = tiktoken.Encoding(
        "x", pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={"<|end|>": 5000}
    )
    tok = import_encoding(encoding)
    assert tok.pretokenizer.name == name
    more = [*texts, "a zzyzx", " zzyzx zzyzx"]
    assert tok.encode_batch(more) == encoding.encode_ordinary_batch(more)
    assert tok.n_vocab == encoding.n_vocab == 5001
    with pytest.raises(prunedbpe.PrunedBPEError, match="no token has the id"):
        tok.decode([4000])


def test_saving_and_pickling_keep_everything(tokenizers, texts, tmp_path):
    stock = gpt2_style(tokenizers, texts)
    stock.save(str(tmp_path / "tokenizer.json"))
    tok = import_tokenizer(tmp_path)
    tok.save(tmp_path / "ours")
    loaded = prunedbpe.Tokenizer.load(tmp_path / "ours")
    assert isinstance(loaded, ImportedTokenizer)
    expected = ids_of(stock, texts[:300])
    assert loaded.encode_batch(texts[:300]) == expected
    assert pickle.loads(pickle.dumps(tok)).encode_batch(texts[:300]) == expected


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"normalizer": {"type": "Lowercase"}}, "Lowercase"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "Metaspace"),
        ({"pre_tokenizer": None}, "pre_tokenizer none"),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "add_prefix_space"),
        ({"model": {"dropout": 0.1}}, "dropout"),
        ({"model": {"end_of_word_suffix": "</w>"}}, "end_of_word_suffix"),
        ({"model": {"continuing_subword_prefix": "##"}}, "continuing_subword_prefix"),
        ({"model": {"type": "WordPiece"}}, "WordPiece"),
    ],
)
def test_what_is_not_supported_is_named(change, named, tokenizers, texts, tmp_path):
    settings = json.loads(gpt2_style(tokenizers, texts[:50]).to_str())
    for key, value in change.items():
        settings[key] = settings[key] | value if key == "model" else value
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(NotExactError, match=named):
        import_huggingface(tmp_path)


def test_missing_bytes_and_stripping_are_named(tokenizers, texts, tmp_path):
    settings = json.loads(gpt2_style(tokenizers, texts[:50]).to_str())
    settings["added_tokens"][0]["lstrip"] = True
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(NotExactError, match="lstrip"):
        import_huggingface(tmp_path)
    settings["added_tokens"][0]["lstrip"] = False
    model = settings["model"]
    model["vocab"].pop("þ")
    model["merges"] = [pair for pair in model["merges"] if "þ" not in "".join(pair)]
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(NotExactError, match="0xfe"):
        import_huggingface(tmp_path)


@pytest.mark.parametrize(
    "ids",
    [
        {"<a>": 900, "<b>": 901},  # not in the vocabulary: the library counts on from it
        {"<b>": 901, "<a>": 900},
        {"<a>": 900, "the": 5, "<b>": 901},
        {"<a>": 901, "<b>": 900},
        {"<a>": 905},
        {"<a>": 5},
    ],
)
def test_added_tokens_have_the_ids_of_the_library(ids, tokenizers, tmp_path):
    """The library ignores the ids in the file, so an import that keeps them must be refused."""
    names = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    names += ["the", *(f"{one}{other}" for one in "abcdefghij" for other in names)][: 900 - 256]
    vocab = {name: place for place, name in enumerate(names)}
    ids = {text: vocab.get(text, token_id) for text, token_id in ids.items()}
    model = tokenizers.models.BPE(vocab, [])
    stock = tokenizers.Tokenizer(model)
    stock.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    settings = json.loads(stock.to_str())
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized", "special"), False)
    settings["added_tokens"] = [
        {"id": token_id, "content": text, **flags} for text, token_id in ids.items()
    ]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(settings), "utf-8")
    stock = tokenizers.Tokenizer.from_file(str(path))
    if {text: stock.token_to_id(text) for text in ids} == ids:
        tok = import_huggingface(path)
        text = " ".join(ids)
        assert tok.encode(text, allowed_special="all") == stock.encode(text).ids
    else:
        with pytest.raises(NotExactError, match="Hugging Face tokenizers give it the id"):
            import_huggingface(path)
