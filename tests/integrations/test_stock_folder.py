"""An exported folder loads in transformers by its stock classes, without this package."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from integrations.conftest import train_on

from prunedbpe import Tokenizer
from prunedbpe.exchange.formats import export
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

CHAT_TEMPLATE = "{% for m in messages %}<_SOS_>{{ m.role }}\n{{ m.content }}<_EOS_>{% endfor %}"


@pytest.fixture(scope="module", params=BUILTIN_PRETOKENIZERS)
def tok(request, texts) -> Tokenizer:
    return train_on(texts, request.param, "40%", "shortest")


@pytest.fixture()
def folder(tok, tmp_path):
    export(tok, "huggingface", tmp_path / "folder")
    return tmp_path / "folder"


@pytest.mark.parametrize("loader", ["AutoTokenizer", "PreTrainedTokenizerFast"])
def test_ids_and_text(loader, tok, folder, texts):
    hf = getattr(transformers, loader).from_pretrained(folder)
    assert hf.is_fast
    expected = tok.encode_batch(texts, allowed_special="all")
    assert hf(texts)["input_ids"] == expected
    assert hf.batch_decode(expected[:1000]) == texts[:1000]
    assert len(hf) == tok.vocab_size
    roles = (hf.eos_token_id, hf.bos_token_id, hf.sep_token_id, hf.pad_token_id)
    assert roles == tuple(tok.special_tokens.values())
    skipped = hf.decode(tok.encode("a<_EOS_>b", allowed_special="all"), skip_special_tokens=True)
    assert skipped == "ab"


def test_offsets(tok, folder, texts):
    hf = transformers.AutoTokenizer.from_pretrained(folder)
    for text in texts[:2000]:
        if not any(special in text for special in tok.special_tokens):
            found = hf(text, return_offsets_mapping=True)["offset_mapping"]
            assert found == tok.encode_with_offsets(text)[1]


def test_padding_and_truncation(tok, folder):
    hf = transformers.AutoTokenizer.from_pretrained(folder)
    long, short = tok.encode("the cat sat on the mat"), tok.encode("a cat")
    batch = hf(["the cat sat on the mat", "a cat"], padding=True, truncation=True, max_length=8)
    pad = tok.special_tokens["<_PAD_>"]
    assert batch["input_ids"] == [long[:8], short + [pad] * (8 - len(short))]
    assert batch["attention_mask"][1] == [1] * len(short) + [0] * (8 - len(short))


def test_a_chat_template_and_saving(tok, folder, tmp_path):
    hf = transformers.AutoTokenizer.from_pretrained(folder)
    hf.chat_template = CHAT_TEMPLATE
    hf.save_pretrained(tmp_path / "saved")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    chat = [{"role": "user", "content": "hi 中文"}, {"role": "assistant", "content": "the cat"}]
    ids = again.apply_chat_template(chat, tokenize=True, return_dict=False)
    text = "<_SOS_>user\nhi 中文<_EOS_><_SOS_>assistant\nthe cat<_EOS_>"
    assert ids == tok.encode(text, allowed_special="all")


def test_the_package_is_not_imported(texts, tmp_path):
    """A program that has transformers alone encodes the same ids."""
    tok = train_on(texts, "paper", "40%", "shortest")
    export(tok, "huggingface", tmp_path)
    program = (
        "import json, sys; from transformers import AutoTokenizer\n"
        f"hf = AutoTokenizer.from_pretrained({str(tmp_path)!r})\n"
        "print(json.dumps([hf('the cat 中文 <_EOS_>')['input_ids'], 'prunedbpe' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    expected = tok.encode("the cat 中文 <_EOS_>", allowed_special="all")
    assert json.loads(done.stdout.splitlines()[-1]) == [expected, False]


def test_unusual_special_tokens_have_no_role(texts, tmp_path):
    tok = train_on(texts, "none", "40%", "shortest", special_tokens=("<|user|>", "</s>"))
    export(tok, "huggingface", tmp_path)
    hf = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert (hf.eos_token, hf.bos_token, hf.pad_token) == ("</s>", None, None)
    assert hf("a<|user|>b</s>")["input_ids"] == tok.encode("a<|user|>b</s>", allowed_special="all")
