"""The native scanners cut every text as their definitions do.

``paper`` and ``reference`` are defined by the plain Python in ``prunedbpe.reference``, the others
by regular expressions that the package ``regex`` runs. Both need the Unicode version of the native
tables, which ``unicodedata2`` and ``regex`` share.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.patterns import CL100K_PATTERN, LLAMA3_PATTERN, PATTERNS
from prunedbpe.reference import pretokenize as oracle

regex = pytest.importorskip("regex")
unicodedata2 = pytest.importorskip("unicodedata2")
if unicodedata2.unidata_version != UNICODE_VERSION:
    pytest.skip(
        f"unicodedata2 has Unicode {unicodedata2.unidata_version}, the scanners {UNICODE_VERSION}",
        allow_module_level=True,
    )

# Whatever a rule names, and its nearest neighbours.
RULE_CHARACTERS = (
    ".'’-_</>+#=!/ ABCabcéßſ0123٣½Ⅷ中文年かабвअा\u0301\u0363ªµʰǅΩ\t\n\r\x0b\x1c\x1f\x85\xa0\u1680"
    "\u2028\u3000\u200b\u200d\ufe0f😀👩\U0001f3fd€\ufeff\ufffe\ue000\U000e0061\U0010ffff"
)
RULE_STRINGS = ("C++", "C#", " C", "</", "...", "  ", ".js", "Node.js", "don't", "3.14", "\r\n")
REGEX_CHARACTERS = (
    "sStTdDmMlLvVeErRaAſ''''  \n\r\t/!.123٣½中ʰªǅǲé\u0301\u0903\u20dd\x1c\x85\xa0\u3000\u200d😀_"
)
REGEX_STRINGS = ("'s", "'LL", "'Ve", "'re", "'ſ", "it's", "I'M", " '", "  ", "\n \n", "\r\n", "//")


def texts(characters: str, strings: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Short texts dense in what the rules speak of, with any other character in between."""
    dense = st.text(st.sampled_from(characters), max_size=20)
    # Few distinct characters make long runs and repeated patterns likely.
    few = st.lists(st.sampled_from(characters), min_size=1, max_size=4).flatmap(
        lambda chosen: st.text(st.sampled_from(chosen), max_size=30)
    )
    piece = st.one_of(
        st.sampled_from(characters), st.sampled_from(strings), st.characters(codec="utf-8")
    )
    return dense | few | st.lists(piece, max_size=16).map("".join)


def code_points() -> Iterator[str]:
    """Every character that UTF-8 can hold."""
    yield from map(chr, range(0xD800))
    yield from map(chr, range(0xE000, 0x110000))


def assigned_and_neighbours() -> Iterator[str]:
    """Every assigned character outside private use, and some of the others."""
    for character in code_points():
        private_or_unassigned = unicodedata2.category(character) in ("Cn", "Co")
        if not private_or_unassigned or ord(character) % 256 < 2:
            yield character


def is_known_to_unicode_14(character: str) -> bool:
    """Whether Unicode 14.0 and ``unicodedata2`` class the character alike.

    Only one Python has the data of Unicode 14.0; all others have that of Unicode 3.2, which settles
    the characters of that age.
    """
    if unicodedata2.category(character) == "Cn":
        return True
    if unicodedata.unidata_version == "14.0.0":
        return unicodedata.category(character) != "Cn"
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


@given(texts(RULE_CHARACTERS, RULE_STRINGS))
def test_paper_cuts_as_the_plain_python(text: str) -> None:
    assert Pretokenizer("paper").split(text) == oracle.split(text, "paper", unicodedata2)


@given(texts(RULE_CHARACTERS, RULE_STRINGS))
def test_reference_cuts_as_the_plain_python(text: str) -> None:
    text = "".join(filter(is_known_to_unicode_14, text))
    assert Pretokenizer("reference").split(text) == oracle.split(text, "reference", unicodedata2)


@pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="needs a Python with Unicode 14.0"
)
def test_reference_knows_the_classes_of_unicode_14() -> None:
    reference = Pretokenizer("reference")
    for character in assigned_and_neighbours():
        text = f"é{character}1{character}年{character}"
        assert reference.split(text) == oracle.split(text, "reference"), hex(ord(character))


def test_paper_knows_the_class_of_every_character() -> None:
    # Next to a letter, a digit, a word and a space, each class gives other chunks.
    paper = Pretokenizer("paper")
    for character in assigned_and_neighbours():
        text = f"é{character}1{character}年{character} {character}{character}\t"
        assert paper.split(text) == oracle.split(text, "paper", unicodedata2), hex(ord(character))


@pytest.mark.parametrize("name", PATTERNS)
@given(text=texts(REGEX_CHARACTERS, REGEX_STRINGS))
def test_scanner_equals_its_regular_expression(name: str, text: str) -> None:
    assert Pretokenizer(name).split(text) == regex.findall(PATTERNS[name], text)


def assert_equal_in_context(name: str, context: str, characters: Iterator[str]) -> None:
    """Compare on one text for each thousand characters: one for each takes far longer."""
    pretokenizer = Pretokenizer(name)
    pattern = regex.compile(PATTERNS[name])
    while block := list(islice(characters, 1000)):
        text = "".join(map(context.format, block))
        # Not in the assert: explaining a difference of such lists takes very long.
        is_equal = pretokenizer.split(text) == pattern.findall(text)
        assert is_equal, f"between U+{ord(block[0]):04X} and U+{ord(block[-1]):04X}"


@pytest.mark.parametrize("name", PATTERNS)
def test_scanner_equals_its_regular_expression_on_every_code_point(name: str) -> None:
    assert_equal_in_context(name, "a{0}b 1{0}", code_points())


@pytest.mark.parametrize("context", [" {0}{0}\n", "A{0}A'{0}", "'{0}{0}'S\r"])
@pytest.mark.parametrize("name", PATTERNS)
def test_scanner_equals_its_regular_expression_around_every_character(
    name: str, context: str
) -> None:
    assert_equal_in_context(name, context, assigned_and_neighbours())


def test_old_form_of_cl100k_differs_only_in_white_space_at_the_end() -> None:
    old = LLAMA3_PATTERN
    assert regex.findall(old, "a \n  ") == ["a", " \n", "  "]
    assert regex.findall(CL100K_PATTERN, "a \n  ") == ["a", " \n  "]
    for text in ("a \n  b", "a\r\n\n b", "it's  1234!\n\n", "  \n\n"):
        assert regex.findall(old, text) == regex.findall(CL100K_PATTERN, text)
