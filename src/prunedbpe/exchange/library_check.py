"""Compare an imported tokenizer with the library it comes from, on texts that are hard to cut.

In: a tokenizer file, and the imported tokenizer. Out: the library, and the first text that it
encodes to other ids. The libraries are optional: ``tokenizers`` for ``tokenizer.json``,
``mistral-common`` for ``tekken.json``, ``tiktoken`` for rank files.
"""

from __future__ import annotations

import base64
import importlib
import importlib.metadata
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prunedbpe.errors import NotExactError
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION
from prunedbpe.pretokenizers.patterns import PATTERNS
from prunedbpe.tokenizer.imported import ImportedTokenizer

Encode = Callable[[str], "list[int]"]

_PHRASES = (
    "The quick brown fox didn't jump; it'll say we'RE 3,141.59 km away.",
    "def f(x: int) -> str:\n    return f'{x!r}'\n\n\tif (a != b && c->d[0]) { x += 1; }  // ok\r\n",
    "Привет, мир! Ещё чуть-чуть.",
    "你好，世界。我們在２０２４年見面，いっぱいいっぱい頑張ります。",
    "안녕하세요 여러분",
    "नमस्ते दुनिया, संयुक्ताक्षर",
    "สวัสดีชาวโลก ๑๒๓",
    "مرحبا بالعالم ٣٤٥ سكري",
    "שלום עולם",
    "Xin chào thế giới, Việt Nam nghiêm túc",
    "Čeština: následující, rozhodčí; Türkçe: maktadır, İıŞş",
    "e\u0301 A\u030a \u1e9b\u0323 ﬁ ½ Ⅻ ㋿ ＡＢＣ \u212b",
    "👍🏽 👨‍👩‍👧‍👦 🇩🇪 ✈️ ...!!! ??? ---- ==== .:.:.:.:",
    "   \n\n \t  \r\n\u00a0\u3000 \u2028 \x85 x",
    "0 00 000 0000 12345678901234567890 1.5e-10 0xFF ²³ ٣",
    "<|endoftext|> <s> </s> [INST] <|im_start|>user",
    '{"key": [1, 2, {"a": null}], "url": "https://example.org/?q=a%20b#c"}',
    "aaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbb abababababab",
    "I'm you've she'd 'S 'LL 'ſ Ω'd O'Neill",
)


@dataclass(frozen=True)
class Comparison:
    """How an imported tokenizer compares with its library.

    Attributes:
        library: Its name and version.
        texts: How many texts were compared.
    """

    library: str
    texts: int


def hard_texts(count: int, tokenizer: ImportedTokenizer, seed: int = 0) -> Iterator[str]:
    """Yield texts: phrases in many scripts, random Unicode, and tokens of the vocabulary.

    Args:
        count: How many.
        tokenizer: Its tokens are put side by side, so that rare merges and special tokens occur.
        seed: The same seed gives the same texts.
    """
    rng = random.Random(seed)
    spelled = [string.decode("utf-8", "ignore") for string in tokenizer.vocab_bytes()]
    tokens = [text for text in spelled if text]
    late = [text for text in tokens if not text.isascii()] or tokens
    for place in range(count):
        kind = place % 5
        if kind == 0:
            yield _damaged(rng.choice(_PHRASES), rng)
        elif kind == 1:
            yield "".join(_character(rng) for _ in range(rng.randint(1, 30)))
        elif kind == 2:
            yield "".join(rng.choices(tokens, k=rng.randint(1, 12)))
        elif kind == 3:
            few = rng.choices(late, k=rng.randint(1, 3))
            yield "".join(rng.choices(few, k=rng.randint(2, 12)))
        else:
            parts = rng.choices(_PHRASES, k=rng.randint(1, 3))
            yield rng.choice(("", " ", "\n", "\u3000")).join(_damaged(part, rng) for part in parts)


def compare(
    tokenizer: ImportedTokenizer, path: Path, count: int, seed: int = 0
) -> Comparison | None:
    """Compare with the library of a file, if it is installed.

    Args:
        tokenizer: What was imported from the file.
        path: The file.
        count: How many texts.
        seed: Other seeds give other texts.

    Returns:
        ``None`` if the library is not installed, or reads no such file.

    Raises:
        NotExactError: A text has other ids; the message shows it.
    """
    found = _library(tokenizer, path)
    if found is None:
        return None
    library, encode, options = found
    for text in hard_texts(count, tokenizer, seed):
        ids, expected = tokenizer.encode(text, **options), encode(text)
        if ids != expected:
            raise NotExactError(
                f"{path}: {library} encodes {text!r} to {expected}, the import to {ids}",
                hint="report this file: imports must be exact",
            )
    return Comparison(library, count)


def _library(tokenizer: ImportedTokenizer, path: Path) -> tuple[str, Encode, dict[str, Any]] | None:
    """Return the library of a file, its encoder, and our options that do the same."""
    kind = str(tokenizer.training["imported"].get("format", ""))
    if kind.startswith("Hugging Face") and (module := _module("tokenizers")):
        stock = module.Tokenizer.from_file(str(path))
        return (
            _named("tokenizers"),
            lambda text: list(stock.encode(text, add_special_tokens=False).ids),
            {"allowed_special": "all"},
        )
    if kind == "tekken.json" and (module := _module("mistral_common.tokens.tokenizers.tekken")):
        tekken = module.Tekkenizer.from_file(str(path))
        return (
            _named("mistral-common"),
            lambda text: list(tekken.encode(text, bos=False, eos=False)),
            {"disallowed_special": ()},
        )
    if kind == "tiktoken ranks" and (module := _module("tiktoken")):
        cut = tokenizer.pretokenizer
        pattern = cut.pattern or PATTERNS.get(cut.name)
        if pattern is not None and tokenizer.cut.unicode_version == STOCK_UNICODE_VERSION:
            lines = map(bytes.split, path.read_bytes().splitlines())
            encoding = module.Encoding(
                path.name,
                pat_str=pattern,
                mergeable_ranks={base64.b64decode(line[0]): int(line[1]) for line in lines if line},
                special_tokens=tokenizer.special_tokens,
            )
            return (
                _named("tiktoken"),
                lambda text: list(encoding.encode(text, allowed_special="all")),
                {"allowed_special": "all"},
            )
    return None


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _named(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


def _damaged(text: str, rng: random.Random) -> str:
    """Cut a piece out, and sometimes put a random character into it."""
    begin, end = sorted(rng.choices(range(len(text) + 1), k=2))
    piece = text[begin:end] or text
    if rng.random() < 0.5:
        place = rng.randrange(len(piece) + 1)
        piece = piece[:place] + _character(rng) + piece[place:]
    return piece


def _character(rng: random.Random) -> str:
    limit = rng.choice((0x80, 0x250, 0x2000, 0x3100, 0x10000, 0x20000, 0x110000))
    point = rng.randrange(limit)
    return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)
