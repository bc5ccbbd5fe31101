"""The class behind vLLM's tokenizer mode: ours for transformers, and what vLLM's protocol adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prunedbpe.integrations.transformers import PrunedBPETokenizer
from prunedbpe.integrations.vllm import from_pretrained_arguments


class VLLMTokenizer(PrunedBPETokenizer):
    """Follows ``vllm.tokenizers.TokenizerLike``."""

    @classmethod
    def from_pretrained(
        cls,
        path_or_repo_id: str | Path,
        *args: Any,
        trust_remote_code: bool = False,
        revision: str | None = None,
        download_dir: str | None = None,
        **kwargs: Any,
    ) -> VLLMTokenizer:
        """Load a saved folder; no code of the folder is run, whatever ``trust_remote_code``."""
        path, translated = from_pretrained_arguments(path_or_repo_id, download_dir, kwargs)
        tokenizer: VLLMTokenizer = super().from_pretrained(
            path, *args, revision=revision or "main", **translated
        )
        return tokenizer

    @property
    def max_token_id(self) -> int:
        """The highest id a request may hold."""
        return len(self) - 1

    @property
    def max_chars_per_token(self) -> int:
        """Most characters one token spells: an upper bound on text is a lower bound on tokens."""
        return max(len(spelled) for spelled in self.tokenizer.vocab_bytes())
