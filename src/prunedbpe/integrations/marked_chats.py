"""Encode chats in which a user's text spells a control token, without producing that token.

``apply_chat_template(..., sanitize_control_tokens=True)`` of transformers 5.23 marks such text
before it renders the chat; the tokenizer must encode the marked text as plain text.
"""

from __future__ import annotations

from typing import Any


def encode_marked_chats(tokenizer: Any, chats: str | list[str]) -> Any:
    """Return the token ids of one marked chat, or of each chat of a list."""
    from transformers.utils.chat_template_utils import encode_marked_chat

    if isinstance(chats, str):
        return encode_marked_chat(tokenizer, chats)
    return [encode_marked_chat(tokenizer, chat) for chat in chats]
