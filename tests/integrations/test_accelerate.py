"""An accelerated tokenizer does what the fast tokenizer of transformers did, or is refused."""

from __future__ import annotations

import json
import pickle

import pytest
from integrations.test_imports import LLAMA3_PATTERN, QWEN2_PATTERN

import prunedbpe
from prunedbpe.errors import FormatError, NotExactError, SettingsError

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
if not hasattr(tokenizers, "trainers"):
    pytest.skip("this version of tokenizers does not train", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
)
PARTS = tokenizers.pre_tokenizers
ADDED = [
    tokenizers.AddedToken("<mask>", lstrip=True, rstrip=True, special=True, normalized=False),
    tokenizers.AddedToken("word", single_word=True, normalized=False),
    tokenizers.AddedToken("<tool>", normalized=True),
    tokenizers.AddedToken("{call}", normalized=False),
]


def byte_level(trim):
    return tokenizers.processors.ByteLevel(trim_offsets=trim)


def template(single, pair, specials):
    return tokenizers.processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=specials
    )


def stock_of(texts, style):
    """A small tokenizer with the steps of a known one."""
    stock = tokenizers.Tokenizer(tokenizers.models.BPE())
    stock.decoder = tokenizers.decoders.ByteLevel()
    pattern = {"llama3": LLAMA3_PATTERN, "qwen": QWEN2_PATTERN}.get(style)
    if pattern:
        split = PARTS.Split(tokenizers.Regex(pattern), "isolated")
        stock.pre_tokenizer = PARTS.Sequence(
            [split, PARTS.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
    else:
        stock.pre_tokenizer = PARTS.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=PARTS.ByteLevel.alphabet(), show_progress=False
    )
    stock.train_from_iterator(texts[:1500], trainer)
    specials = ["<|end|>", "<|begin|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
    stock.add_special_tokens(specials)
    end, begin = map(stock.token_to_id, specials[:2])
    if style == "gpt2":
        stock.post_processor = byte_level(False)
    if style == "neox":
        stock.post_processor = byte_level(True)
    if style == "roberta":
        stock.post_processor = tokenizers.processors.RobertaProcessing(
            ("<|end|>", end), ("<|begin|>", begin), add_prefix_space=False
        )
    if style == "llama3":
        parts = "<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1 <|end|>:1"
        stock.post_processor = tokenizers.processors.Sequence(
            [byte_level(False), template(*parts, [("<|begin|>", begin), ("<|end|>", end)])]
        )
    if style == "qwen":
        stock.normalizer = tokenizers.normalizers.NFC()
        stock.post_processor = byte_level(False)
    stock.add_tokens(ADDED)
    return stock


STYLES = ("gpt2", "neox", "roberta", "llama3", "qwen")


@pytest.fixture(scope="module", params=STYLES)
def pair(request, texts):
    """The original and the tokenizer that takes its place."""
    original = transformers.PreTrainedTokenizerFast(
        tokenizer_object=stock_of(texts, request.param),
        eos_token="<|end|>",
        pad_token="<|pad|>",
        extra_special_tokens=["<|im_start|>"],
        chat_template=CHAT_TEMPLATE,
        model_max_length=100_000,
        padding_side="left",
        truncation_side="left" if request.param == "neox" else "right",
        clean_up_tokenization_spaces=True,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    return original, prunedbpe.accelerate(original, sample=texts[:500])


@pytest.fixture(scope="module")
def mixed(texts):
    """Texts with added tokens between, before and after other characters."""
    names = ["<mask>", "word", "<tool>", "{call}", "<|end|>", "<|im_start|>", "\u0301", " ", "x"]
    return [
        f"{text[:9]}{names[i % 9]}{text[9:12]} {names[i // 9 % 9]}{names[i // 5 % 9]} {text[12:20]}"
        for i, text in enumerate(texts[:1500])
    ]


def same(theirs, ours, texts, offsets=True):
    assert sorted(theirs) == sorted(ours)
    for key in theirs:
        if key != "offset_mapping" or offsets:
            for text, their_row, our_row in zip(texts, theirs[key], ours[key], strict=True):
                assert their_row == our_row, (key, text)


CALLS = [
    {},
    {"add_special_tokens": False},
    {"padding": True, "return_special_tokens_mask": True},
    {"truncation": True, "max_length": 6, "padding": "max_length", "return_length": True},
    {"split_special_tokens": True},
    {"return_token_type_ids": False},
]


@pytest.mark.parametrize("options", CALLS, ids=str)
def test_calls_give_the_same(options, pair, mixed):
    original, fast = pair
    # Offsets of normalized text are wider here; the guide says so.
    offsets = original.backend_tokenizer.normalizer is None
    options = {**options, "return_offsets_mapping": True}
    same(original(mixed, **options), fast(mixed, **options), mixed, offsets)
    second = mixed[1:] + mixed[:1]
    same(original(mixed, second, **options), fast(mixed, second, **options), mixed, offsets)
    assert original(mixed[3])["input_ids"] == fast(mixed[3])["input_ids"]
    assert fast.convert_tokens_to_ids(fast.tokenize(mixed[3])) == fast.encode(
        mixed[3], add_special_tokens=False
    )


@pytest.mark.parametrize("side", ["left", "right"])
def test_overflowing_windows_are_the_same(side, pair, mixed):
    options = {"max_length": 9, "stride": 2, "return_overflowing_tokens": True}
    texts, sides = mixed[:200], [tokenizer.truncation_side for tokenizer in pair]
    for tokenizer in pair:
        tokenizer.truncation_side = side
    theirs, ours = (tokenizer(texts, truncation=True, **options) for tokenizer in pair)
    long = [text * 3 for text in texts]
    pairs = [
        tokenizer(["a"] * 200, long, truncation="only_second", **options) for tokenizer in pair
    ]
    for tokenizer, before in zip(pair, sides, strict=True):
        tokenizer.truncation_side = before
    assert dict(theirs) == dict(ours)
    assert dict(pairs[0]) == dict(pairs[1])


def test_texts_of_ids_are_the_same(pair, mixed):
    original, fast = pair
    rows = [*original(mixed)["input_ids"], *([i] for i in range(len(original) + 3))]
    for options in ({}, {"skip_special_tokens": True}, {"clean_up_tokenization_spaces": True}):
        assert original.batch_decode(rows, **options) == fast.batch_decode(rows, **options)
    ids = list(range(len(original)))
    assert original.convert_ids_to_tokens(ids) == fast.convert_ids_to_tokens(ids)


def test_settings_are_the_same_and_survive(pair, mixed, tmp_path):
    original, fast = pair
    fast.save_pretrained(tmp_path)
    copies = [
        transformers.AutoTokenizer.from_pretrained(tmp_path),
        pickle.loads(pickle.dumps(fast)),
    ]
    chat = [{"role": "user", "content": "hello"}]
    for made in (fast, *copies):
        assert type(made) is PrunedBPETokenizer
        for name in (
            *("special_tokens_map", "all_special_ids", "extra_special_tokens", "chat_template"),
            *("model_max_length", "padding_side", "truncation_side", "model_input_names"),
            *("vocab_size", "clean_up_tokenization_spaces", "split_special_tokens"),
        ):
            assert getattr(made, name) == getattr(original, name), name
        assert len(made) == len(original)
        assert made.get_vocab() == original.get_vocab()
        assert repr(made.added_tokens_decoder) == repr(original.added_tokens_decoder)
        assert made(mixed, padding=True)["input_ids"] == original(mixed, padding=True)["input_ids"]
        assert made("a", "b") == original("a", "b")
        assert made.apply_chat_template(chat) == original.apply_chat_template(chat)


def test_a_folder_and_a_file_are_taken_over(pair, mixed, tmp_path):
    original, fast = pair
    original.save_pretrained(tmp_path)
    of_folder = prunedbpe.accelerate(tmp_path)
    assert of_folder(mixed) == fast(mixed)
    assert of_folder.chat_template == fast.chat_template
    of_file = prunedbpe.accelerate(tmp_path / "tokenizer.json")
    assert of_file(mixed)["input_ids"] == fast(mixed)["input_ids"]
    fast.save_pretrained(tmp_path / "ours")
    assert prunedbpe.accelerate(tmp_path / "ours")(mixed) == fast(mixed)
    with pytest.raises(FormatError, match="transformers cannot load a tokenizer"):
        prunedbpe.accelerate(tmp_path / "missing")


def test_the_original_is_unchanged(texts):
    stock = stock_of(texts, "gpt2")
    original = transformers.PreTrainedTokenizerFast(tokenizer_object=stock, pad_token="<|pad|>")
    original(["a", "b c d"], padding=True, truncation=True, max_length=3)
    before = original.backend_tokenizer.to_str(), json.dumps(original.init_kwargs, default=str)
    fast = prunedbpe.accelerate(original)
    fast.add_tokens(["later"])
    fast.eos_token = "<|end|>"
    assert before == (
        original.backend_tokenizer.to_str(),
        json.dumps(original.init_kwargs, default=str),
    )
    assert original.eos_token is None
    assert fast("later")["input_ids"] == [len(original)]


def test_later_tokens_are_those_of_the_original(texts):
    stock = stock_of(texts, "qwen")
    original = transformers.PreTrainedTokenizerFast(tokenizer_object=stock, pad_token="<|pad|>")
    fast = prunedbpe.accelerate(original)
    for tokenizer in (original, fast):
        tokenizer.add_tokens(["new é", "\u0301"])
        tokenizer.add_special_tokens({"eos_token": "<eos>"})
    for text in ("a new é<eos>", "a new e\u0301b<eos>x", "x\u0301 <tool>\u0338<tool>"):
        assert original(text)["input_ids"] == fast(text)["input_ids"]
    with pytest.raises(SettingsError, match="add_bos_token"):
        fast.add_bos_token = True


def test_tokens_that_no_text_holds_keep_their_names(texts, tmp_path):
    settings = json.loads(stock_of(texts[:200], "gpt2").to_str())
    settings["added_tokens"] = []
    vocab = settings["model"]["vocab"]
    vocab |= {"\u200d": len(vocab), "中 文": len(vocab) + 1}  # not in the byte alphabet
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(settings), "utf-8")
    original = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    fast = prunedbpe.accelerate(original)
    fast.save_pretrained(tmp_path / "ours")
    ids = [len(vocab) - 1, vocab["a"], len(vocab) - 2]
    for made in (fast, transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")):
        assert made.get_vocab() == original.get_vocab()
        assert made.convert_ids_to_tokens(ids) == ["中 文", "a", "\u200d"]
        assert made.decode(ids) == original.decode(ids) == "中 文a\u200d"
        assert made("中 文\u200d")["input_ids"] == original("中 文\u200d")["input_ids"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"decoder": {"type": "Fuse"}}, "decoder 'Fuse'"),
        ({"normalizer": {"type": "Lowercase"}}, "Lowercase"),
        ({"model": {"end_of_word_suffix": "</w>"}}, "end_of_word_suffix"),
        (
            {"post_processor": {"type": "Sequence", "processors": [{"type": "Fuse"}]}},
            None,  # the library itself refuses it
        ),
    ],
)
def test_what_cannot_be_reproduced_is_named(change, named, texts, tmp_path):
    settings = json.loads(stock_of(texts, "gpt2").to_str())
    for key, value in change.items():
        settings[key] = settings[key] | value if key == "model" else value
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(settings), "utf-8")
    if named is None:
        with pytest.raises(FormatError, match="cannot load"):
            prunedbpe.accelerate(path)
        return
    original = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    with pytest.raises(NotExactError, match=named):
        prunedbpe.accelerate(original)
    assert original("still works")["input_ids"]


def test_classes_with_a_behaviour_of_their_own_are_named(texts):
    class Odd(transformers.PreTrainedTokenizerFast):
        def _decode(self, *args, **kwargs):
            return "odd"

    with pytest.raises(NotExactError, match=r"Odd\._decode"):
        prunedbpe.accelerate(Odd(tokenizer_object=stock_of(texts, "gpt2")))
    with pytest.raises(NotExactError, match="not a fast tokenizer"):
        prunedbpe.accelerate(object())


def test_a_difference_on_the_sample_is_named(texts, monkeypatch):
    from prunedbpe.tokenizer.imported import ImportedTokenizer

    stock = stock_of(texts, "gpt2")
    original = transformers.PreTrainedTokenizerFast(tokenizer_object=stock)
    right = ImportedTokenizer.encode_batch_to_numpy

    def wrong(self, given, **options):
        return right(self, [text.replace("zq", "qz") for text in given], **options)

    monkeypatch.setattr(ImportedTokenizer, "encode_batch_to_numpy", wrong)
    prunedbpe.accelerate(original)
    with pytest.raises(NotExactError, match="the ids of a text"):
        prunedbpe.accelerate(original, sample=["a zq"])


def test_datasets_map(pair, mixed):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    original, fast = pair
    data = datasets.Dataset.from_dict({"text": mixed[:60]})
    mapped = data.map(lambda rows: fast(rows["text"]), batched=True)
    assert mapped["input_ids"][:] == original(mixed[:60])["input_ids"]


@pytest.mark.parametrize("kind", ["accelerated", "pruned"])
def test_a_model_trains_saves_loads_and_generates(kind, texts, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    corpus = ["the big_lamp", "the big_joy"] * 8
    original = None
    if kind == "accelerated":
        stock = stock_of(texts, "gpt2")
        roles = {"eos_token": "<|end|>", "pad_token": "<|pad|>"}
        original = transformers.PreTrainedTokenizerFast(tokenizer_object=stock, **roles)
        tokenizer = prunedbpe.accelerate(original)
    else:
        tok = prunedbpe.train(iter(corpus), vocab_size=262, threshold="40%")
        tokenizer = PrunedBPETokenizer.from_tokenizer(tok)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = transformers.LlamaForCausalLM(config)
    batch = tokenizer(corpus, padding=True, return_tensors="pt")
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(40):
        loss = model(**batch, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert type(again) is PrunedBPETokenizer
    prompt = again("the", return_tensors="pt")
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": again.pad_token_id}
    ids = loaded.generate(**prompt, **options)[0]
    assert again.decode(ids).startswith("the big_")
    if original is not None:
        assert original.decode(ids) == again.decode(ids)
