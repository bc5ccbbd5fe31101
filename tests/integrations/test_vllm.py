"""The plugin with a stand-in for vLLM, which `make test` does not install.

`make test-vllm` runs the plugin in vLLM itself: test_vllm_itself.py.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from types import ModuleType

import pytest

import prunedbpe

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")


class Registry:
    """Like the registries of vLLM: classes by mode, named by module."""

    def __init__(self):
        self.modes = {}

    def register(self, mode, module, class_name):
        self.modes[mode] = (module, class_name)


def stand_in(monkeypatch, name, **attributes):
    module = ModuleType(name)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("has_renderers", [True, False])
def test_the_mode_is_registered(monkeypatch, has_renderers):
    from prunedbpe.integrations.vllm import register

    tokenizers, renderers = Registry(), Registry()
    stand_in(monkeypatch, "vllm")
    stand_in(monkeypatch, "vllm.tokenizers", TokenizerRegistry=tokenizers)
    if has_renderers:
        stand_in(monkeypatch, "vllm.renderers")
        stand_in(monkeypatch, "vllm.renderers.registry", RENDERER_REGISTRY=renderers)
    else:
        monkeypatch.setitem(sys.modules, "vllm.renderers", None)
        monkeypatch.setitem(sys.modules, "vllm.renderers.registry", None)
    register()
    register()  # vLLM may call plugins several times
    assert tokenizers.modes == {"prunedbpe": ("vllm.tokenizers.hf", "CachedHfTokenizer")}
    if has_renderers:
        assert renderers.modes == {"prunedbpe": ("vllm.renderers.hf", "HfRenderer")}


def test_the_plugins_are_entry_points():
    groups = ("vllm.general_plugins", "sglang.srt.plugins")
    found = {g: [e.value for e in entry_points(group=g) if e.name == "prunedbpe"] for g in groups}
    if not all(found.values()):
        pytest.skip("the package was installed without its entry points; install it again")
    assert found == {
        "vllm.general_plugins": ["prunedbpe.integrations.vllm:register"],
        "sglang.srt.plugins": ["prunedbpe.integrations.sglang:register"],
    }


def test_sglang_loads_a_folder_without_remote_code(tmp_path):
    """In a process of its own: nothing but the plugin imports the integration."""
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

    tok = prunedbpe.train(iter(["the cat sat", "that hat 中文"] * 3), vocab_size=270, threshold=0)
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(tmp_path)
    program = (
        "from prunedbpe.integrations.sglang import register; register()\n"
        "from transformers import AutoTokenizer\n"
        f"print(AutoTokenizer.from_pretrained({str(tmp_path)!r})('the cat 中文').input_ids)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == str(tok.encode("the cat 中文"))
