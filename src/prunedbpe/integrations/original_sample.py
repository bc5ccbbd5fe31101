"""Compare a tokenizer for transformers with the one that it replaces, on a sample of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prunedbpe.integrations.token_spans import normalizer_of

_TEXTS = (
    "",
    " ",
    "The quick brown fox doesn't jump over 12345 lazy dogs, I'LL say; it's 3.14 km/h!",
    "  leading, trailing \t and \n\n inner   white space \r\n \u00a0\u3000 ",
    "def f(x: int) -> str:\n    return f'{x!r:>10}'  # 0x7f && a[i] <<= 2\n",
    "Ein großer Bär, déjà vu, Ελλάδα, Привет мир, שלום, السلام عليكم, नमस्ते, สวัสดี",
    "中文字符，日本語のテキスト、한국어 문장. 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 😀👩‍👩‍👧‍👦🇺🇳",
    "cafe\u0301 A\u030a \u1e9b\u0323 \u212b \ufb01 \u0958 \u0344 \U0001d15e",
    "a\x00b\x07\x1c\x85\ufeff\u200b\u200d\u2028\ud7ff\ue000\ufffd\U0010ffff",
    "supercalifragilisticexpialidocious" * 3 + "aaaaaaaaaaaaaaaaaaaaaaaaaaa" + "1" * 50,
    "IT'S YOU'RE we'Ve ﬀ'll 'S '\u017f x'\u017f ½²³ ٣٤٥ ⅷ",
)
_MOST_ADDED = 50


def sample_texts(original: Any, more: Iterable[str]) -> list[str]:
    """Return texts in many scripts, with the added tokens of a tokenizer, and those given."""
    texts = [*_TEXTS, *more]
    tokens = list(dict.fromkeys((*original.all_special_tokens, *original.get_added_vocab())))
    for text in tokens[:_MOST_ADDED]:
        texts.append(f"one{text}two {text} three  {text}{text}\n {text}\u0301 é{text.upper()}")
    return texts


def differences(original: Any, made: Any, texts: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs: its name, the result of the original, and that of the other."""
    our_settings = _settings(made)
    for name, value in _settings(original).items():
        yield from _compare(name, value, our_settings[name])
    normalize = normalizer_of(made.tokenizer)
    changed = {text for text in texts if normalize(text) != text}
    masks = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    second = [*texts[1:], texts[0]]
    for name, arguments, options in (
        ("the ids of a text", [texts], masks),
        ("the ids of a pair of texts", [texts, second], masks),
        ("the ids without special tokens", [texts], {"add_special_tokens": False}),
        ("the ids with split_special_tokens", [texts], {"split_special_tokens": True}),
        ("truncated ids", [texts], {"truncation": True, "max_length": 7, **masks}),
        ("a truncated pair", [texts, second], {"truncation": True, "max_length": 9, **masks}),
    ):
        theirs, ours = original(*arguments, **options), made(*arguments, **options)
        yield from _compare(f"the results for {name}", sorted(theirs), sorted(ours))
        for key in theirs:
            rows = zip(zip(*arguments, strict=True), theirs[key], ours[key], strict=True)
            for row, their_row, our_row in rows:
                if key == "offset_mapping" and not changed.isdisjoint(row):
                    continue  # ours cover all characters that a normalized one comes from
                yield from _compare(f"{name}, {key} of {row!r:.80}", their_row, our_row)
    lists = original(texts)["input_ids"]
    lists += [list(range(begin, begin + 40)) for begin in range(0, len(original), 40)]
    for skips in (False, True):
        options = {"skip_special_tokens": skips, "clean_up_tokenization_spaces": False}
        their_texts = original.batch_decode(lists, **options)
        our_texts = made.batch_decode(lists, **options)
        for ids, their_text, our_text in zip(lists, their_texts, our_texts, strict=True):
            yield from _compare(f"the text of {ids!r:.80}", their_text, our_text)


def _settings(tokenizer: Any) -> Mapping[str, Any]:
    """What a program may ask of a tokenizer besides encoding and decoding."""
    return {
        "len()": len(tokenizer),
        "vocab_size": tokenizer.vocab_size,
        "get_vocab()": tokenizer.get_vocab(),
        "added_tokens_decoder": {i: repr(t) for i, t in tokenizer.added_tokens_decoder.items()},
        "special_tokens_map": tokenizer.special_tokens_map,
        "extra_special_tokens": tokenizer.extra_special_tokens,
        "all_special_ids": tokenizer.all_special_ids,
        "chat_template": tokenizer.chat_template,
        "model_max_length": tokenizer.model_max_length,
        "model_input_names": tokenizer.model_input_names,
        "padding_side": tokenizer.padding_side,
        "truncation_side": tokenizer.truncation_side,
        "num_special_tokens_to_add()": tokenizer.num_special_tokens_to_add(),
    }


def _compare(name: str, theirs: Any, ours: Any) -> Iterator[tuple[str, Any, Any]]:
    if theirs != ours:
        yield name, theirs, ours
