"""The study: exact percentages, claims on hand-made results, lengths that encoding confirms."""

import csv
import io
import json
import random
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from cli_helpers import make_text

from prunedbpe import (
    Corpus,
    Learner,
    Tokenizer,
    count,
    count_by_source,
    learn,
    prune,
    reference,
)
from prunedbpe.analysis.sweeping import advise_sizes
from prunedbpe.baselines import PickyBPE, learn_picky
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.pretokenizers import pretokenize
from prunedbpe.report import experiment
from prunedbpe.report.claims import check_claims
from prunedbpe.report.figures import Series, draw_bars, growth_figures, shortest_figures
from prunedbpe.report.page import as_page
from prunedbpe.report.render import write_report
from prunedbpe.report.results import (
    STANDARD,
    Cell,
    CorpusFacts,
    StudyResults,
    VocabularyFacts,
    percent,
)
from prunedbpe.report.study import StudyPlan, run_study, tokenizer_folder
from prunedbpe.report.tables import as_csv, as_latex, as_markdown, internal_table, length_table
from prunedbpe.tokenizer.shortest import ShortestSegmenter

SIZES = [300, 340]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    for seed, name in enumerate(("I", "II")):
        (folder / name).mkdir()
        for part in range(2):
            text = make_text(10 * seed + part, 60)
            (folder / name / f"{part}.txt").write_text(text, encoding="utf-8")
    return folder


def plan(folder, **changes):
    corpora = {name: Corpus([folder / name]) for name in ("I", "II")}
    return StudyPlan(corpora=corpora, sizes=SIZES, **changes)


@pytest.fixture(scope="module")
def results(folder):
    return run_study(plan(folder), cache=folder / "cache", export=folder / "tokenizers")


def documents(folder, name):
    paths = sorted((folder / name).iterdir())
    return [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def test_lengths_are_what_exported_tokenizers_give(folder, results):
    texts = {name: documents(folder, name) for name in ("I", "II")}
    for training in ("I", "II", "I+II"):
        for policy in results.policies:
            path = folder / "tokenizers" / tokenizer_folder(training, SIZES[1], policy)
            tok = Tokenizer.load(path)
            segmenter = ShortestSegmenter.of(tok.vocabulary, tok.pretokenizer)
            assert tok.vocab_size == SIZES[1]
            for corpus in texts:
                cell = results.cell(training, SIZES[1], policy, corpus)
                assert cell.length == sum(len(tok.encode(text)) for text in texts[corpus])
                assert cell.shortest == sum(len(segmenter.encode(t)) for t in texts[corpus])
            whole = results.cell(training, SIZES[1], policy, "I+II")
            parts = [results.cell(training, SIZES[1], policy, name) for name in texts]
            assert whole.length == sum(cell.length for cell in parts)
    assert results.spot_checks
    assert all(check.expected == check.encoded for check in results.spot_checks)


def test_chosen_for_shortest_is_what_prune_gives(folder, results):
    counted = count_by_source([folder / "I"])
    merges = learn(counted.total, 2 * SIZES[1])
    tok = prune(
        merges,
        SIZES[0],
        threshold="auto",
        segmentation="shortest",
        sources=counted,
        counts=counted.total,
    )
    for corpus in ("I", "II"):
        cell = results.cell("I", SIZES[0], experiment.CHOSEN, corpus)
        assert cell.length == sum(len(tok.encode(text)) for text in documents(folder, corpus))
    assert results.reduction("I", SIZES[0], experiment.CHOSEN, "I") > 0


def test_picky_lengths_are_what_its_tokenizer_gives(folder, results):
    counts = count([folder / "I"])
    required = SIZES[0] - 260
    tok = PickyBPE(learn_picky(counts, SIZES[1] - 260, "0.7"), required)
    for corpus in ("I", "II"):
        cell = results.cell("I", SIZES[0], "Picky BPE 0.7", corpus)
        assert cell.length == sum(len(tok.encode(text)) for text in documents(folder, corpus))


def test_lengths_of_the_plain_python(folder, results):
    texts = documents(folder, "I")
    counts = reference.count_chunks(texts, pretokenize)
    vocabulary = reference.train(counts, SIZES[0], "40%")
    corpus = reference.segment(vocabulary.merges, counts)
    length = reference.encoded_length(corpus, vocabulary.merges, set(vocabulary.internal))
    assert results.cell("I", SIZES[0], "40%", "I").length == length
    assert results.fact("I", SIZES[0], "40%").internal == len(vocabulary.internal)


def test_a_second_run_reuses_the_first(folder, results, monkeypatch):
    # Whatever is slow must come from the cache: learning and Picky are made to fail.
    monkeypatch.setattr(experiment, "learn_picky", None)
    monkeypatch.setattr(Learner, "_learn", None)
    again = run_study(plan(folder), cache=folder / "cache", export=None)
    assert again.cells == results.cells and again.facts == results.facts


def test_all_forms_are_written(folder, results, tmp_path):
    claims = write_report(results, tmp_path)
    assert [claim.verdict for claim in claims if claim.checked == 0] == []
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "report.md", "study.json", "table-3-lengths.tex"} <= names
    saved = json.loads((tmp_path / "study.json").read_text())
    assert saved["cells"][0]["length"] == results.cells[0].length
    rows = list(csv.DictReader(io.StringIO((tmp_path / "table-baselines.csv").read_text())))
    assert float(rows[0]["40%"]) == pytest.approx(
        float(100 * results.reduction("I", SIZES[0], "40%", "I"))
    )


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.used, self.tags, self.outside = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        self.used += given.get("aria-labelledby", "").split()
        link = given.get("href", "")
        if link.startswith("#"):
            self.used.append(link[1:])
        elif link or "src" in given:
            self.outside.append(link or given["src"])


def test_the_page_is_self_contained_and_labelled(results, tmp_path):
    write_report(results, tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.outside == ["data:,"]
    assert "http" not in text and "url(" not in text and "<script" not in text
    assert len(set(page.ids)) == len(page.ids) and set(page.used) <= set(page.ids)
    assert ("html", {"lang": "en"}) in page.tags
    for tag, given in page.tags:
        if tag == "th":
            assert given["scope"] in ("row", "col")
        if tag == "svg":
            assert given.get("role") == "img" or given.get("aria-hidden") == "true"
        if given.get("class") == "scroll":
            assert given["tabindex"] == "0" and given["aria-label"]
    focusable = [g for tag, g in page.tags if tag in ("a", "summary") or "tabindex" in g]
    assert focusable[0]["class"] == "skip" and {g.get("tabindex", "0") for g in focusable} == {"0"}
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1" and set(headings[1:]) == {"h2"}


def test_drawings_of_a_figure_share_scale_and_colours(results):
    drawn = growth_figures(results), shortest_figures(results)
    for figures in drawn:
        scales = [re.findall(r'text-anchor="end">([^<]*)<', figure.svg) for figure in figures]
        assert len(scales[0]) > 2 and all(scale == scales[0] for scale in scales)
    looks = [{name: look for look, name in figures[0].legend} for figures in drawn]
    assert looks[0]["40%"] == looks[1]["40%, shortest"] == looks[1]["40%, by rank"].split()[0]
    assert looks[0]["auto"] == looks[1]["auto, shortest"] != looks[0]["40%"]


def test_names_of_places_leave_each_other_room():
    def written(places):
        series = [Series("x", [1.0] * len(places), places)]
        found = re.findall(
            r'text-anchor="middle">([^<]*)<', draw_bars("a", "t", places, series, "", "").svg
        )
        return [name for name in found if name]

    assert written(["8K", "16K"]) == ["8K", "16K"]
    many = written([f"{n}K" for n in range(2, 62)])
    assert many[0] == "2K" and sum(map(len, many)) < 40
    assert written(["a corpus with a very long name", "another one of them, as long"]) == [
        "a corpus with a …", "another one of t…",
    ]  # fmt: skip


def made(lengths, internal):
    """Results of one training and corpus, by hand: policy -> (length, shortest)."""
    return StudyResults(
        corpora=[CorpusFacts("I", 1, 100, 10, 50)],
        sizes=[300],
        sizes_reason="given",
        thresholds=["20%", "30%"],
        policies=[STANDARD, "20%", "30%"],
        baselines=[],
        cells=[Cell("I", 300, p, "I", *pair) for p, pair in lengths.items()],
        facts=[
            VocabularyFacts("I", 300, p, n, 40, holds_smaller=True if p == "30%" else None)
            for p, n in internal.items()
        ],
        growth=[Cell("I", 300, STANDARD, "I", 60)],
        growth_tokens=2000,
        qualitative=[],
        qualitative_of="",
    )


def test_claims_on_results_made_by_hand():
    internal = {STANDARD: 0, "20%": 1, "30%": 2}
    good = made({STANDARD: (80, 78), "20%": (79, 77), "30%": (77, 76)}, internal)
    assert [c.verdict for c in check_claims(good)] == [
        "held", "held", "held", "nothing to check", "held", "held",
    ]  # fmt: skip
    bad = made({STANDARD: (80, 80), "20%": (80, 77), "30%": (81, 80)}, internal)
    claims = check_claims(bad)
    assert [c.verdict for c in claims] == [
        "not held", "not held", "held", "nothing to check", "not held", "not held",
    ]  # fmt: skip
    assert claims[0].evidence == "0 of 2; not: I → I, 300, 20%; I → I, 300, 30%"
    assert claims[4].failures == ["I → I, 300, Standard"]


def test_percentages_come_from_integers():
    made_by_hand = made(
        {STANDARD: (80, 78), "20%": (79, 77), "30%": (77, 76)}, {"20%": 1, "30%": 3}
    )
    assert made_by_hand.reduction("I", 300, "20%", "I") == Fraction(1, 80)
    assert made_by_hand.growth_reduction("I", 300, "I") == Fraction(1, 4)
    table = length_table(made_by_hand)
    assert table.rows == [["I", "I", "same", 300, 80, 79, 77, Fraction(1, 80), Fraction(3, 80)]]
    assert as_markdown(table).splitlines()[2] == (
        "| I | I | same | 300 | 80 | 79 | 77 | 1.250 | 3.750 |"
    )
    row = next(csv.DictReader(io.StringIO(as_csv(table))))
    assert row["30% saves, %"] == "3.750000000"
    assert r"I & I & same & 300 & 80 & 79 & 77 & 1.250 & 3.750 \\" in as_latex(table)
    assert internal_table(made_by_hand).rows == [["I", 300, 1, 3, Fraction(1, 40), Fraction(3, 40)]]
    # 0.0005 is a tie to three digits of percent; a little more is not.
    assert percent(Fraction(5, 10**6)) == "0.000"
    assert percent(Fraction(0), 9) == "0.000000000"
    assert percent(Fraction(5 * 10**9 + 1, 10**15)) == "0.001"


def test_suggested_sizes_are_those_every_corpus_fills(tmp_path):
    syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
    source = random.Random(0)
    lexicon = ["".join(source.choices(syllables, k=source.randint(2, 4))) for _ in range(20_000)]
    weights = [(place + 1) ** -1.2 for place in range(len(lexicon))]
    for name, length in (("I", 300_000), ("II", 150_000)):
        words = source.choices(lexicon, weights, k=length)
        (tmp_path / f"{name}.txt").write_text("\n".join(words), encoding="utf-8")
    corpora = {name: Corpus([tmp_path / f"{name}.txt"]) for name in ("I", "II")}
    results = run_study(StudyPlan(corpora, auto=False, baselines=False))
    merges = learn(count([tmp_path / "I.txt", tmp_path / "II.txt"]), 24_000)
    advised = advise_sizes(merges.applied).suggested
    assert results.sizes == advised[:-1] == [4000, 6000]  # II is too small for the last one
    assert "suggested on I+II: the knee of the gain of 2,000 more" in as_page(results, [])
    with pytest.raises(InsufficientCandidatesError, match=r"II, size 8,000, 20%: [\d,]+ learned"):
        run_study(StudyPlan(corpora, sizes=advised, auto=False, baselines=False))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"thresholds": ["40%", "20%"]}, "ascending"), ({"thresholds": []}, "no threshold")],
)
def test_plans_that_make_no_sense(folder, changes, message):
    with pytest.raises(SettingsError, match=message):
        plan(folder, **changes)


def test_one_corpus_is_not_enough(folder):
    with pytest.raises(SettingsError, match="two corpora, 1 given"):
        StudyPlan(corpora={"I": Corpus([folder / "I"])})
