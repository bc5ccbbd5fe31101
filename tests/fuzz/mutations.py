"""Damage to files from outside: seeded, so that a failure can be repeated by its number.

``damaged_bytes`` works on any file. ``damaged_json`` keeps the syntax and damages the meaning:
wrong types, ids that are used twice, negative or huge, entries that are missing or doubled.
"""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

_NUMBERS = (b"-1", b"-5", b"0", b"255", b"65536", b"1000000000", b"4294967296", b"9" * 40, b"1e308")
_PIECES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b"\t",
    b" ",
    b"\r\n",
    b"\xf0\x9f",
    b"[" * 50,
    b'"',
    b"{}",
)
_JUNK: tuple[Any, ...] = (
    None, True, -1, -5, 0, 255, 10**9, 2**32, 2**64, -(10**30), 1.5, float("nan"), "", "a", "Ġ",
    "中", "\ud800", "x" * 300, [], {}, [[]], [None], {"": None}, ["a", "b", "c"],
)  # fmt: skip


def damaged_bytes(data: bytes, seed: int) -> bytes:
    """Return the bytes of a file with one to four faults."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = _one_fault(data, rng)
    return data


def _one_fault(data: bytes, rng: random.Random) -> bytes:
    begin = rng.randrange(len(data) + 1)
    end = min(len(data), begin + rng.choice((1, 1, 2, 8, 64, 4096)))
    kind = rng.randrange(7)
    if kind == 0:  # flip a bit
        return (
            data[:begin]
            + bytes(byte ^ 1 << rng.randrange(8) for byte in data[begin:][:1])
            + data[begin + 1 :]
        )
    if kind == 1:
        return data[:begin]
    if kind == 2:
        return data[:begin] + data[end:]
    if kind == 3:
        return data[:end] + data[begin:]
    if kind == 4:
        return data[:begin] + rng.randbytes(end - begin) + data[end:]
    if kind == 5:
        return data[:begin] + rng.choice(_PIECES) + data[begin:]
    return _with_another_number(data, rng)


def _with_another_number(data: bytes, rng: random.Random) -> bytes:
    """Replace a run of digits, or any one byte if there are none near by."""
    begin = rng.randrange(len(data) + 1)
    while begin < len(data) and not data[begin : begin + 1].isdigit():
        begin += 1
    end = begin
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:begin] + rng.choice(_NUMBERS) + data[end:]


def damaged_json(value: Any, seed: int) -> bytes:
    """Return a JSON value as text after one to three faults in its meaning."""
    rng = random.Random(seed)
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2, 3))):
        containers = list(_containers(value))
        if containers:
            _damage(rng.choice(containers), containers, rng)
    return json.dumps(value).encode()


def _containers(value: Any) -> Any:
    """Yield every list and object that is not empty, at any depth."""
    if isinstance(value, (dict, list)) and value:
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from _containers(child)


def _damage(container: Any, containers: list[Any], rng: random.Random) -> None:
    keys = list(container) if isinstance(container, dict) else list(range(len(container)))
    key, other = rng.choice(keys), rng.choice(keys)
    kind = rng.randrange(6)
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = container[other]  # two tokens with one id
    elif kind == 2:
        container[key], container[other] = container[other], container[key]
    elif kind == 3 and isinstance(container, dict):
        container[rng.choice(("", "Ġa", "<x>", "type", "zz"))] = container[key]
    elif kind == 4:
        donor = rng.choice(containers)
        # A copy: a value must not hold itself.
        container[key] = deepcopy(
            rng.choice(list(donor.values() if isinstance(donor, dict) else donor))
        )
    else:
        # A copy here too: a later fault may damage it, and must not damage it for all seeds.
        container[key] = deepcopy(rng.choice(_JUNK))
