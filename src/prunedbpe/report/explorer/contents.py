"""The contents of the page: a header as JSON and arrays, packed into the HTML template.

Arrays are little-endian bytes, all together compressed with gzip and written in base64; the browser
unpacks them with ``DecompressionStream``. 57,000 ranks with examples and sources take 2-3 MB.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.analysis.comparison import group_of
from prunedbpe.analysis.scripts import script_of
from prunedbpe.errors import NotExactError, SettingsError
from prunedbpe.exchange.equivalent_patterns import javascript_pattern
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.report.explorer.measuring import Measured
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import BYTE_COUNT, AnyArray, Settings

MOST_SOURCES = 5
"""Sources listed for each token: those with the most exposure."""

MODULES = (
    *("unpacking", "algebra", "encoder", "words"),
    *("text_view", "token_table", "tokens_view", "curve_view", "token_view", "compare_view"),
    "explorer",
)
"""The scripts of the page, each after those it imports."""


def write_explorer(
    path: str | Path,
    tokenizer: Tokenizer,
    measured: Measured | None = None,
    *,
    name: str = "tokenizer",
    text_name: str = "",
    against: Tokenizer | None = None,
    against_name: str = "",
) -> int:
    """Write the explorer of a tokenizer.

    Args:
        path: The HTML file.
        tokenizer: The tokenizer.
        measured: What a text does with it; without, the page knows no exposures.
        name: What the page calls it.
        text_name: What the page calls the text.
        against: A tokenizer to compare with; Standard BPE of the same size by default.
        against_name: What the page calls that one.

    Returns:
        Size of the file in bytes.

    Raises:
        SettingsError: The tokenizer has no merges.
    """
    for one in (tokenizer, against):
        if one is not None and not len(one.vocabulary.pairs):
            raise SettingsError(
                "the tokenizer has no merges to explore",
                hint="the explorer shows byte-pair encoding; a Unigram model has no merges",
            )
    packed = Packed()
    packed.header["tokenizer"] = packed.add_vocabulary("own", tokenizer, name)
    packed.add_kinds(tokenizer)
    if against is not None:
        packed.header["against"] = packed.add_vocabulary("other", against, against_name)
    if measured is not None:
        packed.add_measured(measured, text_name, tokenizer.segmentation)
    page = as_html(packed).encode(errors="replace")  # a name may hold surrogates
    with atomic_write(path) as file:
        file.write(page)
    return len(page)


class Packed:
    """Named arrays and a header, in the form that ``unpacking.js`` reads.

    >>> packed = Packed()
    >>> packed.add("ranks", np.array([1, 2], np.uint16))
    >>> packed.header["arrays"]
    {'ranks': ['Uint16', 0, 2]}
    """

    def __init__(self) -> None:
        self.header: Settings = {"arrays": {}}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, values: AnyArray) -> None:
        """Add an array, aligned to eight bytes."""
        kind = {"u1": "Uint8", "u2": "Uint16", "u4": "Uint32", "f8": "Float64"}[
            values.dtype.str[1:]
        ]
        data = values.astype(values.dtype.newbyteorder("<")).tobytes()
        self.header["arrays"][name] = [kind, self._size, values.size]
        self._parts.append(data + bytes(-len(data) % 8))
        self._size += len(self._parts[-1])

    def add_numbers(self, name: str, values: AnyArray) -> None:
        """Add whole numbers from 0 on, in the smallest type that holds them all."""
        most = int(values.max()) if values.size else 0
        for dtype in (np.uint8, np.uint16, np.uint32):
            if most <= np.iinfo(dtype).max:
                self.add(name, values.astype(dtype).ravel())
                return
        self.add(name, values.astype(np.float64).ravel())  # exact up to 2**53

    def add_texts(self, name: str, texts: list[str]) -> None:
        """Add strings: their UTF-8, and the length of each."""
        encoded = [text.encode() for text in texts]
        self.add(f"{name}.utf8", np.frombuffer(b"".join(encoded), np.uint8))
        self.add_numbers(f"{name}.lengths", np.array([*map(len, encoded)], np.int64))

    def add_vocabulary(self, prefix: str, tokenizer: Tokenizer, name: str) -> Settings:
        """Add merges, visibility and ids; return what the header says about them."""
        vocabulary = tokenizer.vocabulary
        self.add_numbers(f"{prefix}.pairs", vocabulary.pairs)
        self.add(f"{prefix}.visible", vocabulary.visible.astype(np.uint8))
        self.add_numbers(f"{prefix}.ids", vocabulary.token_ids)
        cut = describe_cut(tokenizer)
        return {
            "name": name,
            "array": prefix,
            "segmentation": tokenizer.segmentation,
            "pretokenizer": _pretokenizer_name(tokenizer.pretokenizer),
            "vocab_size": tokenizer.vocab_size,
            "special_tokens": {text: int(i) for text, i in tokenizer.special_tokens.items()},
            "threshold": tokenizer.training.get("threshold"),
            "min_exposure": tokenizer.training.get("min_exposure"),
            **cut,
        }

    def add_kinds(self, tokenizer: Tokenizer) -> None:
        """Add the group and the script of every token."""
        strings = tokenizer.vocabulary.strings
        for name, values in (
            ("groups", ["byte"] * BYTE_COUNT + [group_of(s) for s in strings[BYTE_COUNT:]]),
            ("scripts", [script_of(string) for string in strings]),
        ):
            known, index = np.unique(np.array(values), return_inverse=True)
            self.header[name] = known.tolist()
            self.add_numbers(name, index)

    def add_measured(self, measured: Measured, text_name: str, segmentation: str) -> None:
        """Add exposures, examples, worths and lengths."""
        about: Settings = {"name": text_name, "sources": list(measured.sources)}
        self.header["text"] = about
        self.add_numbers("bytes", measured.applied.byte_counts)
        self.add_numbers("applied", measured.applied.replacements)
        if measured.shortest is not None:
            about["shortest"] = measured.shortest
        if measured.worths is not None:
            self.add_numbers("worths", measured.worths)
        if measured.source_bytes is not None and measured.lengths is not None:
            about["source_bytes"] = measured.source_bytes.tolist()
            about["standard_lengths"], about["own_lengths"] = (a.tolist() for a in measured.lengths)
        if measured.other_lengths is not None:
            about["other_lengths"] = measured.other_lengths.tolist()
        if measured.exposures is not None:
            self._add_exposures(measured.exposures, segmentation)
        if measured.examples is not None:
            self.add_numbers("examples.counts", measured.examples.counts)
            self.add_numbers("examples.starts", measured.examples.starts)
            self.add_numbers("examples.per_rank", measured.examples.per_rank)
            self.add_numbers("examples.unique", measured.examples.unique_chunks)
            self.add_texts("examples.excerpts", measured.examples.excerpts)

    def _add_exposures(self, exposures: AnyArray, segmentation: str) -> None:
        """Add the exposures in the most important sources of every token."""
        if segmentation == "shortest":  # by rank, they follow from `applied`
            self.add_numbers("uses", exposures.sum(axis=1))
        most = min(MOST_SOURCES, exposures.shape[1])
        top = np.argsort(-exposures, axis=1, kind="stable")[:, :most]
        values = np.take_along_axis(exposures, top, axis=1)
        used = values > 0
        self.add_numbers("cells.per_rank", used.sum(axis=1))
        self.add_numbers("cells.sources", top[used])
        self.add_numbers("cells.exposures", values[used])
        self.add_numbers("cells.all", (exposures > 0).sum(axis=1))

    def as_base64(self) -> str:
        """Return the header and the arrays, compressed."""
        header = json.dumps(self.header, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
        size = len(header).to_bytes(8, "little")
        return base64.b64encode(
            gzip.compress(b"".join([size, header, *self._parts]), 9, mtime=0)
        ).decode()


def describe_cut(tokenizer: Tokenizer) -> dict[str, Any]:
    r"""Return how the page cuts text, or why it cannot.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["a b"], vocab_size=260, threshold=0, pretokenizer="none")
    >>> describe_cut(tok)["pattern"]
    '[\\u{0}-\\u{10FFFF}]+'
    """
    if isinstance(tokenizer, ImportedTokenizer):
        if tokenizer.foreign.unmergeable:
            return {"reason": "no merge makes some of the original's tokens"}
        if tokenizer.cut.normalization is not None:
            return {"reason": "the original normalizes text by another version of Unicode"}
        replaced = [[first, last, text] for first, last, text in tokenizer.cut.replacements()]
    else:
        replaced = []
    pretokenizer = tokenizer.pretokenizer
    if pretokenizer.steps:
        return {"reason": "the original cuts text in several steps"}
    try:
        pattern = javascript_pattern(Pretokenizer(pretokenizer.name, pretokenizer.pattern))
    except NotExactError as error:
        return {"reason": error.message}
    return {"pattern": pattern, "nfc": pretokenizer.normalization == "NFC", "replaced": replaced}


def _pretokenizer_name(pretokenizer: Pretokenizer) -> str:
    name = pretokenizer.pattern or pretokenizer.name
    return f"{name}, NFC" if pretokenizer.normalization else name


def as_html(packed: Packed) -> str:
    """Fill the template: style, scripts and contents in one file."""
    parts = {
        "name": str(packed.header["tokenizer"]["name"]),
        "style": _read("explorer.css"),
        "script": "\n".join(_inlined(_read(f"{module}.js")) for module in MODULES),
        "contents": packed.as_base64(),
    }
    parts["name"] = parts["name"].replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("explorer.html"))


def _read(name: str) -> str:
    return files("prunedbpe.report.explorer").joinpath("web", name).read_text(encoding="utf-8")


def _inlined(module: str) -> str:
    r"""Return an ES module as part of one script, without imports and exports.

    >>> _inlined('import { a } from "./a.js";\nexport function b() {}\n')
    'function b() {}\n'
    """
    module = re.sub(r"^import\b[^;]*;\n", "", module, flags=re.MULTILINE)
    return re.sub(r"^export ", "", module, flags=re.MULTILINE)
