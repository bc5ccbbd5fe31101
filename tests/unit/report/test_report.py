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
from prunedbpe.errors import FormatError, InsufficientCandidatesError, SettingsError
from prunedbpe.pretokenizers import pretokenize
from prunedbpe.report import experiment
from prunedbpe.report.claims import Claim, check_claims
from prunedbpe.report.drawing import Text
from prunedbpe.report.figures import gain_figures, growth_figures, shortest_figures
from prunedbpe.report.page import as_page
from prunedbpe.report.page_parts import as_claims, as_table
from prunedbpe.report.render import write_report
from prunedbpe.report.results import (
    CHOSEN,
    STANDARD,
    Cell,
    CorpusFacts,
    StudyResults,
    VocabularyFacts,
    load_results,
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
    drawn = growth_figures(results), shortest_figures(results), gain_figures(results)
    for drawings in drawn:
        scales = [
            [shape.text for shape in drawing.shapes if getattr(shape, "anchor", "") == "end"]
            for drawing in drawings
        ]
        assert len(scales[0]) > 2 and all(scale == scales[0] for scale in scales)
    paints = [
        {s.text: s.paint for s in drawings[0].shapes if isinstance(s, Text)} for drawings in drawn
    ]
    assert paints[0]["40%"] == paints[1]["40% fewest"] == paints[1]["40% by rank"]
    assert paints[0]["40%"] == paints[2]["40%"] != paints[2]["shortest"]
    assert paints[0]["auto"] == paints[1]["auto fewest"] == paints[2]["auto"] != paints[0]["40%"]


def test_the_page_opens_with_the_means_over_both_corpora(results, tmp_path):
    write_report(results, tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    lead = re.search('<p class="lead">(.*?)</p>', page)[1]
    for policy, name in (("40%", "pruning at 40%"), ("auto", "auto"), (CHOSEN, "shortest")):
        for pairs in ((("I", "I"), ("II", "II")), (("I", "II"), ("II", "I"))):
            gains = [results.reduction(a, SIZES[1], policy, b) for a, b in pairs]
            written = percent(sum(gains) / 2, 2).replace("-", "−")
            assert f"{written} %" in lead.partition(f"<b>{name}</b>")[2].partition("<b>")[0]
    assert lead.startswith("With a vocabulary of 340, ")
    assert "2,000 more" not in lead  # too few merges to grow by as many


def test_results_come_back_from_their_file(results, tmp_path):
    write_report(results, tmp_path / "first")
    write_report(load_results(tmp_path / "first" / "study.json"), tmp_path / "again")
    files = sorted((tmp_path / "first").iterdir())
    assert len(files) > 10
    for path in files:
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


@pytest.mark.parametrize("text", ["[]", "{}", '{"corpora": [{"name": "I"}]}'])
def test_files_that_hold_no_study(tmp_path, text):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(FormatError, match="not the results of a study"):
        load_results(tmp_path / "study.json")


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
    everywhere, nothing = "held in all cells", "nothing to check"
    assert [c.verdict for c in check_claims(good)] == [
        everywhere, everywhere, everywhere, nothing, everywhere, everywhere,
    ]  # fmt: skip
    bad = made({STANDARD: (80, 80), "20%": (80, 77), "30%": (81, 80)}, internal)
    claims = check_claims(bad)
    assert [c.verdict for c in claims] == [
        "held in 0 % of cells", "held in 0 % of cells", everywhere, nothing,
        "held in 66 % of cells", "held in 50 % of cells",
    ]  # fmt: skip
    assert claims[0].evidence == "0 of 2; not: I → I, 300, 20%; I → I, 300, 30%"
    assert claims[4].failures == ["I → I, 300, Standard"]


def test_exceptions_are_folded_and_never_rounded_away():
    claim = Claim("It holds <always>.", 1000, ["I → II, 8,000, 40%"])
    assert claim.verdict == "held in 99 % of cells"
    page = as_claims([claim, Claim("It holds.", 3, []), Claim("It is open.", 0, [])])
    assert "1 of 2 claims hold in every cell; all of them together in 1,002 of 1,003" in page
    assert "It holds &lt;always&gt;." in page and "<small>999 of 1,000</small>" in page
    folded = re.findall("<details><summary>(.*?)</summary><ul>(.*?)</ul></details>", page)
    assert folded == [("1 exception", "<li>I → II, 8,000, 40%</li>")]


def test_gains_have_shades_beside_their_numbers():
    by_hand = made({STANDARD: (1000, 1), "20%": (1001, 1), "30%": (990, 1)}, {"20%": 1, "30%": 2})
    page = as_table(length_table(by_hand))
    assert '<td class="n loss">−0.100</td><td class="n gain-3">1.000</td>' in page
    assert '<td class="n">1,001</td>' in page  # a length is no gain


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
