"""Automatic visibility: what it chooses, what it reports, and that encoding agrees."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cli_helpers import make_text
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, learn, prune
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.training import prune_run
from prunedbpe.visibility.auto import choose_visibility
from prunedbpe.visibility.by_rank import hide
from prunedbpe.visibility.exposure import encoded_length
from prunedbpe.visibility.policy import VisibilityPolicy

TEXTS = make_text(1, 1500).splitlines()
OTHER = make_text(2, 400).splitlines()


@pytest.fixture(scope="module")
def merges():
    return learn(prunedbpe.count(Corpus.from_texts(TEXTS)), 1200)


@pytest.fixture
def folder(tmp_path):
    """A corpus of four sources."""
    for seed in range(4):
        path = tmp_path / "texts" / f"{seed}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(make_text(seed % 2, 60), encoding="utf-8")
    return tmp_path / "texts"


def length_of(tokenizer, texts):
    return sum(map(tokenizer.count_tokens, texts))


@pytest.mark.parametrize("validated", [False, True])
def test_encoding_is_as_long_as_the_algebra_says(merges, validated):
    other = prunedbpe.count(Corpus.from_texts(OTHER))
    options = {"validation": other} if validated else {}
    tokenizer = prune(merges, 700, threshold="auto", **options)
    assert tokenizer.training["encoded_length"] == length_of(tokenizer, TEXTS)
    hidden = ~tokenizer.vocabulary.visible
    applied = prunedbpe.replay(merges, other)
    assert encoded_length(merges.pairs, applied, hidden) == length_of(tokenizer, OTHER)
    if validated:
        assert tokenizer.training["auto"]["validation_length"] == length_of(tokenizer, OTHER)


@given(documents(), st.integers(0, 40), st.sampled_from(["none", "itself", "other"]))
def test_any_corpus_encodes_as_the_algebra_says(texts, required, validated):
    counts = prunedbpe.count(Corpus.from_texts(texts))
    merges = learn(counts, 200)
    required = min(required, len(merges))
    other = prunedbpe.count(Corpus.from_texts(["the hat that 人民"]))
    validation = {"none": None, "itself": counts, "other": other}[validated]
    tokenizer = prune(merges, 260 + required, threshold="auto", validation=validation)
    assert tokenizer.training["encoded_length"] == length_of(tokenizer, texts)
    assert tokenizer.vocab_size == 260 + required
    ids = {token_id for text in texts for token_id in tokenizer.encode(text)}
    assert all(token_id < tokenizer.vocab_size for token_id in ids)
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in texts)


def test_what_is_reported(merges):
    tokenizer = prune(merges, 700, threshold="auto")
    report = dict(tokenizer.training["auto"])
    [gain] = report.pop("gains")
    assert gain["source"] == "<corpus>" and gain["gain"] > 0
    assert gain["tokens"] == tokenizer.training["encoded_length"]
    assert gain["standard_tokens"] == tokenizer.training["standard_encoded_length"]
    assert report == {
        "segmentation": "rank",
        "chosen_by": "rule",
        "candidates_learned": 1200,
        "stopped": "enough candidates",
        "sources": 0,
        "source_kind": "corpus",
        "source_note": "",
        "candidates": 792,
        "candidate_ratio": 1.8,
        "exponent": 0.83,
        "newcomer_discount": 0.15,
        "harmed": [],
        "protected": [],
    }
    few = merges.head(600)
    assert prune(few, 700, threshold="auto").training["auto"]["stopped"] == "no more merges given"
    capped = prune(merges, 700, threshold="auto", max_train_vocab=256 + 500).training["auto"]
    assert (capped["candidates"], capped["stopped"]) == (500, "max_train_vocab reached")
    exhausted = learn(ChunkCounts.from_mapping({b"ab": 2, b"cd": 2}), 9)
    report = prune(exhausted, 261, threshold="auto", candidate_ratio=5).training["auto"]
    assert (report["candidates"], report["stopped"]) == (2, "no pair is left that occurs twice")


def test_the_validated_choice_is_the_shortest_of_those_tried(merges):
    own = prunedbpe.count(Corpus.from_texts(TEXTS))
    report = prune(merges, 400, threshold="auto", validation=own).training["auto"]
    assert report["chosen_by"] == "validation"
    assert report["validation_length"] == min(t["validation_length"] for t in report["tried"])
    assert report["validation_length"] < report["validation_standard_length"]


def test_trusting_the_corpus_makes_it_shorter(folder):
    cautious = prunedbpe.train(folder, 500, threshold="auto")
    trusting = prunedbpe.train(folder, 500, threshold="auto", trust_corpus=True)
    assert trusting.training["auto"]["exponent"] == 1.0
    assert trusting.training["encoded_length"] <= cautious.training["encoded_length"]


def test_too_few_merges_or_too_little_room(merges):
    with pytest.raises(InsufficientCandidatesError, match="needs 140 learned tokens"):
        prune(merges.head(100), 400, threshold="auto")
    with pytest.raises(SettingsError, match="max_train_vocab=300 is below the 396"):
        prune(merges, 400, threshold="auto", max_train_vocab=300)
    with pytest.raises(SettingsError, match=r"candidate_ratio is 0\.5"):
        prune(merges, 400, threshold="auto", candidate_ratio=0.5)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"validation": ["text"]}, "validation text needs the threshold auto"),
        ({"source_weights": {"a": 2.0}}, "weights of sources needs the threshold auto"),
        ({"trust_corpus": True}, "trust in the corpus needs the threshold auto"),
        (
            {"threshold": "auto", "trust_corpus": True, "validation": ["text"]},
            "validation text decides whether to trust",
        ),
        ({"segmentation": "longest"}, "segmentation='longest'"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(SettingsError, match=message):
        VisibilityPolicy(**options)


def test_more_candidates_are_shorter_on_the_corpus_itself(merges):
    lengths = [
        encoded_length(merges.pairs, merges.applied, hide(merges, [merges.applied], count, 300))
        for count in (300, 360, 420, 480)
    ]
    assert lengths == sorted(lengths, reverse=True) and lengths[0] > lengths[-1]


def test_a_token_of_one_source_gives_way_to_one_of_many():
    # Both stand 12 or 13 times in the corpus; one in three sources, one in one.
    tables = [
        ChunkCounts.from_mapping(part)
        for part in ({b"ab": 4, b"ef": 9}, {b"ab": 4}, {b"ab": 4, b"cd": 13, b"ef": 30})
    ]
    sources = prunedbpe.SourceCounts.from_tables("abc", tables)
    merges = learn(sources.total, 3)
    assert merges.token_bytes[256:] == [b"ef", b"cd", b"ab"]
    options = {"threshold": "auto", "special_tokens": (), "candidate_ratio": 1.5}
    unprotected = {"a": 1, "b": 1, "c": 0}  # c would pay for the others, and is protected
    plain = prune(merges, 258, **options)
    shared = prune(merges, 258, sources=sources, source_weights=unprotected, **options)
    # The newcomer discount alone keeps what Standard BPE has; being in many sources outweighs it.
    assert plain.vocabulary.visible[256:].tolist() == [True, True, False]
    assert shared.vocabulary.visible[256:].tolist() == [True, False, True]
    protected = prune(merges, 258, sources=sources, **options).training["auto"]
    assert all(row["gain"] >= 0 for row in protected["gains"])
    assert protected["harmed"] == []


@pytest.mark.parametrize("segmentation", ["rank", "shortest"])
@pytest.mark.parametrize("trust", [False, True])
def test_no_source_pays_for_another(tmp_path, segmentation, trust):
    """One small source has words of its own, which a large one would crowd out."""
    for name, seed, lines in (("large", 1, 3000), ("small", 2, 60), ("other", 3, 300)):
        text = make_text(seed, lines)
        # Other letters, so that the sources share no token.
        shifted = text.translate({ord(c): ord(c) + 0x400 * seed for c in "abcdefghijklmnop"})
        (tmp_path / f"{name}.txt").write_text(shifted, encoding="utf-8")
    tokenizer = prunedbpe.train(
        tmp_path, 700, threshold="auto", segmentation=segmentation, trust_corpus=trust
    )
    standard = prunedbpe.train(tmp_path, 700, threshold=0)
    auto = tokenizer.training["auto"]
    assert auto["harmed"] == []
    gains = {}
    for path in tmp_path.glob("*.txt"):
        texts = path.read_text(encoding="utf-8").split("\n")
        gains[str(path)] = 1 - length_of(tokenizer, texts) / length_of(standard, texts)
        assert gains[str(path)] >= 0
    reported = {row["source"]: row["gain"] for row in auto["gains"]}
    for source, gain in gains.items():
        whole = [value for name, value in reported.items() if name.startswith(source)]
        assert min(whole) - 1e-6 <= gain <= max(whole) + 1e-6
    assert [row["gain"] for row in auto["gains"]] == sorted(row["gain"] for row in auto["gains"])


def test_extend_is_asked_for_no_more_than_is_needed(merges):
    asked = []

    class Candidates:
        def reach(self, merge_count):
            asked.append(merge_count)
            return merges

    auto = VisibilityPolicy("auto")
    assert choose_visibility(Candidates(), 300, auto).merge_count == 540 == max(asked)
    choose_visibility(Candidates(), 300, replace(auto, max_train_vocab=256 + 350))
    assert asked[-1] == 350


def test_a_run_resumed_and_pruned_gives_the_same_tokenizer(folder, tmp_path):
    options = {"vocab_size": 500, "threshold": "auto"}
    whole = prunedbpe.train(folder, **options)
    assert whole.training["auto"]["sources"] == 4
    run = tmp_path / "run"
    kept = prunedbpe.train(folder, run_dir=run, **options)
    again = prunedbpe.train(folder, run_dir=run, **options)
    later = prune_run(run, 500, threshold="auto")
    smaller = prune_run(run, 400, threshold="auto")
    for tokenizer in (kept, again, later):
        assert tokenizer.vocab_bytes() == whole.vocab_bytes()
        assert tokenizer.training == whole.training
    assert smaller.vocab_bytes() == prunedbpe.train(folder, 400, threshold="auto").vocab_bytes()


def test_a_run_begun_with_a_threshold_goes_on_with_auto(folder, tmp_path):
    prunedbpe.train(folder, 500, threshold="40%", run_dir=tmp_path / "run")
    tokenizer = prunedbpe.train(folder, 500, threshold="auto", run_dir=tmp_path / "run")
    whole = prunedbpe.train(folder, 500, threshold="auto")
    assert tokenizer.vocab_bytes() == whole.vocab_bytes()


def test_a_run_counts_again_where_another_kind_of_source_is_asked_for(folder, tmp_path):
    for sources, number in (("files", 4), ("folders", 1), ("corpus", 1), ("files", 4)):
        tokenizer = prunedbpe.train(
            folder, 500, threshold="auto", run_dir=tmp_path / "run", sources=sources
        )
        assert tokenizer.training["auto"]["sources"] == number
        whole = prunedbpe.train(folder, 500, threshold="auto", sources=sources)
        assert tokenizer.vocab_bytes() == whole.vocab_bytes()


def test_threads_do_not_matter(folder):
    one, three = (prunedbpe.train(folder, 450, threshold="auto", threads=n) for n in (1, 3))
    assert one.vocab_bytes() == three.vocab_bytes() and one.training == three.training
