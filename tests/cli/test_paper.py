"""``prunedbpe paper``, and its page in a real browser."""

import re
import shutil
import subprocess

import pytest
from cli_helpers import make_text

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

PROBE = """<script>
const cut = [...document.querySelectorAll("svg text")].filter(t => {
  const box = t.getBoundingClientRect(), frame = t.ownerSVGElement.getBoundingClientRect();
  return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
}).length;
const loads = performance.getEntriesByType("resource").length;
document.title = ["probe", document.documentElement.scrollWidth, innerWidth,
  getComputedStyle(document.body).backgroundColor, cut, loads].join("|");
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
        (["--corpus", "I"], "not of the form NAME=PATH"),
        (["--corpus", "I+=x"], "cannot be named"),
        (["--corpus", "I={folder}/I.txt"], "two corpora, 1 given"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/none"], "none"),
        (["--corpus", "I={folder}/I.txt", "--corpus", "II={folder}/II.txt"], "too small"),
        (["--corpus", "I={folder}/I.txt", "--sizes", "x"], "no number"),
    ],
)
def test_errors(cli, folder, words, message):
    given = [word.format(folder=folder) for word in words]
    assert message in cli("paper", *given, "-o", folder / "bad", code=1).err


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (apt-get install chromium)")
@pytest.mark.parametrize("width", [500, 1400])  # a headless window is at least 500 wide
@pytest.mark.parametrize(("scheme", "paper"), [(1, "rgb(255, 255, 255)"), (0, "rgb(13, 17, 23)")])
def test_the_page_in_a_browser(cli, folder, tmp_path, width, scheme, paper):
    page = folder / "out" / "index.html"
    if not page.is_file():
        test_paper(cli, folder)
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8") + PROBE, encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path}/profile",
            f"--window-size={width},900",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--dump-dom",
            probed.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=False,
    )
    found = re.search(r"<title>probe\|(.*?)</title>", done.stdout.decode())
    if found is None:
        pytest.skip(f"the browser does not run here: {done.stderr.decode()[-300:]}")
    scroll_width, inner_width, background, cut_labels, loads = found[1].split("|")
    assert int(scroll_width) <= int(inner_width)  # tables scroll in their boxes, the page does not
    assert background == paper
    assert cut_labels == "0" and loads == "0"
