"""A tokenizer mode for vLLM: ``vllm serve MODEL --tokenizer-mode prunedbpe``.

vLLM finds :func:`register` by the entry point ``vllm.general_plugins`` when it starts, in every
process of its own. The model's folder must hold what ``prunedbpe export TOKENIZER transformers``
writes. Needs the extra ``transformers``; vLLM itself is never imported before it asks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TOKENIZER_MODE = "prunedbpe"
"""What to give as ``--tokenizer-mode``."""

_CLASS_MODULE = "prunedbpe.integrations.vllm_tokenizer"
_CLASS_NAME = "VLLMTokenizer"


def register() -> None:
    """Make the tokenizer mode known to vLLM; called by vLLM."""
    from vllm.tokenizers import TokenizerRegistry

    TokenizerRegistry.register(TOKENIZER_MODE, _CLASS_MODULE, _CLASS_NAME)


def from_pretrained_arguments(
    path: str | Path, download_dir: str | None, arguments: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Translate vLLM's arguments of ``from_pretrained`` into those of transformers."""
    translated = dict(arguments)
    translated.pop("use_fast", None)
    if download_dir is not None:
        translated["cache_dir"] = download_dir
    return str(path), translated
