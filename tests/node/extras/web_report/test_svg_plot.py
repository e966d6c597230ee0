"""Plots, judged by their numbers: what is drawn lies in the picture, where its values say."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from node.extras.web_report.svg_plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, bars, log_log


def _drawn(svg: str, name: str) -> list[dict[str, str]]:
    return [each.attrib for each in ElementTree.fromstring(svg).iter() if each.tag == name]


def test_points_of_a_power_law_lie_on_its_line() -> None:
    points = [(10.0**n, 10.0 ** (-1.1 * n)) for n in range(5)]
    svg = log_log(points, points, "links", "share", "about <it>")
    circles = [(float(each["cx"]), float(each["cy"])) for each in _drawn(svg, "circle")]
    assert circles[0] == (LEFT, TOP) and circles[-1][0] == WIDTH - RIGHT
    steps = {(round(b[0] - a[0]), round(b[1] - a[1])) for a, b in pairwise(circles)}
    assert len(steps) == 1, "equal steps on both logarithmic scales"
    assert all(LEFT <= x <= WIDTH - RIGHT and TOP <= y <= HEIGHT - BOTTOM for x, y in circles)
    line = [tuple(map(float, point.split(","))) for point in _drawn(svg, "polyline")[0]["points"].split()]
    assert line == circles
    assert ElementTree.fromstring(svg).attrib["aria-label"] == "about <it>"


def test_a_line_ends_where_the_picture_does() -> None:
    svg = log_log([(1.0, 1.0), (100.0, 0.01)], [(1.0, 1.0), (10.0, 0.1), (100.0, 1e-9)], "x", "y", "")
    assert len(_drawn(svg, "polyline")[0]["points"].split()) == 2


@pytest.mark.parametrize("points", [[(1.0, 1.0)], [(1.0, 0.3)], [(3.0, 1e-9), (1e9, 1e-12)]])
def test_odd_values_have_a_plot(points: list[tuple[float, float]]) -> None:
    for each in _drawn(log_log(points, (), "x", "y", ""), "circle"):
        assert LEFT <= float(each["cx"]) <= WIDTH - RIGHT and TOP <= float(each["cy"]) <= HEIGHT - BOTTOM


def test_bars_are_as_long_as_their_values_say_and_names_are_text() -> None:
    svg = bars([("<b>", 10, "10"), ("a" * 99, 5, "5"), ("none", 0, "0")], "bars")
    widths = [float(each["width"]) for each in _drawn(svg, "rect")]
    assert widths[0] == 2 * widths[1] > 0 == widths[2]
    texts = [each.text or "" for each in ElementTree.fromstring(svg).iter("text")]
    assert texts[0] == "<b>" and len(texts[2]) == 22


def test_nothing_is_no_plot() -> None:
    assert log_log([], (), "x", "y", "") == bars([], "") == ""
    assert _drawn(bars([("a", 0, "0")], ""), "rect")[0]["width"] == "0.0"
