"""A plugin for vLLM: ``vllm serve MODEL`` loads a folder with one of our tokenizers.

vLLM finds :func:`register` through the entry point ``vllm.general_plugins`` and calls it when one
of its processes starts. The model's folder must hold what ``prunedbpe export TOKENIZER
transformers`` writes. Needs the extra ``transformers``. This module imports vLLM only when vLLM
calls it.
"""

from __future__ import annotations

TOKENIZER_MODE = "prunedbpe"
"""A value of ``--tokenizer-mode``: does what ``auto`` does, and fails without the plugin."""


def register() -> None:
    """Let vLLM load our tokenizers, for the tokenizer modes ``auto``, ``hf`` and ``prunedbpe``."""
    from prunedbpe.integrations.grammars import register_with_servers

    register_with_servers()
    _register_mode()


def _register_mode() -> None:
    """Register the tokenizer mode, with the classes of mode ``hf``."""
    from vllm.tokenizers import TokenizerRegistry

    TokenizerRegistry.register(TOKENIZER_MODE, "vllm.tokenizers.hf", "CachedHfTokenizer")
    try:
        from vllm.renderers.registry import RENDERER_REGISTRY
    except ImportError:  # older versions have no renderers
        return
    RENDERER_REGISTRY.register(TOKENIZER_MODE, "vllm.renderers.hf", "HfRenderer")
