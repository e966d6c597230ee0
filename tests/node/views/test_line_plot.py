"""Plots of figures over time: small whatever is drawn, right at their ends, broken where nothing is known."""

import re
from math import inf, nan
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from node.views.line_plot import BOTTOM, HEIGHT, WIDTH, line_plot, nice_top

ENDS = ("an hour ago", "now <>")


def draw(points: list[tuple[float, float]], **more: bool) -> str:
    return str(line_plot([points], 0.0, 3600.0, lambda value: f"{value:g}", '"about" & <b>', ENDS, **more))


def places(plot: str) -> list[tuple[float, float]]:
    (path,) = re.findall(r'class="line line0" d="([^"]*)"', plot)
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+),([\d.]+)", path)]


def test_a_line_ends_where_it_should_and_texts_are_no_markup() -> None:
    plot = draw([(0.0, 0.0), (3600.0, 40.0)])
    assert places(plot)[0][0] == 0 and places(plot)[-1][0] == WIDTH
    svg = ElementTree.fromstring(plot)
    assert svg.get("aria-label") == '"about" & <b>'
    assert [text.text for text in svg.findall("text")] == ["50", *ENDS]


def test_a_peak_and_a_low_are_not_hidden_among_many_points() -> None:
    points = [(float(at), 500.0) for at in range(0, 3600, 2)]
    points[777], points[1200] = (777 * 2.0, 1000.0), (2400.0, 0.0)
    peaks, lows = draw(points), draw(points, least=True)
    assert ">1000<" in peaks and ">500<" in lows, "the scale ends where the line does"
    assert max(y for _, y in places(peaks)) < max(y for _, y in places(lows)) == HEIGHT - BOTTOM


def test_what_is_not_known_breaks_the_line_and_what_is_too_old_is_not_drawn() -> None:
    plot = draw([(-10.0, 9.0), (10.0, 1.0), (20.0, nan), (3000.0, 1.0), (3010.0, inf), (4000.0, 9.0)])
    assert plot.count("M") >= 2 and len(places(plot)) == 2
    assert 'class="line' not in draw([(20.0, nan)])


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=50))
@example([(0.0, 5e-324)])
def test_any_numbers_stay_inside_the_plot(points: list[tuple[float, float]]) -> None:
    plot = draw(points)
    ElementTree.fromstring(plot)
    if 'class="line' in plot:
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places(plot))


def test_a_day_of_figures_is_a_small_drawing() -> None:
    assert len(draw([(n * 2.5, float(n * 7919 % 997)) for n in range(1440)])) < 3000


@pytest.mark.parametrize(("most", "top"), [(0, 1), (1, 1), (1.01, 2), (7, 10), (13.2e9, 20e9), (inf, 1), (nan, 1)])
def test_scales_end_at_round_numbers(most: float, top: float) -> None:
    assert nice_top(most) == pytest.approx(top)
