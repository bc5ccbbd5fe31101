"""What the explorer measures and packs, without a browser; ``tests/cli`` has the page itself."""

import base64
import gzip
import json

import numpy as np
import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe import SourceCounts
from prunedbpe.analysis.inspection import exposures_on_corpus
from prunedbpe.errors import RunMismatchError, SettingsError
from prunedbpe.exchange.equivalent_patterns import javascript_pattern
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.pretokenizers.unicode_changes import CHANGES
from prunedbpe.report.explorer import measure, write_explorer
from prunedbpe.report.explorer.contents import Packed

TEXTS = [make_text(seed, 120) for seed in range(3)]


@pytest.fixture(scope="module", params=["rank", "shortest"])
def tokenizer(request):
    return prunedbpe.train(
        TEXTS, vocab_size=450, threshold="auto", segmentation=request.param, special_tokens=()
    )


@pytest.fixture(scope="module")
def sources():
    tables = [prunedbpe.count(iter([text])) for text in TEXTS]
    return SourceCounts.from_tables(["a", "b", "c"], tables)


def test_exposures_are_those_of_inspect(tokenizer, sources):
    measured = measure(tokenizer, sources)
    expected = exposures_on_corpus(tokenizer, sources.total).by_rank
    assert measured.exposures.sum(axis=1).tolist() == expected.tolist()
    assert measured.exposures.shape == (len(expected), 3)


def test_lengths_are_those_of_encoding(tokenizer, sources):
    required = tokenizer.vocabulary.visible_count - 256
    pairs = tokenizer.vocabulary.pairs[:required]
    standard = prunedbpe.Tokenizer(prunedbpe.Vocabulary(pairs, np.ones(256 + required, bool), ()))
    measured = measure(tokenizer, sources, against=standard)
    by_standard, own = measured.lengths
    assert own.tolist() == [len(tokenizer.encode(text)) for text in TEXTS]
    assert by_standard.tolist() == [len(standard.encode(text)) for text in TEXTS]
    assert measured.other_lengths.tolist() == by_standard.tolist()
    shortest = [len(tokenizer.encode(text, segmentation="shortest")) for text in TEXTS]
    assert measured.shortest == sum(shortest)


def test_a_tokenizer_with_other_chunks_has_no_lengths(tokenizer, sources):
    other = prunedbpe.train(TEXTS, vocab_size=400, threshold=0, pretokenizer="gpt2")
    assert measure(tokenizer, sources, against=other).other_lengths is None


def test_examples_hold_their_token(tokenizer, sources):
    examples = measure(tokenizer, sources).examples
    counts = dict(sources.total.items())
    at = 0
    shown = 0
    for rank, count in enumerate(examples.per_rank.tolist()):
        token = tokenizer.vocabulary.strings[rank]
        assert count == min(3, examples.unique_chunks[rank])
        assert sorted(examples.counts[at : at + count])[::-1] == list(
            examples.counts[at : at + count]
        )
        for place in range(at, at + count):
            excerpt, start = examples.excerpts[place], examples.starts[place]
            if "…" not in excerpt:
                assert counts[excerpt.encode()] == examples.counts[place]
            try:
                text = token.decode()
            except UnicodeDecodeError:
                continue
            assert excerpt[start : start + len(text)] == text
            shown += 1
        at += count
    assert at == len(examples.excerpts) and shown > 200


def test_merges_of_another_run_are_refused(tokenizer):
    other = prunedbpe.learn(prunedbpe.count(iter(["other text " * 9])), 9)
    with pytest.raises(RunMismatchError):
        measure(tokenizer, None, merges=other)
    with pytest.raises(SettingsError, match="nothing to measure on"):
        measure(tokenizer, None)


def test_packed_arrays_come_back():
    packed = Packed()
    arrays = {
        "small": np.array([0, 255]),
        "middle": np.array([256, 65_535, 3]),
        "large": np.array([2**32 - 1]),
        "huge": np.array([2**52 + 1]),
        "none": np.zeros(0, np.int64),
    }
    for name, values in arrays.items():
        packed.add_numbers(name, values)
    packed.add_texts("texts", ["é", "", "ab"])
    data = gzip.decompress(base64.b64decode(packed.as_base64()))
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    found = {
        name: np.frombuffer(data, kind.lower(), length, 8 + size + offset).tolist()
        for name, (kind, offset, length) in header["arrays"].items()
    }
    assert found.pop("texts.utf8") == list("éab".encode())
    assert found.pop("texts.lengths") == [2, 0, 2]
    assert found == {name: values.tolist() for name, values in arrays.items()}
    kinds = [header["arrays"][name][0] for name in arrays]
    assert kinds == ["Uint8", "Uint16", "Uint32", "Float64", "Uint8"]
    assert all(offset % 8 == 0 for _, offset, _ in header["arrays"].values())


def test_a_vocabulary_without_merges_is_refused(tmp_path):
    bytes_only = prunedbpe.Vocabulary(np.zeros((0, 2), np.uint32), np.ones(256, bool), ())
    with pytest.raises(SettingsError, match="no merges"):
        write_explorer(tmp_path / "x.html", prunedbpe.Tokenizer(bytes_only))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_patterns_use_what_javascript_reads_alike(name):
    pattern = javascript_pattern(Pretokenizer(name))
    for unknown in (r"\x{", r"\s", r"\S", r"\p", r"\z", "(?i", "++", "*+", "?+"):
        assert unknown not in pattern.replace(r"\++", "")


@pytest.mark.parametrize("version", CHANGES)
def test_replacements_keep_the_length(version):
    for first, last, stand_in in ForeignCut(Pretokenizer("gpt2"), version).replacements():
        for character in (chr(first), chr(last)):
            assert len(stand_in.encode()) == len(character.encode())
            assert len(stand_in.encode("utf-16-le")) == len(character.encode("utf-16-le"))
