"""The roles that transformers gives to special tokens: end of text, padding and others."""

from __future__ import annotations

from collections.abc import Collection

USUAL_ROLES = {
    "eos_token": ("<_EOS_>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"),
    "bos_token": ("<_SOS_>", "<|begin_of_text|>", "<s>", "<bos>"),
    "sep_token": ("<_SEP_>", "[SEP]", "<sep>"),
    "pad_token": ("<_PAD_>", "<|pad|>", "<pad>", "[PAD]"),
}
"""The usual names of special tokens, by role."""


def usual_roles(special_tokens: Collection[str]) -> dict[str, str]:
    """Return the special token of every role that one of them has by its name.

    >>> usual_roles(["<pad>", "<|endoftext|>", "<|user|>"])
    {'eos_token': '<|endoftext|>', 'pad_token': '<pad>'}
    """
    found = {}
    for role, names in USUAL_ROLES.items():
        usual = next((name for name in names if name in special_tokens), None)
        if usual is not None:
            found[role] = usual
    return found
