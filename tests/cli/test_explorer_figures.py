"""The figures of the explorer are the library's: its encoder, its algebra, what it measured."""

import json
import random

import numpy as np
import pytest
from cli_helpers import make_text
from explorer_helpers import figure, show, text_of
from random_texts import random_texts

import prunedbpe
from prunedbpe import SourceCounts, Tokenizer
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.report.explorer import measure, write_explorer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.visibility.exposure import encoded_length, exposure
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

# Cuts texts in the three ways of the page, as token ids.
CUT = """texts => texts.map(text => {
  const { encoder, vocabulary } = explorer;
  const chunks = encoder.chunks(text);
  const ids = ranks => ranks.map(rank => vocabulary.ids[rank]);
  return {
    standard: encoder.standard(chunks),
    rank: ids(encoder.merged(chunks).flatMap(rank => vocabulary.expand(rank))),
    shortest: ids(encoder.shortest(chunks)),
  };
})"""


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_cuts_text_like_the_library(browser, tmp_path, name):
    source = random.Random(7)
    lines = make_text(1, 400).splitlines()
    awkward = random_texts(600, seed=3)
    tok = prunedbpe.train(
        [*lines, *awkward[:300]], vocab_size=700, threshold="40%", pretokenizer=name
    )
    required = tok.vocabulary.visible_count - 256
    pairs = tok.vocabulary.pairs[:required]
    visible = np.ones(256 + required, bool)
    standard = Tokenizer(prunedbpe.Vocabulary(pairs, visible), name)
    texts = awkward + [
        line[source.randrange(9) :] + source.choice(awkward)
        for line in source.choices(lines, k=400)
    ]
    write_explorer(tmp_path / "x.html", tok)
    show(browser, tmp_path / "x.html")
    found = browser.run(f"({CUT})({json.dumps(texts)})")
    assert len(texts) == len(found) == 1000 and tok.vocabulary.internal_count > 20
    for text, cut in zip(texts, found, strict=True):
        assert cut["standard"] == standard.encode(text), repr(text)
        assert cut["rank"] == tok.encode(text, segmentation="rank"), repr(text)
        assert cut["shortest"] == tok.encode(text, segmentation="shortest"), repr(text)
    assert browser.problems == []


def test_cuts_text_like_an_imported_tokenizer(browser, tmp_path):
    """Its ids are the original's, and characters newer than its Unicode have their former class."""
    own = prunedbpe.train(
        [make_text(1, 200)], vocab_size=400, threshold=0, pretokenizer="gpt2", special_tokens=()
    )
    pairs = own.vocabulary.pairs
    ids = random.Random(1).sample(range(1000), 400)
    vocabulary = ForeignVocabulary(pairs, np.ones(400, bool), (), ids_of_ranks=tuple(ids))
    cut = ForeignCut(prunedbpe.Pretokenizer("gpt2"), "15.0.0")
    changed = [chr(point) for first, last, _ in cut.replacements() for point in (first, last)]
    texts = [f"a{character}b {character}1{character}{character} é" for character in changed]
    assert len(texts) > 100
    for segmentation in ("rank", "shortest"):
        tok = ImportedTokenizer(vocabulary, cut, segmentation=segmentation)
        write_explorer(tmp_path / "x.html", tok)
        show(browser, tmp_path / "x.html")
        found = browser.run(f"({CUT})({json.dumps(texts)})")
        assert [cut[segmentation] for cut in found] == [tok.encode(text) for text in texts]


def test_tokens_that_no_merge_makes(browser, tmp_path):
    """The page has no rank for them, so it does not claim to cut text like the original."""
    vocabulary = ForeignVocabulary(
        np.array([[97, 98]], np.uint32),
        np.ones(257, bool),
        (),
        ids_of_ranks=tuple(range(257)),
        unmergeable=((b"xyz", 257),),
    )
    cut = ForeignCut(prunedbpe.Pretokenizer("gpt2"), "15.0.0")
    tok = ImportedTokenizer(vocabulary, cut, segmentation="shortest")
    counts = prunedbpe.count(iter(["ab xyz"]), pretokenizer="gpt2")
    with pytest.raises(SettingsError, match="no merge makes some of them"):
        measure(tok, SourceCounts.single(counts))
    write_explorer(tmp_path / "x.html", tok)
    show(browser, tmp_path / "x.html")
    assert "no merge makes some" in text_of(browser, "main")


def test_normalizes_first(browser, tmp_path):
    nfc = prunedbpe.Pretokenizer("paper", normalization="NFC")
    tok = prunedbpe.train(["café café"] * 3, vocab_size=263, threshold=0, pretokenizer=nfc)
    write_explorer(tmp_path / "x.html", tok)
    show(browser, tmp_path / "x.html")
    texts = ["cafe\u0301 café", "e\u0301"]
    found = browser.run(f"({CUT})({json.dumps(texts)})")
    assert [cut["rank"] for cut in found] == [tok.encode(text) for text in texts]


def test_a_long_chunk_takes_no_time(browser, tmp_path):
    tok = prunedbpe.train([make_text(1, 300)], vocab_size=900, threshold="20%", pretokenizer="none")
    write_explorer(tmp_path / "x.html", tok)
    show(browser, tmp_path / "x.html")
    for text in ("a" * 50_000, make_text(2, 600)):
        seconds, found = browser.run(
            f"(() => {{ const begin = performance.now(); const [found] = ({CUT})"
            f"([{json.dumps(text)}]); return [(performance.now() - begin) / 1000, found]; }})()"
        )
        assert found["rank"] == tok.encode(text) and seconds < 5


def test_the_algebra_is_the_librarys(browser, pages):
    show(browser, pages / "by_run.html", "#/curve?threshold=30")
    tok = Tokenizer.load(pages / "tok")
    merges = prunedbpe.MergeTable.load(pages / "run" / "merges.parquet").head(
        len(tok.vocabulary.pairs)
    )
    exposures = exposure(merges.pairs, merges.applied)
    assert browser.run("Array.from(explorer.algebra.exposures)") == exposures.tolist()
    own = encoded_length(merges.pairs, merges.applied, ~tok.vocabulary.visible)
    assert browser.run("explorer.algebra.length") == own
    for threshold in (0, 1, 30, 60, 10**6):
        browser.run(
            "(() => { const exact = document.querySelector('#exact'); "
            f"exact.value = {threshold}; exact.dispatchEvent(new Event('input')); }})()"
        )
        hidden = exposures < threshold
        hidden[:256] = False
        length = encoded_length(merges.pairs, merges.applied, hidden)
        assert figure(browser, "#total") == length
        assert figure(browser, "#visible") == int((~hidden).sum())
        assert figure(browser, "#hidden") == int(hidden.sum())
    assert browser.run("location.hash").startswith("#/curve?threshold=")


def test_lengths_by_source(browser, pages):
    """What the table of gains says is what encoding each file gives."""
    show(browser, pages / "compared.html", "#/compare")
    for name, loaded in (("own_lengths", "tok"), ("other_lengths", "other")):
        tok = Tokenizer.load(pages / loaded)
        lengths = [
            sum(len(tok.encode(line)) for line in path.read_text(encoding="utf-8").split("\n"))
            for path in sorted((pages / "texts").glob("*.txt"))
        ]
        assert browser.run(f"explorer.text.{name}") == lengths
    assert browser.run("explorer.text.sources") == ["a.txt", "b.txt", "c.txt"]
    own, other = (browser.run(f"explorer.text.{name}_lengths") for name in ("own", "other"))
    gain = f"{abs(100 * (sum(own) - sum(other)) / sum(other)):.2f} %"
    assert gain in text_of(browser, "tr.total")


def test_worth_is_what_hiding_costs(browser, pages):
    show(browser, pages / "by_run.html")
    tok = Tokenizer.load(pages / "tok")
    merges = prunedbpe.MergeTable.load(pages / "run" / "merges.parquet")
    hidden = ~tok.vocabulary.visible
    length = encoded_length(merges.pairs, merges.applied, hidden)
    for rank in random.Random(0).sample(range(256, len(hidden)), 40):
        changed = hidden.copy()
        changed[rank] ^= True
        by_hand = abs(encoded_length(merges.pairs, merges.applied, changed) - length)
        assert browser.run(f"explorer.worthOf({rank})") == by_hand


def test_a_tokenizer_of_fewest_tokens(browser, pages):
    show(browser, pages / "shortest.html", "#/tokens")
    tok = Tokenizer.load(pages / "shortest")
    lines = "".join(
        path.read_text(encoding="utf-8") for path in sorted((pages / "texts").glob("*.txt"))
    ).split("\n")
    ids = np.concatenate([tok.encode_to_numpy(line) for line in lines])
    uses = np.bincount(ids, minlength=tok.vocab_size)
    visible = np.flatnonzero(tok.vocabulary.visible)
    found = np.array(
        browser.run("Array.from(explorer.vocabulary.ids, (_, r) => explorer.exposureOf(r))")
    )
    assert found[visible].tolist() == uses[tok.vocabulary.token_ids[visible]].tolist()
    # Without a token, the text is longer by its worth.
    rank = int(visible[visible >= 256][np.argmax(found[visible[visible >= 256]])])
    strings = [tok.vocabulary.strings[r] for r in visible if r != rank]
    counts = prunedbpe.count(iter(lines))
    without = prunedbpe.tokenizer.shortest.shortest_lengths(strings, counts)
    assert browser.run(f"explorer.worthOf({rank})") == without - len(ids)
