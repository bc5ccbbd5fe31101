"""What rank files of published models do not say: how text is cut, and the special tokens.

A rank file is recognised by its name, or by its SHA-256 if many models use the same name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

_FILL_IN_THE_MIDDLE = {"<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260}


@dataclass(frozen=True)
class PublishedRanks:
    """How the program that a rank file belongs to uses it.

    Attributes:
        pretokenizer: The built-in name.
        special_tokens: The ids of special tokens.
    """

    pretokenizer: str
    special_tokens: dict[str, int] = field(default_factory=dict)


def published_ranks(name: str, text: str) -> PublishedRanks | None:
    """Return what is known about a rank file, by its name or its contents.

    >>> published_ranks("r50k_base.tiktoken", "").special_tokens
    {'<|endoftext|>': 50256}
    """
    known = _BY_NAME.get(name.split(".")[0])
    return known or _BY_DIGEST.get(hashlib.sha256(text.encode()).hexdigest())


def _numbered(first: int, *names: str) -> dict[str, int]:
    return {name: first + place for place, name in enumerate(names)}


_BY_NAME = {
    "r50k_base": PublishedRanks("gpt2", {"<|endoftext|>": 50256}),
    "p50k_base": PublishedRanks("gpt2", {"<|endoftext|>": 50256}),
    "cl100k_base": PublishedRanks(
        "cl100k", {"<|endoftext|>": 100257, **_FILL_IN_THE_MIDDLE, "<|endofprompt|>": 100276}
    ),
    "o200k_base": PublishedRanks("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
}
_BY_DIGEST = {
    # Llama 3, tokenizer.model
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": PublishedRanks(
        "llama3",
        _numbered(
            128_000,
            *("<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>"),
            *("<|reserved_special_token_1|>", "<|finetune_right_pad_id|>", "<|step_id|>"),
            *("<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>"),
            *("<|python_tag|>", "<|image|>"),
            *(f"<|reserved_special_token_{number}|>" for number in range(2, 246)),
        ),
    ),
    # Qwen 1 to 2.5, qwen.tiktoken
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": PublishedRanks(
        "qwen2",
        _numbered(
            151_643,
            *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
            *(f"<|extra_{number}|>" for number in range(205)),
        ),
    ),
    # Whisper, multilingual.tiktoken and gpt2.tiktoken. Its other special tokens depend on the
    # number of languages of the model.
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": PublishedRanks(
        "gpt2", {"<|endoftext|>": 50257}
    ),
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": PublishedRanks(
        "gpt2", {"<|endoftext|>": 50256}
    ),
}
