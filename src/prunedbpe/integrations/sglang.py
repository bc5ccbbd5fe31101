"""A plugin for SGLang: a server loads a folder with one of our tokenizers.

SGLang finds :func:`register` through the entry point ``sglang.srt.plugins`` and calls it when one
of its processes starts. The model's folder must hold what ``prunedbpe export TOKENIZER
transformers`` writes. Needs the extra ``transformers``.
"""

from __future__ import annotations


def register() -> None:
    """Let ``AutoTokenizer`` and xgrammar, which SGLang uses, accept our tokenizers."""
    from prunedbpe.integrations.grammars import register_with_servers

    register_with_servers()
