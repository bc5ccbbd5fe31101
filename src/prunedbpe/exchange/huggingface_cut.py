"""How a ``tokenizer.json`` normalizes and cuts text: its normalizer and pretokenizers.

In: the entries ``normalizer`` and ``pre_tokenizer``. Out: a normal form, and a
:class:`~prunedbpe.pretokenizers.foreign_cut.ForeignCut`. Supported are ``Split`` and ``Digits``
steps, any number of them, before one byte-level step. Anything else is refused by name.
"""

from __future__ import annotations

import re

from prunedbpe._support.input_files import naming
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.equivalent_patterns import cut_of_pattern
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, ForeignCut, Normalization

_DIGITS_UNICODE_VERSION = "17.0.0"
"""The version of ``Digits`` in tokenizers 0.23, found by testing every code point.

Unlike the patterns it asks the standard library of Rust, which is newer.
"""


def cut_of_steps(settings: JsonValue, unicode_version: str) -> ForeignCut:
    """Return how the pretokenizers cut text, one after another.

    Args:
        settings: The entry ``pre_tokenizer``.
        unicode_version: The Unicode version of the library to reproduce.
    """
    steps = [settings] if settings else []
    if settings and settings["type"].text() == "Sequence":
        steps = list(settings["pretokenizers"].items())
    kinds = [step["type"].text() for step in steps]
    if not steps or kinds[-1] != "ByteLevel":
        raise NotExactError(
            f"pre_tokenizer {shown(', '.join(kinds)) if kinds else 'none'}: only byte-level BPE "
            "(ByteLevel) is supported"
        )
    *earlier, byte_level = steps
    if byte_level["add_prefix_space"].flag(default=True):
        raise NotExactError("pre_tokenizer ByteLevel with add_prefix_space=true is not supported")
    cuts = [_cut_of_step(step, unicode_version) for step in earlier]
    if byte_level["use_regex"].flag(default=True):
        cuts.append(ForeignCut(Pretokenizer("gpt2"), unicode_version))
    return _in_sequence(cuts)


def normalization_of(settings: JsonValue) -> Normalization | None:
    """Return the normal form of the entry ``normalizer``."""
    if settings and settings["type"].text() == "Sequence":
        steps = list(settings["normalizers"].items())
        if not steps:
            return None
        settings = steps[0] if len(steps) == 1 else settings
    if not settings:
        return None
    match settings["type"].text():
        case "NFC" | "NFKC" as form:
            return form
        case kind:
            raise NotExactError(f"normalizer {shown(kind)} is not supported: only NFC and NFKC are")


def _cut_of_step(step: JsonValue, unicode_version: str) -> ForeignCut:
    match step["type"].text():
        case "Split":
            return _split(step, unicode_version)
        case "Digits":
            alone = step["individual_digits"].flag(default=False)
            version = unicode_version
            if version == STOCK_UNICODE_VERSION:
                version = _DIGITS_UNICODE_VERSION
            return ForeignCut(Pretokenizer("regex", r"\p{N}" if alone else r"\p{N}+"), version)
        case kind:
            raise NotExactError(
                f"pre_tokenizer {shown(kind)} before ByteLevel: only Split and Digits are supported"
            )


def _split(split: JsonValue, unicode_version: str) -> ForeignCut:
    pattern = split["pattern"]["Regex"]
    if pattern:
        expression = pattern.text()
    else:
        pattern = split["pattern"]["String"]
        expression = re.escape(pattern.text())
    behavior, invert = split["behavior"].text(), split["invert"].flag(default=False)
    with naming(pattern.path):
        cut = cut_of_pattern(expression, unicode_version)
    # A scanner leaves no gap between two matches.
    covers_all = cut.pretokenizer.is_native
    if (behavior, invert) == ("Isolated", False) or (
        covers_all and (behavior, invert) == ("Removed", True)
    ):
        return cut
    raise NotExactError(f"pre_tokenizer Split with behavior {shown(behavior)}, invert={invert}")


def _in_sequence(cuts: list[ForeignCut]) -> ForeignCut:
    if not cuts:
        return ForeignCut(Pretokenizer("none"), UNICODE_VERSION)
    if len(cuts) == 1:
        return cuts[0]
    versions = tuple(cut.unicode_version for cut in cuts)
    return ForeignCut(
        Pretokenizer("sequence", steps=tuple(cut.pretokenizer for cut in cuts)),
        versions[-1],
        step_versions=versions if len(set(versions)) > 1 else (),
    )
