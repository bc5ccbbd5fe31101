"""The site builds without warnings, fits phones and desks, and its search finds the right page.

Needs the extra ``docs`` and Chromium; ``PRUNEDBPE_BROWSER=required`` turns the skip without
Chromium into a failure.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import BROWSER, REQUIRED, Page, open_browser

for package in ("sphinx", "furo", "myst_parser"):
    pytest.importorskip(package, reason=f"{package} is not installed")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", DOCS, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if BROWSER is None and not REQUIRED:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with open_browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


# What is wider than the window and does not scroll by itself.
TOO_WIDE = """
[...document.querySelectorAll("body *")]
  .filter((part) => !part.closest(".table-wrapper, .highlight, svg, .sidebar-drawer, .toc-drawer"))
  .filter((part) => part.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((part) => `${part.tagName}.${part.className}: ${part.textContent.slice(0, 40)}`)
"""


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_is_wider_than_the_window(site: Path, page: Page, width: int) -> None:
    page.look(width)
    paths = [path for path in site.rglob("*.html") if "gallery" not in path.parts]
    assert len(paths) > 30
    wide = {}
    for path in paths:
        page.open(path)
        if found := page.run(TOO_WIDE):
            wide[path.name] = found
    assert not wide


@pytest.mark.parametrize("dark", [False, True])
def test_landing_page(site: Path, page: Page, dark: bool) -> None:
    page.look(400, dark=dark)
    page.open(site / "index.html")
    assert page.run("document.querySelectorAll('.idea svg').length") == 2
    assert page.run("document.querySelectorAll('article .card a').length") == 6
    assert page.run("document.querySelector('article .toctree-wrapper li')") is None
    text, slot, ground = page.run(
        "[['.idea .token', 'fill'], ['.idea .slot', 'fill'], ['body', 'backgroundColor']]"
        ".map(([name, style]) => getComputedStyle(document.querySelector(name))[style])"
        ".map((colour) => Number(colour.match(/\\d+/)[0]))"
    )
    assert abs(text - slot) > 120 and abs(text - ground) > 120


def test_examples_of_the_gallery(site: Path, page: Page) -> None:
    page.look(1400)
    page.open(site / "gallery.html")
    frames = page.run("[...document.querySelectorAll('iframe')].map((frame) => frame.src)")
    assert [frame.rsplit("/gallery/", 1)[1] for frame in frames] == [
        "explorer.html",
        "study/index.html",
    ]
    for name in ("explorer.html", "study/index.html"):
        page.open(site / "gallery" / name)
        page.wait("document.body.innerText.length > 300")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("memory", "guides/checkpoints.html"),
        ("Chinese", "concepts/pretokenizers.html"),
        ("Llama", "guides/exchange.html"),
        ("Ray", "guides/scale.html"),
        ("Tokenizer.encode", "reference/api.html#prunedbpe.Tokenizer.encode"),
    ],
)
def test_search(site: Path, page: Page, query: str, expected: str) -> None:
    page.open(site / "search.html", f"?q={query}")
    page.wait("document.querySelector('#search-results li a') !== null")
    first = page.run("document.querySelector('#search-results li a').getAttribute('href')")
    assert first == expected
