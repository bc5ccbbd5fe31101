"""Charts: labels that stay apart, and the same drawing as SVG and PNG."""

import itertools
import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe.errors import MissingExtraError, SettingsError
from prunedbpe.report.charts import Curve, Row, draw_curves, draw_rows, spread
from prunedbpe.report.drawing import Text, arrange, text_width

SIZES = (4000, 8000, 10000, 12000, 14000, 16000, 18000, 32000, 64000)


def boxes(drawing):
    """Estimated boxes of all texts: left, top, right, bottom."""
    found = []
    for shape in drawing.shapes:
        if isinstance(shape, Text):
            width = text_width(shape.text, shape.size, bold=shape.bold)
            left = shape.x - {"start": 0, "middle": width / 2, "end": width}[shape.anchor]
            found.append((left, shape.y - 0.8 * shape.size, left + width, shape.y + 2))
    return found


def overlapping(found):
    return [
        (a, b)
        for place, a in enumerate(found)
        for b in found[place + 1 :]
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def curves(count):
    names = [f"curve {number}" for number in range(count)]
    return [
        Curve(name, [(size, 3.0 + number / 100) for size in SIZES], f"series-{number % 6 + 1}")
        for number, name in enumerate(names)
    ]


@given(st.lists(st.floats(0, 200), min_size=1, max_size=10))
def test_labels_are_a_line_apart_and_in_order(places):
    moved = spread(places, 0, 200)
    order = sorted(range(len(places)), key=places.__getitem__)
    assert all(0 <= place <= 200 for place in moved)
    for first, second in itertools.pairwise(order):
        assert moved[second] - moved[first] >= 14.99


@pytest.mark.parametrize("count", [1, 5, 9])
def test_no_text_covers_another_or_leaves_the_drawing(count):
    marks = {14000: "trained: 14,000", 16000: "trained: 16,000"}
    drawing = draw_curves("A title", curves(count), marks=marks)
    found = boxes(drawing)
    assert not overlapping(found)
    assert all(left >= 0 and right <= drawing.width for left, _, right, _ in found)
    texts = [shape.text for shape in drawing.shapes if isinstance(shape, Text)]
    assert "64,000" in texts and "trained: 14,000" in texts
    assert "trained: 16,000" not in texts and "trained: 16,000" in drawing.description


def test_a_single_size_has_a_place():
    drawing = draw_curves("t", [Curve("a", [(8000, 1.0)], "series-1")])
    assert "8,000" in [shape.text for shape in drawing.shapes if isinstance(shape, Text)]
    assert drawing.description == "a: 8,000 1.00 %."


def test_rows_with_losses_and_long_names():
    rows = [
        Row("a tokenizer with a name that does not fit " * 3, -2.5, "series-1", "−2.50 %"),
        Row("b", 1.0, "series-2", "1.00 %", (0.5, 1.5)),
        Row("c", 0.0, "series-3", "0.00 %"),
    ]
    drawing = draw_rows("t", [("中文", rows), ("code", rows)], unit="% fewer tokens")
    found = boxes(drawing)
    assert not overlapping(found)
    assert all(left >= 0 and right <= drawing.width for left, _, right, _ in found)
    assert "code: a tokenizer" in drawing.description and "b 1.00 %" in drawing.description


def test_files(tmp_path, monkeypatch):
    drawing = arrange("Costs < $5 & $6", [draw_curves("x", curves(3))] * 3, 2)
    drawing.save(tmp_path / "x.svg")
    root = ET.parse(tmp_path / "x.svg").getroot()
    assert root.get("role") == "img" and "var(" not in (tmp_path / "x.svg").read_text()
    assert root.find("{*}title").text == "Costs < $5 & $6"
    with pytest.raises(SettingsError, match=r"not a \.png or \.svg file"):
        drawing.save(tmp_path / "x.pdf")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="plot"):
        drawing.save(tmp_path / "x.png")
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]


def test_a_png_shows_the_drawing(tmp_path):
    image = pytest.importorskip("matplotlib.image", reason="extra plot is not installed")
    drawing = draw_rows("t", [("g", [Row("a", 1.0, "series-2", "1.00 %")])], unit="%")
    drawing.save(tmp_path / "x.png")
    pixels = image.imread(tmp_path / "x.png")
    assert pixels.shape[:2] == (2 * drawing.height, 2 * drawing.width)
    blue = (abs(pixels[:, :, :3] * 255 - (0x0B, 0x6B, 0xCB)).max(axis=2) < 2).sum()
    bar = next(shape for shape in drawing.shapes if getattr(shape, "paint", "") == "series-2")
    assert blue == pytest.approx(4 * bar.width * bar.height, rel=0.05)
