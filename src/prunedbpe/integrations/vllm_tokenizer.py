"""The tokenizer class of vLLM's mode: that for transformers, plus what vLLM's protocol adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prunedbpe.integrations.transformers import PrunedBPETokenizer
from prunedbpe.integrations.vllm import from_pretrained_arguments


class VLLMTokenizer(PrunedBPETokenizer):
    """A tokenizer with the members of ``vllm.tokenizers.TokenizerLike``."""

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
        """Load a saved folder; never run code from it, whatever ``trust_remote_code`` says."""
        path, translated = from_pretrained_arguments(path_or_repo_id, download_dir, kwargs)
        tokenizer: VLLMTokenizer = super().from_pretrained(
            path, *args, revision=revision or "main", **translated
        )
        return tokenizer

    @property
    def max_token_id(self) -> int:
        """The highest id that a request may hold."""
        return len(self) - 1

    @property
    def max_chars_per_token(self) -> int:
        """Upper bound of the characters in one token, from which vLLM bounds the token count."""
        return max(len(spelled) for spelled in self.tokenizer.vocab_bytes())
