"""``prunedbpe explore``: the page holds the library's figures, and works in a real browser.

``PRUNEDBPE_BROWSER=required`` turns the skip without Chromium into a failure.
"""

import csv
import io
import json
import random
import time

import numpy as np
import pytest
from chromium import BROWSER, REQUIRED, open_browser
from cli_helpers import make_text
from random_texts import random_texts

import prunedbpe
from prunedbpe import Tokenizer
from prunedbpe.cli.main import run
from prunedbpe.report.explorer import write_explorer
from prunedbpe.visibility.exposure import encoded_length, exposure

SEGMENTATIONS = ("standard", "rank", "shortest")

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

# Contrast of every visible text with what lies behind it, and elements wider than the window.
INSPECT = """(() => {
  const channels = c => (c.match(/[\\d.]+/g) ?? []).map(Number);
  const light = c => channels(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0) return colour;
    }
  };
  const contrast = e => {
    const [more, less] = [light(getComputedStyle(e).color), light(behind(e))].sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05);
  };
  const shown = [...document.querySelectorAll("body *")].filter(e => e.checkVisibility()
    && !e.closest(".unseen, .skip, script, noscript"));
  const written = shown.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
  const worst = written.map(e => [contrast(e), `${e.tagName}.${e.className}`])
    .sort((a, b) => a[0] - b[0])[0];
  const scrolled = e => e.closest(".scroll, nav ul");
  return {
    worst, written: written.length, paper: getComputedStyle(document.body).backgroundColor,
    scrolls: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    wide: shown.filter(e => !scrolled(e))
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1).length,
    small: Math.min(...written.map(e => parseFloat(getComputedStyle(e).fontSize))),
  };
})()"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of one training: ``by_run``, ``alone``, ``shortest`` and ``compared``."""
    folder = tmp_path_factory.mktemp("explore")
    corpus = folder / "texts"
    corpus.mkdir()
    for seed, name in enumerate(("a.txt", "b.txt", "c.txt")):
        (corpus / name).write_text(make_text(seed, 400), encoding="utf-8")
    made = [
        f"train {corpus} --vocab-size 500 --threshold auto --run-dir {folder}/run -q "
        f"-o {folder}/tok",
        f"prune {folder}/run --vocab-size 450 --threshold 40% -q -o {folder}/other",
        f"prune {folder}/run --vocab-size 500 --threshold auto --segmentation shortest -q "
        f"-o {folder}/shortest",
        f"explore {folder}/tok --run {folder}/run -q -o {folder}/by_run.html",
        f"explore {folder}/tok -q -o {folder}/alone.html",
        f"explore {folder}/shortest --corpus {corpus} -q -o {folder}/shortest.html",
        f"explore {folder}/tok --corpus {corpus} --against {folder}/other -q "
        f"-o {folder}/compared.html",
    ]
    for words in made:
        assert run(words.split()) == 0
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BROWSER is None and not REQUIRED:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("browser")
    with open_browser(folder) as page:
        page.downloads(folder)
        page.folder = folder
        yield page


def show(browser, path, fragment="", *, width=1400, dark=False):
    browser.problems.clear()
    browser.look(width, dark=dark)
    browser.open(path, fragment)
    browser.wait("globalThis.explorer !== undefined")


def text_of(browser, selector):
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def figure(browser, selector):
    return int(text_of(browser, selector).replace(",", ""))


def test_writes_one_file(cli, pages, tmp_path):
    ended = cli("explore", pages / "tok", "--run", pages / "run", "-o", tmp_path / "new" / "x.html")
    assert not ended.out_bytes and "explorer written to" in ended.err
    html = (tmp_path / "new" / "x.html").read_text(encoding="utf-8")
    assert html == (pages / "by_run.html").read_text(encoding="utf-8")  # the same bytes again
    assert "src=" not in html and '<link rel="icon" href="data:,">' in html
    assert str(pages) not in html  # no path of the machine that wrote it


def test_errors(cli, pages, tmp_path):
    tok, output = pages / "tok", tmp_path / "x.html"
    both = cli("explore", tok, "--run", pages / "run", "--corpus", pages, "-o", output, code=2)
    assert "only one of --run and --corpus" in both.err
    assert "is a folder" in cli("explore", tok, "-o", tmp_path, code=1).err
    assert "no such file" in cli("explore", tmp_path / "none", "-o", output, code=1).err
    (tmp_path / "t.txt").write_text("other text, other merges " * 9, encoding="utf-8")
    words = ["--vocab-size", 270, "--threshold", 0, "-q", "--run-dir", tmp_path / "run"]
    cli("train", tmp_path / "t.txt", *words, "-o", tmp_path / "else")
    assert (
        "not one merge list"
        in cli("explore", tok, "--run", tmp_path / "run", "-o", output, code=1).err
    )
    assert not output.exists()


@pytest.mark.parametrize("name", ["paper", "reference", "gpt2", "cl100k", "o200k", "none"])
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


def test_typing_cuts_live(browser, pages):
    show(browser, pages / "compared.html")
    browser.run("document.querySelector('#text').focus(), document.querySelector('#text').select()")
    typed = "benbu men io 中u\nx"
    browser.write(typed)
    browser.wait("location.hash.startsWith('#/text/benbu')")
    tok, other = Tokenizer.load(pages / "tok"), Tokenizer.load(pages / "other")
    for row, ids in (
        ("pruned", tok.encode(typed)),
        ("shortest", tok.encode(typed, segmentation="shortest")),
        ("other", other.encode(typed)),
    ):
        assert figure(browser, f"[data-row={row}] .count strong") == len(ids)
        drawn = f"[...document.querySelectorAll('[data-row={row}] .cut .token')]"
        assert browser.run(f"{drawn}.length") == len(ids)
    chunks = len(prunedbpe.pretokenize(typed))
    assert text_of(browser, "#sizes") == f"17 characters · 19 bytes · {chunks} chunks"
    # Tab enters a row, arrows walk, the tooltip follows, Escape closes it, Enter opens the token.
    browser.press("Tab", "ArrowRight", "ArrowRight")
    place = "[...document.activeElement.parentElement.querySelectorAll('.token')]"
    assert browser.run(f"{place}.indexOf(document.activeElement)") == 2
    assert "Token id" in text_of(browser, "#tip") and "Built from" in text_of(browser, "#tip")
    browser.press("Escape")
    assert browser.run("document.querySelector('#tip').hidden")
    browser.press("Enter")
    browser.wait("location.hash.startsWith('#/token/')")
    browser.run("history.back()")
    browser.wait("document.querySelector('#text') !== null")
    assert browser.run("document.querySelector('#text').value") == typed
    browser.point("[data-row=pruned] .cut .token")
    browser.wait("!document.querySelector('#tip').hidden")
    assert browser.problems == []


def test_the_parts_of_an_internal_token_are_marked(browser, pages):
    tok = Tokenizer.load(pages / "tok")
    hidden = np.flatnonzero(~tok.vocabulary.visible)
    for rank in hidden.tolist():  # one that a text can hold by itself
        text = tok.vocabulary.strings[rank].decode(errors="replace")
        if text.isalpha() and len(prunedbpe.pretokenize(text)) == 1:
            break
    show(browser, pages / "by_run.html", f"#/text/{text}")
    parts = "[...document.querySelectorAll('[data-row=pruned] .part')]"
    assert browser.run(f"{parts}.map(e => Number(e.dataset.via))") == [rank] * len(tok.encode(text))
    browser.point("[data-row=pruned] .part")
    browser.wait("!document.querySelector('#tip').hidden")
    assert "Stands for" in text_of(browser, "#tip")


@pytest.mark.parametrize(
    ("by", "wanted", "matches"),
    [
        ("text", "io", lambda token: "io" in token.decode(errors="ignore")),
        ("hex", "e4 b8", lambda token: b"\xe4\xb8" in token),
        (
            "regex",
            "^ [a-m]+$",
            lambda token: (
                token[:1] == b" "
                and token[1:].isalpha()
                and token.isascii()
                and len(token) > 1
                and max(token[1:]) <= ord("m")
            ),
        ),
        ("id", "300", None),
    ],
)
def test_search(browser, pages, by, wanted, matches):
    show(browser, pages / "by_run.html", "#/tokens")
    browser.run(
        f"(() => {{ const by = document.querySelector('#by'); by.value = '{by}';"
        " by.dispatchEvent(new Event('change')); document.querySelector('#q').focus(); })()"
    )
    browser.write(wanted)
    browser.wait("location.hash.includes('q=')")
    tok = Tokenizer.load(pages / "tok")
    expected = 1 if matches is None else sum(map(matches, tok.vocabulary.strings))
    assert expected and text_of(browser, "#found").startswith(f"{expected} of ")
    # The address leads to the same table.
    fragment = browser.run("location.hash")
    show(browser, pages / "by_run.html", fragment)
    browser.wait("document.querySelector('#found').textContent !== ''")
    assert text_of(browser, "#found").startswith(f"{expected} of ")
    if matches is None:
        assert browser.run("document.querySelector('tbody .token').hash") == "#/token/300"


@pytest.mark.parametrize(
    ("by", "wanted", "message"),
    [
        ("regex", "(", "Not a regular expression"),
        ("hex", "e4 b", "two hexadecimal digits"),
        ("id", "x", "whole number"),
        ("text", "nowhere", "0 of"),
    ],
)
def test_a_search_without_result_says_why(browser, pages, by, wanted, message):
    show(browser, pages / "by_run.html", f"#/tokens?by={by}&q={wanted.replace(' ', '+')}")
    browser.wait("document.querySelector('#found').textContent !== ''")
    assert message in text_of(browser, "#found")
    assert "No token matches" in text_of(browser, ".scroll")


def test_filters_sort_and_csv(browser, pages):
    show(browser, pages / "by_run.html", "#/tokens?state=internal&group=word&sort=worth")
    browser.wait("document.querySelector('tbody tr') !== null")
    browser.run("document.querySelector('th button[data-key=exposure]').focus()")
    browser.press("Enter")
    assert (
        browser.run("document.querySelector('[aria-sort=descending]').textContent") == "Exposure ↓"
    )
    browser.press("Enter")
    browser.wait("location.hash.includes('order=rising')")
    assert (
        browser.run("document.querySelector('[aria-sort=ascending]').textContent") == "Exposure ↑"
    )
    browser.run("document.querySelector('#csv').click()")
    path = browser.folder / "tokens.csv"
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    tok = Tokenizer.load(pages / "tok")
    assert rows and {row["State"] for row in rows} == {"internal"}
    assert [int(row["Exposure"]) for row in rows] == sorted(int(row["Exposure"]) for row in rows)
    for row in rows:
        assert row["Token"].encode() == tok.token_bytes(int(row["Id"]))


def test_the_page_of_a_token(browser, pages):
    tok = Tokenizer.load(pages / "tok")
    rank = int(np.flatnonzero(~tok.vocabulary.visible)[0])
    show(browser, pages / "by_run.html", f"#/token/{tok.vocabulary.token_ids[rank]}")
    seen = text_of(browser, "main")
    for title in ("How it is built", "What builds on it", "Where it occurs", "Example chunks"):
        assert title in seen
    assert f"Rank{rank}" in seen and tok.vocabulary.strings[rank].hex(" ") in seen
    leaves = "[...document.querySelectorAll('.tree .token')].map(e => Number(e.dataset.rank))"
    tree = browser.run(leaves)
    spelled = bytes(part for part in tree if part < 256)
    assert tree[0] == rank and spelled == tok.vocabulary.strings[rank]
    stand_ins = browser.run(f"explorer.standIns(explorer.vocabulary, {rank})")
    assert [int(tok.vocabulary.token_ids[r]) for r in stand_ins] == tok.vocabulary.expansion(rank)
    marked = browser.run("[...document.querySelectorAll('mark')].map(e => e.textContent)")
    assert set(marked) <= {tok.vocabulary.strings[rank].decode().replace(" ", "·")}
    by_source = browser.run(
        "[...document.querySelectorAll('.bar-row .n')].map(e => +e.textContent)"
    )
    assert sum(by_source) == browser.run(f"explorer.exposureOf({rank})")
    show(browser, pages / "by_run.html", f"#/token/{tok.special_tokens['<_EOS_>']}")
    assert "reserved token" in text_of(browser, "main")
    show(browser, pages / "by_run.html", "#/token/99999")
    assert "No token has the id 99999" in text_of(browser, "main")


def test_compared_tokens(browser, pages):
    show(browser, pages / "compared.html", "#/compare")
    tok, other = Tokenizer.load(pages / "tok"), Tokenizer.load(pages / "other")
    here, there = (
        {t.vocabulary.strings[r] for r in np.flatnonzero(t.vocabulary.visible) if r >= 256}
        for t in (tok, other)
    )
    shown = browser.run("[...document.querySelectorAll('.figure .value')].map(e => +e.textContent)")
    assert shown == [len(there - here), len(here - there), len(here & there)]
    show(browser, pages / "by_run.html", "#/compare")  # beside Standard BPE
    hidden = int((~tok.vocabulary.visible[: tok.vocabulary.visible_count]).sum())
    shown = browser.run("[...document.querySelectorAll('.figure .value')].map(e => +e.textContent)")
    assert shown == [hidden, hidden, len(here) - hidden]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_it_looks_right(browser, pages, width, dark):
    views = ("text", "tokens", "curve", "compare", "token/300", "token/600", "token/1")
    for name in ("by_run", "alone", "compared"):
        for view in views:
            show(browser, pages / f"{name}.html", f"#/{view}", width=width, dark=dark)
            browser.wait("document.querySelector('h2') !== null")
            seen = browser.run(INSPECT)
            assert seen["written"] > 5
            assert seen["paper"] == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
            assert seen["worst"][0] >= 4.5, (name, view, seen["worst"])  # WCAG AA
            assert not seen["scrolls"] and not seen["wide"], (name, view, seen)
            assert seen["small"] >= 11
            assert browser.problems == []  # nothing loaded from outside, no message


def test_without_text_it_says_so(browser, pages):
    show(browser, pages / "alone.html", "#/curve")
    assert "No exposures in this page" in text_of(browser, "main") and "--run" in text_of(
        browser, "main"
    )
    show(browser, pages / "alone.html", "#/compare")
    assert "Not measured" in text_of(browser, "main")
    show(browser, pages / "alone.html", "#/tokens")
    browser.wait("document.querySelector('tbody tr') !== null")
    assert "Exposure" not in text_of(browser, "thead")


def test_a_pretokenizer_the_page_does_not_know(browser, tmp_path):
    tok = prunedbpe.train(["abc abcd"] * 5, vocab_size=262, threshold=0, pretokenizer=r"\w+|\W+")
    write_explorer(tmp_path / "x.html", tok)
    show(browser, tmp_path / "x.html")
    assert "Text cannot be cut in this page" in text_of(browser, "main")
    assert browser.problems == []


def test_size_at_32000_tokens(cli, tmp_path):
    """Random words compress worse than any language."""
    source = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyzäöü中文字"
    for part in range(5):
        words = ["".join(source.choices(letters, k=source.randint(5, 9))) for _ in range(16_000)]
        text = "".join(" ".join(words[i : i + 10]) + "\n" for i in range(0, len(words), 10))
        (tmp_path / f"{part}.txt").write_text(text * 2, encoding="utf-8")
    words = ["--vocab-size", 32_000, "--threshold", "auto", "-q", "--run-dir", tmp_path / "run"]
    cli("train", *tmp_path.glob("*.txt"), *words, "-o", tmp_path / "tok")
    against = ["--against", tmp_path / "tok"]  # a second vocabulary of the same size
    cli("explore", tmp_path / "tok", "--run", tmp_path / "run", *against, "-o", tmp_path / "x.html")
    tok = Tokenizer.load(tmp_path / "tok")
    assert tok.vocab_size == 32_000 and tok.vocabulary.internal_count > 10_000
    assert (tmp_path / "x.html").stat().st_size < 5_000_000
