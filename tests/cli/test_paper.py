"""``prunedbpe paper``, and its page in a real browser.

``PRUNEDBPE_BROWSER=required`` turns the skip without Chromium into a failure.
"""

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape

import pytest
from cli_helpers import make_text

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
REQUIRED = os.environ.get("PRUNEDBPE_BROWSER") == "required"

# Runs inside the page, which stands in a frame: a headless window is never narrower than 500.
PROBE = """<script>
const box = e => e.getBoundingClientRect();
const texts = [...document.querySelectorAll("svg text")];
const cut = texts.filter(t => {
  const one = box(t), frame = box(t.ownerSVGElement);
  return one.left < frame.left - 1 || one.right > frame.right + 1 || one.bottom > frame.bottom + 1;
});
const covered = texts.filter(t => texts.some(u => {
  const a = box(t), b = box(u);
  return t !== u && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}));
const channels = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = colour => channels(colour).map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const paper = getComputedStyle(document.body).backgroundColor;
const band = getComputedStyle(document.querySelector("thead th")).backgroundColor;
const contrast = (selector, what, ground) => Math.min(...[...document.querySelectorAll(selector)]
  .map(e => [light(getComputedStyle(e)[what]), light(ground)].sort((a, b) => b - a))
  .map(([more, less]) => (more + 0.05) / (less + 0.05)));
const written = "p, a:not(.skip), th, td, dt, dd, figcaption, summary, code";
parent.document.title = "probe" + JSON.stringify({
  scrolls: document.documentElement.scrollWidth > innerWidth,
  wide: [...document.querySelectorAll("table")].filter(t => {
    const shut = t.closest("details:not([open])");
    return !shut && box(t).right > box(t.parentElement).right + 1
      && getComputedStyle(t.parentElement).overflowX !== "auto";
  }).length,
  tables: [...document.querySelectorAll("table")].filter(t => box(t).height > 20).length,
  plots: [...document.querySelectorAll("figure svg")].filter(s => box(s).height > 50).length,
  paper, cut: cut.length, covered: covered.length,
  smallest: Math.min(...texts.map(t => box(t.ownerSVGElement).width
    / t.ownerSVGElement.viewBox.baseVal.width * parseFloat(getComputedStyle(t).fontSize))),
  ink: Math.min(contrast(written, "color", paper), contrast(written, "color", band),
    contrast("svg text", "fill", paper)),
  bars: contrast(".bar:not(.light)", "fill", paper),
  outlines: contrast(".bar.light", "stroke", paper),
  loads: performance.getEntriesByType("resource").length,
});
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    for seed, name in enumerate(("I", "II")):
        (folder / f"{name}.txt").write_text(make_text(seed, 100), encoding="utf-8")
    return folder


def test_paper(cli, folder):
    words = ["--corpus", f"I={folder}/I.txt", "--corpus", f"II={folder}/II.txt"]
    ended = cli("paper", *words, "--sizes", "300-340+40", "-o", folder / "out", "--json")
    assert "report written to" in ended.err
    assert {claim["verdict"] for claim in ended.json} <= {"held", "not held"}
    assert (folder / "out" / "index.html").is_file()
    assert (folder / "out" / "tokenizers" / "I+II-340-40" / "vocab.txt").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--corpus", "I+={folder}/I.txt"], "cannot be named"),
        (["--corpus", "I={folder}/I.txt"], "two corpora, 1 given"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/none"], "none"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/II.txt"], "too small"),
    ],
)
def test_errors(cli, folder, words, message):
    given = [word.format(folder=folder) for word in words]
    assert message in cli("paper", *given, "-o", folder / "bad", code=1).err


@pytest.mark.skipif(
    BROWSER is None and not REQUIRED, reason="no Chromium is installed (apt-get install chromium)"
)
def test_the_page_in_a_browser(cli, folder, tmp_path):
    page = folder / "out" / "index.html"
    if not page.is_file():
        test_paper(cli, folder)
    for scheme, paper in ((1, "rgb(255, 255, 255)"), (0, "rgb(13, 17, 23)")):
        for width in (360, 1400):
            seen = probe(page, tmp_path, width, scheme)
            assert seen["tables"] >= 5 and seen["plots"] >= 2
            assert not seen["scrolls"] and not seen["wide"]  # tables scroll in their boxes
            assert seen["paper"] == paper
            assert not seen["cut"] and not seen["covered"]  # labels of the plots
            assert seen["smallest"] >= 11  # pixels
            assert seen["ink"] >= 4.5 and seen["bars"] >= 3 and seen["outlines"] >= 3  # WCAG AA
            assert not seen["loads"]  # nothing from the network or other files


def probe(page, folder, width, scheme):
    """What PROBE sees in a window of this width; scheme 1 is light, 0 is dark."""
    inside = escape(page.read_text(encoding="utf-8") + PROBE)
    frame = folder / "frame.html"
    frame.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{inside}"></iframe>',
        encoding="utf-8",
    )
    profile = folder / f"profile-{width}-{scheme}"
    done = subprocess.run(
        [
            BROWSER or "chromium",
            "--headless",
            "--no-sandbox",  # as root, in containers
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--window-size=1500,1000",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=False,
    )
    found = re.search(r"<title>probe(.*?)</title>", done.stdout.decode())
    messages = done.stderr.decode(errors="replace")
    if found is None:
        (pytest.fail if REQUIRED else pytest.skip)(f"the browser does not run: {messages[-300:]}")
    assert ":CONSOLE" not in messages, messages  # no error or warning on the console
    return json.loads(unescape(found[1]))
