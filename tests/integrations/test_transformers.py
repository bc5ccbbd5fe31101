"""PrunedBPETokenizer behaves as the tests of transformers require of a tokenizer."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import prunedbpe

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402
from prunedbpe.pretokenizers import find_pretokenizer  # noqa: E402

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.role == 'assistant' %}{% generation %}{{ message.content }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ message.content }}<|im_end|>{% endif %}\n{% endfor %}"
)
SPECIALS = ("<_EOS_>", "<_SOS_>", "<_SEP_>", "<_PAD_>", "<|im_start|>", "<|im_end|>")


@pytest.fixture(scope="module")
def tok(texts):
    corpus = ["the cat sat on the mat", "a hat, a cat and that mat", *texts[:1000]]
    return prunedbpe.train(iter(corpus * 2), vocab_size=700, special_tokens=SPECIALS)


@pytest.fixture()
def hf(tok):
    return PrunedBPETokenizer.from_tokenizer(tok, chat_template=CHAT_TEMPLATE)


@pytest.fixture()
def folder(hf, tmp_path):
    hf.save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"


def test_ids_are_the_tokenizers(hf, tok, texts):
    assert tok.vocabulary.internal_count
    expected = tok.encode_batch(texts, allowed_special="all")
    assert hf(texts)["input_ids"] == expected
    assert [hf(text)["input_ids"] for text in texts[:300]] == expected[:300]
    assert [hf.decode(ids) for ids in expected[:1000]] == texts[:1000]
    for text in texts[:200]:
        tokens = hf.tokenize(text)
        assert hf.convert_tokens_to_ids(tokens) == hf.encode(text)
        assert hf.convert_tokens_to_string(tokens) == text


def test_save_and_load(hf, folder, texts):
    names = {path.name for path in folder.iterdir()}
    assert {"vocab.txt", "inter_vocab.txt", "prunedbpe.json", "tokenizer_config.json"} <= names
    for again in (
        transformers.AutoTokenizer.from_pretrained(folder),
        PrunedBPETokenizer.from_pretrained(folder),
    ):
        assert type(again) is PrunedBPETokenizer
        assert again(texts[:300]) == hf(texts[:300])
        assert again.get_vocab() == hf.get_vocab()
        assert again.special_tokens_map == hf.special_tokens_map
        assert again.all_special_ids == hf.all_special_ids
        assert again.chat_template == hf.chat_template
        assert len(again) == len(hf) == 700


def test_added_tokens_survive(hf, tmp_path):
    assert hf.add_tokens(["newtoken", "é"]) == 2
    hf.add_special_tokens({"extra_special_tokens": ["<tool>"]})
    hf.add_tokens(transformers.AddedToken("<mask>", lstrip=True, rstrip=True))
    assert hf.convert_tokens_to_ids(["newtoken", "é", "<tool>", "<mask>"]) == [700, 701, 702, 703]
    text = "a newtoken é<tool> cat  <mask>  mat"
    ids = hf(text)["input_ids"]
    assert {700, 701, 702, 703} <= set(ids)
    assert hf.decode(ids) == "a newtoken é<tool> cat<mask>mat"
    assert hf.decode(ids, skip_special_tokens=True) == "a newtoken é cat<mask>mat"
    assert hf.convert_tokens_to_ids(hf.tokenize(text)) == ids
    hf.save_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert again(text)["input_ids"] == ids
    assert len(again) == len(hf) == 704


@pytest.mark.parametrize("model_type", ["llama", "gpt2", "granite", "bert", "qwen2"])
def test_beside_a_model_config(model_type, folder):
    """A model type with a stock tokenizer must not override the registered class."""
    config = {"model_type": model_type, "vocab_size": 700}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    again = transformers.AutoTokenizer.from_pretrained(folder)
    assert type(again) is PrunedBPETokenizer


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr


REGISTER = "import prunedbpe.integrations.transformers"


@pytest.mark.parametrize(
    "imports", [f"{REGISTER}; import transformers", f"import transformers; {REGISTER}"]
)
def test_importing_the_integration_registers(imports, folder):
    code = f"{imports}; t = transformers.AutoTokenizer.from_pretrained({str(folder)!r})"
    status, out, error = run(f"{code}; print(type(t).__name__)")
    assert (status, out) == (0, "PrunedBPETokenizer"), error


@pytest.mark.parametrize("imports", ["import transformers", "import prunedbpe, transformers"])
def test_an_unregistered_load_asks_for_trust_remote_code(imports, folder):
    load = f"{imports}; transformers.AutoTokenizer.from_pretrained({str(folder)!r}"
    status, _, error = run(load + ")")
    assert status != 0 and "trust_remote_code" in error
    status, _, error = run(load + ", trust_remote_code=True)")
    assert status == 0, error


def test_batches_pad_and_truncate(hf, texts):
    texts = [text for text in texts[:100] if text]
    alone = [hf(text)["input_ids"] for text in texts]
    for side in ("left", "right"):
        batch = hf(texts, padding=True, padding_side=side, return_tensors="np")
        width = max(map(len, alone))
        assert batch["input_ids"].shape == (len(texts), width)
        for row, mask, ids in zip(batch["input_ids"], batch["attention_mask"], alone, strict=True):
            assert row[mask == 1].tolist() == ids
            assert set(row[mask == 0].tolist()) <= {hf.pad_token_id}
            assert mask[0 if side == "right" else -1] == 1
    batch = hf(texts, padding="max_length", max_length=16, truncation=True)
    assert {len(ids) for ids in batch["input_ids"]} == {16}
    cut = hf(texts, truncation=True, max_length=5)["input_ids"]
    assert cut == [ids[:5] for ids in alone]
    hf.truncation_side = "left"
    assert hf(texts, truncation=True, max_length=5)["input_ids"] == [ids[-5:] for ids in alone]
    assert len(hf(texts, padding=True, pad_to_multiple_of=8)["input_ids"][0]) % 8 == 0


def test_special_tokens_and_pairs(tok, tmp_path):
    hf = PrunedBPETokenizer.from_tokenizer(tok, special_tokens_pattern="bos_eos")
    first, second = tok.encode("the cat"), tok.encode("a mat")
    bos, eos = hf.bos_token_id, hf.eos_token_id
    assert hf("the cat")["input_ids"] == [bos, *first, eos]
    pair = hf("the cat", "a mat", return_special_tokens_mask=True, return_offsets_mapping=True)
    assert pair["input_ids"] == [bos, *first, eos, *second, eos]
    assert pair["special_tokens_mask"] == [1, *[0] * len(first), 1, *[0] * len(second), 1]
    assert pair.sequence_ids() == [None, *[0] * len(first), None, *[1] * len(second), None]
    assert pair["offset_mapping"][len(first) + 2] == (0, 1)
    assert hf([("the cat", "a mat")])["input_ids"] == [pair["input_ids"]]
    assert hf(["the cat"], ["a mat"])["input_ids"] == [pair["input_ids"]]
    short = hf("the cat", "a mat", truncation="only_second", max_length=len(first) + 4)
    assert short["input_ids"] == [bos, *first, eos, second[0], eos]
    assert hf.num_special_tokens_to_add() == 2
    assert hf("the cat", add_special_tokens=False)["input_ids"] == first
    hf.save_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert again("the cat")["input_ids"] == [bos, *first, eos]


def test_overflow(hf):
    text = "the cat sat on the mat"
    ids = hf(text)["input_ids"]
    cut = hf(text, truncation=True, max_length=4, stride=1, return_overflowing_tokens=True)
    assert cut["input_ids"] == ids[:4]
    assert cut["overflowing_tokens"] == ids[3:]
    assert cut["num_truncated_tokens"] == len(ids) - 4


def test_offsets_words_and_characters(hf, texts):
    for text in [text for text in texts[:300] if text]:
        batch = hf(text, return_offsets_mapping=True)
        assert len(batch["offset_mapping"]) == len(batch["input_ids"])
        covered = set()
        for begin, end in batch["offset_mapping"]:
            assert 0 <= begin < end <= len(text)
            covered |= set(range(begin, end))
        assert covered == set(range(len(text)))
        for place in (0, len(text) // 2, len(text) - 1):
            token = batch.char_to_token(place)
            begin, end = batch["offset_mapping"][token]
            assert begin <= place < end
    batch = hf("the cat don't", return_offsets_mapping=True)
    assert [batch.word_to_chars(i) for i in range(3)] == [(0, 3), (3, 7), (7, 13)]
    assert max(batch.word_ids()) == 2
    split = hf(["the", "cats", "x"], is_split_into_words=True)
    assert sorted(set(split.word_ids())) == [0, 1, 2]
    left = hf(["a", "the cat sat"], padding=True, padding_side="left", return_offsets_mapping=True)
    assert left["offset_mapping"][0][0] == (0, 0)
    assert left.char_to_token(0, 0) == len(left["input_ids"][0]) - 1


@pytest.mark.parametrize("name", ["paper", r"\w+|\W"])
def test_normalization(name, texts, tmp_path):
    pytest.importorskip("regex", reason="extra regex is not installed")
    nfc = find_pretokenizer(name, "NFC")
    tok = prunedbpe.train(
        iter(["caf\u00e9 na\u00efve"] * 3), vocab_size=264, threshold=0, pretokenizer=nfc
    )
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(tmp_path)
    hf = transformers.AutoTokenizer.from_pretrained(tmp_path)
    composed, decomposed = "na\u00efve caf\u00e9", "nai\u0308ve cafe\u0301"
    batch = hf(decomposed, return_offsets_mapping=True)
    assert batch["input_ids"] == hf(composed)["input_ids"] == tok.encode(decomposed)
    assert hf.decode(batch["input_ids"]) == composed
    assert batch["offset_mapping"][-1][1] == len(decomposed)
    assert batch.word_to_chars(0) == (0, 6)
    for text in [text for text in texts[:300] if text]:
        batch = hf(text, return_offsets_mapping=True)
        assert batch["input_ids"] == tok.encode(text, allowed_special="all")
        covered = {place for span in batch["offset_mapping"] for place in range(*span)}
        assert covered == set(range(len(text)))


def test_empty_and_odd_inputs(hf):
    assert hf("")["input_ids"] == []
    assert hf([])["input_ids"] == []
    assert hf(["", "a"], padding=True)["attention_mask"][0] == [0]
    assert hf.decode(hf("\ud83d\ude00 \ud800")["input_ids"]) == "😀 \ufffd"
    assert hf(hf.encode("the cat"))["input_ids"] == hf.encode("the cat")
    assert hf.decode([]) == ""
    assert hf.decode(97) == "a"


def test_chat_template_and_assistant_masks(hf):
    pytest.importorskip("jinja2")
    chat = [
        {"role": "user", "content": "the cat?"},
        {"role": "assistant", "content": "sat on the mat"},
        {"role": "user", "content": "a hat"},
        {"role": "assistant", "content": "that mat 中文"},
    ]
    rendered = hf.apply_chat_template(chat, tokenize=False)
    out = hf.apply_chat_template(
        chat, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    assert hf.decode(out["input_ids"]) == rendered
    masked = [i for i, m in zip(out["input_ids"], out["assistant_masks"], strict=True) if m]
    assert hf.decode(masked) == "sat on the mat<|im_end|>that mat 中文<|im_end|>"
    both = hf.apply_chat_template(
        [chat, chat[:2]],
        tokenize=True,
        return_dict=True,
        return_assistant_tokens_mask=True,
        padding=True,
        return_tensors="np",
    )
    assert both["assistant_masks"].shape == both["input_ids"].shape
    assert hf.decode(both["input_ids"][1][both["assistant_masks"][1] == 1]) == (
        "sat on the mat<|im_end|>"
    )


def test_sanitize_control_tokens(hf):
    pytest.importorskip("jinja2")
    chat = [{"role": "user", "content": "x<|im_end|>y"}]
    end = hf.convert_tokens_to_ids("<|im_end|>")
    plain = hf.apply_chat_template(chat, tokenize=True, return_dict=True)["input_ids"]
    safe = hf.apply_chat_template(
        chat, tokenize=True, return_dict=True, sanitize_control_tokens=True
    )["input_ids"]
    assert (plain.count(end), safe.count(end)) == (2, 1)
    assert hf.decode(plain) == hf.decode(safe)
    both = hf.apply_chat_template(
        [chat, chat], tokenize=True, return_dict=True, sanitize_control_tokens=True
    )["input_ids"]
    assert both == [safe, safe]


def test_pickling_is_deterministic(hf, folder, texts):
    before = pickle.dumps(hf)
    hf(texts[:50], return_offsets_mapping=True)
    hf.tokenizer.token_bytes(3)
    assert pickle.dumps(hf) == before
    again = pickle.loads(before)
    assert again(texts[:200]) == hf(texts[:200])
    pytest.importorskip("datasets", reason="datasets is not installed")
    code = (
        f"{REGISTER}; import transformers; from datasets.fingerprint import Hasher; "
        f"t = transformers.AutoTokenizer.from_pretrained({str(folder)!r}); print(Hasher.hash(t))"
    )
    hashes = {run(code, PYTHONHASHSEED=seed)[1] for seed in ("1", "2")}
    assert len(hashes) == 1 and hashes != {""}


def test_datasets_map_caches(hf, tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    texts = ["the cat", "a mat", "that hat"] * 20
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")

    def load():
        data = datasets.load_dataset(
            "json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
        )
        return data.map(lambda rows: hf(rows["text"]), batched=True)

    first, second = load(), load()
    assert first._fingerprint == second._fingerprint
    assert second.cache_files and first["input_ids"][:3] == [hf.encode(text) for text in texts[:3]]


def test_a_model_trains(hf, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    texts = ["the cat sat on the mat", "a hat", "that mat and a cat"] * 8
    rows = [{"input_ids": ids} for ids in hf(texts)["input_ids"]]
    collate = DataCollatorForLanguageModeling(hf, mlm=False)
    batch = collate(rows[:6])
    assert batch["input_ids"].shape == batch["labels"].shape
    assert (batch["labels"] == -100).sum() == (batch["attention_mask"] == 0).sum()
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(hf), n_positions=32, n_embd=32, n_layer=1, n_head=2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    new = model.generate(
        **hf("the cat", return_tensors="pt"), max_new_tokens=4, pad_token_id=hf.pad_token_id
    )
    assert isinstance(hf.decode(new[0]), str)


def test_a_trainer_trains(hf, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from transformers import (
        DataCollatorForLanguageModeling,
        GPT2Config,
        GPT2LMHeadModel,
        Trainer,
        TrainingArguments,
    )

    rows = [{"input_ids": ids} for ids in hf(["the cat sat", "a mat", "that hat"] * 4)["input_ids"]]
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(hf), n_positions=32, n_embd=16, n_layer=1, n_head=2)
    )
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(tmp_path / "run"),
            max_steps=3,
            per_device_train_batch_size=4,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=rows,
        data_collator=DataCollatorForLanguageModeling(hf, mlm=False),
        processing_class=hf,
    )
    assert np.isfinite(trainer.train().training_loss)
    trainer.save_model(str(tmp_path / "model"))
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    assert type(again) is PrunedBPETokenizer


def test_imported_tokenizers_work_too(texts, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from integrations.test_imports import gpt2_style, ids_of

    stock = gpt2_style(tokenizers, texts)
    stock.save(str(tmp_path / "tokenizer.json"))
    hf = PrunedBPETokenizer.from_tokenizer(prunedbpe.import_tokenizer(tmp_path))
    assert hf.eos_token == "<|endoftext|>"
    assert hf(texts)["input_ids"] == ids_of(stock, texts)
    hf.save_pretrained(tmp_path / "again")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "again")
    assert again(texts[:200])["input_ids"] == ids_of(stock, texts[:200])
