from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from prunedbpe import records

Decorators = tuple[Callable[..., Any], Callable[..., Any]]


@pytest.fixture(
    params=[(records.record, records.field), (dataclasses.dataclass, dataclasses.field)],
    ids=["record", "dataclass"],
)
def decorators(request: pytest.FixtureRequest) -> Decorators:
    """Ours and the standard library's: whatever holds of one must hold of the other."""
    return request.param


@records.record(frozen=True)
class Named:
    name: str
    size: int = 0


def test_fields_are_given_by_place_or_name_and_have_defaults(decorators: Decorators) -> None:
    record, field = decorators

    @record(frozen=True)
    class Part:
        begin: int
        end: int = 7
        names: list[str] = field(default_factory=list)

    part = Part(1)
    assert (part.begin, part.end, part.names) == (1, 7, [])
    assert Part(1).names is not part.names
    assert Part(begin=1, end=2).end == 2
    assert repr(part).endswith("Part(begin=1, end=7, names=[])")


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"begin": 1}), ((1,), {"other": 1})],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_fields_that_do_not_fit_are_refused(
    decorators: Decorators, values: tuple[int, ...], named: dict[str, int]
) -> None:
    @decorators[0](frozen=True)
    class Part:
        begin: int
        end: int = 0

    with pytest.raises(TypeError):
        Part(*values, **named)


def test_records_are_frozen_and_compared_by_their_fields(decorators: Decorators) -> None:
    @decorators[0](frozen=True)
    class Part:
        begin: int

    @decorators[0](frozen=True)
    class Other:
        begin: int

    part = Part(1)
    with pytest.raises(AttributeError):
        part.begin = 2
    with pytest.raises(AttributeError):
        del part.begin
    assert part == Part(1) != Part(2)
    assert len({part, Part(1), Part(2)}) == 2
    assert part != Other(1)


def test_without_eq_a_record_equals_itself_alone(decorators: Decorators) -> None:
    @decorators[0](frozen=True, eq=False)
    class Part:
        begin: int

    part = Part(1)
    assert part == part != Part(1)


def test_post_init_may_refuse(decorators: Decorators) -> None:
    @decorators[0](frozen=True)
    class Part:
        begin: int

        def __post_init__(self) -> None:
            if self.begin < 0:
                raise ValueError(self.begin)

    assert Part(0).begin == 0
    with pytest.raises(ValueError, match="-1"):
        Part(-1)


def test_fields_of_the_record_it_is_made_from_come_first(decorators: Decorators) -> None:
    record, field = decorators

    @record(frozen=True)
    class Part:
        begin: int
        names: list[str] = field(default_factory=list)

    @record(frozen=True)
    class Longer(Part):
        end: int = 5
        begin: int = 1

    longer = Longer()
    assert (longer.begin, longer.names, longer.end) == (1, [], 5)
    assert Longer(2, ["a"], 3) == Longer(end=3, begin=2, names=["a"])


def test_replaced_and_pickled() -> None:
    named = Named("a", 1)
    assert records.fields(records.replace(named, size=2)) == {"name": "a", "size": 2}
    assert pickle.loads(pickle.dumps(named)) == named


def test_counting_learning_and_loading_start_without_slow_modules() -> None:
    program = (
        "import sys\nfrom prunedbpe import count, learn, Tokenizer\n"
        "print([m for m in ('dataclasses', 'inspect', 'hashlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
