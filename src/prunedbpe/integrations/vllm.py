"""A tokenizer mode for vLLM: ``vllm serve MODEL --tokenizer-mode prunedbpe``.

vLLM finds :func:`register` through the entry point ``vllm.general_plugins`` when one of its
processes starts. The model's folder must hold what ``prunedbpe export TOKENIZER transformers``
writes. Needs the extra ``transformers``. This module imports vLLM only when vLLM calls it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TOKENIZER_MODE = "prunedbpe"
"""The value of ``--tokenizer-mode``."""

_CLASS_MODULE = "prunedbpe.integrations.vllm_tokenizer"
_CLASS_NAME = "VLLMTokenizer"


def register() -> None:
    """Register the tokenizer mode; vLLM calls this."""
    from vllm.tokenizers import TokenizerRegistry

    TokenizerRegistry.register(TOKENIZER_MODE, _CLASS_MODULE, _CLASS_NAME)


def from_pretrained_arguments(
    path: str | Path, download_dir: str | None, arguments: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Translate the arguments that vLLM passes to ``from_pretrained`` for transformers."""
    translated = dict(arguments)
    translated.pop("use_fast", None)
    if download_dir is not None:
        translated["cache_dir"] = download_dir
    return str(path), translated
