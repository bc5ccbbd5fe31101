"""Random texts that are rich in the characters that pretokenizers treat specially."""

from __future__ import annotations

import random

from strategies import AWKWARD_TEXTS

POOLS = (
    "abcxyzABCZ_",
    "0123456789٣Ⅻ½",
    ".'’-+#</>!?,;:=()[]{}\"&|^~$%",
    " \t\n\r\x0b\x0c\x1c\x1d\x85\u00a0\u2003\u3000",
    "éßſŉǅİıﬁÅ中文字年月カなहिไΩжة",
    "\u0301\u0351\u200d\ufe0f\u0295\u1acf",
    "sdmtlvreSDMTLVRE'",
)


def random_text(generator: random.Random) -> str:
    """Return a text of parts, each from one pool, from all of Unicode, or an awkward text."""
    parts = []
    for _ in range(generator.randint(0, 12)):
        kind = generator.random()
        if kind < 0.25:
            point = generator.randrange(0x110000 - 0x800)
            part = chr(point if point < 0xD800 else point + 0x800)
        elif kind < 0.35:
            part = chr(generator.randrange(0x2000))
        elif kind < 0.4:
            part = generator.choice(AWKWARD_TEXTS)[:40]
        else:
            pool = generator.choice(POOLS)
            part = "".join(generator.choices(pool, k=generator.randint(1, 4)))
        parts.append(part * (3 if generator.random() < 0.1 else 1))
    return "".join(parts)


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Return the same texts for the same seed."""
    generator = random.Random(seed)
    return [random_text(generator) for _ in range(count)]
