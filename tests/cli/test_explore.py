"""``prunedbpe explore``: its page in a real browser, by pointer and by keyboard.

``PRUNEDBPE_BROWSER=required`` turns the skip without Chromium into a failure.
"""

import csv
import io
import random
import time

import numpy as np
import pytest
from explorer_helpers import figure, show, text_of

import prunedbpe
from prunedbpe import Tokenizer
from prunedbpe.report.explorer import measure, write_explorer

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
    (tmp_path / "empty.txt").touch()
    words = ["--corpus", tmp_path / "empty.txt", "-o", output]
    assert "the text is empty" in cli("explore", tok, *words, code=1).err
    (tmp_path / "t.txt").write_text("other text, other merges " * 9, encoding="utf-8")
    words = ["--vocab-size", 270, "--threshold", 0, "-q", "--run-dir", tmp_path / "run"]
    cli("train", tmp_path / "t.txt", *words, "-o", tmp_path / "else")
    assert (
        "not one merge list"
        in cli("explore", tok, "--run", tmp_path / "run", "-o", output, code=1).err
    )
    assert not output.exists()


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
    hidden = np.flatnonzero(~tok.vocabulary.visible)
    sources = prunedbpe.SourceCounts.load(pages / "run" / "sources.parquet")
    exposures = measure(tok, sources).exposures
    rank = int(hidden[np.argmax(exposures[hidden].sum(axis=1))])
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
    assert sorted(by_source) == sorted(count for count in exposures[rank].tolist() if count)
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
