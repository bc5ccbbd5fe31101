"""The vLLM plugin against a stand-in for vLLM's registry and protocol."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import entry_points
from types import ModuleType

import pytest

import prunedbpe

pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

MEMBERS = [
    "from_pretrained",
    "num_special_tokens_to_add",
    "all_special_tokens",
    "all_special_ids",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "is_fast",
    "vocab_size",
    "max_token_id",
    "truncation_side",
    "get_vocab",
    "get_added_vocab",
    "added_tokens_decoder",
    "encode",
    "apply_chat_template",
    "convert_tokens_to_ids",
    "convert_tokens_to_string",
    "decode",
    "convert_ids_to_tokens",
]


class Registry:
    """Like vllm.tokenizers.TokenizerRegistry: classes by mode, found by module and name."""

    def __init__(self):
        self.modes = {}

    def register(self, mode, module, class_name):
        self.modes[mode] = (module, class_name)

    def load(self, mode, *args, **kwargs):
        module, name = self.modes[mode]
        return getattr(importlib.import_module(module), name).from_pretrained(*args, **kwargs)


@pytest.fixture()
def registry(monkeypatch):
    registry = Registry()
    tokenizers = ModuleType("vllm.tokenizers")
    tokenizers.TokenizerRegistry = registry
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.tokenizers", tokenizers)
    found = [e for e in entry_points(group="vllm.general_plugins") if e.name == "prunedbpe"]
    if not found:
        pytest.skip("the package is installed without its entry points; install it again")
    found[0].load()()
    return registry


def test_a_folder_loads_and_serves(registry, tmp_path):
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

    tok = prunedbpe.train(iter(["the cat sat", "that hat 中文"] * 3), vocab_size=270, threshold=0)
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(tmp_path)
    served = registry.load(
        "prunedbpe",
        tmp_path,
        trust_remote_code=False,
        revision=None,
        download_dir=None,
        truncation_side="left",
    )
    assert [name for name in MEMBERS if not hasattr(served, name)] == []
    assert served.max_token_id == 269
    assert served.truncation_side == "left"
    assert served.max_chars_per_token >= 3
    assert isinstance(hash(served), int)
    text = "the cat 中文"
    ids = served.encode(text, add_special_tokens=False)
    assert ids == tok.encode(text) == served(text).input_ids
    # vLLM streams like this: join all token strings at each step, emit whole characters only.
    streamed = ""
    for end in range(1, len(ids) + 1):
        now = served.convert_tokens_to_string(served.convert_ids_to_tokens(ids[:end]))
        if not now.endswith("\ufffd"):
            streamed = now
    assert streamed == text
