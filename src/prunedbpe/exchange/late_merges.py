"""Put merges in an order that the encoder can use: every merge after those of its parts.

In some published vocabularies a token is *late*: it has priority over one of its parts. When the
part appears, the late token follows at once, before the part appears a second time. Our encoder
applies all occurrences of one merge before the next merge. So each late merge goes right after the
part it waits for, which gives the same tokens unless two occurrences of the part compete.

Let a *family* be a part, made of ``left`` and ``right``, and the late tokens that wait for it. Two
occurrences cannot compete if

1. no late token joins two members of the family,
2. no late token extends a member to its right by ``left``, with which the next occurrence begins,
3. no token extends a member to its right in one late token and another to its left in another one.

Then the neighbours of an occurrence do not depend on the occurrences after it, so both orders take
the same decisions. A family that breaks a rule is refused. Published vocabularies have up to 68
families.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from prunedbpe._support.json_values import shown
from prunedbpe.errors import NotExactError

Merge = tuple[int, bytes, bytes]
"""The priority of a merge (lower is earlier) and its two parts."""


def placed_merges(made: dict[bytes, Merge]) -> list[bytes]:
    """Return tokens so that each comes after its parts, and otherwise by priority.

    Args:
        made: The merge that makes each token. Parts are bytes or tokens with a merge.

    Raises:
        NotExactError: No order gives the same tokens for every text; the message names a token.

    >>> placed_merges({b"bc": (2, b"b", b"c"), b"abc": (1, b"a", b"bc"), b"xy": (3, b"x", b"y")})
    [b'bc', b'abc', b'xy']
    """
    order = sorted(made, key=made.__getitem__)
    places = {token: place for place, token in enumerate(order)}
    if all(
        places.get(left, -1) < place and places.get(right, -1) < place
        for place, (_, left, right) in enumerate(map(made.__getitem__, order))
    ):
        return order  # no token is late
    missing = {}
    waiting: dict[bytes, list[bytes]] = {}
    ready: list[tuple[int, bytes]] = []
    for token, (priority, left, right) in made.items():
        parts = {part for part in (left, right) if len(part) > 1}
        for part in parts:
            waiting.setdefault(part, []).append(token)
        missing[token] = len(parts)
        if not parts:
            ready.append((priority, token))
    heapify(ready)
    placed = []
    leaders: dict[bytes, bytes] = {}  # of each late token
    leader = b""
    latest = -1
    while ready:
        priority, token = heappop(ready)
        if priority < latest:
            leaders[token] = leader
        else:
            latest, leader = priority, token
        placed.append(token)
        for longer in waiting.pop(token, ()):
            missing[longer] -= 1
            if not missing[longer]:
                heappush(ready, (made[longer][0], longer))
    _check_families(made, leaders)
    return placed


def _check_families(made: dict[bytes, Merge], leaders: dict[bytes, bytes]) -> None:
    """Refuse a family in which two occurrences of the part may compete."""
    families: dict[bytes, list[bytes]] = {}
    for token, leader in leaders.items():
        families.setdefault(leader, []).append(token)
    for leader, late in families.items():
        members = {leader, *late}
        before = {made[token][1]: token for token in late if made[token][2] in members}
        after = {made[token][2]: token for token in late if made[token][1] in members}
        begin = made[leader][1]
        for part, token in after.items():
            if part in members or part == begin or part in before:
                raise NotExactError(
                    f"token {shown(token)} has priority over its part {shown(leader)}, and where "
                    "two of these follow each other no order of merges gives the same tokens"
                )
