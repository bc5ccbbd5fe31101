"""Chats in which a user wrote what spells a control token: it must not become one.

``apply_chat_template(..., sanitize_control_tokens=True)`` of transformers 5.23 marks such text
before it renders the chat, and leaves it to the tokenizer to encode what is marked as plain text.
"""

from __future__ import annotations

from typing import Any


def encode_marked_chats(tokenizer: Any, chats: str | list[str]) -> Any:
    """Token ids of a marked chat, or of each of several."""
    from transformers.utils.chat_template_utils import encode_marked_chat

    if isinstance(chats, str):
        return encode_marked_chat(tokenizer, chats)
    return [encode_marked_chat(tokenizer, chat) for chat in chats]
