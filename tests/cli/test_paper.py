"""``prunedbpe paper``, and its page in a real browser.

``PRUNEDBPE_BROWSER=required`` turns the skip without Chromium into a failure.
"""

from pathlib import Path

import pytest
from cli_helpers import make_text

from prunedbpe.cli.main import run

STUDY = Path(__file__).parents[2] / "docs" / "results" / "study"

# Texts of plots that are cut or cover each other, contrasts, and elements wider than the window.
INSPECT = """(() => {
  const box = e => e.getBoundingClientRect();
  const texts = [...document.querySelectorAll("svg text")];
  const cut = texts.filter(t => {
    const one = box(t), frame = box(t.ownerSVGElement);
    return one.left < frame.left - 1 || one.right > frame.right + 1
      || one.bottom > frame.bottom + 1;
  });
  const covered = texts.filter(t => texts.some(u => {
    const a = box(t), b = box(u);
    return t !== u && a.left < b.right && b.left < a.right
      && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  }));
  const ground = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const channels = colour => {
    ground.clearRect(0, 0, 1, 1);
    ground.fillStyle = colour;
    ground.fillRect(0, 0, 1, 1);
    return [...ground.getImageData(0, 0, 1, 1).data];
  };
  const light = colour => channels(colour).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (channels(colour)[3] > 0) return colour;
    }
  };
  const contrast = (e, what) => {
    const [more, less] = [light(getComputedStyle(e)[what]), light(behind(e))]
      .sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05);
  };
  const least = (elements, what) => elements.map(e => [contrast(e, what), e.outerHTML.slice(0, 80)])
    .sort((a, b) => a[0] - b[0])[0];
  const shown = [...document.querySelectorAll("body *")].filter(e => e.checkVisibility()
    && !e.closest(".unseen, .skip, svg"));
  const written = shown.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
  const shades = new Set([...document.querySelectorAll("#lengths ~ .scroll td.n")]
    .map(e => getComputedStyle(e).backgroundColor));
  return {
    scrolls: document.documentElement.scrollWidth > innerWidth,
    wide: shown.filter(e => box(e).right > innerWidth + 1 && !e.closest(".scroll"))
      .map(e => e.outerHTML.slice(0, 80)),
    tables: [...document.querySelectorAll("table")].filter(t => box(t).height > 20).length,
    plots: [...document.querySelectorAll("figure svg")].filter(s => box(s).height > 50).length,
    paper: getComputedStyle(document.body).backgroundColor,
    cut: cut.map(t => t.textContent), covered: covered.map(t => t.textContent),
    smallest: Math.min(...texts.map(t => box(t.ownerSVGElement).width
      / t.ownerSVGElement.viewBox.baseVal.width * parseFloat(getComputedStyle(t).fontSize))),
    ink: least(written, "color"),
    plotted: least(texts, "fill"),
    dots: least([...document.querySelectorAll("svg circle")], "fill"),
    shades: shades.size,
    lead: [box(document.querySelector(".lead")).bottom,
      Math.min(...[...document.querySelectorAll("figure")].map(e => box(e).top))],
  };
})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    for seed, name in enumerate(("I", "II")):
        (folder / f"{name}.txt").write_text(make_text(seed, 100), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def words(folder):
    corpora = ["--corpus", f"I={folder}/I.txt", "--corpus", f"II={folder}/II.txt"]
    return ["paper", *corpora, "--sizes", "300-340+40", "-o", f"{folder}/out"]


@pytest.fixture(scope="module")
def study(folder, words):
    """A folder with a report."""
    assert run([*words, "-q"]) == 0
    return folder / "out"


def test_paper(cli, study, words):
    ended = cli(*words, "--json")  # again, from the cache
    assert "report written to" in ended.err
    for claim in ended.json:
        held = claim["checked"] - len(claim["fails"])
        share = f"{100 * held // claim['checked']} % of"
        assert claim["verdict"] == f"held in {share if claim['fails'] else 'all'} cells"
    assert (study / "index.html").is_file()
    assert (study / "tokenizers" / "I+II-340-40" / "vocab.txt").is_file()


def test_a_report_from_its_numbers(cli, study, folder):
    ended = cli("paper", "--from", study / "study.json", "-o", folder / "again")
    assert "report written to" in ended.err
    assert len(list((folder / "again").iterdir())) > 10
    for path in (folder / "again").iterdir():
        assert path.read_bytes() == (study / path.name).read_bytes()
    both = ["--from", study / "study.json", "--corpus", f"I={folder}/I.txt"]
    assert "only one of --from and --corpus" in cli("paper", *both, "-o", folder, code=2).err
    assert "none.json" in cli("paper", "--from", folder / "none.json", "-o", folder, code=1).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "two corpora, 0 given"),
        (["--corpus", "I+={folder}/I.txt"], "cannot be named"),
        (["--corpus", "I={folder}/I.txt"], "two corpora, 1 given"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/none"], "none"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/II.txt"], "too small"),
    ],
)
def test_errors(cli, folder, words, message):
    given = [word.format(folder=folder) for word in words]
    assert message in cli("paper", *given, "-o", folder / "bad", code=1).err


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 400, 1400])
@pytest.mark.parametrize("page", ["small", "public"])
def test_the_page_in_a_browser(browser, study, page, width, dark):
    path = {"small": study, "public": STUDY}[page] / "index.html"
    browser.problems.clear()
    browser.look(width, dark=dark)
    browser.open(path)
    seen = browser.run(INSPECT)
    assert seen["tables"] >= 4 and seen["plots"] == {"small": 8, "public": 11}[page]
    assert not seen["scrolls"] and not seen["wide"]  # tables scroll in their boxes
    assert seen["paper"] == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    assert not seen["cut"] and not seen["covered"]  # labels of the plots
    assert seen["smallest"] >= 11  # pixels
    for kind, wanted in (("ink", 4.5), ("plotted", 4.5), ("dots", 3)):  # WCAG AA
        assert seen[kind][0] >= wanted, seen[kind]
    assert seen["shades"] >= 3
    assert seen["lead"][0] < seen["lead"][1] < 900  # sentence and picture open the page
    assert browser.problems == []  # nothing from the network, nothing on the console


def test_exceptions_unfold(browser):
    browser.look(1400)
    browser.open(STUDY / "index.html")
    listed = "document.querySelector('.claims details ul')"
    assert not browser.run(f"{listed}.checkVisibility()")
    browser.run("document.querySelector('.claims summary').focus()")
    browser.press("Enter")
    browser.wait(f"{listed}.checkVisibility()")
    assert browser.run(f"{listed}.children.length") == 5
